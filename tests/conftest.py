"""What tests of several folders share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from local_openml import LocalOpenML, Table
from paper_data import from_openml, from_wheel

# the first example of a test may compile, and a failure should come back in the next run
settings.register_profile("project", deadline=None, derandomize=True)
settings.load_profile("project")

__all__ = ["from_openml", "from_wheel"]  # fixtures of the paper's data, for every folder

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def root() -> Path:
    """The folder of the project."""
    return ROOT


@pytest.fixture
def shared() -> Path:
    """The material beside the project, which only some machines have."""
    folder = ROOT.parent / "shared"
    if not (folder / "paper" / "table1.csv").is_file():
        pytest.skip("there is no folder with the paper and its data beside the project")
    return folder


def fruit_rows() -> list[list[object]]:
    """Sixty rows: a number, a colour that is sometimes missing, a small count, an identifier, and the class."""
    colours = ["green", "red", "yellow"]
    return [
        [round(0.5 + i / 7, 3), "?" if i % 20 == 3 else colours[i % 3], i % 4, i, "apple" if i % 3 else "pear"]
        for i in range(60)
    ]


@pytest.fixture
def openml() -> Iterator[LocalOpenML]:
    """A small OpenML with the dataset 7, `fruit`."""
    columns = [
        ("weight", "numeric"),
        ("colour", ["green", "red", "yellow"]),
        ("seeds", "numeric"),
        ("number", "numeric"),
        ("kind", ["apple", "pear"]),
    ]
    server = LocalOpenML({7: Table("fruit", columns, fruit_rows(), "kind", ignored=["number"])})
    yield server
    server.close()
