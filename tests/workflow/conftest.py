"""A working copy of the project with a small catalogue."""

from __future__ import annotations

import pytest
from working_copy import Project, copy_project


@pytest.fixture
def project(root, tmp_path, openml, monkeypatch) -> Project:
    """A copy of the project with a small catalogue: `fruit` on the small OpenML, and `own`, a file of the user."""
    folder = copy_project(root, tmp_path / "project")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (folder / "own.csv").write_text(
        "".join(["length,shape,sort\n"] + [f"{i / 3:.2f},{'ab'[i % 2]},{i % 3}\n" for i in range(30)])
    )
    config = {
        "run": "test",
        "catalogue": "catalogue.yaml",
        "datasets": ["fruit", "own"],
        "methods_catalogue": "config/methods.yaml",
        "methods": ["mean", "knn"],
        "protocol": {"seed": 1, "repetitions": 1, "folds": 2, "rates": [0, 0.3]},
        "forest": {"n_estimators": 5},
        "fetch": {"folder": "data", "sources": ["openml", "csv"], "tries": 2, "pause": 0.05, "timeout": 60},
        "openml": {"server": openml.server},
        "url": {"prefixes": {}},
    }
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
