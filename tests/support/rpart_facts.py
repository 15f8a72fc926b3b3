"""The trees that rpart printed (tests/forest/rpart), as our arrays."""

import json
from pathlib import Path

import numpy as np

from joints.forest.arrays import TrainingData, join_trees
from joints.forest.grow import Tree

CASES = sorted(Path(__file__).parents[1].glob("forest/rpart/*.json"))


class Facts:
    """An rpart tree as our arrays; where rpart's lower values go right, its two children change places."""

    def __init__(self, path: Path):
        facts = json.loads(path.read_text())
        self.case, self.control = facts["case"], facts["control"]
        self.nodes = {node["node"]: node for node in facts["nodes"]}
        features = facts["features"]
        self.n_categories = np.array([feature.get("n_levels", 0) for feature in features], dtype=np.int64)
        X = np.array([[np.nan if v is None else v for v in feature["values"]] for feature in features], dtype=float).T
        y = np.array(facts["classes"]["values"], dtype=np.int64)
        self.data = TrainingData(np.ascontiguousarray(X), y, len(facts["classes"]["levels"]), self.n_categories, False)
        self.order: list[int] = []
        self.right: dict[int, int] = {}
        self.visit(1)
        inner = [not self.nodes[number]["leaf"] for number in self.order]
        feature = [self.nodes[n]["primary"]["feature"] if i else -1 for n, i in zip(self.order, inner, strict=True)]
        threshold, subset, flags = [], [], []
        for number, is_inner in zip(self.order, inner, strict=True):
            primary = self.nodes[number].get("primary")
            threshold.append(primary.get("threshold", np.nan) if is_inner else np.nan)
            subset.append(len(flags) if is_inner and primary["type"] == "categorical" else -1)
            if subset[-1] >= 0:
                flags += [c in primary["left"] for c in range(self.n_categories[primary["feature"]])]
        counts = np.array([self.nodes[number]["counts"] for number in self.order], dtype=float)
        tree = Tree(
            feature=np.array(feature, dtype=np.int32),
            threshold=np.array(threshold),
            right=np.array([self.right.get(number, -1) for number in self.order], dtype=np.int32),
            subset=np.array(subset, dtype=np.int64),
            goes_left=np.array(flags, dtype=bool),
            counts=counts,
        )
        self.forest = join_trees([tree], np.zeros(1, dtype=np.uint64))
        self.has_missing = bool(np.isnan(X).any())
        self.queries = facts["queries"]

    def flipped(self, number: int) -> bool:
        primary = self.nodes[number]["primary"]
        return primary["type"] == "continuous" and primary["below"] == "right"

    def visit(self, number: int) -> None:
        self.order.append(number)
        if not self.nodes[number]["leaf"]:
            first, second = (2 * number, 2 * number + 1)[:: -1 if self.flipped(number) else 1]
            self.visit(first)
            self.right[number] = len(self.order)
            self.visit(second)
