"""tf.Module."""

import pytest

import weir as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


class Dense(tf.Module):
    def __init__(self, name=None):
        super().__init__(name=name)
        with self.name_scope:
            self.w, self.b = tf.Variable(1., name="w"), tf.Variable(2., name="b", trainable=False)

    @tf.Module.with_name_scope
    def __call__(self, x):
        return tf.add(self.w * x, self.b, name="sum")


class TwoLayers(tf.Module):
    def __init__(self):
        super().__init__()
        self.layers = [Dense("first"), Dense()]
        self.again = {"x": self.layers[0]}
        self.scale = tf.Variable(3.)


def test_a_module_has_the_variables_of_its_attributes_and_of_the_modules_inside():
    model = TwoLayers()
    first, second = model.layers
    assert model.name == "two_layers" and first.name == "first" and second.name == "dense"
    assert model.submodules == (first, second)
    assert model.variables == (model.scale, first.b, first.w, second.b, second.w)
    assert model.trainable_variables == (model.scale, first.w, second.w)
    paths = [path for path, leaf in model._flatten(predicate=lambda leaf: leaf is first.w, with_path=True)]
    assert paths == [("again", "x", "w"), ("layers", 0, "w")]


def test_methods_run_in_the_scope_of_the_module():
    layer = Dense()
    assert layer.w.op.name == "dense/w" and layer(1.).op.name == "dense/sum" and layer(1.).op.name == "dense/sum_1"


def test_names_are_identifiers():
    with pytest.raises(ValueError, match="not a valid module name"):
        tf.Module(name="a b")


def test_properties_may_be_set_to_what_they_are():
    class Shaped(tf.Module):
        shape = property(lambda self: tf.TensorShape([None, 2]))

    shaped = Shaped()
    shaped.shape = tf.TensorShape([None, 2])
    with pytest.raises(AttributeError):
        shaped.shape = tf.TensorShape([3, 2])
