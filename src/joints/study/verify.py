"""Does a run agree with the committed reference?  ``python -m joints.study.verify results/paper``, or ``make verify``.

Every mean that both have (dataset, method, mechanism, missing rate, metric) is compared; a difference is divided by the
two half-widths added in quadrature.  The same configuration gives the same numbers to the last digit; another
seed, fewer repetitions, or rows in another order give numbers that stay within the intervals in at least 96 of 100
cells (`joints.study.statistics.agreement_by_chance`).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from joints.errors import JointsError
from joints.study.summarise import verdict, z_score

COMMITTED = Path("results/reference")
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


def message(table: pd.DataFrame, name: str) -> str:
    """What was compared, and the result, for the terminal."""
    counts = table["verdict"].value_counts().reindex(["same", "within", "near", "off"], fill_value=0)
    share = 100 * (counts["same"] + counts["within"]) / len(table)
    lines = [
        f"{len(table)} means of {table['dataset'].nunique()} datasets and {table['method'].nunique()} methods in "
        f"{name} compared with the reference:",
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


def read_means(folder: Path) -> pd.DataFrame:
    """The means of a run."""
    path = folder / "means.csv"
    if not path.is_file():
        raise JointsError(f"there is no {path}: finish the run first, for example with `make`")
    return pd.read_csv(path)


def main(arguments: Sequence[str]) -> int:
    """Compare the runs in the given folders with the reference; 0 if all agree."""
    failed = False
    try:
        if not arguments:
            raise JointsError("name the folder of a run, as in `python -m joints.study.verify results/quick`")
        reference = read_means(COMMITTED)
        for folder in arguments:
            table = compare(read_means(Path(folder)), reference)
            if table.empty:
                raise JointsError(f"{folder} shares no dataset, method and rate with {COMMITTED}")
            print(message(table, folder))
            failed |= not agrees(table)
    except JointsError as error:
        print(f"Error: {error}.", file=sys.stderr)
        return 2
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
