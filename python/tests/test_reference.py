"""What TensorFlow 1.15.5 showed for the snippets of reference/, Weir shows too: values, names, static shapes, texts of
objects, classes of exceptions, and the nodes that functions make. reference/record.py wrote down TensorFlow's side."""

import importlib.util
import json
import os

import numpy as np
import pytest

import weir as tf

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reference")


def _load_recorder():
    spec = importlib.util.spec_from_file_location("record", os.path.join(FOLDER, "record.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["cells", "control_flow", "decoders", "functions", "images", "layers", "modules", "nodes",
                                  "objects", "programs", "rnn", "seq2seq", "sequences"])
def test_shows_what_tensorflow_showed(name):
    with open(os.path.join(FOLDER, f"{name}.json"), encoding="utf-8") as file:
        expected = json.load(file)
    shown = _load_recorder().run(tf, np, os.path.join(FOLDER, f"{name}.py"))
    for snippet, lines in expected.items():
        for number, (have, want) in enumerate(zip(shown[snippet], lines)):
            assert have == want, f"{name}.py, snippet {snippet!r}, line {number} of what it shows"
        assert len(shown[snippet]) == len(lines)
