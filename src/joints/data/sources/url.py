"""A file on the web, or a member of a zip archive there, with its SHA-256 pinned in the catalogue."""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urljoin, urlsplit

import pandas as pd

from joints.data import child
from joints.data.raw import decode_text
from joints.data.sources.base import Source, SourceError, innermost, too_large

MOST_REDIRECTS = 5


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
        most = self.settings.most_bytes
        arguments = {"address": self.address, "path": str(path), "most_bytes": most}
        child.call(f"{__name__}:download_file", arguments, seconds)
        content = read_member(path, self.spec["member"], most) if "member" in self.spec else path.read_bytes()
        verify(content, self.spec["sha256"])
        return self.parse(decode_text(content)), {"address": self.address}


def download_file(address: str, path: str, most_bytes: int) -> None:
    """Download an address to a file; runs in a process of its own."""
    import requests

    try:
        for _ in range(MOST_REDIRECTS + 1):
            with requests.get(address, stream=True, allow_redirects=False) as response:
                if response.is_redirect:
                    address = _same_place(address, urljoin(address, response.headers["location"]))
                    continue
                if response.status_code != 200:
                    passing = response.status_code >= 500 or response.status_code in (408, 429)
                    raise SourceError(f"the server answered with status {response.status_code}", retry=passing)
                with Path(path).open("wb") as handle:
                    for block in response.iter_content(1 << 16):
                        handle.write(block)
                        if handle.tell() > most_bytes:
                            raise too_large("the download", most_bytes)
                return
        raise SourceError("the server redirects without end", retry=False)
    except requests.exceptions.RequestException as error:
        raise SourceError(f"the connection failed ({innermost(error)})") from error


def _same_place(address: str, target: str) -> str:
    """The target of a redirect, if it is on the same host and no less secure."""
    before, after = urlsplit(address), urlsplit(target)
    if after.hostname != before.hostname or after.scheme not in (before.scheme, "https"):
        place = f"{after.scheme}://{after.netloc}"
        raise SourceError(f"the server redirects to another place, {place}: name it in the catalogue", retry=False)
    return target


def read_member(archive: Path, member: str, most_bytes: int) -> bytes:
    """One file of a zip archive."""
    if ".." in PurePosixPath(member).parts or member.startswith("/"):
        raise SourceError(f"the member {member!r} of the archive leads out of it", retry=False)
    try:
        with zipfile.ZipFile(archive) as opened, opened.open(member) as file:
            content = file.read(most_bytes + 1)  # whatever size the archive states
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise SourceError("the downloaded file is not a complete zip archive") from error
    except (NotImplementedError, RuntimeError) as error:  # another compression, or encrypted
        raise SourceError(f"the archive cannot be read ({error})", retry=False) from error
    except KeyError as error:
        raise SourceError(f"the archive has no member {member!r}", retry=False) from error
    if len(content) > most_bytes:
        raise too_large(f"the member {member!r} of the archive", most_bytes)
    return content


def verify(content: bytes, sha256: str) -> None:
    """Raise a SourceError unless the content has the checksum."""
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise SourceError(f"the downloaded file has the SHA-256 {found[:12]}... instead of {sha256[:12]}...")
