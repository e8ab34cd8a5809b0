"""tf.contrib.predictor, and `weir model`."""

import os
import shutil
import subprocess

import pytest

import weir as tf


@pytest.fixture
def model(tmp_path):
    path = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        v = tf.Variable([[1.0], [10.0]])
        y = tf.matmul(x, v)
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, path, {"x": x}, {"y": y})
    return path


def test_a_model_is_a_function_of_arrays(model):
    predict = tf.contrib.predictor.from_saved_model(model)
    assert predict({"x": [[1, 2], [3, 4]]})["y"].tolist() == [[21], [43]]
    assert list(predict.feed_tensors) == ["x"] and list(predict.fetch_tensors) == ["y"]
    with pytest.raises(ValueError, match="unexpected keys"):
        predict({"z": 1})
    with pytest.raises(ValueError, match="Available signatures are"):
        tf.contrib.predictor.from_saved_model(model, signature_def_key="other")
    named = tf.contrib.predictor.from_saved_model(model, input_names={"in": "x:0"}, output_names={"out": "MatMul:0"})
    assert named({"in": [[1, 0]]})["out"].tolist() == [[1]]


PROGRAM = os.path.join(os.path.dirname(__file__), "..", "..", "build", "release", "bin", "weir")


@pytest.mark.skipif(not os.path.exists(PROGRAM) and not shutil.which("weir"), reason="the program is not built")
def test_the_command_shows_and_runs_a_model(model):
    program = PROGRAM if os.path.exists(PROGRAM) else "weir"

    def run(*arguments):
        return subprocess.run([program, "model", model, *arguments], capture_output=True, text=True, check=False)

    shown = run().stdout
    assert "serving_default (tensorflow/serving/predict)" in shown and "x:0" in shown and "[?,2]" in shown
    assert run("--inputs", "x=[[1, 2], [3, 4]]").stdout == "y float [2,1] [21 43]\n"
    for bad in ("x=[[1, 2], [3]]", "x=[[1, two]]", "x", "x=[1"):
        result = run("--inputs", bad)
        assert result.returncode == 2 and "--inputs" in result.stderr, bad
    assert run("--inputs", "z=1").returncode != 0
