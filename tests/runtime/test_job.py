"""What a job checks before it computes anything."""

import sys

import pytest

from joints.errors import JointsError
from joints.runtime import checksums, fingerprint
from joints.runtime.checksums import check_sums, is_as_written
from joints.runtime.files import write_json, write_text
from joints.runtime.fingerprint import Code, script_digest, source_stamp
from joints.runtime.job import check_code


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(checksums.RUN, str(tmp_path / "kept"))
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("my_own", None)


def forget():
    """Another process would read the files again."""
    fingerprint._tree.cache_clear()
    fingerprint._meaning.cache_clear()


def test_an_edit_since_the_run_was_planned(folder):
    (folder / "scripts").mkdir()
    script, module, record = folder / "scripts" / "make.py", folder / "my_own.py", folder / "code.json"
    script.write_text("import my_own\n")
    module.write_text("X = 1\n")
    code = Code(script_digest(script, "my_own"), "make", ("my_own",))
    write_json(record, {"stamp": source_stamp(script.parent)})
    check_code(code, script.parent, record)
    for path, text in ((module, "X = 2\n"), (script, "import my_own\nprint(my_own.X)\n")):
        old = path.read_text()
        path.write_text(text)
        forget()
        with pytest.raises(JointsError, match="the code of make has been edited since the run was started"):
            check_code(code, script.parent, record)
        path.write_text(f"# a comment\n{old}")
        forget()
        check_code(code, script.parent, record)
        check_code(code, script.parent, folder / "gone.json")
        path.write_text(old)
        forget()


def test_the_stamp_is_that_of_every_file(folder):
    (folder / "make.py").write_text("X = 1\n")
    before = source_stamp(folder)
    (folder / "make.py").write_text("X = 2\n")
    assert source_stamp(folder) != before


@pytest.mark.parametrize("change", [lambda text: text[: len(text) // 2], lambda text: text.replace("7", "8")])
def test_a_file_that_was_altered_after_it_was_written(folder, change):
    write_text("results/forests/1-5/a.txt", "the number is 7\n")
    write_text("results/b.csv", "7,7\n7,7\n")
    (folder / "own.csv").write_text("mine")
    check_sums(["results/forests/1-5", "results/b.csv", "own.csv", "gone.csv"])
    assert is_as_written(folder / "own.csv") is None and is_as_written(folder / "results/b.csv")
    for name in ("results/b.csv", "results/forests/1-5/a.txt"):
        path = folder / name
        path.write_text(change(path.read_text()))
        with pytest.raises(JointsError, match=rf"{name} is damaged \(its checksum .*delete it and run the workflow"):
            check_sums(["results/forests/1-5", name])
        write_text(name, "7,7\n")
        check_sums([name])
