"""A user's own file: delimited text on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from joints.data.raw import decode_text
from joints.data.sources.base import Source, SourceError
from joints.runtime.checksums import sha256


class Csv(Source):
    kind = "csv"
    cached = False

    def identity(self) -> dict[str, Any]:
        return {"path": str(self.spec["path"])} | self.layout()

    def read(self, folder: Path, seconds: float) -> tuple[pd.DataFrame, dict[str, Any]]:
        path = Path(self.spec["path"])
        try:
            content = path.read_bytes()
        except OSError as error:
            raise SourceError(f"{path} cannot be read ({error.strerror})", retry=False) from error
        return self.parse(decode_text(content)), {"sha256": sha256(path)}
