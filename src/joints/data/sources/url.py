"""A file on the web, or a member of a zip archive there, with its SHA-256 pinned in the catalogue."""

from __future__ import annotations

import hashlib
import io
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd

from joints.data import child
from joints.data.raw import decode_text
from joints.data.sources.base import Source, SourceError, innermost


class Url(Source):
    kind = "url"

    @property
    def address(self) -> str:
        """The address, with the name of a prefix replaced by what the configuration says."""
        prefix, _, path = self.spec["url"].partition(":")
        if path.startswith("//"):
            return str(self.spec["url"])
        if prefix not in self.settings.url_prefixes:
            raise SourceError(f"'url.prefixes' has no {prefix!r}", retry=False)
        return f"{self.settings.url_prefixes[prefix].rstrip('/')}/{path}"

    def identity(self) -> dict[str, Any]:
        # The checksum identifies the content: a mirror has the same data, which is not downloaded again.
        return {key: self.spec[key] for key in ("url", "member", "sha256") if key in self.spec} | self.layout()

    def describe(self) -> str:
        return f"url {self.spec['url']}"

    def read(self, folder: Path, seconds: float) -> tuple[pd.DataFrame, dict[str, Any]]:
        path = folder / "download"
        child.call(f"{__name__}:download_file", {"address": self.address, "path": str(path)}, seconds)
        content = path.read_bytes()
        if "member" in self.spec:
            content = read_member(content, self.spec["member"])
        verify(content, self.spec["sha256"])
        return self.parse(decode_text(content)), {"address": self.address}


def download_file(address: str, path: str) -> None:
    """Download an address to a file; runs in a process of its own."""
    import requests

    try:
        with requests.get(address, stream=True) as response:
            if response.status_code != 200:
                passing = response.status_code >= 500 or response.status_code in (408, 429)
                raise SourceError(f"the server answered with status {response.status_code}", retry=passing)
            with Path(path).open("wb") as handle:
                for block in response.iter_content(1 << 16):
                    handle.write(block)
    except requests.exceptions.RequestException as error:
        raise SourceError(f"the connection failed ({innermost(error)})") from error


def read_member(archive: bytes, member: str) -> bytes:
    """One file of a zip archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            return opened.read(member)
    except zipfile.BadZipFile as error:
        raise SourceError("the downloaded file is not a complete zip archive") from error
    except KeyError as error:
        raise SourceError(f"the archive has no member {member!r}", retry=False) from error


def verify(content: bytes, sha256: str) -> None:
    """Raise a SourceError unless the content has the checksum."""
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise SourceError(f"the downloaded file has the SHA-256 {found[:12]}... instead of {sha256[:12]}...")
