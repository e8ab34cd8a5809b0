"""Drives headless Chromium through its DevTools protocol, over a pair of pipes: no other package is needed."""

import json
import os
import select
import signal
import subprocess
import sys
import time

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--no-first-run",
    "--hide-scrollbars",
    "--window-size=1200,800",
    "--remote-debugging-pipe",
)
# Chromium reads commands from file 3 and writes answers to file 4.
_START = """
import fcntl, os, sys
commands, answers = (fcntl.fcntl(int(fd), fcntl.F_DUPFD, 10) for fd in sys.argv[1:3])
os.dup2(commands, 3)
os.dup2(answers, 4)
os.execvp(sys.argv[3], sys.argv[3:])
"""


class Browser:
    """A running Chromium. A call that is not answered within `timeout` seconds raises TimeoutError."""

    def __init__(self, executable, profile, timeout=60):
        self._timeout = timeout
        commands, self._commands = os.pipe()
        self._answers, answers = os.pipe()
        command = [executable, *_FLAGS, f"--user-data-dir={profile}"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, str(commands), str(answers), *command],
            pass_fds=(commands, answers),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(commands)
        os.close(answers)
        self._unread = b""
        self._number = 0
        self._pages = {}

    def close(self):
        try:
            self.call("Browser.close")
            self._process.wait(10)
        except (OSError, EOFError, TimeoutError, subprocess.TimeoutExpired):
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        os.close(self._commands)
        os.close(self._answers)

    def open(self, url):
        """A new tab."""
        page = self._attach(self.call("Target.createTarget", url="about:blank")["targetId"])
        page.call("Page.enable")
        page.call("Page.navigate", url=url)
        return page

    def sandboxed_frame(self):
        """The frame of the open tabs that is a world of its own; there must be one."""
        deadline = time.monotonic() + self._timeout
        while True:
            frames = [t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "iframe"]
            if frames:
                return self._attach(frames[0]["targetId"])
            if time.monotonic() > deadline:
                raise TimeoutError("there is no sandboxed frame")
            time.sleep(0.1)

    def _attach(self, target):
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self._pages[session] = Page(self, session, target)
        page.call("Runtime.enable")
        return page

    def call(self, method, session=None, **params):
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + self._timeout
        while True:
            answer = self._read(deadline)
            if answer.get("method") == "Runtime.exceptionThrown":
                details = answer["params"]["exceptionDetails"]
                self._pages[answer["sessionId"]].errors.append(details.get("exception", details))
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def _read(self, deadline):
        while b"\0" not in self._unread:
            ready, _, _ = select.select([self._answers], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError("Chromium does not answer")
            data = os.read(self._answers, 1 << 20)
            if not data:
                raise EOFError("Chromium has ended")
            self._unread += data
        message, self._unread = self._unread.split(b"\0", 1)
        return json.loads(message)


class Page:
    """A tab. `errors` holds the exceptions of its scripts that nobody caught."""

    def __init__(self, browser, session, target):
        self._browser = browser
        self._session = session
        self._target = target
        self.errors = []

    def call(self, method, **params):
        return self._browser.call(method, self._session, **params)

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", "a script failed"))
        return answer["result"].get("value")

    def wait_for(self, expression, seconds=60):
        """Waits until the expression is true, also across a navigation; returns its value."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                value = self.evaluate(expression)
            except RuntimeError:
                value = None
            if value:
                return value
            if time.monotonic() > deadline:
                raise TimeoutError(f"{expression} is not true after {seconds} s")
            time.sleep(0.1)

    def click(self, selector):
        """Presses and releases the mouse in the middle of an element, near its top."""
        x, y = self.evaluate(
            f"(() => {{ const r = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
            " return [r.left + r.width / 2, r.top + Math.min(8, r.height / 2)]; })()"
        )
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def press_enter(self):
        key = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, **key)

    def close(self):
        self._browser.call("Target.closeTarget", targetId=self._target)
