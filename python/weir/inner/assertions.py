"""Assertions of tf.test.TestCase that come from Abseil's test case."""

import contextlib
import json
import os
import re
import tempfile

import numpy as np

from weir import nest
from weir.core.tensor import Tensor


def _array_of(values):
    """The values as an array; of objects, where tensors are among them: two lists of the same tensors are equal."""
    if isinstance(values, (list, tuple)) and any(isinstance(x, Tensor) for x in nest.flatten(values)):
        objects = np.empty(len(values), object)
        for i, value in enumerate(values):
            objects[i] = _array_of(value) if isinstance(value, (list, tuple)) else value
        return np.stack(objects) if all(isinstance(x, np.ndarray) for x in objects) else objects
    return np.asarray(values)


class _Assertions:
    """A part of tf.test.TestCase."""

    def assertSameElements(self, expected_seq, actual_seq, msg=None):
        missing = [x for x in expected_seq if x not in actual_seq]
        unexpected = [x for x in actual_seq if x not in expected_seq]
        if missing or unexpected:
            self.fail(self._formatMessage(msg, f"missing: {missing}, unexpected: {unexpected}"))

    def assertContainsSubset(self, expected_subset, actual_set, msg=None):
        missing = set(expected_subset) - set(actual_set)
        if missing:
            self.fail(self._formatMessage(msg, f"missing elements {missing}"))

    def assertNoCommonElements(self, expected_seq, actual_seq, msg=None):
        common = set(expected_seq) & set(actual_seq)
        if common:
            self.fail(self._formatMessage(msg, f"common elements {common}"))

    def assertSequenceStartsWith(self, prefix, whole, msg=None):
        self.assertSequenceEqual(list(prefix), list(whole)[:len(list(prefix))], msg)

    def assertContainsSubsequence(self, container, subsequence, msg=None):
        rest = iter(container)
        if not all(any(x == y for y in rest) for x in subsequence):
            self.fail(self._formatMessage(msg, f"{subsequence} is not a subsequence of {container}"))

    def assertContainsExactSubsequence(self, container, subsequence, msg=None):
        container, subsequence = list(container), list(subsequence)
        size = len(subsequence)
        if not any(container[i:i + size] == subsequence for i in range(len(container) - size + 1)):
            self.fail(self._formatMessage(msg, f"{subsequence} does not stand in {container}"))

    def assertContainsInOrder(self, strings, target, msg=None):
        place = 0
        for text in [strings] if isinstance(strings, str) else strings:
            found = target.find(text, place)
            if found < 0:
                self.fail(self._formatMessage(msg, f"{text!r} does not come in order in {target!r}"))
            place = found

    def assertEndsWith(self, actual, expected_end, msg=None):
        if not actual.endswith(expected_end):
            self.fail(self._formatMessage(msg, f"{actual!r} does not end with {expected_end!r}"))

    def assertNotStartsWith(self, actual, unexpected_start, msg=None):
        if actual.startswith(unexpected_start):
            self.fail(self._formatMessage(msg, f"{actual!r} starts with {unexpected_start!r}"))

    def assertNotEndsWith(self, actual, unexpected_end, msg=None):
        if actual.endswith(unexpected_end):
            self.fail(self._formatMessage(msg, f"{actual!r} ends with {unexpected_end!r}"))

    def assertRegexMatch(self, actual_str, regexes, message=None):
        if not any(re.search(regex, actual_str) for regex in ([regexes] if isinstance(regexes, str) else regexes)):
            self.fail(self._formatMessage(message, f"{actual_str!r} does not match {regexes!r}"))

    @contextlib.contextmanager
    def assertRaisesWithLiteralMatch(self, expected_exception, expected_exception_message, callable_obj=None, *args,
                                     **kwargs):
        with self.assertRaises(expected_exception) as caught:
            yield caught
        self.assertEqual(str(caught.exception), expected_exception_message)

    def assertJsonEqual(self, first, second, msg=None):
        self.assertEqual(json.loads(first), json.loads(second), msg)

    def assertSameStructure(self, a, b, aname="a", bname="b", msg=None):
        self.assertEqual(a, b, msg)

    def assertTotallyOrdered(self, *groups, **kwargs):
        for i, smaller in enumerate(groups):
            for larger in groups[i + 1:]:
                for x in smaller:
                    for y in larger:
                        self.assertTrue(x < y and not y < x and x != y, kwargs.get("msg"))

    def enter_context(self, manager):
        """Enters a context that ends with the test."""
        entered = manager.__enter__()
        self.addCleanup(manager.__exit__, None, None, None)
        return entered

    def create_tempdir(self, name=None, cleanup=None):
        path = os.path.join(self.get_temp_dir(), name) if name else tempfile.mkdtemp(dir=self.get_temp_dir())
        os.makedirs(path, exist_ok=True)
        return path

    def create_tempfile(self, file_path=None, content=None, mode="w", encoding="utf8", errors="strict", cleanup=None):
        path = os.path.join(self.get_temp_dir(), file_path or "file")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        binary = isinstance(content, bytes)
        with open(path, "wb" if binary else mode, **({} if binary else {"encoding": encoding})) as file:
            file.write(content or "")
        return path
