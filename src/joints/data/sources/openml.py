"""OpenML, through its own client, by dataset id.

The client deletes its cache when anything fails, and has no locks and no timeout, so it runs in a process and a cache
of its own, and only the finished table leaves them.  All columns are requested, because the columns that OpenML marks
as ignored have changed over time; the catalogue says what to drop.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from joints.data import child
from joints.data.raw import normalise, read_raw, write_raw
from joints.data.sources.base import Source, SourceError, innermost


class OpenML(Source):
    kind = "openml"

    def identity(self) -> dict[str, Any]:
        return {"id": self.spec["id"], "server": self.settings.openml_server}

    def describe(self) -> str:
        return f"openml {self.spec['id']} at {self.settings.openml_server}"

    def read(self, folder: Path, seconds: float) -> tuple[pd.DataFrame, dict[str, Any]]:
        path = folder.resolve() / "table.parquet"
        arguments = {**self.identity(), "path": str(path), "missing": self.missing}
        facts = ask_client(download_dataset, arguments, folder, seconds, self.settings.most_bytes)
        return read_raw(path), facts


def ask_client(
    function: Callable[..., Any], arguments: Mapping[str, Any], folder: Path, seconds: float, most_bytes: int
) -> Any:
    """Call a function of this module that uses the client, in a process of its own; its files stay in `folder`."""
    # Importing the client creates folders for its settings and its cache in the user's home.
    home = folder.resolve() / "client"
    homes = dict.fromkeys(["HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "OPENML_CACHE_DIR"], str(home))
    home.mkdir(parents=True)
    return child.call(f"{__name__}:{function.__name__}", arguments, seconds, homes, most_bytes)


def download_dataset(id: int, server: str, path: str, missing: list[str]) -> dict[str, Any]:
    """Fetch a dataset with the client and write its normalised table to `path`."""
    with _client(server) as openml:
        dataset = openml.datasets.get_dataset(
            id, download_data=True, download_qualities=False, download_features_meta_data=True
        )
        frame = dataset.get_data(include_row_id=True, include_ignore_attribute=True)[0]
    write_raw(normalise(pd.DataFrame(frame), missing), path)
    ignored = dataset.ignore_attribute or []
    return {
        "name": dataset.name,
        "version": dataset.version,
        "md5": dataset.md5_checksum,
        "url": dataset.url,
        "target": dataset.default_target_attribute,
        "not_features": [*ignored, *([dataset.row_id_attribute] if dataset.row_id_attribute else [])],
    }


def list_suite(id: int, server: str) -> list[int]:
    """The datasets of a suite."""
    with _client(server) as openml:
        return [int(found) for found in openml.study.get_suite(id).data or []]


@contextmanager
def _client(server: str) -> Iterator[Any]:
    """The client, whose errors become one sentence each."""
    import openml
    from openml.exceptions import OpenMLHashException, OpenMLServerException
    from requests.exceptions import RequestException

    openml.config.server = server
    openml.config.set_retry_policy("human", 1)  # the caller retries, with pauses
    try:
        yield openml
    except OpenMLServerException as error:
        if error.code in _FINAL:
            raise SourceError(_FINAL[error.code], retry=False) from error
        raise SourceError(f"the server answered with error {error.code}, {error.message}") from error
    except OpenMLHashException as error:
        raise SourceError("the downloaded file has a wrong checksum") from error
    except RequestException as error:
        raise SourceError(f"the connection failed ({innermost(error)})") from error
    except Exception as error:  # a truncated or foreign answer makes the client fail in many ways
        status = re.search(r"[Ss]tatus code: (\d+)", str(error))
        what = f"status {status[1]}" if status else f"something that the client cannot read ({error!r})"
        raise SourceError(f"the server answered with {what}") from error


_FINAL = {111: "the server does not know this id", 112: "the dataset is private"}
