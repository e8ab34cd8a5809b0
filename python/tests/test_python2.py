import ast

import numpy as np
import pytest

from weir import python2, python2_runtime
from weir.old_string_io import StringIO


def is_python2(text):
    return python2.is_python2(ast.parse(text))


@pytest.mark.parametrize(
    "text",
    [
        "for i in xrange(3): pass",
        "d.iteritems()",
        "d.has_key(1)",
        "import cPickle",
        "import urllib2",
        "from itertools import izip",
        "unicode('x')",
        "sys.maxint",
        "raw_input()",
        "os.walk('x').next()[1]",
        "self.rows = iter(data)\nself.rows.next()",
        "d.keys()[0]",
        "d.items()[1:]",
        "a.keys() + b.keys()",
        "d.values().sort()",
        "class C:\n  def __cmp__(self, other): return 0",
        "class C:\n  def __nonzero__(self): return True",
        "class C:\n  def __iter__(self): return self\n  def next(self): return 1",
        "try:\n  for i in xrange(3): f(i)\nexcept KeyboardInterrupt: pass",
    ],
)
def test_python2_is_told_by_its_names(text):
    assert is_python2(text)


@pytest.mark.parametrize(
    "text",
    [
        "print('x')",
        "loader().next()",
        "rows = loader()\nrows.next()",
        "sorted(d.keys())[0]",
        "class C:\n  def __iter__(self): return self\n  def __next__(self): return 1\n  next = __next__",
        "class C:\n  def next(self): return 1",
        "class C:\n  def __cmp__(self, other): return 0\n  def __lt__(self, other): return False",
        "from six.moves import xrange\nxrange(3)",
        "try:\n  import cPickle as pickle\nexcept ImportError:\n  import pickle",
        "try:\n  xrange\nexcept NameError:\n  xrange = range\nxrange(3)",
        "import six\nsix.iteritems(d)",
        "import sys\nif sys.version_info[0] == 2:\n  import urllib2\nelse:\n  import urllib.request",
        "from functools import reduce\nreduce(f, x)",
        "def f(file): file.read()",
        "class D:\n  def has_key(s, k): pass\nd.has_key(1)",
    ],
)
def test_programs_for_both_are_left_alone(text):
    assert not is_python2(text)


def test_division_of_python2():
    assert python2_runtime.divide(7, 2) == 3 and python2_runtime.divide(-7, 2) == -4 and python2_runtime.divide(7.0, 2) == 3.5
    assert python2_runtime.divide(np.int32(7), 2) == 3 and python2_runtime.divide(np.float32(7), 2) == 3.5
    assert python2_runtime.divide(np.array([7]), np.array([2])).tolist() == [3]
    assert python2_runtime.divide([7, 8], np.array([2, 3])).tolist() == [3, 2]
    assert python2_runtime.divide(7, np.array([2.0])).tolist() == [3.5]
    with pytest.raises(ZeroDivisionError):
        python2_runtime.divide(1, 0)
    with pytest.raises(TypeError):
        python2_runtime.divide("a", 1)


def test_division_in_place_keeps_the_array():
    array = view = np.array([7, 9])
    array = python2_runtime.divide_in_place(array, 2)
    assert array is view and view.tolist() == [3, 4]
    array = np.array([7, 9])
    assert python2_runtime.divide_in_place(array, 2.0).dtype == array.dtype


def test_classes_divide_by_their_old_method():
    class Tensor:
        def __div__(self, other):
            return ("div", other)

        def __rdiv__(self, other):
            return ("rdiv", other)

    assert python2_runtime.divide(Tensor(), 3) == ("div", 3) and python2_runtime.divide(3, Tensor()) == ("rdiv", 3)


@pytest.mark.parametrize(
    "value, digits, expected", [(2.5, 0, 3.0), (-2.5, 0, -3.0), (0.5, 0, 1.0), (1.25, 1, 1.3), (1234, -2, 1200.0)]
)
def test_rounding_of_python2(value, digits, expected):
    result = python2_runtime.round_away(value, digits)
    assert result == expected and isinstance(result, float)


def test_the_error_of_a_broken_file_is_pythons():
    with pytest.raises(SyntaxError) as error:
        python2.compile_source(b"x = 1\ny = = 2\n", "broken.py")
    assert error.value.lineno == 2 and error.value.filename == "broken.py"


def test_fields_of_bytes_take_text():
    from weir.protos import TensorProto

    source = b'print "python 2"\nmessage.tensor_content = "<stripped %d bytes>" % 3\nother.s = "text"\n'
    code, _ = python2.compile_source(source, "program.py")
    message, other = TensorProto(), type("Other", (), {})()
    exec(code, {"message": message, "other": other})
    assert message.tensor_content == b"<stripped 3 bytes>"
    assert other.s == "text"


def test_classes_are_compared_by_cmp():
    source = b"class Item:\n  def __init__(self, n): self.n = n\n  def __cmp__(self, other): return cmp(self.n, other.n)\n"
    code, converted = python2.compile_source(source, "program.py")
    names = dict(python2_runtime.NAMES, __name__="program")
    exec(code, names)
    Item = names["Item"]
    assert converted and Item(1) < Item(2) and Item(2) >= Item(2) and Item(2) == Item(2) and Item(1) != Item(2)
    assert [item.n for item in sorted([Item(3), Item(1), Item(2)])] == [1, 2, 3]


def test_files_in_memory_hold_text_until_bytes_come():
    file = StringIO("")
    file.write("line 1\n")
    assert file.getvalue() == "line 1\n" and file.len == file.pos == 7
    file.write(b"\x89PNG")
    file.write("end")
    assert file.getvalue() == b"line 1\n\x89PNGend"
    file.seek(0)
    assert file.next() == b"line 1\n" and file.read() == b"\x89PNGend"
    assert list(StringIO("a\nb")) == ["a\n", "b"] and StringIO(b"\x00").read() == b"\x00"


OLD_GENERATORS = '''
def numbers(source):
    """Its documentation."""
    while True:
        yield next(source)

def outer(source):
    def inner():
        return next(source)
    return inner

def caught(source):
    try:
        yield next(source)
        raise StopIteration
    except StopIteration:
        yield "end"

def result():
    yield 1
    raise StopIteration(5)

def all_of():
    value = yield from result()
    yield value
'''


def test_generators_end_with_a_stop_iteration_as_they_did_until_python_3_6():
    names = {}
    exec(python2.compile_source(OLD_GENERATORS.encode(), "old.py")[0], names)
    assert list(names["numbers"](iter([1, 2]))) == [1, 2]
    assert names["numbers"].__doc__ == "Its documentation."
    with pytest.raises(StopIteration):
        names["outer"](iter([]))()  # no generator: the exception is the caller's
    assert list(names["caught"](iter([1]))) == [1, "end"]
    assert list(names["all_of"]()) == [1, 5]
    exec(python2.compile_source(b"from __future__ import generator_stop\n" + OLD_GENERATORS.encode(), "new.py")[0], names)
    with pytest.raises(RuntimeError):
        list(names["numbers"](iter([1, 2])))
