"""Downloads are kept whole, and damaged ones are noticed."""

import json
import multiprocessing
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

from joints.data import store
from joints.errors import JointsError

FRAME = pd.DataFrame({"x": [1.0, 2.0, 3.0], "c": ["a", "b", "a"]})


@pytest.fixture
def kept(tmp_path):
    path = store.place(tmp_path, "openml", {"id": 7})
    store.keep_table(path, FRAME, {"rows": 3})
    return path


def test_what_is_kept_comes_back(kept):
    frame, record = store.kept_table(kept)
    pd.testing.assert_frame_equal(frame, FRAME)
    assert record["rows"] == 3 and len(record["table_sha256"]) == 64


def test_nothing_is_there_before(tmp_path):
    assert store.kept_table(store.place(tmp_path, "openml", {"id": 8})) is None


def test_other_sources_are_kept_elsewhere(tmp_path):
    places = {store.place(tmp_path, kind, {"id": i}) for kind in ("openml", "url") for i in (7, 8)}
    assert len(places) == 4


def cut(path):
    path.write_bytes(path.read_bytes()[:-20])


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: cut(path / store.TABLE),
        lambda path: cut(path / store.RECORD),
        lambda path: (path / store.TABLE).unlink(),
        lambda path: (path / store.RECORD).unlink(),
        lambda path: (path / store.RECORD).write_text("{}"),
        lambda path: (path / store.TABLE).write_bytes((path / store.TABLE).read_bytes() + b" "),
    ],
    ids=["table cut", "record cut", "no table", "no record", "empty record", "table longer"],
)
def test_damage_is_noticed_said_and_mended(kept, damage, caplog):
    damage(kept)
    assert store.kept_table(kept) is None
    assert f"{kept} is damaged" in caplog.text
    store.keep_table(kept, FRAME, {"rows": 3})
    assert store.kept_table(kept) is not None


def test_a_table_with_rows_cut_off_is_noticed(kept):
    FRAME[:2].to_parquet(kept / store.TABLE)  # a readable file, but not the one that was recorded
    assert store.kept_table(kept) is None


def test_workspaces_are_gone_afterwards_even_after_an_error(tmp_path):
    with pytest.raises(KeyError), store.workspace(tmp_path) as folder:
        (folder / "half").write_text("x")
        raise KeyError
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_swept_but_not_what_a_living_one_uses(tmp_path):
    code = (
        "import sys, time, pathlib\nfrom joints.data import store\n"
        f"with store.workspace(pathlib.Path({str(tmp_path)!r})) as folder:\n"
        "    (folder / 'half').write_text('x'); print(folder, flush=True); time.sleep(60)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    left = process.stdout.readline().strip()
    with store.workspace(tmp_path):
        assert [str(p) for p in tmp_path.glob(".incoming-*/half")] == [f"{left}/half"]
    process.send_signal(signal.SIGKILL)
    process.wait()
    with store.workspace(tmp_path):
        assert list(tmp_path.glob(".incoming-*/half")) == []


def _hold(path, started, order):
    with store.locked(path):
        started.set()
        time.sleep(0.5)
        order.put("first")


def test_locks_exclude_other_processes(tmp_path):
    context = multiprocessing.get_context("spawn")
    started, order = context.Event(), context.Queue()
    process = context.Process(target=_hold, args=(tmp_path / "x", started, order))
    process.start()
    assert started.wait(30)
    with store.locked(tmp_path / "x"):
        order.put("second")
    process.join()
    assert [order.get(timeout=5), order.get(timeout=5)] == ["first", "second"]


def test_the_record_is_plain_json(kept):
    assert json.loads((kept / store.RECORD).read_text())["rows"] == 3


def test_a_lock_that_is_a_symbolic_link_is_refused(tmp_path):
    """What it points to keeps its content."""
    target = tmp_path / "precious.txt"
    target.write_text("content")
    (tmp_path / ".x.lock").symlink_to(target)
    with pytest.raises(JointsError, match=r"\.x\.lock is a symbolic link"), store.locked(tmp_path / "x"):
        pass
    assert target.read_text() == "content"
    (tmp_path / ".y.lock").write_text("content")
    with store.locked(tmp_path / "y"):
        pass
    assert (tmp_path / ".y.lock").read_text() == "content"
