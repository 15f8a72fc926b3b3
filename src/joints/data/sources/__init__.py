"""Where data comes from: one small class per kind of source, behind the interface `base.Source`."""

from joints.data.sources.base import Settings, Source, SourceError, SourceTimeout
from joints.data.sources.bundled import Bundled
from joints.data.sources.csv import Csv
from joints.data.sources.openml import OpenML
from joints.data.sources.url import Url
from joints.data.sources.wheel import Wheel

KINDS: dict[str, type[Source]] = {source.kind: source for source in (OpenML, Url, Wheel, Bundled, Csv)}

__all__ = ["KINDS", "Settings", "Source", "SourceError", "SourceTimeout"]
