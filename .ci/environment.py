"""Write the pins of a lock file as a conda environment: `python environment.py requirements.lock environment.yml`."""

import re
import sys
from pathlib import Path

HEADER = """\
# The environment of requirements.lock for users of conda; made from it by `make environment`.
#
#   conda env create --file environment.yml
#   conda activate joints
#   pip install --no-deps --editable .
name: joints
channels:
  - conda-forge
  - nodefaults
dependencies:
  - python =3.11
  - pip
  - pip:
"""

lock, environment = map(Path, sys.argv[1:])
pins = re.findall(r"^([A-Za-z0-9][^\\\n]*==[^\\\n]*?) *\\?$", lock.read_text(), flags=re.MULTILINE)
environment.write_text(HEADER + "".join(f'      - "{pin}"\n' for pin in pins))
