"""The pgf backend without LaTeX."""

import pytest
from matplotlib.backends import backend_pgf
from matplotlib.figure import Figure

from joints.patches import matplotlib_pgf as patch
from joints.patches import versions
from joints.patches.matplotlib_pgf import metrics_without_tex


@pytest.fixture(autouse=True)
def no_tex(monkeypatch, tmp_path):
    """A machine without TeX, on which nothing has been measured or said yet."""
    monkeypatch.setenv("PATH", str(tmp_path))
    backend_pgf.LatexManager._get_cached_or_new_impl.cache_clear()
    versions.warn.cache_clear()


def figure():
    result = Figure(figsize=(2, 1))
    result.add_subplot().set_title("Title with $x^2$")
    return result


def test_matplotlib_itself_needs_tex(tmp_path):
    with pytest.raises(RuntimeError, match="not found"):
        figure().savefig(tmp_path / "a.pgf")


def test_a_file_is_written_without_tex_and_matplotlib_stays_as_it_was(tmp_path, recwarn):
    before = dict(vars(backend_pgf.LatexManager))
    with metrics_without_tex():
        figure().savefig(tmp_path / "a.pgf")
    assert "Title with" in (tmp_path / "a.pgf").read_text()
    assert dict(vars(backend_pgf.LatexManager)) == before and not list(recwarn)
    with pytest.raises(ZeroDivisionError), metrics_without_tex():
        raise ZeroDivisionError
    assert dict(vars(backend_pgf.LatexManager)) == before


def test_an_unknown_version_is_named_and_patched(monkeypatch, tmp_path):
    monkeypatch.setattr(versions, "version", lambda library: "3.99.0")
    with pytest.warns(versions.PatchWarning, match=r"^matplotlib 3\.99\.0 was not tested") as said:
        for name in ("a.pgf", "b.pgf"):
            with metrics_without_tex():
                figure().savefig(tmp_path / name)
    assert len(said) == 1 and (tmp_path / "a.pgf").read_bytes() == (tmp_path / "b.pgf").read_bytes()


@pytest.mark.parametrize("installed", ["3.11.2", "3.99.0"])
@pytest.mark.parametrize("change", ["no class", "no method", "another method", "another signature", "other fonts"])
def test_another_backend_is_left_alone_with_a_warning(monkeypatch, installed, change):
    monkeypatch.setattr(versions, "version", lambda library: installed)
    manager = backend_pgf.LatexManager
    if change == "no class":
        monkeypatch.delattr(backend_pgf, "LatexManager")
    elif change == "no method":
        monkeypatch.delattr(manager, "_get_cached_or_new")
    elif change == "another method":
        monkeypatch.setattr(manager, "_get_cached_or_new", lambda self: self)
    elif change == "another signature":
        monkeypatch.setattr(manager, "get_width_height_descent", lambda self, text: (1, 1, 1))
    else:
        monkeypatch.setattr(patch.text_to_path, "get_text_width_height_descent", lambda text: (1, 1, 1), raising=True)
    before = dict(vars(manager))
    with pytest.warns(versions.PatchWarning, match="LaTeX measures the text") as said:
        for _ in range(2):
            with metrics_without_tex():
                assert dict(vars(manager)) == before
    assert len(said) == 1
