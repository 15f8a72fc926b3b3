"""The facts that rpart printed agree with their data, by the rules in rpart/README.md."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

CASES = sorted(Path(__file__).parent.glob("rpart/*.json"))


@pytest.fixture(params=CASES, ids=lambda path: path.stem)
def facts(request):
    return json.loads(request.param.read_text())


def side(split, value):
    """Where a split sends a value: left, right, or None."""
    if value is None:
        return None
    if split["type"] == "continuous":
        return split["below"] if value < split["threshold"] else {"left": "right", "right": "left"}[split["below"]]
    return next((where for where in ("left", "right") if value in split[where]), None)


def step(node, row):
    """The side to which a node sends a row, or None where the row stays."""
    sides = (side(split, row[split["feature"]]) for split in [node["primary"], *node["surrogates"]])
    return next((where for where in sides if where), node["majority"])


def walk(nodes, row):
    """The numbers of the nodes through which a row goes."""
    path = [1]
    while not nodes[path[-1]]["leaf"] and (where := step(nodes[path[-1]], row)):
        path.append(2 * path[-1] + (where == "right"))
    return path


def read(facts):
    nodes = {node["node"]: node for node in facts["nodes"]}
    rows = list(zip(*(feature["values"] for feature in facts["features"]), strict=True))
    return nodes, rows, [walk(nodes, row) for row in rows]


def arrived(facts):
    """Each internal node with its rows, their classes and their sides by the primary split."""
    nodes, rows, paths = read(facts)
    for number, node in nodes.items():
        if not node["leaf"]:
            inside = [i for i, path in enumerate(paths) if number in path]
            values = [rows[i] for i in inside]
            sides = [side(node["primary"], row[node["primary"]["feature"]]) for row in values]
            yield node, values, [facts["classes"]["values"][i] for i in inside], sides


def best(feature, column, sides):
    """The surrogate of one feature with the most agreement and that count, by trying all splits."""
    pairs = [(value, where) for value, where in zip(column, sides, strict=True) if value is not None and where]
    lefts = sum(where == "left" for _, where in pairs)
    if feature["type"] == "categorical":
        split, agreed = {"type": "categorical", "left": [], "right": []}, 0
        for code in sorted({value for value, _ in pairs}):
            left = sum(where == "left" for value, where in pairs if value == code)
            right = sum(value == code for value, _ in pairs) - left
            to_left = left > right or (left == right and 2 * lefts > len(pairs))
            split["left" if to_left else "right"].append(code)
            agreed += max(left, right)
        # rpart takes no categorical surrogate that disagrees with the primary split in fewer than 2 rows.
        return split, agreed if min(agreed, len(pairs) - agreed) >= 2 else 0
    split, agreed = None, max(lefts, len(pairs) - lefts)
    for low, high in pairwise(sorted({value for value in column if value is not None})):
        threshold = (low + high) / 2
        below = [where for value, where in pairs if value < threshold]
        if min(len(below), len(pairs) - len(below)) >= 2:
            left_below = below.count("left")
            count = left_below + (len(pairs) - lefts) - below.count("right")
            for direction, found in (("right", len(pairs) - count), ("left", count)):
                if found > agreed:
                    split, agreed = {"type": "continuous", "threshold": threshold, "below": direction}, found
    return split, agreed


def gini(classes):
    return len(classes) - sum(classes.count(c) ** 2 for c in set(classes)) / max(len(classes), 1)


def test_nodes_hold_the_rows_sent_to_them(facts):
    nodes, _, paths = read(facts)
    assert [path[-1] for path in paths] == facts["rows"]["node"]
    for number, node in nodes.items():
        classes = [c for c, path in zip(facts["classes"]["values"], paths, strict=True) if number in path]
        assert node["counts"] == [classes.count(c) for c in range(len(facts["classes"]["levels"]))]
        assert node["n"] == len(classes)
        assert node["class"] == node["counts"].index(max(node["counts"]))


def test_primary_splits_improve_gini_as_printed(facts):
    for node, _, classes, sides in arrived(facts):
        left, right = ([c for c, s in zip(classes, sides, strict=True) if s == where] for where in ("left", "right"))
        assert node["primary"]["n"] == len(left) + len(right)
        assert node["primary"]["improve"] == pytest.approx(gini(left + right) - gini(left) - gini(right))


def test_surrogates_are_the_best_of_each_feature_by_agreement(facts):
    for node, rows, _, sides in arrived(facts):
        lefts, total = sides.count("left"), node["primary"]["n"]
        majority = max(lefts, total - lefts)
        expected = []
        for index, feature in enumerate(facts["features"]):
            split, agreed = best(feature, [row[index] for row in rows], sides)
            if index != node["primary"]["feature"] and agreed > majority:
                adjusted = (agreed - majority) / (total - majority)
                expected.append({"feature": index, **split, "agree": agreed / total, "adj": adjusted})
        expected.sort(key=lambda split: -split["agree"])
        assert len(node["surrogates"]) == len(expected)
        for found, split in zip(node["surrogates"], expected, strict=True):
            for key, value in split.items():
                assert found[key] == (pytest.approx(value, rel=1e-12) if isinstance(value, float) else value)


def test_queries_follow_primary_surrogates_and_majority(facts):
    nodes, _, _ = read(facts)
    queries = facts["queries"]
    for *row, number, label in zip(*queries["values"], queries["node"], queries["class"], strict=True):
        assert walk(nodes, row)[-1] == number
        assert nodes[number]["class"] == label
