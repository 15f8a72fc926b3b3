"""The image study at full size: 784 features, 10,000 training rows; seconds and peak memory of each step.

    python benchmarks/outliers.py [--jobs N] [--rows N] [--test-rows N]

Uses MNIST if a run of the workflow has fetched it, else similar synthetic images.  The exit code says whether fitting
and scoring together stay below 10 minutes and 8 GiB.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from tables import DENSITIES
from targets import Targets, cpu_seconds, gibibytes

from joints import ForestClassifier, GenerativeForestClassifier
from joints.data.dataset import Dataset
from joints.study.outliers.detectors import ClassKernelDensity
from joints.study.outliers.images import images_of, resize

ROOT = Path(__file__).resolve().parent.parent
SIDE = 28
SMOOTHING = 0.1
MOST_SECONDS, MOST_GIBIBYTES = 600, 8


def images(n: int) -> tuple[np.ndarray, np.ndarray, str]:
    """At least n rows of pixels, their classes, and where they come from."""
    for path in sorted(ROOT.glob("results/*/data/mnist.npz")):
        data = Dataset.load(path)
        pixels = images_of(data.X).reshape(len(data.X), -1)
        if len(pixels) >= n:
            return pixels, data.y, str(path.relative_to(ROOT))
        # there are too few: repeat the same images, each moved by a pixel
        moved = np.roll(pixels.reshape(-1, SIDE, SIDE), 1, axis=2).reshape(len(pixels), -1)
        more = int(np.ceil(n / len(pixels))) - 1
        return (
            np.concatenate([pixels, *[moved] * more]),
            np.tile(data.y, more + 1),
            f"{path.relative_to(ROOT)}, {len(pixels)} images and the same moved by a pixel",
        )
    random = np.random.default_rng(0)
    y = random.integers(0, 10, n)
    strokes = random.normal(size=(10, 7, 7))[y] + random.normal(size=(n, 7, 7))
    inner = np.clip(resize(strokes, 20), 0, 1)
    return np.pad(inner, ((0, 0), (4, 4), (4, 4))).reshape(n, -1), y, "synthetic: no run of the workflow has it"


def step(what: str, function: Callable[[], Any]) -> tuple[Any, float]:
    out: list[Any] = []
    seconds = cpu_seconds(lambda: out.append(function()))
    print(f"  {what:44s} {seconds:7.1f} s, peak {gibibytes():.2f} GiB", flush=True)
    return out[0], seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--test-rows", type=int, default=2_000)
    arguments = parser.parse_args()
    n, n_test = arguments.rows, arguments.test_rows
    pixels, y, source = images(n + n_test)
    train, test = pixels[:n], pixels[n : n + n_test]
    print(f"{n} training rows of {pixels.shape[1]} features, {n_test} test rows ({source})")
    forest = ForestClassifier(random_state=0, n_jobs=arguments.jobs)
    seconds = [step("grow 100 trees", lambda: forest.fit(train, y[:n]))[1]]
    leaves = DENSITIES | {"min_sd": SMOOTHING, "relative_sd": False}
    gef, took = step("GeF+: densities of the leaves", lambda: GenerativeForestClassifier.from_forest(forest, **leaves))
    seconds.append(took)
    table = gef.leaves_.parameters
    print(f"  {len(table) / 100:.0f} leaves per tree, whose parameters take {table.nbytes / 2**30:.2f} GiB")
    seconds.append(step("GeF+: log p(x) of the test rows", lambda: gef.score_samples(test))[1])
    holes = test[: n_test // 10].copy()
    holes[np.random.default_rng(0).random(holes.shape) < 0.3] = np.nan
    seconds.append(step(f"GeF+: {len(holes)} rows with 30 % missing", lambda: gef.score_samples(holes))[1])
    seconds.append(step("class probabilities of the forest", lambda: forest.predict_proba(test))[1])
    density = ClassKernelDensity(SMOOTHING).fit(train, y[:n])
    seconds.append(step("kernel density of the test rows", lambda: density.score_samples(test))[1])
    targets = Targets()
    targets.at_most("all together, CPU seconds", sum(seconds), MOST_SECONDS)
    targets.at_most("peak GiB", gibibytes(), MOST_GIBIBYTES)
    targets.finish()


if __name__ == "__main__":
    main()
