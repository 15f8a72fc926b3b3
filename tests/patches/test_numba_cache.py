"""Numba's cache on disk with several processes."""

import pytest
from numba import njit
from numba.core.caching import IndexDataCacheFile

from joints.patches import numba_cache as patch
from joints.patches import versions
from joints.patches.numba_cache import KeptCode


def saved_between_the_writes_of_another(kind, folder, monkeypatch):
    """Two processes that read the index while it was empty; the second one saves between the first one's two writes."""
    first, second = (kind(str(folder), "kernel", "text") for _ in range(2))
    write = first._save_data

    def late(name, data):
        second.save("float64", "code for float64")
        write(name, data)

    with monkeypatch.context() as late_writes:
        late_writes.setattr(second, "_load_index", dict)
        late_writes.setattr(first, "_save_data", late)
        first.save("int64", "code for int64")
    return first, second


def test_numba_itself_mixes_up_the_code_of_two_processes(tmp_path, monkeypatch):
    first, _ = saved_between_the_writes_of_another(IndexDataCacheFile, tmp_path, monkeypatch)
    assert first.load("float64") == "code for int64"


def test_code_saved_between_the_writes_of_another_process_stays_what_it_is(tmp_path, monkeypatch):
    for cache in saved_between_the_writes_of_another(KeptCode, tmp_path, monkeypatch):
        for key in ("int64", "float64"):
            assert cache.load(key) in (None, f"code for {key}")  # None: it is compiled again


def test_processes_that_compile_at_the_same_time_never_mix_up_their_code(tmp_path, monkeypatch):
    """The second one looked at the index before the first one wrote it."""
    first, second = (KeptCode(str(tmp_path), "kernel", "text") for _ in range(2))
    first.save("int64", "code for int64")
    with monkeypatch.context() as patch:
        patch.setattr(second, "_load_index", dict)
        second.save("float64", "code for float64")
    assert first.load("float64") == "code for float64"
    assert first.load("int64") in (None, "code for int64")  # None: it is compiled again
    first.save("int64", "code for int64")
    assert second.load("int64") == "code for int64" and second.load("float64") == "code for float64"


def test_two_versions_of_numba_never_mix_up_their_code(tmp_path):
    """A process has read the index when one of another environment that keeps its code in the same place compiles."""
    ours, theirs = (KeptCode(str(tmp_path), "kernel", "text") for _ in range(2))
    ours.save("int64", "our code")
    named = ours._load_index()
    theirs._version = "0.1"
    theirs.save("int64", "their code")
    assert not (tmp_path / named["int64"]).exists() and ours.load("int64") is None  # it is compiled again


def test_the_index_names_nothing_that_is_not_there_yet(tmp_path, monkeypatch):
    older, newer = (KeptCode(str(tmp_path), "kernel", text) for text in ("old", "new"))
    older.save("int64", "old code")

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(newer, "_save_data", killed)
        with pytest.raises(KeyboardInterrupt):
            newer.save("int64", "new code")
    assert newer.load("int64") is None
    newer.save("int64", "new code")
    assert newer.load("int64") == "new code" and len(list(tmp_path.glob("*.nbc"))) == 1


def double(x):
    return 2 * x


@pytest.fixture
def forgetful(monkeypatch, tmp_path):
    """The patch as it is before its first use, and a function with numba's own cache."""
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    remembered = (patch._doubt, patch._methods_are_as_expected, versions.warn)
    for function in remembered:
        function.cache_clear()
    yield njit(cache=True)(double)
    for function in remembered:
        function.cache_clear()


@pytest.mark.parametrize("installed", ["0.68.1", "0.99.0"])
def test_the_cache_is_replaced_and_an_unknown_version_is_named(forgetful, monkeypatch, recwarn, tmp_path, installed):
    monkeypatch.setattr(versions, "version", lambda library: installed)
    assert patch.keep(forgetful, "text") and type(forgetful._cache._cache_file) is KeptCode
    assert forgetful(4) == 8
    again = njit(cache=True)(double)
    assert patch.keep(again, "text") and again(4) == 8 and sum(again.stats.cache_hits.values()) == 1
    newer = njit(cache=True)(double)
    assert patch.keep(newer, "another text") and newer(4) == 8 and not newer.stats.cache_hits
    assert len(list(tmp_path.rglob("*.nbc"))) == 1
    said = [str(warning.message) for warning in recwarn]
    new = ["numba 0.99.0 was not tested (tested: 0.60.0 to 0.68.1): its cache on disk is replaced, as in the tested "
           "versions."]  # fmt: skip
    assert said == (new if installed == "0.99.0" else [])


CHANGES = ["a method is gone", "another signature", "an attribute is gone", "no file", "another class", "no class"]


@pytest.mark.parametrize("installed", ["0.68.1", "0.99.0"])
@pytest.mark.parametrize("change", CHANGES)
def test_another_cache_is_left_alone_with_a_warning(forgetful, monkeypatch, installed, change):
    monkeypatch.setattr(versions, "version", lambda library: installed)
    if change == "a method is gone":
        monkeypatch.delattr(IndexDataCacheFile, "_save_index")
    elif change == "another signature":
        monkeypatch.setattr(IndexDataCacheFile, "save", lambda self, key, data, lock: None)
    elif change == "an attribute is gone":
        del forgetful._cache._cache_file._index_name
    elif change == "no file":
        del forgetful._cache._cache_file
    elif change == "another class":
        forgetful._cache._cache_file = object()
    else:
        monkeypatch.setattr(patch, "IndexDataCacheFile", object)
    with pytest.warns(versions.PatchWarning, match="kernels are compiled in every process") as said:
        assert not patch.keep(forgetful, "text") and not patch.keep(forgetful, "text")
    assert len(said) == 1


def test_an_index_with_records_that_have_another_name_now_is_passed_over(tmp_path, monkeypatch):
    record = type("Renamed", (), {"__module__": __name__})
    cache = KeptCode(str(tmp_path), "kernel", "text")
    with monkeypatch.context() as before:
        before.setitem(globals(), "Renamed", record)
        cache.save(record, "code")
        assert cache.load(record) == "code"
    with pytest.raises(AttributeError):
        IndexDataCacheFile(str(tmp_path), "kernel", "text").load("int64")
    assert cache.load("int64") is None
    cache.save("int64", "other code")
    assert cache.load("int64") == "other code"
