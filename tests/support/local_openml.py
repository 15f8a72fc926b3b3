"""A small OpenML on this machine: enough of its REST interface for the real client, with faults on demand.

It also serves plain files below ``/files/``.  Only the standard library is used, so that the tests run anywhere.
"""

from __future__ import annotations

import hashlib
import re
import socket
import threading
from collections import Counter
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

XMLNS = 'xmlns:oml="http://openml.org/openml"'


@dataclass
class Table:
    """A dataset on the server: columns as (name, "numeric" or the list of its levels), and rows of cells."""

    name: str
    columns: list
    rows: list
    target: str
    ignored: list = field(default_factory=list)

    def arff(self) -> bytes:
        kinds = [("NUMERIC" if kind == "numeric" else "{" + ",".join(kind) + "}") for _, kind in self.columns]
        head = [
            f"@RELATION {self.name}",
            *(f"@ATTRIBUTE {n} {k}" for (n, _), k in zip(self.columns, kinds, strict=True)),
        ]
        return "\n".join([*head, "@DATA", *(",".join(map(str, row)) for row in self.rows), ""]).encode()

    def features(self) -> str:
        parts = []
        for index, (name, kind) in enumerate(self.columns):
            levels = "" if kind == "numeric" else "".join(f"<oml:nominal_value>{v}</oml:nominal_value>" for v in kind)
            missing = sum(row[index] == "?" for row in self.rows)
            parts.append(
                f"<oml:feature><oml:index>{index}</oml:index><oml:name>{name}</oml:name>"
                f"<oml:data_type>{'numeric' if kind == 'numeric' else 'nominal'}</oml:data_type>{levels}"
                f"<oml:is_target>{str(name == self.target).lower()}</oml:is_target>"
                f"<oml:is_ignore>{str(name in self.ignored).lower()}</oml:is_ignore>"
                "<oml:is_row_identifier>false</oml:is_row_identifier>"
                f"<oml:number_of_missing_values>{missing}</oml:number_of_missing_values></oml:feature>"
            )
        return f"<oml:data_features {XMLNS}>{''.join(parts)}</oml:data_features>"


class LocalOpenML:
    """The server; `fault` is one of none, 503, flaky (each first try), badmd5, drop, hang, unknown, page."""

    def __init__(self, tables: dict[int, Table], files: dict[str, bytes] | None = None) -> None:
        self.tables, self.files = tables, files or {}
        self.suites: dict[int, list[int]] = {}
        self.fault = "none"
        self.requests: Counter[str] = Counter()
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self.base = f"http://127.0.0.1:{self._http.server_address[1]}"
        self.server = f"{self.base}/api/v1/xml"
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Stop listening: from now on, connections are refused."""
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()

    def seen(self, path: str) -> int:
        """Count a request; returns how often this path was asked for."""
        with self._lock:
            self.requests[path] += 1
            return self.requests[path]

    def reply(self, path: str) -> tuple[int, bytes]:
        """Status and body for a path, without faults."""
        if path.startswith("/files/"):
            content = self.files.get(path.removeprefix("/files/"))
            return (200, content) if content is not None else (404, b"not found")
        asked = re.fullmatch(r"/api/v1/xml/study/(\d+)", path)
        if asked and int(asked[1]) in self.suites:
            return 200, self.suite(int(asked[1])).encode()
        asked = re.fullmatch(r"/api/v1/xml/data/(features/)?(\d+)|/download/(\d+)\.arff", path)
        table = self.tables.get(int(asked[2] or asked[3])) if asked else None
        if asked is None or table is None or self.fault == "unknown":
            message = (
                f"<oml:error {XMLNS}><oml:code>111</oml:code><oml:message>Unknown dataset</oml:message></oml:error>"
            )
            return 412, message.encode()
        if asked[3]:
            return 200, table.arff()
        if asked[1]:
            return 200, table.features().encode()
        md5 = "0" * 32 if self.fault == "badmd5" else hashlib.md5(table.arff()).hexdigest()
        ignored = "".join(f"<oml:ignore_attribute>{name}</oml:ignore_attribute>" for name in table.ignored)
        description = (
            f"<oml:data_set_description {XMLNS}><oml:id>{asked[2]}</oml:id><oml:name>{table.name}</oml:name>"
            "<oml:version>1</oml:version><oml:description>a test</oml:description><oml:format>ARFF</oml:format>"
            f"<oml:licence>Public</oml:licence><oml:url>{self.base}/download/{asked[2]}.arff</oml:url>"
            f"<oml:file_id>{asked[2]}</oml:file_id>"
            f"<oml:default_target_attribute>{table.target}</oml:default_target_attribute>{ignored}"
            "<oml:visibility>public</oml:visibility><oml:status>active</oml:status>"
            f"<oml:md5_checksum>{md5}</oml:md5_checksum></oml:data_set_description>"
        )
        return 200, description.encode()

    def suite(self, id: int) -> str:
        ids = "".join(f"<oml:data_id>{found}</oml:data_id>" for found in self.suites[id])
        return (
            f"<oml:study {XMLNS}><oml:id>{id}</oml:id><oml:main_entity_type>task</oml:main_entity_type>"
            "<oml:name>a suite</oml:name><oml:description>a test</oml:description><oml:status>active</oml:status>"
            "<oml:creation_date>2020-01-01 00:00:00</oml:creation_date><oml:creator>1</oml:creator>"
            f"<oml:data>{ids}</oml:data><oml:tasks><oml:task_id>3</oml:task_id></oml:tasks></oml:study>"
        )

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *args: object) -> None:
                pass

            def do_GET(self) -> None:
                path = self.path.split("?")[0]
                times = owner.seen(path)
                if owner.fault == "hang":
                    owner.closing.wait(60)
                    self.close_connection = True
                    return
                if owner.fault == "503" or (owner.fault == "flaky" and times == 1):
                    status, body = 503, b"<html><hr>503</html>"
                elif owner.fault == "page":
                    status, body = 503, b"<html>Down for maintenance</html>"
                else:
                    status, body = owner.reply(path)
                self.send_response(status)
                self.send_header("Content-Type", "text/xml")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                cut = owner.fault == "drop" and path.startswith(("/download/", "/files/"))
                self.wfile.write(body[: len(body) // 2] if cut else body)
                if cut:
                    self.wfile.flush()
                    self.close_connection = True
                    self.connection.shutdown(socket.SHUT_RDWR)

        return Handler
