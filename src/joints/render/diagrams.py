"""Pictures of small trees and circuits, in the manner of the paper's Figure 1 and its figure of pulled-up indicators.

A picture is a tree of nodes and edges with positions; it is drawn by matplotlib (PNG, SVG, PDF) or written as TikZ.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from sklearn.utils.validation import check_is_fitted

from joints.runtime.files import replacing

COLOURS = {"split": "white", "sum": "#c7ceea", "product": "#e2f0cb", "density": "#ffdac1", "text": "none"}
RADIUS = 0.18


@dataclass
class Node:
    """A node of a picture: `kind` is split, sum, product, density or text (an indicator); labels are in math mode."""

    kind: str
    label: str = ""
    children: list[Edge] = field(default_factory=list)
    x: float = 0.0
    y: float = 0.0


@dataclass
class Edge:
    """A child and the label of the edge to it."""

    node: Node
    label: str = ""


@dataclass
class Picture:
    """A tree of nodes with positions, ready to be drawn."""

    root: Node

    def nodes(self) -> list[Node]:
        found, waiting = [], [self.root]
        while waiting:
            node = waiting.pop()
            found.append(node)
            waiting += [edge.node for edge in node.children]
        return found

    def figure(self) -> Figure:
        """The picture as a matplotlib figure."""
        nodes = self.nodes()
        xs, ys = [node.x for node in nodes], [node.y for node in nodes]
        margin = 1.0
        width, height = max(xs) - min(xs) + 2 * margin, max(ys) - min(ys) + 1.7
        figure = Figure(figsize=(0.85 * width, 0.85 * height))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(min(xs) - margin, max(xs) + margin), ylim=(min(ys) - 1.0, max(ys) + 0.7), aspect="equal")
        axes.axis("off")
        text: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 9, "math_fontfamily": "cm"}
        for node in nodes:
            for edge in node.children:
                a, b = np.array([node.x, node.y]), np.array([edge.node.x, edge.node.y])
                along = (b - a) / np.linalg.norm(b - a)
                start = a + RADIUS * along
                end = b - (0.16 if edge.node.kind == "text" else RADIUS) * along
                arrow = {"arrowstyle": "-|>", "color": "black", "lw": 0.9, "shrinkA": 0, "shrinkB": 0}
                axes.annotate("", end, start, arrowprops=arrow)
                if edge.label:
                    left = b[0] < a[0] - 1e-9
                    place = (a + b) / 2 + np.array([-0.07 if left else 0.07, 0.06])
                    side = "right" if left else "left"
                    axes.text(float(place[0]), float(place[1]), f"${edge.label}$", **{**text, "ha": side})
            if node.kind == "text":
                axes.text(node.x, node.y, f"${node.label}$", **text)
                continue
            axes.add_patch(
                Circle((node.x, node.y), RADIUS, facecolor=COLOURS[node.kind], edgecolor="black", lw=0.9, zorder=3)
            )
            _symbol(axes, node)
            if node.label:
                for i, line in enumerate(node.label.split("\n")):
                    axes.text(node.x, node.y - RADIUS - 0.17 - 0.27 * i, f"${line}$", **text)
        return figure

    def tikz(self) -> str:
        """The picture as a TikZ environment (needs `tikz` and its `arrows.meta` library)."""
        nodes = self.nodes()
        names = {id(node): f"n{i}" for i, node in enumerate(nodes)}
        lines = [r"\begin{tikzpicture}[>=Latex, line width=0.3mm]"]
        for kind, colour in COLOURS.items():
            if colour.startswith("#"):
                lines.append(rf"  \definecolor{{{kind}}}{{HTML}}{{{colour[1:].upper()}}}")
        symbols = {"sum": "+", "product": r"\times", "density": r"\smallfrown", "split": ""}
        for node in nodes:
            place = f"at ({node.x:.2f}, {node.y:.2f})"
            if node.kind == "text":
                lines.append(rf"  \node ({names[id(node)]}) {place} {{${node.label}$}};")
                continue
            style = "draw, circle, minimum size=6mm, inner sep=0pt" + (
                "" if node.kind == "split" else f", fill={node.kind}"
            )
            inside = f"${symbols[node.kind]}$" if symbols[node.kind] else ""
            lines.append(rf"  \node[{style}] ({names[id(node)]}) {place} {{{inside}}};")
            for i, line in enumerate(node.label.split("\n") if node.label else []):
                lines.append(rf"  \node at ({node.x:.2f}, {node.y - 0.5 - 0.42 * i:.2f}) {{\small ${line}$}};")
        for node in nodes:
            for edge in node.children:
                side = "left" if edge.node.x < node.x else "right"
                label = f" node[midway, {side}] {{\\small ${edge.label}$}}" if edge.label else ""
                lines.append(rf"  \draw[->] ({names[id(node)]}) --{label} ({names[id(edge.node)]});")
        return "\n".join([*lines, r"\end{tikzpicture}", ""])

    def save(self, path: str | Path) -> None:
        """Write the picture in the format of the file extension: .png, .svg, .pdf, or .tex for TikZ."""
        path = Path(path)
        with replacing(path) as temporary:
            if path.suffix == ".tex":
                temporary.write_text(self.tikz(), encoding="utf-8")
            else:
                self.figure().savefig(temporary, format=path.suffix[1:], dpi=200)


def _symbol(axes: Any, node: Node) -> None:
    r = RADIUS
    if node.kind in ("sum", "product"):
        angles = np.array([0, 90] if node.kind == "sum" else [45, 135]) * np.pi / 180
        for angle in angles:
            d = r * np.array([np.cos(angle), np.sin(angle)])
            axes.plot([node.x - d[0], node.x + d[0]], [node.y - d[1], node.y + d[1]], color="black", lw=0.9, zorder=4)
    elif node.kind == "density":
        t = np.linspace(-0.75, 0.75, 41)
        axes.plot(node.x + r * t, node.y - 0.35 * r + 0.9 * r * np.exp(-8 * t**2), color="black", lw=0.9, zorder=4)


def _place(node: Node, depth: int, next_x: float, level: float, spacing: float) -> float:
    """Place leaves side by side and parents above the middle of their children; returns the next free x."""
    node.y = -level * depth
    if not node.children:
        node.x = next_x
        return next_x + spacing
    for edge in node.children:
        next_x = _place(edge.node, depth + 1, next_x, level, spacing)
    node.x = (node.children[0].node.x + node.children[-1].node.x) / 2
    return next_x


def _number(value: float) -> str:
    text = f"{value:.3g}"
    return text[1:] if text.startswith("0.") else text


class _Reader:
    """Reads a tree of a fitted forest in the paper's notation."""

    def __init__(self, model: Any, tree: int):
        check_is_fitted(model)
        self.model, self.forest = model, model.forest_
        if not 0 <= tree < self.forest.n_trees:
            raise ValueError(f"tree is {tree}, but the forest has {self.forest.n_trees} trees.")
        self.root = int(self.forest.tree_start[tree])
        self.first_leaf = int(self.forest.leaf_start[tree])
        n_leaves = int(self.forest.leaf_start[tree + 1]) - self.first_leaf
        if n_leaves > 64:
            raise ValueError(f"The tree has {n_leaves} leaves: only small trees, of at most 64 leaves, can be drawn.")
        self.categories = model.features_.categories

    def variable(self, f: int) -> str:
        if f == len(self.categories):
            return "Y"
        name = self.model.features_.names[f]
        return f"X_{{{f + 1}}}" if name == f"x{f}" else rf"\mathrm{{{name}}}".replace("_", r"\_")

    def conditions(self, node: int) -> tuple[str, str]:
        """What holds on the left and on the right of a split."""
        f = int(self.forest.feature[node])
        x = self.variable(f)
        values = self.categories[f]
        if values is None:
            t = _number(float(self.forest.threshold[node]))
            return rf"{x} \leq {t}", f"{x} > {t}"
        flags = self.forest.goes_left[self.forest.subset[node] :][: len(values)]

        def among(chosen: np.ndarray) -> str:
            texts = [
                _number(float(v)) if isinstance(v, (int, float, np.number)) else rf"\mathrm{{{v}}}" for v in chosen
            ]
            return f"{x} = {texts[0]}" if len(texts) == 1 else rf"{x} \in \{{{', '.join(texts)}\}}"

        return among(values[flags]), among(values[~flags])

    def children(self, node: int) -> tuple[int, int]:
        return node + 1, int(self.forest.right[node])

    def weights(self, node: int) -> list[str]:
        rows = self.forest.counts.sum(axis=1)
        return [_number(rows[child] / rows[node]) for child in self.children(node)]

    def number(self, node: int) -> int:
        return int(self.forest.leaf[node]) - self.first_leaf + 1


def decision_tree(model: Any, tree: int = 0) -> Picture:
    """The decision tree: conditions on the edges, class counts at the leaves (left-hand side of Figure 1).

    Parameters
    ----------
    model : fitted ForestClassifier or GenerativeForestClassifier
    tree : int, default=0
    """
    reader = _Reader(model, tree)

    def build(node: int) -> Node:
        if reader.forest.feature[node] < 0:
            counts = ", ".join(f"{count:.0f}" for count in reader.forest.counts[node])
            return Node("split", f"({counts})")
        pairs = zip(reader.children(node), reader.conditions(node), strict=True)
        return Node("split", children=[Edge(build(child), condition) for child, condition in pairs])

    root = build(reader.root)
    _place(root, 0, 0.0, 1.15, 1.7)
    return Picture(root)


def circuit(model: Any, tree: int = 0, indicators: str = "leaves") -> Picture:
    """The probabilistic circuit of a tree.

    Parameters
    ----------
    model : fitted GenerativeForestClassifier or LearnSPNClassifier
    tree : int, default=0
    indicators : {"leaves", "pulled up"}, default="leaves"
        ``leaves``: the indicators of a leaf's cell stand with its density (right-hand side of Figure 1).  ``pulled
        up``: they stand at product nodes as near to the root as they hold, with the class below each leaf (the
        appendix's figure).

    Leaves learned by LearnSPN are drawn as circuits.
    """
    if indicators not in ("leaves", "pulled up"):
        raise ValueError(f"indicators is {indicators!r}: choose one of 'leaves', 'pulled up'.")
    reader = _Reader(model, tree)
    features = [reader.variable(f) for f in range(len(reader.categories))]

    def of_leaf(node: int, path: list[str]) -> Node:
        c = reader.model.leaves_.circuits.of_leaf[reader.forest.leaf[node]]
        if c >= 0:
            return _learned(reader, int(c))
        i = reader.number(node)
        if indicators == "leaves":
            lines = [rf"p_{{{i}}}({', '.join([*features, 'Y'])})"]
            if path:
                lines.append(r"\cdot\,".join(rf"\mathbf{{1}}_{{{condition}}}" for condition in path))
            return Node("density", "\n".join(lines))
        counts = reader.forest.counts[node]
        classes = [
            Edge(Node("text", rf"\mathbf{{1}}_{{Y={_label(reader, k)}}}"), _number(count / counts.sum()))
            for k, count in enumerate(counts)
        ]
        density = Node("density", rf"p_{{{i}}}({', '.join(features)})")
        return Node("product", children=[Edge(density), Edge(Node("sum", children=classes))])

    def build(node: int, path: list[str]) -> Node:
        if reader.forest.feature[node] < 0:
            return of_leaf(node, path)
        out = Node("sum")
        parts = zip(reader.children(node), reader.conditions(node), reader.weights(node), strict=True)
        for child, condition, weight in parts:
            below = build(child, [*path, condition])
            if indicators == "pulled up":
                indicator = Edge(Node("text", rf"\mathbf{{1}}_{{{condition}}}"))
                if below.kind == "product":
                    below.children.insert(0, indicator)
                else:
                    below = Node("product", children=[indicator, Edge(below)])
            out.children.append(Edge(below, weight))
        return out

    root = build(reader.root, [])
    wide = indicators == "leaves" and reader.forest.feature[reader.root] >= 0
    _place(root, 0, 0.0, 1.15, 2.7 if wide else 1.15)
    return Picture(root)


def _label(reader: _Reader, k: int) -> str:
    label = reader.model.classes_[k]
    return _number(float(label)) if isinstance(label, (int, float, np.number)) else rf"\mathrm{{{label}}}"


def _learned(reader: _Reader, c: int) -> Node:
    circuits = reader.model.leaves_.circuits
    first, last = circuits.node_start[c], circuits.node_start[c + 1]
    if last - first > 200:
        raise ValueError(f"The circuit has {last - first} nodes: only circuits of at most 200 nodes can be drawn.")
    nodes = [Node("sum" if circuits.is_sum[v] else "product") for v in range(first, last)]
    for v in range(first + 1, last):
        above = circuits.parent[v]
        weight = _number(float(np.exp(circuits.log_weight[v]))) if circuits.is_sum[above] else ""
        nodes[above - first].children.append(Edge(nodes[v - first], weight))
    for v in range(first, last):
        for u in circuits.factor_variable[circuits.factor_start[v] : circuits.factor_start[v + 1]]:
            nodes[v - first].children.append(Edge(Node("density", f"p({reader.variable(int(u))})")))
    return nodes[0]
