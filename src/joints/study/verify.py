"""Does a run agree with the committed one?  ``python -m joints.study.verify results/paper``, or ``make verify``.

A run is compared with itself as it was committed last (``RUN=modern``), or, if it is not committed, with
`results/reference`.  Its means must be those of its scores, where these are published.  Every mean that both have
(dataset, method, mechanism, missing rate, metric) is compared; a difference is divided by the two half-widths added in
quadrature.  The same configuration gives the same numbers to the last digit; another seed, fewer repetitions, or rows
in another order give numbers that stay within the intervals in at least 96 of 100 cells
(`joints.study.statistics.agreement_by_chance`).
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd

from joints.errors import JointsError
from joints.study.scores import KEYS as FOLDS
from joints.study.scores import read_published
from joints.study.summarise import verdict, z_score

COMMITTED = Path("results/reference")
MEANS, SCORES = "means.csv", "scores.parquet"
SHARE_WITHIN = 0.9  # less than 0.96: the cells of a dataset share their folds, so they deviate together
FAR_Z, FAR_POINTS = 5.0, 2.0  # a cell beyond both is not off by chance
KEYS = ["dataset", "method", "mechanism", "rate", "metric"]


def compare(run: pd.DataFrame, reference: pd.DataFrame) -> pd.DataFrame:
    """Every mean that two runs share, side by side.

    Parameters
    ----------
    run, reference : DataFrame
        What `joints.study.summarise.means` gives.

    Returns
    -------
    DataFrame
        dataset, method, mechanism, rate, metric, run, reference, difference, z, verdict (``same`` to the last digit,
        ``within`` the intervals, ``near`` up to twice as far, else ``off``)
    """
    known = [table.dropna(subset=["interval"]) for table in (run, reference)]
    both = known[0].merge(known[1], on=KEYS, suffixes=("", "_reference"))
    both["difference"] = both["mean"] - both["mean_reference"]
    both["z"] = [
        z_score(*cell) for cell in zip(both["difference"], both["interval"], both["interval_reference"], strict=True)
    ]
    same = both["difference"].abs() < 1e-9
    both["verdict"] = ["same" if equal else verdict(z) for equal, z in zip(same, both["z"], strict=True)]
    return both.rename(columns={"mean": "run", "mean_reference": "reference"})[
        [*KEYS, "run", "reference", "difference", "z", "verdict"]
    ]


def agrees(table: pd.DataFrame) -> bool:
    """Whether enough cells are within the intervals for a repetition of the same experiment, and none is far off."""
    return bool(table["verdict"].isin(["same", "within"]).mean() >= SHARE_WITHIN and not far_off(table).any())


def far_off(table: pd.DataFrame) -> pd.Series:
    """The cells that chance does not explain, however many cells there are."""
    return (table["z"].abs() > FAR_Z) & (table["difference"].abs() > FAR_POINTS)


def message(table: pd.DataFrame, name: str, reference: str) -> str:
    """What was compared, and the result, for the terminal."""
    counts = table["verdict"].value_counts().reindex(["same", "within", "near", "off"], fill_value=0)
    share = 100 * (counts["same"] + counts["within"]) / len(table)
    lines = [
        f"{len(table)} means of {table['dataset'].nunique()} datasets and {table['method'].nunique()} methods in "
        f"{name} compared with {reference}:",
        f"{counts['same']} are the same, {counts['within']} within the intervals (|z| <= 1), {counts['near']} near "
        f"(|z| <= 2), {counts['off']} off: {share:.1f} % agree, at least {100 * SHARE_WITHIN:g} % are required.",
    ]
    if far_off(table).any():
        lines.append(f"{far_off(table).sum()} are far off (|z| > {FAR_Z:g} and more than {FAR_POINTS:g} points).")
    outside = table[table["verdict"].isin(["near", "off"])]
    if len(outside):
        farthest = outside.sort_values("z", key=abs, ascending=False, kind="stable").head(10)
        lines += ["Farthest apart, in percent:", farthest.round(2).to_string(index=False)]
    return "\n".join(lines)


def compare_folds(run: pd.DataFrame, reference: pd.DataFrame) -> str:
    """What two runs say about the same fold, as a sentence; from what `joints.study.scores.read_published` gives."""
    metrics = [name for name in run.columns if name in reference.columns and name not in FOLDS]
    both = run.merge(reference, on=FOLDS, suffixes=("", "_reference"))
    if both.empty or not metrics:
        return "They share no score of a single fold."
    other = both[[f"{name}_reference" for name in metrics]].to_numpy()
    same = (both[metrics].to_numpy() == other) | (both[metrics].isna().to_numpy() & np.isnan(other))
    return f"Of {same.size} scores of the same repetition and fold {same.sum()} are the same."


def check_means(means: pd.DataFrame, scores: pd.DataFrame, folder: str) -> None:
    """Raise a JointsError unless the published means are those of the published scores."""
    keys = ["dataset", "method", "mechanism", "rate"]
    for metric, cells in means.groupby("metric"):
        found = scores.groupby([*keys, "repetition"])[metric].mean().groupby(keys).mean()
        both = cells.set_index(keys)["mean"].to_frame().join(found.rename("found"), how="left")
        in_percent = (both["mean"] / both["found"]).median() > 10
        both["found"] *= 100 if in_percent else 1
        wrong = ~np.isclose(both["mean"], both["found"], rtol=1e-5, atol=1e-3 if in_percent else 1e-5, equal_nan=True)
        if wrong.any():
            cell = ", ".join(map(str, both.index[wrong][0]))
            raise JointsError(
                f"{folder}/means.csv has {wrong.sum()} means of {metric} that do not follow from scores.parquet: {cell}"
            )


@dataclass(frozen=True)
class RunResults:
    """The results of a run.

    Attributes
    ----------
    name : str
    means : DataFrame
    scores : DataFrame or None
        By folds, where there is a file of them.
    """

    name: str
    means: pd.DataFrame
    scores: pd.DataFrame | None


def published(folder: Path) -> RunResults:
    """What there is in the folder of a run."""
    if not (folder / MEANS).is_file():
        raise JointsError(f"there is no {folder / MEANS}: finish the run first, for example with `make`")
    scores = read_published(folder / SCORES) if (folder / SCORES).is_file() else None
    return RunResults(str(folder), pd.read_csv(folder / MEANS), scores)


def reference_of(folder: Path) -> RunResults:
    """What a run is compared with: itself as it was committed last, or else the committed reference."""
    means, scores = (_committed(folder / name) for name in (MEANS, SCORES))
    if means is None:
        return published(COMMITTED)
    found = None if scores is None else read_published(BytesIO(scores))
    return RunResults(f"{folder} as committed", pd.read_csv(BytesIO(means)), found)


def _committed(path: Path) -> bytes | None:
    """A file as it was committed last; None if it was not, or where there is no git."""
    try:
        found = subprocess.run(["git", "show", f"HEAD:./{path.name}"], cwd=path.parent, capture_output=True)
    except OSError:
        return None
    return found.stdout if found.returncode == 0 else None


def main(arguments: Sequence[str]) -> int:
    """Compare the runs in the given folders with what is committed; 0 if all agree."""
    failed = False
    try:
        if not arguments:
            raise JointsError("name the folder of a run, as in `python -m joints.study.verify results/quick`")
        for folder in arguments:
            run = published(Path(folder))
            if run.scores is not None:
                check_means(run.means, run.scores, folder)
            reference = reference_of(Path(folder))
            table = compare(run.means, reference.means)
            if table.empty:
                raise JointsError(f"{folder} shares no dataset, method and rate with {reference.name}")
            print(message(table, folder, reference.name))
            if run.scores is not None and reference.scores is not None:
                print(compare_folds(run.scores, reference.scores))
            failed |= not agrees(table)
    except JointsError as error:
        print(f"Error: {error}.", file=sys.stderr)
        return 2
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
