"""Fetching: the raw table of a dataset from the first of its sources that has it.

A table that was downloaded before is used without contacting a server.  Transient failures are retried with exponential
back-off, and if every source fails, one sentence gives the reason for each.
"""

from __future__ import annotations

import datetime
import logging
import time
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from joints.data import store
from joints.data.raw import arrange, require_columns
from joints.data.sources import KINDS, Settings, Source, SourceError, SourceTimeout
from joints.errors import JointsError

logger = logging.getLogger(__name__)


def fetch(
    name: str, sources: Sequence[Mapping[str, Any]], columns: Sequence[str], settings: Settings
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The raw table of a dataset, and the record of where it came from.

    Parameters
    ----------
    name : str
        The dataset, for messages and for the record.
    sources : sequence of {kind: specification}
        Tried in this order.
    columns : sequence of str
        Columns that the table must have.
    settings : Settings
    """
    reasons: list[str] = []
    for listed in sources:
        ((kind, spec),) = listed.items()
        source = KINDS[kind](spec, settings)
        try:
            frame, record = _obtain(source)
            frame = arrange(frame, spec)
            require_columns(frame, columns)
        except JointsError as error:
            reasons.append(f"{source.describe()}: {error}")
            logger.info("%s: %s", name, reasons[-1])
            continue
        if reasons:
            logger.warning("%s comes from %s: other sources failed (%s).", name, source.describe(), "; ".join(reasons))
        logger.info("%s: %d rows from %s", name, len(frame), source.describe())
        return frame, {"dataset": name, **record, "failed": reasons}
    if not reasons:
        raise JointsError(f"Dataset {name!r} has no source that this run allows")
    raise JointsError(f"Dataset {name!r} could not be fetched: {'; '.join(reasons)}")


def _obtain(source: Source) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The table of one source: a download kept from before, or a new one, which is then kept."""
    folder = source.settings.folder
    path = store.place(folder, source.kind, source.identity())
    if not source.cached:
        frame, facts = source.read(path, source.settings.timeout)
        return frame, _record(source, frame, facts)
    with store.locked(path):
        found = store.kept_table(path)
        if found is None:
            frame, facts = _persist(source)
            found = frame, store.keep_table(path, frame, _record(source, frame, facts))
        else:
            logger.info("already downloaded: %s", path)
    return found


def _persist(source: Source) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Read the source, with exponential back-off; one timeout covers all attempts."""
    settings = source.settings
    seconds = source.spec.get("timeout", settings.timeout)
    end = time.monotonic() + seconds
    reason = ""
    for number in range(1, settings.tries + 1):
        logger.info("attempt %d of %d: %s", number, settings.tries, source.describe())
        try:
            with store.workspace(settings.folder) as folder:
                return source.read(folder, end - time.monotonic())
        except SourceTimeout as error:
            before = f" (before that, {reason})" if reason else ""
            raise SourceError(f"no complete answer within {seconds:g} seconds{before}") from error
        except SourceError as error:
            if not error.retry:
                raise
            reason = str(error)
        pause = settings.pause * 2 ** (number - 1)
        if number == settings.tries or time.monotonic() + pause >= end:
            break
        logger.info("%s; next attempt in %g seconds", reason, pause)
        time.sleep(pause)
    raise SourceError(f"{reason} (tried {number} {'time' if number == 1 else 'times'})")


def _record(source: Source, frame: pd.DataFrame, facts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "source": source.kind,
        **source.identity(),
        **facts,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "rows": len(frame),
        "columns": len(frame.columns),
    }
