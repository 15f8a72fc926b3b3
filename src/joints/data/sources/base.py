"""The interface of sources: a source reads one raw table, or says in a few words why it cannot."""

from __future__ import annotations

import logging
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd

from joints.data.raw import MISSING, normalise, odd_cells, parse_text
from joints.errors import JointsError

logger = logging.getLogger(__name__)


class SourceError(JointsError):
    """Why a source gave no table; `retry` says whether another attempt may help."""

    def __init__(self, reason: str, retry: bool = True) -> None:
        super().__init__(reason)
        self.retry = retry


class SourceTimeout(SourceError):
    """A source ran out of time."""


@dataclass(frozen=True)
class Settings:
    """How to fetch: the sections `fetch`, `openml` and `url` of a configuration."""

    folder: Path = Path("data")
    tries: int = 5
    pause: float = 1.0
    timeout: float = 300.0
    megabytes: float = 2000.0
    openml_server: str = "https://www.openml.org/api/v1/xml"
    url_prefixes: Mapping[str, str] = field(default_factory=dict)

    @property
    def most_bytes(self) -> int:
        return int(self.megabytes * 1_000_000)

    @classmethod
    def read(cls, config: Mapping[str, Any]) -> Settings:
        """The settings in a validated configuration."""
        fetch = config["fetch"]
        return cls(
            folder=Path(fetch["folder"]),
            tries=fetch["tries"],
            pause=fetch["pause"],
            timeout=fetch["timeout"],
            megabytes=fetch["megabytes"],
            openml_server=config["openml"]["server"].rstrip("/"),
            url_prefixes=config["url"]["prefixes"],
        )


class Source(ABC):
    """A place that provides the table of a dataset.

    Parameters
    ----------
    spec : mapping
        The catalogue's entry under the kind of source, such as ``{"id": 54}`` under ``openml``.
    settings : Settings
    """

    kind: ClassVar[str]
    cached: ClassVar[bool] = True  # whether its table is kept in the folder of downloads

    def __init__(self, spec: Mapping[str, Any], settings: Settings) -> None:
        self.spec = spec
        self.settings = settings

    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """What identifies the data: recorded with it, and the key under which a download is kept."""

    @abstractmethod
    def read(self, folder: Path, seconds: float) -> tuple[pd.DataFrame, dict[str, Any]]:
        """The normalised table, and facts worth recording; may use `folder`, and no more than `seconds`."""

    def describe(self) -> str:
        """The source in a few words, for messages."""
        return f"{self.kind} {' '.join(str(value) for value in self.identity().values())}"

    @property
    def missing(self) -> tuple[str, ...]:
        return tuple(map(str, self.spec.get("missing", MISSING)))

    def parse(self, text: str) -> pd.DataFrame:
        """The table in a delimited text file, read as the catalogue says."""
        cells = parse_text(text, self.spec.get("separator", ","), self.spec.get("header", True))
        table = normalise(cells, self.missing, self.spec.get("decimal", "."), self.spec.get("thousands", ""))
        for odd in odd_cells(table):
            logger.warning(
                "%s: the column %r is text because of the cell %r in line %d%s, so that its values become categories: "
                "correct the file, or see 'decimal', 'thousands' and 'missing' in the catalogue's schema.",
                self.describe(),
                odd.column,
                odd.cell,
                cells.index[odd.row],
                f" and {odd.others} more" if odd.others else "",
            )
        return table

    def layout(self) -> dict[str, Any]:
        """How the catalogue says to read the file; the same file in another layout is another table."""
        return {
            key: self.spec[key]
            for key in ("separator", "header", "decimal", "thousands", "missing")
            if key in self.spec
        }


def too_large(what: str, most_bytes: int) -> SourceError:
    """The error for a file beyond the configuration's limit."""
    return SourceError(f"{what} has more than {most_bytes / 1e6:g} megabytes ('fetch.megabytes')", retry=False)


def innermost(error: BaseException) -> str:
    """The root cause of an exception from requests, which wraps several others, in one line."""
    reason: Any = error
    while isinstance(inner := getattr(reason, "reason", None) or (reason.args or [None])[0], BaseException):
        reason = inner
    text = reason.args[0] if reason.args and isinstance(reason.args[0], str) else str(reason)
    return re.sub(r"^<.*?>:? ?", "", " ".join(text.split())) or type(reason).__name__
