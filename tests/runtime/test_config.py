"""Configurations in layers."""

import contextlib
import datetime
from pathlib import Path

import pytest
import yaml

from joints.errors import JointsError
from joints.runtime.config import read_layers, read_run, read_yaml

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = read_yaml(ROOT / "workflow/schemas/config.schema.yaml")


@pytest.fixture
def files(tmp_path):
    """Write files, and give their paths."""

    def write(**contents):
        for name, content in contents.items():
            (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(content))
        return [str(tmp_path / f"{name}.yaml") for name in contents]

    with contextlib.chdir(ROOT):
        yield write


def test_what_differs_is_stated_and_the_rest_is_kept(files):
    base = read_run(["config/config.yaml"], SCHEMA)
    (mine,) = files(mine={"extends": "config/config.yaml", "run": "mine", "protocol": {"folds": 3}})
    merged = read_run([mine], SCHEMA)
    assert merged["protocol"] == {**base["protocol"], "folds": 3} and merged["run"] == "mine"
    assert {key: merged[key] for key in base if key not in ("run", "protocol")} == {
        key: base[key] for key in base if key not in ("run", "protocol")
    }
    assert "extends" not in merged


def test_lists_and_collections_are_replaced_and_null_takes_a_key_away(files):
    changes = {
        "protocol": {"rates": [0, 0.3]},
        "outliers": {"wine": {"datasets": {"mine": ["a", "b"]}}},
        "ablation": None,
    }
    (mine,) = files(mine={"extends": "config/config.yaml", **changes})
    merged = read_run([mine], SCHEMA)
    assert merged["protocol"]["rates"] == [0, 0.3] and "ablation" not in merged
    assert merged["outliers"]["wine"]["datasets"] == {"mine": ["a", "b"]}
    assert merged["outliers"]["wine"]["repetitions"] == 10


def test_layers_upon_layers_and_the_command_line(files):
    first, second = files(first={"extends": "config/config.yaml", "run": "first", "protocol": {"seed": 1}}, second={})
    Path(second).write_text(yaml.safe_dump({"extends": first, "protocol": {"folds": 2}}))
    assert [Path(name).name for name, _ in read_layers(second)] == ["config.yaml", "first.yaml", "second.yaml"]
    merged = read_run([second], SCHEMA, {"protocol": {"folds": 4}})
    assert merged["run"] == "first" and merged["protocol"]["seed"] == 1 and merged["protocol"]["folds"] == 4


def test_several_files(files):
    (mine,) = files(mine={"protocol": {"folds": 2}})
    assert read_run(["config/config.yaml", mine], SCHEMA)["protocol"]["folds"] == 2


def test_a_file_that_several_extend_counts_once(files):
    (mine,) = files(mine={"extends": "config/config.yaml", "protocol": {"folds": 2}})
    merged = read_run(["config/quick.yaml", mine], SCHEMA)
    assert merged["run"] == "quick" and len(merged["datasets"]) == 9 and merged["protocol"]["folds"] == 2


def test_mistakes_name_the_file_that_has_them(files):
    (base,) = files(base={"extends": "config/config.yaml", "protocol": {"sed": 1}})
    (mine,) = files(mine={"extends": base})
    with pytest.raises(JointsError, match=r"base\.yaml: unknown key 'sed' in 'protocol' \(did you mean 'seed'\?\)"):
        read_run([mine], SCHEMA)
    (around,) = files(around={})
    Path(around).write_text(yaml.safe_dump({"extends": around}))
    with pytest.raises(JointsError, match=r"around\.yaml extends itself"):
        read_run([around], SCHEMA)
    (odd,) = files(odd={"extends": 5})
    with pytest.raises(JointsError, match=r"odd\.yaml: 'extends' is 5 but must be the name of a file"):
        read_run([odd], SCHEMA)
    (lost,) = files(lost={"extends": "config/gone.yaml"})
    with pytest.raises(JointsError, match=r"config/gone\.yaml cannot be read"):
        read_run([lost], SCHEMA)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"forest": {"max_features": "sqr"}},
            r"'forest.max_features' is 'sqr' but must be one of 'sqrt' \(did you mean",
        ),
        ({"forest": {"max_features": 0}}, r"'forest.max_features' does not fit"),
        ({"forest": {"max_features": 1.5}}, r"'forest.max_features' does not fit"),
        ({"forest": {"purity": float("nan")}}, r"'forest.purity' is nan, which is not a finite number"),
        ({"fetch": {"timeout": float("inf")}}, r"'fetch.timeout' is inf, which is not a finite number"),
        ({"protocol": {"rates": [0.0, float("nan")]}}, r"'protocol.rates.1' is nan"),
        ({"reference": datetime.date(2020, 1, 1)}, r"'reference' is 2020-01-01, a date: put text in quotes"),
    ],
)
def test_values_that_no_job_could_use(files, changes, message):
    (mine,) = files(mine={"extends": "config/config.yaml", **changes})
    with pytest.raises(JointsError, match=message):
        read_run([mine], SCHEMA)


@pytest.mark.parametrize("value", ["sqrt", 3, 0.5, 1, None])
def test_ways_to_choose_features(files, value):
    (mine,) = files(mine={"extends": "config/config.yaml", "forest": {"max_features": value}})
    assert read_run([mine], SCHEMA)["forest"]["max_features"] == value
