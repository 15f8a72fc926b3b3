"""A working copy of the project with a small catalogue."""

from __future__ import annotations

import pytest
from working_copy import Project, copy_project, small_config


@pytest.fixture
def project(root, tmp_path, openml, monkeypatch) -> Project:
    """A copy of the project with a small catalogue: `fruit` on the small OpenML, and `own`, a file of the user."""
    folder = copy_project(root, tmp_path / "project")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (folder / "own.csv").write_text(
        "".join(["length,shape,sort\n"] + [f"{i / 3:.2f},{'ab'[i % 2]},{i % 3}\n" for i in range(30)])
    )
    config = small_config(
        ["fruit", "own"],
        methods=["mean", "knn"],
        protocol={"seed": 1, "repetitions": 1, "folds": 2, "rates": [0, 0.3]},
        fetch={"sources": ["openml", "csv"], "tries": 2, "pause": 0.05, "timeout": 60},
        openml={"server": openml.server},
    )
    catalogue = {
        "fruit": {
            "sources": [{"openml": {"id": 7}}],
            "target": "kind",
            "drop": ["number"],
            "numbers": {"n": 60, "categorical": 2, "continuous": 1, "classes": 2, "majority": 66.67},
        },
        "own": {"sources": [{"csv": {"path": "own.csv"}}], "target": "sort"},
    }
    return Project(folder, config, catalogue)
