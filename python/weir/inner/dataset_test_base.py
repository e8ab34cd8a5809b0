"""tensorflow.python.data.kernel_tests.test_base: a test case that compares what data sets give."""

import re

from weir import errors
from weir.core import dtypes
from weir.core.values import SparseTensorValue
from weir.data import dataset as dataset_ops, nest, structure
from weir.inner.combinations import combine
from weir.ops import array_ops, tensor_array_ops
from weir.ops.sparse_ops import SparseTensor
from weir.ragged.tensor import RaggedTensor, RaggedTensorValue
from weir.test import TestCase


def _is_sparse(value):
    return isinstance(value, (SparseTensor, SparseTensorValue))


class DatasetTestBase(TestCase):
    """Data sets give what is expected, in the order that is expected."""

    def assert_op_cancelled(self, op):
        with self.assertRaises(errors.CancelledError):
            self.evaluate(op)

    def assertValuesEqual(self, expected, actual):
        if not _is_sparse(expected):
            return self.assertAllEqual(expected, actual)
        for part in ("indices", "values", "dense_shape"):
            self.assertAllEqual(getattr(expected, part), getattr(actual, part))

    def getNext(self, dataset, requires_initialization=False, shared_name=None):
        """A function that gives the next element of a data set, to be evaluated; lists of tensors come stacked."""
        if requires_initialization:
            iterator = dataset_ops.make_initializable_iterator(dataset, shared_name)
            self.evaluate(iterator.initializer)
        else:
            iterator = dataset_ops.make_one_shot_iterator(dataset)
        element = iterator.get_next()
        return lambda: element.stack() if isinstance(element, tensor_array_ops.TensorArray) else element

    def _compareOutputToExpected(self, result_values, expected_values, assert_items_equal):
        if assert_items_equal:
            return self.assertItemsEqual(result_values, expected_values)
        for result, expected in zip(result_values, expected_values):
            nest.assert_same_structure(result, expected)
            for one, other in zip(nest.flatten(result), nest.flatten(expected)):
                self.assertValuesEqual(other, one)

    def assertDatasetProduces(self, dataset, expected_output=None, expected_shapes=None, expected_error=None,
                              requires_initialization=False, num_test_iterations=1, assert_items_equal=False,
                              expected_error_iter=1):
        """The elements of a data set and nothing more, or the error, ``(class, pattern)``, that it ends with."""
        self.assertTrue(expected_error is not None or expected_output is not None,
                        "Exactly one of expected_output or expected error should be provided.")
        if expected_error:
            self.assertIsNone(expected_output, "Exactly one of expected_output or expected error should be provided.")
            with self.assertRaisesWithPredicateMatch(*expected_error):
                get_next = self.getNext(dataset, requires_initialization)
                for _ in range(expected_error_iter):
                    self.evaluate(get_next())
            return
        if expected_shapes:
            self.assertEqual(expected_shapes, dataset_ops.get_legacy_output_shapes(dataset))
        self.assertGreater(num_test_iterations, 0)
        for _ in range(num_test_iterations):
            get_next = self.getNext(dataset, requires_initialization)
            found = [self.evaluate(get_next()) for _ in expected_output]
            self._compareOutputToExpected(found, expected_output, assert_items_equal)
            for _ in range(2):  # the end stays the end
                with self.assertRaises(errors.OutOfRangeError):
                    self.evaluate(get_next())

    def assertDatasetsEqual(self, dataset1, dataset2):
        """Two data sets have the same kind of elements, and the same ones."""
        self.assertTrue(structure.are_compatible(dataset_ops.get_structure(dataset1),
                                                 dataset_ops.get_structure(dataset2)))
        types = nest.flatten(dataset_ops.get_legacy_output_types(dataset1))
        first, second = self.getNext(dataset1), self.getNext(dataset2)
        while True:
            try:
                one = self.evaluate(first())
            except errors.OutOfRangeError:
                with self.assertRaises(errors.OutOfRangeError):
                    self.evaluate(second())
                return
            for a, b, kind in zip(nest.flatten(one), nest.flatten(self.evaluate(second())), types):
                if _is_sparse(a) or isinstance(a, (RaggedTensor, RaggedTensorValue)):
                    self.assertValuesEqual(a, b)
                elif kind == dtypes.string:
                    self.assertAllEqual(a, b)
                else:
                    self.assertAllClose(a, b)

    def assertDatasetsRaiseSameError(self, dataset1, dataset2, exception_class, replacements=None):
        """The first element of both raises the same; ``replacements`` are (old, new, count) in the first's message."""
        first, second = self.getNext(dataset1), self.getNext(dataset2)
        with self.assertRaises(exception_class) as caught:
            self.evaluate(first())
        message = caught.exception.message
        for old, new, count in replacements or ():
            message = message.replace(old, new, count)
        with self.assertRaisesRegex(exception_class, re.escape(message)):
            self.evaluate(second())

    def structuredDataset(self, dataset_structure, shape=None, dtype=dtypes.int64):
        """One element of zeros, in the structure that tuples of None describe."""
        if dataset_structure is None:
            return dataset_ops.Dataset.from_tensors(array_ops.zeros(shape or [], dtype=dtype))
        return dataset_ops.Dataset.zip(tuple(self.structuredDataset(part, shape, dtype) for part in dataset_structure))

    def structuredElement(self, element_structure, shape=None, dtype=dtypes.int64):
        if element_structure is None:
            return array_ops.zeros(shape or [], dtype=dtype)
        return tuple(self.structuredElement(part, shape, dtype) for part in element_structure)


def default_test_combinations():
    """Both modes and both releases of the interface; those that Weir has not are skipped."""
    return combine(tf_api_version=[1, 2], mode=["eager", "graph"])
