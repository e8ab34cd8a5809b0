"""What inner modules of TensorFlow offer to its own tests and to libraries."""

import numpy as np
import pytest

import weir as tf
from weir.estimator import old_exports
from weir.inner.bijector_checks import assert_bijective_and_finite, assert_scalar_congruency
from weir.ops import init_ops_v2


def test_nodes_can_be_given_attributes():
    graph = tf.get_default_graph()
    with graph._attr_scope({"_mine": tf.AttrValue(s=b"yes"), "_number": lambda node: tf.AttrValue(i=3)}):
        op = tf.constant(1.0).op
    op._set_attr("_later", tf.AttrValue(b=True))
    assert (op.get_attr("_mine"), op.get_attr("_number"), op.get_attr("_later")) == (b"yes", 3, True)
    assert graph.as_graph_def().node[-1].attr["_mine"].s == b"yes"
    with pytest.raises(TypeError, match="attr_map"):
        with graph._attr_scope({1: 2}):
            pass


def test_initializers_of_the_second_release_take_their_type_in_the_call():
    with tf.Session() as session:
        assert session.run(init_ops_v2.Ones()([2], tf.int32)).dtype == np.int32
        assert session.run(init_ops_v2.RandomNormal(seed=1)([4, 4], tf.float64)).dtype == np.float64
    with pytest.raises(ValueError, match="floating point"):
        init_ops_v2.VarianceScaling()([2, 2], tf.int32)
    with pytest.raises(TypeError, match="Expected Tensor's shape"):
        init_ops_v2.Constant([1, 2])([3])


def test_bijectors_are_checked():
    bijectors = tf.contrib.distributions.bijectors
    with tf.Session():
        assert_scalar_congruency(bijectors.Exp(), -2.0, 1.5, rtol=0.05)
        assert_bijective_and_finite(bijectors.Exp(), np.float32([0, 1]), np.float32([1, 2]), event_ndims=0)
        with pytest.raises(AssertionError):
            assert_bijective_and_finite(bijectors.Exp(), np.float32([0, 1000]), np.float32([1, 2]), event_ndims=0)


def test_exports_are_kept_by_their_versions(tmp_path):
    for version in (1, 2, 3, 6):
        (tmp_path / str(version)).mkdir()
    paths = old_exports.get_paths(str(tmp_path), lambda path: path._replace(export_version=int(path.path.split("/")[-1])))

    def kept(chosen):
        return [path.export_version for path in chosen(paths)]

    newest, even = old_exports.largest_export_versions(2), old_exports.mod_export_version(2)
    assert kept(newest) == [3, 6] and kept(even) == [2, 6] and kept(old_exports.union(newest, even)) == [2, 3, 6]
    assert kept(old_exports.negation(newest)) == [1, 2] and kept(old_exports.one_of_every_n_export_versions(3)) == [3, 6]
