"""Configurations and catalogues: YAML files that a schema describes completely.

A key that the schema does not know is an error and never a silent default; every message is one sentence that names the
file and the key.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from joints.errors import JointsError

if TYPE_CHECKING:
    import jsonschema


class _Loader(yaml.SafeLoader):
    """YAML in which a key given twice is an error; plain YAML would keep the second and say nothing."""

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
        raise JointsError(f"{path} must hold a mapping of keys to values")
    return content


def validate(content: Mapping[str, Any], schema: Mapping[str, Any], source: str | Path) -> None:
    """Raise a JointsError that names the key and `source` unless `content` fits the schema."""
    import jsonschema  # here: jobs import this module for its other functions, and never validate

    # YAML allows keys that are not strings (a label 1); JSON, and so the schema, only knows strings.
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
    if error.validator == "propertyNames":
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
