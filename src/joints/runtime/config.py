"""Configurations and catalogues: YAML files that are fully described by a schema.

A key that is not in the schema is an error, never silently ignored; every message is one sentence that names the file
and the key.  A configuration may extend another one and state only what differs:
``python -m joints.runtime.config config/quick.yaml`` shows the result.
"""

from __future__ import annotations

import difflib
import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from joints.errors import JointsError

if TYPE_CHECKING:
    import jsonschema


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML in which a duplicate key is an error; PyYAML would silently keep the second value."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} is given twice", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


def read_yaml(path: str | Path) -> dict[str, Any]:
    """The mapping in a YAML file."""
    try:
        with Path(path).open(encoding="utf-8") as handle:
            content = yaml.load(handle, Loader=_Loader)
    except OSError as error:
        raise JointsError(f"{path} cannot be read: {error.strerror}") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" (line {mark.line + 1})" if mark else ""
        raise JointsError(f"{path} is not valid YAML{where}: {getattr(error, 'problem', error)}") from error
    if not isinstance(content, dict):
        raise JointsError(f"{path} must contain a mapping of keys to values")
    return content


def read_layers(path: str | Path) -> list[tuple[str, dict[str, Any]]]:
    """The files that make up a configuration, each with its content; the one that all others extend comes first."""
    layers: list[tuple[str, dict[str, Any]]] = []
    waiting: str | None = str(path)
    while waiting is not None:
        if waiting in [name for name, _ in layers]:
            raise JointsError(f"{waiting} extends itself, by way of {layers[-1][0]}")
        content = read_yaml(waiting)
        layers.append((waiting, content))
        waiting = content.pop("extends", None)
        if not isinstance(waiting, str | None):
            raise JointsError(f"{layers[-1][0]}: 'extends' is {waiting!r} but must be the name of a file")
    return layers[::-1]


def merge(base: Mapping[str, Any], changes: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration with some of its keys changed.

    Groups of settings, whose keys the schema lists, are merged key by key.  Anything else (a value, a list, or a
    collection under user-defined keys) is replaced as a whole, and null removes a key.

    >>> schema = {"properties": {"protocol": {"properties": {"folds": {}, "rates": {}}}, "own": {}}}
    >>> merge({"protocol": {"folds": 5, "rates": [0, 0.3]}, "own": {"a": 1}, "x": 1},
    ...       {"protocol": {"rates": [0.5]}, "own": {"b": 2}, "x": None}, schema)
    {'protocol': {'folds': 5, 'rates': [0.5]}, 'own': {'b': 2}}
    """
    out = dict(base)
    for key, value in changes.items():
        inner = schema.get("properties", {}).get(key, {})
        if value is None and "null" not in inner.get("type", ()):
            out.pop(key, None)
        elif "properties" in inner and isinstance(value, Mapping):
            out[key] = merge(out.get(key, {}), value, inner)
        else:
            out[key] = value
    return out


def read_run(
    files: Sequence[str | Path], schema: Mapping[str, Any], added: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The validated configuration from one or more files, with what they extend and what the command line adds."""
    # a file that several of them extend counts once, or it would undo what the first ones changed
    layers = list({name: content for path in files for name, content in read_layers(path)}.items())
    if added:
        layers.append(("the command line", dict(added)))
    merged: dict[str, Any] = {}
    for name, content in layers:
        _check_keys(content, schema, name)
        merged = merge(merged, content, schema)
    validate(merged, schema, files[-1])
    return merged


def _check_keys(content: Mapping[str, Any], schema: Mapping[str, Any], source: str, inside: str = "") -> None:
    """Raise a JointsError for a key that is not in the schema, naming the file that has it."""
    known = schema.get("properties")
    if known is None or schema.get("additionalProperties", True) is not False:
        return
    for key, value in content.items():
        if key not in known:
            where = f" in {inside!r}" if inside else ""
            raise JointsError(f"{source}: unknown key {key!r}{where}{suggestion(str(key), known)}")
        if isinstance(value, Mapping):
            _check_keys(value, known[key], source, f"{inside}.{key}".lstrip("."))


def validate(content: Mapping[str, Any], schema: Mapping[str, Any], source: str | Path) -> None:
    """Raise a JointsError that names the key and `source` unless `content` fits the schema."""
    import jsonschema  # here: jobs import this module for its other functions, and never validate

    _refuse_odd_values(content, source)
    # YAML allows keys that are not strings (such as a label 1); JSON, and hence the schema, allows only strings.
    plain = json.loads(json.dumps(_text_keys(content)))
    validator = jsonschema.Draft202012Validator(schema)
    errors = sorted(
        validator.iter_errors(plain), key=lambda error: (len(error.absolute_path), str(error.absolute_path))
    )
    if errors:
        raise JointsError(f"{source}: {_explain(errors[0])}")


def suggestion(word: str, known: Iterable[str]) -> str:
    """`` (did you mean 'x'?)`` when a known word is close, else nothing."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _text_keys(content: Any) -> Any:
    if isinstance(content, Mapping):
        return {str(key): _text_keys(value) for key, value in content.items()}
    if isinstance(content, list):
        return [_text_keys(value) for value in content]
    return content


def _refuse_odd_values(content: Any, source: str | Path, where: str = "") -> None:
    """Raise a JointsError for what YAML can say and JSON cannot: numbers that are not finite, and dates."""
    if isinstance(content, Mapping | list):
        pairs = content.items() if isinstance(content, Mapping) else enumerate(content)
        for key, value in pairs:
            _refuse_odd_values(value, source, f"{where}.{key}".lstrip("."))
    elif isinstance(content, float) and not math.isfinite(content):
        raise JointsError(f"{source}: {where!r} is {content!r}, which is not a finite number")
    elif not isinstance(content, str | int | float | None):
        raise JointsError(f"{source}: {where!r} is {content}, a {type(content).__name__}: put text in quotes")


def _explain(error: jsonschema.ValidationError) -> str:
    where = ".".join(str(step) for step in error.absolute_path)
    rule: Any = error.validator_value
    value: Any = error.instance
    schema: Any = error.schema
    inside = f" in {where!r}" if where else ""
    if error.validator == "additionalProperties":
        known = schema.get("properties", {})
        unknown = next(key for key in value if key not in known)
        return f"unknown key {unknown!r}{inside}{suggestion(unknown, known)}"
    if error.validator == "required":
        absent = next(key for key in rule if key not in value)
        return f"the key {absent!r} is missing{inside}"
    if "propertyNames" in error.schema_path:
        return f"{value!r} cannot be a key{inside}: {schema.get('description', 'it does not fit the pattern')}"
    if error.validator == "type":
        wanted = rule if isinstance(rule, str) else " or ".join(rule)
        return f"{where!r} is {value!r} but must be of type {wanted}"
    if error.validator in ("enum", "const"):
        options = rule if error.validator == "enum" else [rule]
        listed = ", ".join(map(repr, options))
        return f"{where!r} is {value!r} but must be one of {listed}{suggestion(str(value), map(str, options))}"
    about = schema.get("description")
    return f"{where!r} does not fit: {error.message}" + (f" ({about})" if about else "")


def _main(path: str, schema: str = "workflow/schemas/config.schema.yaml") -> int:
    try:
        run = read_run([path], read_yaml(schema))
    except JointsError as error:
        print(f"Error: {error}.", file=sys.stderr)
        return 1
    print(yaml.safe_dump(run, sort_keys=False, allow_unicode=True, width=120), end="")
    return 0


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
