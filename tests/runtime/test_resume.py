"""Jobs in parts: what a killed job had finished is not recomputed."""

import pytest

from joints.runtime.resume import write_in_parts


class Stopped(Exception):
    pass


def job(folder, parts, computed, stop_at=None, depends_on="settings"):
    def compute(part):
        if part == stop_at:
            raise Stopped
        computed.append(part)
        return [f"part,value\n{part},1\n{part},2\n", f"part,seconds\n{part},3\n"]

    outputs = [folder / "scores.csv", folder / "seconds.csv"]
    write_in_parts(outputs, parts, compute, depends_on, [folder / "input"])
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
    assert sorted(path.name for path in folder.iterdir()) == ["input", "scores.csv", "seconds.csv"]


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
