"""Pictures of circuits say what the fitted tree says."""

import shutil
import subprocess

import numpy as np
import pytest
from mixed import published
from PIL import Image
from sklearn.datasets import load_iris

from joints import ForestClassifier, LearnSPNClassifier
from joints.render.diagrams import circuit, decision_tree


@pytest.fixture(scope="module")
def figure_1():
    x1 = np.repeat([0, 1, 0, 1, 1], [10, 10, 40, 10, 30]).astype(float)
    x2 = np.repeat([0.9, 0.5], [20, 80])
    y = np.repeat([0, 1, 0, 1], [20, 40, 10, 30])
    model = published(1, bootstrap=False, max_features=None, categorical_features=[0])
    return model.fit(np.column_stack([x1, x2]), y)


def outline(node):
    """Kinds, labels and edges, from the root."""
    return (node.kind, node.label, [(edge.label, outline(edge.node)) for edge in node.children])


def test_decision_tree_of_figure_1(figure_1):
    leaf = ("split", "(10, 30)", []), ("split", "(0, 40)", []), ("split", "(20, 0)", [])
    below = ("split", "", [("X_{1} = 1", leaf[0]), ("X_{1} = 0", leaf[1])])
    assert outline(decision_tree(figure_1).root) == (
        "split",
        "",
        [(r"X_{2} \leq .5", below), ("X_{2} > .5", leaf[2])],
    )


def test_circuit_of_figure_1(figure_1):
    kind, _, ((w1, left), (w2, right)) = outline(circuit(figure_1).root)
    assert (kind, w1, w2) == ("sum", ".8", ".2")
    assert [weight for weight, _ in left[2]] == [".5", ".5"]
    assert right[:2] == ("density", "p_{3}(X_{1}, X_{2}, Y)\n\\mathbf{1}_{X_{2} > .5}")


def test_indicators_pulled_up(figure_1):
    root = circuit(figure_1, indicators="pulled up").root
    assert root.kind == "sum"
    assert [edge.node.kind for edge in root.children] == ["product", "product"]
    right = root.children[1].node
    assert [edge.node.kind for edge in right.children] == ["text", "density", "sum"]
    assert right.children[0].node.label == r"\mathbf{1}_{X_{2} > .5}"
    assert [(e.label, e.node.label) for e in right.children[2].node.children] == [
        ("1", r"\mathbf{1}_{Y=0}"),
        ("0", r"\mathbf{1}_{Y=1}"),
    ]


def test_nodes_do_not_overlap(figure_1):
    for indicators in ("leaves", "pulled up"):
        places = [(node.x, node.y) for node in circuit(figure_1, indicators=indicators).nodes()]
        distance = np.linalg.norm(np.array(places)[:, None] - np.array(places)[None], axis=2)
        assert distance[~np.eye(len(places), dtype=bool)].min() > 0.8


def test_learned_circuits_are_drawn_whole():
    X, y = load_iris(return_X_y=True)
    model = LearnSPNClassifier(random_state=0, threshold=1e-10).fit(X[:, :3], y)
    nodes = circuit(model).nodes()
    circuits = model.leaves_.circuits
    assert sum(node.kind == "density" for node in nodes) == len(circuits.factor_variable)
    assert sum(node.kind == "sum" for node in nodes) == circuits.is_sum.sum()


@pytest.mark.parametrize("ending", ["png", "svg", "pdf", "tex"])
def test_files(figure_1, tmp_path, ending):
    path = tmp_path / f"circuit.{ending}"
    circuit(figure_1).save(path)
    assert path.stat().st_size > 500
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    if ending == "png":
        image = np.asarray(Image.open(path).convert("L"))
        assert 0.005 < (image < 128).mean() < 0.2  # something is drawn, on white


def test_tikz_compiles(figure_1, tmp_path):
    if shutil.which("pdflatex") is None:
        pytest.skip("there is no TeX on this machine")
    head = r"\documentclass{standalone}\usepackage{amssymb,tikz}\usetikzlibrary{arrows.meta}\begin{document}"
    body = circuit(figure_1, indicators="pulled up").tikz()
    (tmp_path / "c.tex").write_text(head + body + r"\end{document}")
    subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "c.tex"], cwd=tmp_path, check=True,
                   capture_output=True)  # fmt: skip
    assert (tmp_path / "c.pdf").stat().st_size > 1000


def test_large_trees_are_refused():
    rng = np.random.default_rng(0)
    model = ForestClassifier(2, random_state=0).fit(rng.normal(size=(400, 3)), rng.integers(0, 2, 400))
    with pytest.raises(ValueError, match="small trees"):
        decision_tree(model)
    with pytest.raises(ValueError, match="2 trees"):
        decision_tree(model, tree=2)
