"""The Python programs of docs/cpp_guide.md print what stands below them; tests/install does the same with those in C++."""

import os
import re
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def _programs():
    with open(os.path.join(ROOT, "docs", "cpp_guide.md"), encoding="utf-8") as page:
        blocks = re.findall(r"^```(python|text)\n(.*?)^```", page.read(), re.M | re.S)
    return [(code, text) for (kind, code), (_, text) in zip(blocks, blocks[1:]) if kind == "python"]


def test_every_pair_has_its_text():
    with open(os.path.join(ROOT, "docs", "cpp_guide.md"), encoding="utf-8") as page:
        kinds = re.findall(r"^```(cpp|python|text)$", page.read(), re.M)
    assert kinds == ["cpp", "python", "text"] * len(_programs())


@pytest.mark.parametrize("number", range(len(_programs())))
def test_prints_the_text_below(number, tmp_path):
    code, text = _programs()[number]
    program = tmp_path / "program.py"
    program.write_text(code)
    done = subprocess.run([sys.executable, "-m", "weir", "run", str(program)], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == text
