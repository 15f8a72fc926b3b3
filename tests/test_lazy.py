"""Names that are imported on first use."""

import sys

import pytest

from joints.lazy import names_of


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("import math\nmath.gone", "broken_home cannot be imported: .*'gone'"),
        ("1 / 0", "division by zero"),
        ("", "Name"),
    ],
)
def test_an_error_inside_a_module_shows_itself(tmp_path, monkeypatch, body, said):
    """`from package import Name` turns an AttributeError of the module into "cannot import name" otherwise."""
    (tmp_path / "broken_home.py").write_text(body)
    package = type(sys)("package_of_names")
    package.__getattr__ = names_of("package_of_names", {"Name": "broken_home"})
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "package_of_names", package)
    monkeypatch.delitem(sys.modules, "broken_home", raising=False)
    with pytest.raises((ImportError, ZeroDivisionError), match=said) as raised:
        exec("from package_of_names import Name")
    assert "cannot import name" not in str(raised.value)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'a' has no attribute 'b'"):
        names_of("a", {})("b")
