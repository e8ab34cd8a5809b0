"""tf.contrib.specs: networks from texts."""

import numpy as np
import pytest

import weir as tf

specs = tf.contrib.specs.python
summaries = tf.contrib.specs.python.summaries


def _picture():
    return tf.constant(np.random.RandomState(1).uniform(size=(2, 16, 16, 3)).astype(np.float32))


def test_a_text_makes_the_layers_that_it_names():
    with tf.Graph().as_default(), tf.Session() as session:
        net = specs.create_net("C3 = Cr(_1=[3, 3]); net = (C3(n) | Mp([2, 2]))**2 | Flat | Fl(10)", _picture(), {"n": 4})
        session.run(tf.global_variables_initializer())
        assert session.run(net).shape == (2, 10)
        assert [v.name for v in tf.trainable_variables()] == [
            f"{layer}/{kind}:0" for layer in ("Conv", "Conv_1", "fully_connected") for kind in ("weights", "biases")]


def test_functions_are_added_multiplied_and_joined():
    x = tf.constant([[1.0, -2.0]])
    with tf.Session() as session:
        for spec, expected in [("net = Relu + Id", [[2, -2]]), ("net = Id * Id", [[1, 4]]),
                               ("net = Conc(1, Relu, Idx())", [[1, 0, 1, -2]]), ("net = Tanh**0", [[1, -2]]),
                               ("import_ = 1; net = Import('import math; f = lambda x: x * math.pi') | Id",
                                [[np.pi, -2 * np.pi]])]:
            np.testing.assert_allclose(session.run(specs.create_net(spec, x)), expected, rtol=1e-6)


def test_a_text_is_assignments_and_makes_a_net():
    x = tf.constant([[1.0]])
    for spec, message in [("import re; net = Id", "keyword 'import' found in spec"), ("a = Id", "failed to create 'net'"),
                          ("net = Import('g = 1')", 'failed to define "f"')]:
        with pytest.raises(ValueError, match=message):
            specs.create_net(spec, x)


def test_shared_parts_have_one_set_of_variables():
    with tf.Graph().as_default():
        specs.create_net("f = Shared(Fr(3)); net = f | f | f", tf.zeros([2, 3]))
        assert len(tf.global_variables()) == 2
        specs.create_net("net = Fl(2) + Var('b', shape=[2])", tf.zeros([2, 3]))
        assert tf.global_variables()[-1].name == "b:0"


def test_parameters_are_drawn_within_their_limits():
    drawn = [specs.eval_params("n = Li(5, 50); d = Ui(1, 3); r = Lf(0.1, 10); z = Nt(0., 1., 2.); s = sqrt(4)")
             for _ in range(200)]
    assert {p["d"] for p in drawn} == {1, 2, 3} and all(5 <= p["n"] <= 50 and isinstance(p["n"], int) for p in drawn)
    assert all(0.1 <= p["r"] <= 10 and abs(p["z"]) <= 2 and p["s"] == 2 for p in drawn)


def test_networks_are_described(capsys):
    with tf.Graph().as_default():
        spec = "net = Cr(64, [5, 5])"
        assert summaries.tf_spec_structure(spec, input_shape=(1, 18, 19, 5)) == (
            "_ variablev2 conv variablev2 biasadd relu")
        net = specs.create_net("net = Cr(8, [3, 3]) | Flat | Fs(10)", _picture())
        assert summaries.tf_num_params(net) == 3 * 3 * 3 * 8 + 8 + 16 * 16 * 8 * 10 + 10
        summaries.tf_parameter_summary(net)
        summaries.tf_print(net)
    text = capsys.readouterr().out
    assert "       224 Conv" in text and "     20490 fully_connected" in text
    assert "\nfully_connected/Sigmoid Sigmoid [2, 10]\n" in text


def test_words_may_be_used_in_python():
    with specs.ops:
        net = Fl(2) | Relu  # noqa: F821
    assert "Fl" not in globals()
    with tf.Graph().as_default():
        assert net.funcall(tf.zeros([3, 4])).shape == (3, 2)
