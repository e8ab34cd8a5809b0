"""What notebooks have beside Python: %magic, !command, name?. Translated into calls of `get_ipython()`, a small one."""

import os
import re
import subprocess
import sys
import warnings

from weir import python2_runtime

_ASSIGNED = re.compile(r"^(\s*[\w.,\s\[\]'\"]+=\s*)([!%])(?![=])(.*)$")
_ASKED = re.compile(r"^\s*(\?{1,2}[\w.*%]+|[\w.*%\[\]'\"]+\?{1,2})\s*;?\s*$")
_OPTIONS = re.compile(r"^(?:-\w+\s*(?:\d+)?\s+)+")
_STATEMENTS = {"time", "timeit", "prun", "memit", "mprun", "lprun"}  # measure what follows; here it is just run
_RUN_BODY = _STATEMENTS | {"capture"}
_SHELLS = {"bash", "sh", "script", "system", "sx", "!"}
_PAGES = {"html", "HTML", "javascript", "js", "latex", "markdown", "svg", "SVG", "css"}  # cells for the browser
_WITHOUT_EFFECT = {
    "load_ext", "reload_ext", "unload_ext", "autoreload", "aimport", "config", "precision", "colors", "xmode", "pdb", "who",
    "whos", "reset", "reset_selective", "debug", "tb", "logstart", "logstop", "doctest_mode", "qtconsole", "connect_info",
    "watermark", "install_ext", "alias", "automagic", "notebook", "history", "hist", "pinfo", "pdoc", "page",
}  # fmt: skip


def translate(source):
    """The Python of a cell, line by line the same."""
    lines = source.split("\n")
    first = next((i for i, line in enumerate(lines) if line.strip()), None)
    if first is not None and lines[first].startswith("%%"):
        name, _, rest = lines[first][2:].strip().partition(" ")
        lines[: first + 1] = [""] * (first + 1)
        if name in _RUN_BODY:
            if name in _STATEMENTS and _OPTIONS.sub("", rest + " ").strip():
                lines[first] = _OPTIONS.sub("", rest + " ").strip()  # %%timeit's setup
            return translate("\n".join(lines))
        return "\n" * first + f"get_ipython().run_cell_magic({name!r}, {rest!r}, {chr(10).join(lines[first + 1:])!r})"
    starts = _statement_starts(lines)
    for number in sorted(starts):
        if lines[number].strip():
            _translate_line(lines, number)
    return "\n".join(lines)


def _translate_line(lines, number):
    line = lines[number]
    body = line.lstrip()
    indent = line[: len(line) - len(body)]
    assigned = _ASSIGNED.match(line)
    if body[0] in "!%":
        command = _joined(lines, number, body[1:])
        if body[0] == "!":
            lines[number] = f"{indent}get_ipython().system({command.lstrip('!')!r})"
        else:
            lines[number] = indent + _line_magic(command.lstrip("%"))
    elif assigned:
        command = _joined(lines, number, assigned[3])
        if assigned[2] == "!":
            lines[number] = f"{assigned[1]}get_ipython().getoutput({command!r})"
        else:
            lines[number] = assigned[1] + _line_magic(command)
    elif _ASKED.match(line):
        lines[number] = indent + "pass"


def _joined(lines, number, text):
    """A command with the lines that backslashes add to it."""
    while text.endswith("\\") and number + 1 < len(lines):
        number += 1
        text = text[:-1] + lines[number].strip()
        lines[number] = ""
    return text.strip()


def _line_magic(command):
    name, _, rest = command.partition(" ")
    rest = rest.strip()
    if name in _STATEMENTS:
        return _OPTIONS.sub("", rest + " ").strip() or "pass"
    return f"get_ipython().run_line_magic({name!r}, {rest!r})"


def _statement_starts(lines):
    """The numbers of the lines that begin a statement: not inside brackets or strings, not after a backslash."""
    starts, depth, quote, goes_on = set(), 0, None, False
    for number, line in enumerate(lines):
        if depth == 0 and quote is None and not goes_on:
            starts.add(number)
            if line.lstrip()[:1] in ("!", "%", "?"):
                continue  # not Python: its quotes and brackets mean nothing here
        goes_on = False
        i = 0
        while i < len(line):
            c = line[i]
            if quote is not None:
                if c == "\\":
                    i += 1
                elif line.startswith(quote, i):
                    i += len(quote) - 1
                    quote = None
            elif c == "#":
                break
            elif c in "'\"":
                quote = line[i : i + 3] if line[i : i + 3] == c * 3 else c
                i += len(quote) - 1
            elif c in "([{":
                depth += 1
            elif c in ")]}":
                depth = max(0, depth - 1)
            elif c == "\\" and i == len(line) - 1:
                goes_on = True
            i += 1
        if quote is not None and len(quote) == 1:
            goes_on = line.endswith("\\")
            quote = quote if goes_on else None
    return starts


class _Events:
    """Matplotlib asks to be called after each cell; figures are drawn into files without that."""

    def register(self, event, function):
        pass

    unregister = register


class _Shell:
    """What `get_ipython()` gives a notebook."""

    events = _Events()

    cell = None  # the number of the cell that runs
    names = None  # the notebook's globals

    def run_line_magic(self, name, line=""):
        if name in ("matplotlib", "pylab"):
            _draw_into_files()
            if name == "pylab":
                exec("from pylab import *\nimport numpy as np\nimport matplotlib.pyplot as plt", self.names)
        elif name == "cd":
            os.chdir(os.path.expanduser(line.strip("'\"") or "~"))
        elif name in ("env", "set_env"):
            key, equals, value = line.partition("=")
            if equals:
                os.environ[key.strip()] = value.strip().strip("'\"")
            else:
                return os.environ.get(key) if key else dict(os.environ)
        elif name == "pwd":
            return os.getcwd()
        elif name == "run":
            python2_runtime.NAMES["execfile"](line.split()[0], self.names)
        elif name in ("ls", "mkdir", "rm", "cp", "mv", "cat", "pip", "conda", "rmdir"):
            self.system(f"{name} {line}")
        elif name not in _WITHOUT_EFFECT:
            self._left_out(f"%{name}")
        return None

    def run_cell_magic(self, name, line, cell):
        if name in _SHELLS:
            self.system(cell)
        elif name in ("writefile", "file"):
            mode = "a" if line.startswith("-a ") else "w"
            with open(os.path.expanduser(line.split()[-1].strip("'\"")), mode, encoding="utf-8") as file:
                file.write(cell if cell.endswith("\n") else cell + "\n")
        elif name not in _PAGES:
            self._left_out(f"%%{name}, with its cell,")

    def magic(self, line):
        name, _, rest = line.lstrip("%").partition(" ")
        if name in _STATEMENTS:
            exec(_OPTIONS.sub("", rest + " ").strip(), self.names)
            return None
        return self.run_line_magic(name, rest.strip())

    def system(self, command):
        sys.stdout.flush()
        subprocess.call(self._expand(command), shell=True)

    def getoutput(self, command):
        done = subprocess.run(self._expand(command), shell=True, stdout=subprocess.PIPE, text=True, errors="replace")
        return done.stdout.splitlines()

    def _expand(self, command):
        """{expression} and $name stand for values of the notebook, where there is one."""

        def value(match):
            try:
                return str(eval(match[1] or match[2], self.names))
            except Exception:
                return match[0]

        return re.sub(r"(?<!\$)\{([^{}]+)\}|(?<![\\$])\$(\w+)", value, command)

    def _left_out(self, what):
        sys.stderr.write(f"weir: {what} is left out (cell {self.cell}): only Jupyter has it\n")


def _draw_into_files():
    """No window opens and waits: figures are drawn, and shown nowhere unless the notebook saves them."""
    os.environ["MPLBACKEND"] = "Agg"
    if "matplotlib" in sys.modules:
        sys.modules["matplotlib"].use("Agg", force=True)
    warnings.filterwarnings("ignore", message=".*non-interactive, and thus cannot be shown")


shell = _Shell()


def get_ipython():
    return shell
