"""The catalogue that the project ships, and the mistakes that users can make in a catalogue."""

import csv

import pytest

from joints.data.catalogue import DatasetEntry, check_datasets, read_datasets
from joints.errors import JointsError
from joints.runtime.config import read_yaml, validate

PAPER = [
    "authent",
    "bank",
    "breast",
    "cmc",
    "german",
    "diabetes",
    "dna",
    "dresses",
    "electricity",
    "gesture",
    "jungle",
    "krvskp",
    "mice",
    "phishing",
    "robot",
    "segment",
    "splice",
    "texture",
    "vehicle",
    "vowel",
    "wine",
]
WITHOUT_OPENML = ["breast", "cmc", "german", "diabetes", "krvskp", "segment", "splice", "texture", "vehicle", "vowel"]


@pytest.fixture
def schema(root):
    return read_yaml(root / "workflow/schemas/datasets.schema.yaml")


@pytest.fixture
def catalogue(root, schema):
    content = read_yaml(root / "config/datasets.yaml")
    validate(content, schema, "config/datasets.yaml")
    return read_datasets(content, "config/datasets.yaml")


def test_the_paper_has_21_and_the_outlier_experiments_five_more(catalogue, root):
    assert set(PAPER) | {"wine_red", "wine_white", "mnist", "semeion", "svhn"} <= set(catalogue)
    assert read_yaml(root / "config/config.yaml")["datasets"] == PAPER
    ids = {name: catalogue[name].sources[0]["openml"]["id"] for name in ("mnist", "semeion", "svhn")}
    assert ids == {"mnist": 554, "semeion": 1501, "svhn": 41081}


def test_the_21_have_all_that_the_tables_need(catalogue):
    for name in PAPER:
        entry = catalogue[name]
        assert entry.label and entry.title and entry.citation, name
        assert set(entry.numbers) == {"n", "categorical", "continuous", "classes", "majority"}, name


def test_the_numbers_are_those_of_table_1(catalogue, shared):
    with (shared / "paper" / "table1.csv").open() as handle:
        table = {row["Dataset"]: row for row in csv.DictReader(handle)}
    assert {catalogue[name].label for name in PAPER} == set(table)
    for name in PAPER:
        row = table[catalogue[name].label]
        paper = {"n": row["n"], "categorical": row["cat"], "continuous": row["cont"], "classes": row["nc"]}
        assert dict(catalogue[name].numbers) == {
            **{key: int(value) for key, value in paper.items()},
            "majority": float(row["maj"]),
        }


def test_the_modern_run_needs_no_openml(catalogue, root):
    modern = read_yaml(root / "config/modern.yaml")
    assert modern["fetch"]["sources"] == ["wheel", "sklearn"]
    assert len(modern["datasets"]) == len(set(modern["datasets"])) >= 13
    for name in modern["datasets"]:
        assert {"wheel", "sklearn"} & set(catalogue[name].kinds()), name
        assert set(catalogue[name].numbers) == {"n", "categorical", "continuous", "classes", "majority"}, name


def test_the_quick_run_needs_no_openml(catalogue, root):
    quick = read_yaml(root / "config/quick.yaml")
    # texture alone takes as long as the other nine together
    assert quick["datasets"] == [name for name in WITHOUT_OPENML if name != "texture"]
    assert quick["fetch"]["sources"] == ["wheel", "sklearn"]
    check_datasets(quick["datasets"], quick["fetch"]["sources"], catalogue, "config/quick.yaml", "config/datasets.yaml")


def test_every_wheel_is_the_same(catalogue):
    wheels = [source["wheel"] for entry in catalogue.values() for source in entry.sources if "wheel" in source]
    assert len(wheels) == 30 and len({(wheel["package"], wheel["sha256"]) for wheel in wheels}) == 1


GOOD = {"target": "y", "sources": [{"csv": {"path": "a.csv"}}]}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"lable": "x"}, r"unknown key 'lable' in 'toy' \(did you mean 'label'\?\)"),
        ({"target": None}, r"'toy.target' is None but must be of type string"),
        ({"sources": [{"opneml": {"id": 1}}]}, r"unknown key 'opneml' in 'toy.sources.0' \(did you mean 'openml'\?\)"),
        ({"sources": [{"openml": {"id": "7"}}]}, r"'toy.sources.0.openml.id' is '7' but must be of type integer"),
        ({"sources": [{"openml": {"id": 7, "column": []}}]}, r"unknown key 'column' .* \(did you mean 'columns'\?\)"),
        ({"sources": [{"openml": {}}]}, r"the key 'id' is missing in 'toy.sources.0.openml'"),
        ({"sources": [{"url": {"url": "a:b", "sha256": "12"}}]}, r"sha256' does not fit: .*64 hexadecimal"),
        ({"sources": [{"sklearn": {"name": "digit"}}]}, r"must be one of .*\(did you mean 'digits'\?\)"),
        ({"sources": [{"csv": {"path": "a"}, "openml": {"id": 1}}]}, r"'toy.sources.0' does not fit"),
        ({"continuous": "all"}, r"'toy.continuous' is 'all' but must be one of 'rest'"),
        ({"values": {"x": {"a": True}}}, r"'toy.values.x.a' is True but must be of type string or number"),
        ({"numbers": {"m": 1}}, r"unknown key 'm' in 'toy.numbers'"),
    ],
)
def test_mistakes_name_the_key_and_the_file(schema, change, reason):
    with pytest.raises(JointsError, match=rf"^my\.yaml: .*{reason}"):
        validate({"toy": {**GOOD, **change}}, schema, "my.yaml")


def test_a_good_entry_passes(schema):
    validate({"toy": GOOD, "toy_2": {**GOOD, "values": {"x": {1: "a", "*": 2}}}}, schema, "my.yaml")


def test_an_entry_is_labelled_by_its_key_unless_it_says_otherwise():
    found = read_datasets({"toy": GOOD, "other": {**GOOD, "label": "Other"}}, "my.yaml")
    assert found["toy"] == DatasetEntry(name="toy", label="toy", **GOOD) and found["other"].label == "Other"


def test_what_an_entry_names_and_where_it_comes_from():
    entry = DatasetEntry(
        name="toy",
        label="Toy",
        target="y",
        sources=[{"openml": {"id": 1}}, {"csv": {"path": "a.csv"}}],
        drop=["id"],
        categorical=["a", "b"],
        continuous="rest",
        values={"b": {1: "x"}, "y": {0: "no"}},
    )
    assert entry.named_columns() == ["y", "id", "b", "a"]  # each once; "rest" is not a column
    assert entry.kinds() == ["openml", "csv"]


@pytest.mark.parametrize("name", ["Toy", "to-y", "1toy", "to/y"])
def test_keys_are_fit_for_files(schema, name):
    with pytest.raises(JointsError, match=rf"^my\.yaml: '{name}' cannot be a key: .*lower-case letters"):
        validate({name: GOOD}, schema, "my.yaml")


@pytest.mark.parametrize(
    ("catalogue", "reason"),
    [
        ({"toy": {"target": "y"}}, "'toy' must have either 'sources' or 'parts'"),
        ({"toy": {**GOOD, "parts": ["a", "b"]}}, "'toy' must have either 'sources' or 'parts'"),
        ({"one": GOOD, "toy": {"target": "y", "parts": ["one", "on"]}}, r"the part 'on', .* \(did you mean 'one'\?\)"),
        ({"toy": {**GOOD, "categorical": "rest", "continuous": "rest"}}, "cannot have 'rest' as both"),
    ],
)
def test_entries_that_contradict_themselves(catalogue, reason):
    with pytest.raises(JointsError, match=rf"^my\.yaml: .*{reason}"):
        read_datasets(catalogue, "my.yaml")


@pytest.mark.parametrize(
    ("datasets", "kinds", "reason"),
    [
        (["vehicel"], ["openml"], r"'vehicel', which is not in .* \(did you mean 'vehicle'\?\)"),
        (["vehicle"], ["csv"], "'fetch.sources' allows csv, but 'vehicle' only comes from openml, wheel"),
        (["wine"], ["wheel"], "but 'wine_red' only comes from openml"),
    ],
)
def test_runs_that_cannot_be_made(catalogue, datasets, kinds, reason):
    with pytest.raises(JointsError, match=rf"^my\.yaml: .*{reason}"):
        check_datasets(datasets, kinds, catalogue, "my.yaml", "config/datasets.yaml")


def test_a_message_names_the_key_that_has_the_dataset(catalogue):
    with pytest.raises(JointsError, match=r"^my\.yaml: 'outliers' has 'minst', which .* \(did you mean 'mnist'\?\)"):
        check_datasets(["minst"], ["openml"], catalogue, "my.yaml", "config/datasets.yaml", "outliers")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: 1\nb: 2\na: 3\n", r"line 3.*the key 'a' is given twice"),
        ("a: [1\n", r"my\.yaml is not valid YAML"),
        ("- a\n", "must contain a mapping"),
        ("", "must contain a mapping"),
    ],
)
def test_files_that_are_not_a_mapping_in_yaml(tmp_path, text, reason):
    (tmp_path / "my.yaml").write_text(text)
    with pytest.raises(JointsError, match=reason):
        read_yaml(tmp_path / "my.yaml")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(JointsError, match=r"my\.yaml cannot be read: No such file"):
        read_yaml(tmp_path / "my.yaml")


@pytest.mark.parametrize("key", ["nan", "null", "inf", "true", "false"])
def test_words_for_values_cannot_be_keys(schema, key):
    content = {key: {"target": "y", "sources": [{"csv": {"path": "x.csv"}}]}}
    with pytest.raises(JointsError, match=f"'{key}' cannot be a key: .* is not a word for a value"):
        validate(content, schema, "mine.yaml")


@pytest.mark.parametrize("key", [None, True, 1.5, 7, float("nan")])
def test_keys_that_yaml_takes_for_values_are_refused(schema, key):
    content = {key: {"target": "y", "sources": [{"csv": {"path": "x.csv"}}]}}
    with pytest.raises(JointsError, match=f"'{key}' cannot be a key"):
        validate(content, schema, "mine.yaml")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            {"categorical": ["a", "b"], "continuous": ["b"]},
            "mine.yaml: 'own' lists 'b' as both categorical and continuous",
        ),
        ({"drop": ["y"]}, "mine.yaml: 'own' drops 'y', which is its target"),
    ],
)
def test_columns_with_two_roles_are_refused(content, message):
    entry = {"target": "y", "sources": [{"csv": {"path": "x.csv"}}], **content}
    with pytest.raises(JointsError, match=message):
        read_datasets({"own": entry}, "mine.yaml")
