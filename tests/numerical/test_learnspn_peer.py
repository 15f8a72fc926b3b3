"""LearnSPN against recorded numbers of a public implementation on the same held-out rows; see peers/README.md."""

import json
import runpy
from pathlib import Path

import numpy as np
import pytest

PEERS = Path(__file__).resolve().parent / "peers"
TOLERANCE = 0.3  # nats per row, either way: seeds and starts of k-means differ; in `x` the cuts gain 1.9 to 6.3

script = runpy.run_path(str(PEERS / "learnspn_peer.py"))
record = json.loads((PEERS / "learnspn_peer.json").read_text())
cases = [(name, min_sd) for name in script["DATASETS"] for min_sd in script["floors"](name)]


def recorded(part, model, name, min_sd, of):
    (found,) = [
        row["mean"]
        for row in record[part]["rows"]
        if (row["model"], row["dataset"], row["min_sd"], row["of"]) == (model, name, min_sd, of)
    ]
    return found


@pytest.mark.parametrize(("name", "min_sd"), cases)
def test_held_out_likelihood(name, min_sd):
    numbers = [script["ours"](name, min_sd, seed) for seed in script["SEEDS"]]
    for of in ("x", "x, y"):
        ours = np.mean([n[of] for n in numbers])
        assert ours == pytest.approx(recorded("peer", "deeprob-kit, our tests", name, min_sd, of), abs=TOLERANCE)
        # in the one exception wide Gaussians gain nothing from cuts after that by class, for the peer neither
        if (name, min_sd, of) != ("wine", 1.0, "x, y"):
            assert ours > recorded("peer", "factorised", name, min_sd, of)
        # the record must match this code: `learnspn_peer.py ours` updates it
        assert ours == pytest.approx(recorded("ours", "joints", name, min_sd, of), abs=0.01)
