"""Python 2 programs on Python 3: tells them apart, converts them and gives them what they expect at run time.

The conversion has two halves. fissix (the maintained lib2to3) rewrites the syntax and the renamed modules; a pass over
the syntax tree then restores meanings that syntax cannot: `/` between integers, `round`, `math.floor`, `sort(cmp)`,
`str.decode`. Line numbers stay those of the file, so that tracebacks show the user's lines.
"""

import ast
import builtins
import operator
import sys
import warnings

from weir import old_generators

_FIXERS = (
    "apply", "asserts", "dict", "except", "exec", "exitfunc", "filter", "funcattrs", "getcwdu", "has_key",
    "imports", "imports2", "itertools", "itertools_imports", "long", "map", "metaclass", "methodattrs", "ne", "next",
    "nonzero", "numliterals", "operator", "paren", "print", "raise", "renames", "repr", "standarderror",
    "sys_exc", "throw", "tuple_params", "types", "unicode", "urllib", "xrange", "xreadlines", "zip",
)  # fmt: skip
# The others stay out: what they rename, RUNTIME_NAMES below provides without adding import lines.

_ONLY_NAMES = {
    "xrange", "unicode", "raw_input", "basestring", "long", "reduce", "unichr", "cmp", "execfile", "reload", "file",
    "apply",
    "buffer", "intern", "StandardError",
}  # fmt: skip
_ONLY_METHODS = {"iteritems", "itervalues", "iterkeys", "has_key"}
_ONLY_LISTS = {"keys", "values", "items"}  # methods of dictionaries that gave lists
_ONLY_SPECIAL = {"__cmp__": "__lt__", "__nonzero__": "__bool__", "next": "__next__"}  # and what Python 3 asks for instead
_ONLY_NEXT = {"os.walk", "walk", "iter", "enumerate", "zip", "map", "csv.reader", "itertools.cycle", "itertools.count"}
_ONLY_MODULES = {
    "cPickle", "cStringIO", "StringIO", "ConfigParser", "Queue", "urllib2", "urlparse", "httplib", "HTMLParser",
    "Tkinter",
    "commands", "cookielib", "Cookie", "SocketServer", "SimpleHTTPServer", "BaseHTTPServer", "__builtin__", "thread",
    "copy_reg", "anydbm", "exceptions", "sets",
}  # fmt: skip
_STRING_FILES = {"StringIO", "cStringIO"}  # provided by weir.old_string_io
_ONLY_ATTRIBUTES = {
    "sys": {"maxint", "setdefaultencoding"},
    "itertools": {"izip", "imap", "ifilter", "izip_longest"},
    "string": {"letters", "lowercase", "uppercase", "maketrans", "join"},
    "urllib": {"urlopen", "urlretrieve", "urlencode", "quote", "unquote"},
    "os": {"getcwdu"},
}


class MissingConverter(ImportError):
    """The program is written for Python 2 and fissix is not installed."""


def compile_source(data, filename, mode="auto", package=""):
    """Compiles the bytes of a source file; returns (code, whether it was converted from Python 2).

    mode: "auto" converts what is Python 2, "python2" converts anyway, "off" never. `package` is the package that the
    module belongs to, if any. Raises SyntaxError of the file as it stands if it is neither Python 2 nor 3, and
    MissingConverter. The code of a converted module must run with RUNTIME_NAMES among its globals.
    """
    if mode == "off":
        return compile(data, filename, "exec", dont_inherit=True), False
    with warnings.catch_warnings():
        # Old files are full of what is frowned upon since ("\d" in plain strings); it works.
        warnings.simplefilter("ignore", SyntaxWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        return _compile_any(data, filename, mode, package)


def _compile_any(data, filename, mode, package):
    error = None
    try:
        tree = compile(data, filename, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    except (SyntaxError, ValueError) as reason:  # ValueError: null bytes
        error, tree = reason, None
    if tree is not None and mode != "python2" and not _says_python2(data) and not is_python2(tree):
        return compile(old_generators.restore(tree), filename, "exec", dont_inherit=True), False
    text = _decode(data)
    if error is not None and "\t" in text:  # Python 3 may have met another error before the mixed tabs
        text = _expand_tabs(text)
    try:
        tree = _convert(text, filename, package)
    except MissingConverter:
        raise
    except Exception:
        # Not Python 2 either. What is wrong with it as Python 3 is what the user should read.
        if error is not None:
            raise error from None
        raise
    builtins.__dict__.update(_HELPERS)
    return compile(old_generators.restore(tree), filename, "exec", dont_inherit=True), True


def _says_python2(data):
    return data.startswith(b"#!") and b"python2" in data.split(b"\n", 1)[0]


def is_python2(tree):
    """Whether a module that compiles as Python 3 uses names, methods or modules that only Python 2 has."""
    bound = set()  # names that the module defines itself, also by `from six.moves import xrange`
    used = set()
    guarded = set()  # nodes under try: `try: import cPickle ... except ImportError` runs on both
    for node in ast.walk(tree):
        if isinstance(node, ast.Try) and _is_fallback(node):
            guarded.update(id(inner) for part in node.body + node.handlers for inner in ast.walk(part))
        elif isinstance(node, ast.If) and _is_version_test(node.test):
            guarded.update(id(inner) for part in node.body + node.orelse for inner in ast.walk(part))
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                if id(node) not in guarded:
                    used.add(node.id)
            else:
                bound.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            bound.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
    if "*" not in bound and used & _ONLY_NAMES - bound:
        return True
    iterators = {
        ast.unparse(target) for node in ast.walk(tree) if isinstance(node, ast.Assign) and _is_iterator(node.value)
        for target in node.targets
    }
    return any(id(node) not in guarded and _is_python2_node(node, bound, iterators) for node in ast.walk(tree))


def _is_iterator(value):
    """Whether an expression gives an iterator of Python's own, which has no method next() in Python 3."""
    return isinstance(value, ast.Call) and ast.unparse(value.func) in _ONLY_NEXT


def _is_list_of_dictionary(node):
    """d.keys(), d.values() or d.items()."""
    return (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _ONLY_LISTS
            and not node.args and not node.keywords)


def _is_fallback(node):
    """Whether a try statement is there for what may be missing: try: unicode = unicode, except NameError: ..."""
    caught = {
        inner.id for handler in node.handlers for inner in ast.walk(handler.type or node) if isinstance(inner, ast.Name)
    }
    if caught & {"ImportError", "ModuleNotFoundError", "NameError", "AttributeError"}:
        return True
    return len(node.body) <= 2 and any(isinstance(part, (ast.Import, ast.ImportFrom)) for part in node.body)


def _is_version_test(test):
    return any(
        isinstance(node, ast.Attribute) and node.attr in ("version_info", "PY2", "PY3", "version")
        for node in ast.walk(test)
    )


def _is_python2_node(node, bound, iterators):
    if isinstance(node, ast.Import):
        return any(alias.name in _ONLY_MODULES for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        names = {alias.name for alias in node.names}
        return not node.level and (
            node.module in _ONLY_MODULES or bool(names & _ONLY_ATTRIBUTES.get(node.module or "", set()))
        )
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        owner = node.func.value
        if node.func.attr in _ONLY_METHODS and node.func.attr not in bound:
            return not (isinstance(owner, ast.Name) and owner.id in ("six", "future", "compat"))
        if node.func.attr == "next" and not node.args and isinstance(owner, ast.Call):
            return _is_iterator(owner)  # other objects may have such a method in Python 3
        if node.func.attr == "next" and not node.args and isinstance(owner, (ast.Name, ast.Attribute)):
            return ast.unparse(owner) in iterators
        if node.func.attr == "sort" and _is_list_of_dictionary(owner):
            return True
    if isinstance(node, ast.Subscript):
        return _is_list_of_dictionary(node.value)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _is_list_of_dictionary(node.left) or _is_list_of_dictionary(node.right)
    if isinstance(node, ast.ClassDef):
        defined = {target.id for part in node.body if isinstance(part, ast.Assign) for target in part.targets
                   if isinstance(target, ast.Name)}
        defined.update(part.name for part in node.body if isinstance(part, ast.FunctionDef))
        return any(old in defined and new not in defined and (old != "next" or "__iter__" in defined)
                   for old, new in _ONLY_SPECIAL.items())
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.attr in _ONLY_ATTRIBUTES.get(node.value.id, ())
    return False


def _decode(data):
    import io
    import tokenize

    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding)
    except (SyntaxError, UnicodeDecodeError):
        text = data.decode("latin-1")  # Python 2 did not mind such bytes in comments
    return text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff")


def _expand_tabs(text):
    """Python 2 took a tab for up to eight columns and let it be mixed with spaces."""
    from fissix.pgen2 import tokenize

    lines = text.split("\n")
    inside_strings = set()
    reader = iter([line + "\n" for line in lines])
    for kind, _, (first, _), (last, _), _ in tokenize.generate_tokens(lambda: next(reader, "")):
        if kind == tokenize.STRING:
            inside_strings.update(range(first + 1, last + 1))
    for number, line in enumerate(lines, 1):
        if number not in inside_strings:
            body = line.lstrip(" \t")
            lines[number - 1] = line[: len(line) - len(body)].expandtabs(8) + body
    return "\n".join(lines)


_tools = {}


def _refactored(text, filename, package):
    try:
        from fissix.fixes.fix_imports import FixImports
        from fissix.refactor import RefactoringTool
    except ImportError:
        raise MissingConverter(
            f"{filename} is written for Python 2; Weir converts it with fissix: pip install fissix"
        ) from None
    # Implicit relative imports exist only inside packages.
    fixers = _FIXERS + (("import",) if package else ())
    if fixers not in _tools:
        # Renamed to io, they would hide the name where programs write io = StringIO.StringIO(), and take text alone.
        FixImports.mapping = {old: new for old, new in FixImports.mapping.items() if old not in _STRING_FILES}
        _tools[fixers] = RefactoringTool([f"fissix.fixes.fix_{name}" for name in fixers])
    if not text.endswith("\n"):
        text += "\n"
    return str(_tools[fixers].refactor_string(text, filename))


def _convert(text, filename, package):
    """The syntax tree of the converted module, with the line numbers of the original."""
    converted = _refactored(text, filename, package)
    tree = compile(converted, filename, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    old, new = text.rstrip("\n").split("\n"), converted.rstrip("\n").split("\n")
    if len(old) != len(new):
        _renumber(tree, _line_map(old, new))
    tree = ast.fix_missing_locations(_Meanings(tree).visit(tree))
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):  # columns are those of the converted text; tracebacks would mark the wrong words
            node.col_offset = node.end_col_offset = -1
    return tree


def _line_map(old, new):
    """For each line of `new`, the number of the line of `old` that it comes from."""
    import difflib

    origin = [0]
    for _, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        for j in range(j1, j2):
            origin.append(max(1, min(i1 + (j - j1), (i2 if i2 > i1 else i1 + 1) - 1) + 1))
    return origin


def _renumber(tree, origin):
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno = origin[node.lineno]
            if node.end_lineno is not None:
                node.end_lineno = max(node.lineno, origin[node.end_lineno])


# Fields of messages that hold bytes, and that programs assign.
_BYTES_FIELDS = {"tensor_content", "encoded_image_string", "encoded_audio_string", "s"}


class _Meanings(ast.NodeTransformer):
    """Puts calls of the helpers below where Python 3 means something else than Python 2 by the same text."""

    def __init__(self, tree):
        self._true_division = any(
            isinstance(node, ast.ImportFrom)
            and node.module == "__future__"
            and any(alias.name == "division" for alias in node.names)
            for node in ast.walk(tree)
        )
        self._rounding = {"round": "_weir_round_"}  # names of functions that gave float in Python 2
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module == "math":
                for alias in node.names:
                    if alias.name in ("floor", "ceil"):
                        self._rounding[alias.asname or alias.name] = None
            elif isinstance(node, ast.FunctionDef):
                self._rounding.pop(node.name, None)
        self._classes = []

    @staticmethod
    def _call(helper, args, like):
        name = ast.copy_location(ast.Name(helper, ast.Load()), like)
        return ast.copy_location(ast.Call(name, args, []), like)

    def visit_ClassDef(self, node):
        self._classes.append(node.name)
        self.generic_visit(node)
        self._classes.pop()
        if any(isinstance(part, ast.FunctionDef) and part.name == "__cmp__" for part in node.body):
            node.decorator_list.append(ast.copy_location(ast.Name("_weir_comparable_", ast.Load()), node))
        return node

    def _visit_test(self, node):
        self.generic_visit(node)
        node.test = self._truth(node.test)
        return node

    visit_If = visit_IfExp = visit_While = visit_Assert = _visit_test

    def _truth(self, test):
        """A condition in which a tensor counts as true, as any object."""
        if isinstance(test, (ast.Name, ast.Attribute, ast.Subscript)):
            return self._call("_weir_truth_", [test], test)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test.operand = self._truth(test.operand)
        elif isinstance(test, ast.BoolOp):
            test.values = [self._truth(value) for value in test.values]
        return test

    def visit_BinOp(self, node):
        self.generic_visit(node)
        if isinstance(node.op, ast.Div) and not self._true_division:
            return self._call("_weir_div_", [node.left, node.right], node)
        return node

    def visit_AugAssign(self, node):
        self.generic_visit(node)
        if not isinstance(node.op, ast.Div) or self._true_division:
            return node
        target = node.target
        if isinstance(target, ast.Name):
            read = ast.copy_location(ast.Name(target.id, ast.Load()), target)
            return ast.copy_location(ast.Assign([target], self._call("_weir_idiv_", [read, node.value], node)), node)
        if isinstance(target, ast.Attribute):
            name = target.attr
            if name.startswith("__") and not name.endswith("__") and self._classes:
                name = f"_{self._classes[-1].lstrip('_')}{name}"
            key = ast.copy_location(ast.Constant(name), target)
            call = self._call("_weir_idiv_attribute_", [target.value, key, node.value], node)
        else:
            call = self._call("_weir_idiv_item_", [target.value, self._index(target.slice), node.value], node)
        return ast.copy_location(ast.Expr(call), node)

    def visit_Assign(self, node):
        self.generic_visit(node)
        target = node.targets[0]
        if len(node.targets) > 1 or not isinstance(target, ast.Attribute) or target.attr not in _BYTES_FIELDS:
            return node
        key = ast.copy_location(ast.Constant(target.attr), target)
        call = self._call("_weir_set_field_", [target.value, key, node.value], node)
        return ast.copy_location(ast.Expr(call), node)

    def _index(self, index):
        """An index as an expression: slices become calls."""
        if isinstance(index, ast.Slice):
            nothing = ast.copy_location(ast.Constant(None), index)
            return self._call(
                "_weir_slice_", [part or nothing for part in (index.lower, index.upper, index.step)], index
            )
        if isinstance(index, ast.Tuple):
            index.elts = [self._index(part) for part in index.elts]
        return index

    def visit_Call(self, node):
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Name):
            if function.id in self._rounding:
                helper = self._rounding[function.id]
                if helper is None:
                    return self._call("_weir_float_", [node], node)
                function.id = helper
            elif function.id == "exec" and node.args:
                node.args[0] = self._call("_weir_exec_", [node.args[0]], node)
            elif function.id == "sorted" and (len(node.args) > 1 or _keyword(node, "cmp")):
                function.id = "_weir_sorted_"
        elif isinstance(function, ast.Attribute):
            owner = function.value
            if isinstance(owner, ast.Name) and owner.id == "math" and function.attr in ("floor", "ceil"):
                return self._call("_weir_float_", [node], node)
            if function.attr == "decode" or (function.attr == "sort" and (node.args or _keyword(node, "cmp"))):
                node.func = ast.copy_location(ast.Name(f"_weir_{function.attr}_", ast.Load()), function)
                node.args.insert(0, owner)
        return node


def _keyword(call, name):
    return any(keyword.arg == name for keyword in call.keywords)


# What converted modules find when they run.


def _integers(a, b):
    """Whether both are whole numbers or arrays of them, at least one of them numpy's."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not (
        isinstance(a, (numpy.ndarray, numpy.generic)) or isinstance(b, (numpy.ndarray, numpy.generic))
    ):
        return False
    for x in (a, b):
        if not isinstance(x, (int, float, complex, list, tuple, numpy.ndarray, numpy.generic)):
            return False
        if numpy.asarray(x).dtype.kind not in "iub":
            return False
    return True


def divide(a, b):
    """a / b of Python 2: integers and integer arrays round down, classes may define __div__."""
    if isinstance(a, int) and isinstance(b, int):
        return a // b
    if isinstance(a, float) or isinstance(b, float):
        kinds = (int, float)
        if isinstance(a, kinds) and isinstance(b, kinds):
            return a / b
    method = getattr(type(a), "__div__", None)
    if method is not None:
        result = method(a, b)
        if result is not NotImplemented:
            return result
    method = getattr(type(b), "__rdiv__", None)
    if method is not None:
        result = method(b, a)
        if result is not NotImplemented:
            return result
    if _integers(a, b):
        return sys.modules["numpy"].floor_divide(a, b)
    return a / b


def divide_in_place(a, b):
    """The new value of `a` after a /= b."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(a, numpy.ndarray):
        # Python 2's numpy cast the result to the type of the array.
        operation = numpy.floor_divide if _integers(a, b) else numpy.true_divide
        return operation(a, b, out=a, casting="unsafe")
    method = getattr(type(a), "__idiv__", None)
    if method is not None:
        result = method(a, b)
        if result is not NotImplemented:
            return result
    if isinstance(a, int) or getattr(type(a), "__itruediv__", None) is None:
        return divide(a, b)
    a /= b
    return a


def _truth(value):
    """``if grad:`` asked until TensorFlow 0.8 whether there is a tensor; later releases refuse it, so none means more."""
    weir = sys.modules.get("weir")
    return True if weir is not None and isinstance(value, weir.Tensor) else value


def _set_field(owner, name, value):
    """``message.tensor_content = "text"``: a Python 2 string is bytes, and fields of messages that hold bytes take it."""
    fields = getattr(getattr(owner, "DESCRIPTOR", None), "fields_by_name", {})
    if isinstance(value, str) and name in fields and fields[name].type == fields[name].TYPE_BYTES:
        value = value.encode("latin1")
    setattr(owner, name, value)


def _divide_attribute(owner, name, value):
    setattr(owner, name, divide_in_place(getattr(owner, name), value))


def _divide_item(owner, key, value):
    owner[key] = divide_in_place(owner[key], value)


def round_away(number, ndigits=0):
    """round() of Python 2: gives float, and rounds halves away from zero."""
    import math

    number = float(number)
    if not math.isfinite(number):
        return number
    from decimal import ROUND_HALF_UP, Decimal

    return float(Decimal(number).quantize(Decimal(1).scaleb(-ndigits), rounding=ROUND_HALF_UP))


def _sorted(items, cmp=None, key=None, reverse=False):
    result = list(items)
    _sort(result, cmp, key, reverse)
    return result


def _sort(items, *args, **options):
    if not isinstance(items, list):
        return items.sort(*args, **options)
    options.update(zip(("cmp", "key", "reverse"), args))
    cmp, key, reverse = options.get("cmp"), options.get("key"), options.get("reverse", False)
    if cmp is not None:
        import functools

        compare = functools.cmp_to_key(cmp)
        items.sort(key=compare if key is None else lambda item: compare(key(item)), reverse=reverse)
    else:
        items.sort(key=key, reverse=reverse)


def _decode_text(text, *args, **options):
    """Strings were bytes: what is text already stays as it is."""
    return text if isinstance(text, str) else text.decode(*args, **options)


def _cmp(a, b):
    return (a > b) - (a < b)


def _comparable(cls):
    """A class whose objects are compared by their method __cmp__."""
    for name in ("lt", "le", "eq", "ne", "gt", "ge"):
        if f"__{name}__" not in cls.__dict__:
            setattr(cls, f"__{name}__", _compared(getattr(operator, name)))
    return cls


def _compared(function):
    return lambda self, other: function(self.__cmp__(other), 0)


def _reduce(*args):
    import functools

    return functools.reduce(*args)


def _reload(module):
    # The usual reload(sys) only brings back sys.setdefaultencoding, which is there.
    if module is sys:
        return module
    import importlib

    return importlib.reload(module)


def _open(name, mode="r", buffering=-1, *args, **options):
    """open() that takes any bytes in text and the mode U, as Python 2's did."""
    mode = mode.replace("U", "") or "r"
    if mode in ("b", "t"):
        mode = "r" + mode
    if "b" not in mode and not args and "encoding" not in options:
        options.setdefault("encoding", "utf-8")
        options.setdefault("errors", "surrogateescape")
        buffering = -1 if buffering == 0 else buffering  # text cannot be unbuffered
    return builtins.open(name, mode, buffering, *args, **options)


def _input(prompt=""):
    frame = sys._getframe(1)
    return eval(builtins.input(prompt), frame.f_globals, frame.f_locals)


def _execfile(filename, global_names=None, local_names=None):
    if global_names is None:
        frame = sys._getframe(1)
        global_names, local_names = frame.f_globals, frame.f_locals
    with builtins.open(filename, "rb") as file:
        # What a Python 2 program executes is Python 2, even if it would compile as Python 3.
        code, _ = compile_source(file.read(), filename, "python2")
    exec(code, global_names, global_names if local_names is None else local_names)


def _exec(source):
    """What exec gets: text is Python 2 too."""
    return compile_source(source.encode(), "<string>", "python2")[0] if isinstance(source, str) else source


def _apply(function, args=(), options=None):
    return function(*args, **(options or {}))


# Called by the converted code; builtins, because it may run with globals of its own.
_HELPERS = {
    "_weir_comparable_": _comparable,
    "_weir_div_": divide,
    "_weir_set_field_": _set_field,
    "_weir_truth_": _truth,
    "_weir_idiv_": divide_in_place,
    "_weir_idiv_attribute_": _divide_attribute,
    "_weir_idiv_item_": _divide_item,
    "_weir_slice_": slice,
    "_weir_float_": float,
    "_weir_round_": round_away,
    "_weir_sorted_": _sorted,
    "_weir_sort_": _sort,
    "_weir_decode_": _decode_text,
    "_weir_exec_": _exec,
}
# Builtins of Python 2. Not among Python's builtins, where libraries would take them for a sign of Python 2.
RUNTIME_NAMES = {
    "apply": _apply,
    "basestring": str,
    "buffer": memoryview,
    "cmp": _cmp,
    "execfile": _execfile,
    "file": _open,
    "input": _input,
    "intern": sys.intern,
    "long": int,
    "open": _open,
    "raw_input": input,
    "reduce": _reduce,
    "reload": _reload,
    "StandardError": Exception,
    "unichr": chr,
    "unicode": str,
    "xrange": range,
}
