"""A headless Chromium, asked through its own pipe, so that tests need no other library."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
OPTIONS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-background-networking"]


class Browser:
    """One page of a browser: its errors and the addresses that it asked for are kept."""

    def __init__(self, folder: Path) -> None:
        if CHROMIUM is None:
            pytest.skip("there is no Chromium: on Debian, apt-get install chromium")
        ask, answer = os.pipe(), os.pipe()
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (ask[0], answer[1])]  # neither may be 3 or 4 itself
        self.process = subprocess.Popen(
            [CHROMIUM, *OPTIONS, "--remote-debugging-pipe", f"--user-data-dir={folder}", "about:blank"],
            preexec_fn=lambda: [os.dup2(end, number) for end, number in zip(ends, (3, 4), strict=True)],
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for end in (*ends, ask[0], answer[1]):
            os.close(end)
        self.requests, self.answers = os.fdopen(ask[1], "wb"), os.fdopen(answer[0], "rb")
        self.number, self.rest, self.session = 0, b"", None
        self.events: list[dict[str, Any]] = []
        (target,) = [t for t in self.ask("Target.getTargets")["targetInfos"] if t["type"] == "page"][:1]
        attached = self.ask("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **parameters: Any) -> Any:
        """Call a method of the browser's protocol."""
        self.number += 1
        session = {"sessionId": self.session} if self.session else {}
        self.requests.write(
            json.dumps({"id": self.number, "method": method, "params": parameters, **session}).encode() + b"\0"
        )
        self.requests.flush()
        while True:
            message = self.read()
            if message.get("id") == self.number:
                assert "error" not in message, message
                return message["result"]
            self.events.append(message)

    def read(self) -> dict[str, Any]:
        while b"\0" not in self.rest:
            found = self.answers.read1(1 << 20)
            assert found, "the browser has ended"
            self.rest += found
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def open(self, page: str | Path, width: int = 1400, height: int = 1000) -> None:
        """Open a file, and wait until it is loaded."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.ask("Emulation.setDeviceMetricsOverride", **metrics)
        self.events.clear()
        self.ask("Page.navigate", url=Path(page).resolve().as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.read())

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression."""
        done = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    def point(self, x: float, y: float) -> None:
        """Move the mouse."""
        self.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    @property
    def errors(self) -> list[str]:
        """What the console has complained about."""
        said = [e["params"] for e in self.events if e.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded")]
        said += [
            e["params"]
            for e in self.events
            if e.get("method") == "Runtime.consoleAPICalled" and e["params"]["type"] in ("error", "warning")
        ]
        return [json.dumps(entry)[:500] for entry in said]

    @property
    def addresses(self) -> list[str]:
        """Everything that was asked for, apart from what the page holds itself."""
        asked = [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        return [url for url in asked if not url.startswith("data:")]

    def picture(self, path: str | Path) -> None:
        """The whole page as a PNG file."""
        done = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        Path(path).write_bytes(base64.b64decode(done["data"]))

    def close(self) -> None:
        self.requests.close()
        self.process.terminate()
        self.process.wait()
        self.answers.close()


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A browser for all tests of a process."""
    found = Browser(tmp_path_factory.mktemp("browser"))
    yield found
    found.close()
