"""The test case of TensorFlow's data sets, and tests that run for combinations of arguments."""

import unittest

import pytest

import weir as tf
from weir.inner.combinations import combine, times
from weir.inner.dataset_test_base import DatasetTestBase, default_test_combinations


class Case(DatasetTestBase):
    def runTest(self):
        pass


def case():
    made = Case()
    made.setUp()
    return made


def test_data_sets_give_what_is_expected_and_no_more():
    made = case()
    made.assertDatasetProduces(tf.data.Dataset.range(2), [0, 1])
    with pytest.raises(AssertionError):
        made.assertDatasetProduces(tf.data.Dataset.range(3), [0, 1])
    made.assertDatasetProduces(tf.data.Dataset.from_tensors(0).map(lambda x: 1 // x),
                               expected_error=(tf.errors.InvalidArgumentError, "division by zero"))


def test_equal_data_sets_have_the_same_elements():
    made = case()
    made.assertDatasetsEqual(tf.data.Dataset.range(3), tf.data.Dataset.from_tensor_slices(tf.constant([0, 1, 2], tf.int64)))
    with pytest.raises(AssertionError):
        made.assertDatasetsEqual(tf.data.Dataset.range(3), tf.data.Dataset.range(1, 4))


def test_combinations_are_products():
    assert [dict(each) for each in combine(a=[1, 2], b="x")] == [{"a": 1, "b": "x"}, {"a": 2, "b": "x"}]
    assert len(times(default_test_combinations(), combine(n=[1, 2, 3]))) == 12
    with pytest.raises(ValueError, match="overlap"):
        times(combine(a=1), combine(a=2))


def test_combinations_that_weir_has_not_are_skipped():
    parameterized = pytest.importorskip("absl.testing.parameterized")
    from weir.inner.combinations import generate

    seen = []

    class Generated(DatasetTestBase, parameterized.TestCase):
        @generate(times(default_test_combinations(), combine(n=[1, 2])))
        def testIt(self, n, mode):
            seen.append((n, mode))

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Generated).run(result)
    assert seen == [(1, "graph"), (2, "graph")]
    assert not result.errors and not result.failures
