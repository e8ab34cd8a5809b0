"""Python 2 programs on Python 3: tells them apart, converts them and gives them what they expect at run time.

The conversion has two halves. fissix (the maintained lib2to3) rewrites the syntax and the renamed modules; a pass over
the syntax tree then restores meanings that syntax cannot: `/` between integers, `round`, `math.floor`, `sort(cmp)`,
`str.decode`. Line numbers stay those of the file, so that tracebacks show the user's lines.
"""

import __future__

import ast
import builtins
import contextlib
import functools
import importlib.util
import operator
import os
import sys
import warnings

from weir import old_generators, old_tensorflow, python2_runtime

_FIXERS = (
    "apply", "asserts", "dict", "except", "exec", "exitfunc", "filter", "funcattrs", "getcwdu", "has_key",
    "imports", "imports2", "itertools", "itertools_imports", "long", "map", "metaclass", "methodattrs", "ne", "next",
    "nonzero", "numliterals", "operator", "paren", "print", "raise", "renames", "repr", "standarderror",
    "sys_exc", "throw", "tuple_params", "types", "unicode", "urllib", "xrange", "xreadlines", "zip",
)  # fmt: skip
# The others stay out: what they rename, python2_runtime provides without adding import lines.

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
    MissingConverter. The code of a converted module must run with python2_runtime.NAMES among its globals.
    """
    if mode == "off":
        return compile(data, filename, "exec", dont_inherit=True), False
    tree, converted = parse_source(data, filename, mode, package)
    with _old_warnings():
        return compile(old_generators.restore(tree), filename, "exec", dont_inherit=True), converted


def parse_source(data, filename, mode="auto", package=""):
    """compile_source's first half: (syntax tree, whether it was converted)."""
    if mode == "off":
        return compile(data, filename, "exec", ast.PyCF_ONLY_AST, dont_inherit=True), False
    with _old_warnings():
        return _parse_any(data, filename, mode, package)


def converts(text):
    """Whether a text that is not Python 3 is Python 2."""
    try:
        _convert(text, "<text>", "")
    except MissingConverter:
        raise
    except Exception:
        return False
    return True


def is_only_python2(data, filename, package):
    """Whether a module could not even be imported by Python 3; so that no program that imports it is Python 3."""
    try:
        with _old_warnings():
            tree = compile(data, filename, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    except (SyntaxError, ValueError):
        return True
    return bool(package) and _imports_siblings(tree, filename)


def future_flags(names):
    """The compiler's flags for names imported from __future__."""
    return functools.reduce(operator.or_, (getattr(__future__, name).compiler_flag for name in names), 0)


@contextlib.contextmanager
def _old_warnings():
    """Old files are full of what is frowned upon since ("\\d" in plain strings); it works."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


def _parse_any(data, filename, mode, package):
    error = tree = None
    try:
        tree = compile(data, filename, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    except (SyntaxError, ValueError) as reason:  # ValueError: null bytes
        error = reason
    if tree is not None and mode != "python2" and not (
        _says_python2(data) or is_python2(tree) or (package and _imports_siblings(tree, filename))
    ):
        return (_with_old_truth(tree) if old_tensorflow.noticed(tree) else tree), False
    text = _decode(data)
    if error is not None and "\t" in text:  # Python 3 may have met another error before the mixed tabs
        text = _expand_tabs(text)
    try:
        converted = _convert(text, filename, package)
    except MissingConverter:
        raise
    except Exception:
        # Not Python 2 either. What is wrong with it as Python 3 is what the user should read.
        if error is not None:
            raise error from None
        if mode == "python2":
            raise
        return tree, False  # it looks like Python 2, by a name or two, but has syntax that only Python 3 knows
    builtins.__dict__.update(python2_runtime.HELPERS)
    old_tensorflow.noticed(converted)
    return converted, True


def _with_old_truth(tree):
    builtins.__dict__.update(python2_runtime.HELPERS)
    return _Truth().visit(tree)


def _imports_siblings(tree, filename):
    """Whether a module of a package imports the one beside it as Python 2 did: by its name alone, which nothing else has."""
    folder = os.path.dirname(filename)
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(node.module.partition(".")[0])
    for name in names:
        path = os.path.join(folder, name)
        if (os.path.isfile(path + ".py") or os.path.isfile(os.path.join(path, "__init__.py"))) and not _exists(name):
            return True
    return False


def _exists(module):
    try:
        return module in sys.modules or importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


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


class _Truth(ast.NodeTransformer):
    """Lets tensors be conditions."""

    @staticmethod
    def _call(helper, args, like):
        name = ast.copy_location(ast.Name(helper, ast.Load()), like)
        return ast.copy_location(ast.Call(name, args, []), like)

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


# Fields of messages that hold bytes, and that programs assign.
_BYTES_FIELDS = {"tensor_content", "encoded_image_string", "encoded_audio_string", "s"}


class _Meanings(_Truth):
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

    def visit_ClassDef(self, node):
        self._classes.append(node.name)
        self.generic_visit(node)
        self._classes.pop()
        if any(isinstance(part, ast.FunctionDef) and part.name == "__cmp__" for part in node.body):
            node.decorator_list.append(ast.copy_location(ast.Name("_weir_comparable_", ast.Load()), node))
        return node

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


python2_runtime.HELPERS["_weir_exec_"] = _exec
python2_runtime.NAMES["execfile"] = _execfile
