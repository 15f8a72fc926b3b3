"""Tables of pixels as pictures."""

import logging

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_sample_image

from joints.data.catalogue import DatasetEntry
from joints.data.sources import Settings
from joints.errors import JointsError
from joints.study.outliers.foreign import fetch_images, load_images, save_images
from joints.study.outliers.images import MADE, fit_into, grey, images_of, resize


def test_rows_become_images_between_0_and_1():
    table = np.arange(18.0).reshape(2, 9) + 5
    images = images_of(table)
    assert images.shape == (2, 3, 3)
    np.testing.assert_allclose(images[0, 1], np.array([3, 4, 5]) / 17)
    table[0, 4] = np.nan
    assert np.isnan(images_of(table)[0, 1, 1]) and np.isnan(images_of(table)).sum() == 1


def test_black_images():
    assert (images_of(np.full((2, 4), 7.0)) == 0).all()


def test_columns_that_are_not_a_square():
    with pytest.raises(JointsError, match="toy has 7 columns, which is neither a square number nor three times one"):
        images_of(np.zeros((2, 7)), "toy")


@pytest.mark.parametrize("planes", [False, True])
def test_grey_in_both_arrangements_of_colours(planes):
    picture = load_sample_image("china.jpg")[100:164, 200:264]
    expected = np.asarray(Image.fromarray(picture).convert("L"))
    row = (np.moveaxis(picture, 2, 0) if planes else picture).reshape(1, -1).astype(float)
    np.testing.assert_allclose(grey(row).reshape(64, 64), expected, atol=1)
    assert images_of(row).shape == (1, 64, 64)


@pytest.mark.parametrize("old, new", [(16, 28), (32, 28), (8, 28), (28, 20), (16, 16)])
def test_resizing_as_pillow_does(old, new):
    image = np.random.default_rng(old).random((old, old)).astype(np.float32)
    expected = np.asarray(Image.fromarray(image).resize((new, new), Image.Resampling.BILINEAR))
    np.testing.assert_allclose(resize(image[None].astype(float), new)[0], expected, atol=1e-5)


def test_resizing_keeps_flat_images_flat():
    for new in (3, 28, 40):
        np.testing.assert_allclose(resize(np.full((1, 16, 16), 0.3), new), 0.3)


def test_missing_pixels_stay_where_they_are():
    images = np.zeros((2, 4, 4))
    images[0, 0, 0] = np.nan
    out = np.isnan(resize(images, 8))
    assert out[0, :2, :2].all() and not out[0, 4:].any() and not out[0, :, 4:].any() and not out[1].any()


def test_a_margin_is_black():
    images = fit_into(np.ones((3, 16, 16)), 28, 4)
    assert images.shape == (3, 28, 28)
    assert (images[:, 4:24, 4:24] == 1).all() and images.sum() == 3 * 400
    with pytest.raises(JointsError, match="a margin of 14 on each side leaves nothing of 28 pixels"):
        fit_into(np.ones((1, 16, 16)), 28, 14)


def test_foreign_images_are_made_of_the_same_pixels():
    images = np.random.default_rng(0).random((4, 5, 5))
    for kind, make in MADE.items():
        made = make(images, np.random.default_rng(1))
        assert made.shape == images.shape and not np.allclose(made, images)
        same = 1 - made if kind == "inverted" else made
        np.testing.assert_allclose(np.sort(same.reshape(4, -1)), np.sort(images.reshape(4, -1)))


def test_fetched_images_and_those_that_cannot_be_fetched(tmp_path, caplog):
    settings = Settings(folder=tmp_path, tries=1, pause=0, timeout=9)
    entry = DatasetEntry(name="digits", label="Digits", target="target", continuous="rest")
    with caplog.at_level(logging.WARNING):
        images, reason = fetch_images(entry, [{"sklearn": {"name": "digits"}}], settings)
        assert images.shape == (1797, 8, 8) and images.max() == 1 and reason == "" and caplog.text == ""
        none, reason = fetch_images(entry, [{"csv": {"path": str(tmp_path / "no.csv")}}], settings)
    assert len(none) == 0 and "no.csv" in reason and "Digits is left out of the images: " in caplog.text
    for content in ((images, ""), (none, reason)):
        save_images(*content, tmp_path / "images.npz")
        back = load_images(tmp_path / "images.npz")
        np.testing.assert_allclose(back[0], content[0], atol=1e-7)
        assert back[1] == content[1]


def test_images_of_a_dataset_whose_sources_the_run_does_not_allow(tmp_path):
    entry = DatasetEntry(name="digits", label="Digits", target="target")
    none, reason = fetch_images(entry, [], Settings(folder=tmp_path))
    assert len(none) == 0 and reason == "Dataset 'digits' has no source that this run allows"


def test_tables_that_are_not_images_are_left_out_too(tmp_path):
    (tmp_path / "own.csv").write_text("a,b,kind\n1,2,u\n3,4,v\n")
    entry = DatasetEntry(name="own", label="Own", target="kind", continuous="rest")
    none, reason = fetch_images(entry, [{"csv": {"path": str(tmp_path / "own.csv")}}], Settings(folder=tmp_path))
    assert len(none) == 0 and reason.startswith("own has 2 columns, which is neither a square number")
