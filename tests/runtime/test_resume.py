"""Jobs in parts: what a job had finished, or an earlier one has computed, is not computed again."""

import pandas as pd
import pytest

from joints.runtime.resume import for_all, write_in_parts


class Stopped(Exception):
    pass


def job(folder, parts, computed, stop_at=None, depends_on="settings"):
    def compute(part):
        if part == stop_at:
            raise Stopped
        computed.append(part)
        return pd.DataFrame({"part": [part] * 2, "value": [1, 2]}), pd.DataFrame({"part": [part], "seconds": [3]})

    outputs = [folder / "scores.csv", folder / "seconds.csv"]
    write_in_parts(outputs, compute, {part: (part,) for part in parts}, depends_on, [folder / "input"])
    return outputs


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "input").write_text("data")
    return tmp_path


def test_the_parts_become_the_output(folder):
    scores, seconds = job(folder, [1, 2], [])
    assert (
        scores.read_text() == "part,value\n1,1\n1,2\n2,1\n2,2\n" and seconds.read_text() == "part,seconds\n1,3\n2,3\n"
    )


def test_a_job_whose_output_was_removed_computes_nothing_again(folder):
    computed = []
    outputs = job(folder, [1, 2], computed)
    before = [path.read_bytes() for path in outputs]
    for path in outputs:
        path.unlink()
    assert [path.read_bytes() for path in job(folder, [1, 2], computed)] == before
    assert computed == [1, 2]


def test_one_task_that_fails_does_not_stop_the_others(folder):
    done = []

    def write(task, path):
        if task == "wrong":
            raise Stopped(path)
        done.append((task, path))

    with pytest.raises(Stopped, match="b"):
        for_all(write, [("right",), ("wrong",), ("good",)], ["a", "b", "c"])
    assert done == [("right", "a"), ("good", "c")]


def test_a_job_that_stopped_goes_on_where_it_was(folder):
    computed = []
    with pytest.raises(Stopped):
        job(folder, [1, 2, 3], computed, stop_at=3)
    assert computed == [1, 2] and not (folder / "scores.csv").exists()
    scores, _ = job(folder, [1, 2, 3], computed)
    assert computed == [1, 2, 3]
    assert scores.read_text() == "part,value\n1,1\n1,2\n2,1\n2,2\n3,1\n3,2\n"


@pytest.mark.parametrize("what", ["settings", "input"])
def test_parts_of_other_settings_or_inputs_are_not_used(folder, what):
    computed = []
    with pytest.raises(Stopped):
        job(folder, [1, 2], computed, stop_at=2)
    if what == "input":
        (folder / "input").write_text("other data")
    job(folder, [1, 2], computed, depends_on="others" if what == "settings" else "settings")
    assert computed == [1, 1, 2]
