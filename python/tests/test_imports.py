"""The modules of the package import each other in one direction only, and where a reader looks for it: at the top.

A name that is to be imported late, to keep `import weir` quick, is asked of the table of names:
``names.at("weir.ops.script_ops:py_func")``.
"""

import ast
import importlib
import os

import weir

PACKAGE = os.path.dirname(os.path.abspath(weir.__file__))


def _modules():
    """{module: its file} of the package."""
    found = {}
    for folder, _, files in os.walk(PACKAGE):
        for file in files:
            if file.endswith(".py"):
                path = os.path.join(folder, file)
                name = os.path.relpath(path, os.path.dirname(PACKAGE))[:-len(".py")].replace(os.sep, ".")
                found[name.removesuffix(".__init__")] = path
    return found


def _imported(node, modules):
    """The modules of the package that an import statement, or a call of names.at, names."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names if alias.name.partition(".")[0] == "weir"]
    if isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").partition(".")[0] == "weir":
        inner = [f"{node.module}.{alias.name}" for alias in node.names]
        return [name if name in modules else node.module for name in inner if name != "weir._weir"]
    if isinstance(node, ast.Call) and ast.unparse(node.func) in ("names.at", "_names.at", "modules.at", "at"):
        place = getattr(node.args[0], "value", None)
        return [place.partition(":")[0]] if isinstance(place, str) else []
    return []


def _edges():
    """(module, module that it imports, line, whether inside a function, whether by the table)."""
    modules = _modules()
    for module, path in modules.items():
        with open(path, encoding="utf-8") as file:
            tree = ast.parse(file.read())
        inside = {id(part) for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.Lambda))
                  for part in ast.walk(node)}
        for node in ast.walk(tree):
            assert not (isinstance(node, ast.ImportFrom) and node.level), f"{path}:{node.lineno}: name the package"
            for target in _imported(node, modules):
                yield module, target, node.lineno, id(node) in inside, isinstance(node, ast.Call)


def _cycle(graph):
    """Modules that import each other in a ring, or nothing."""
    done, path = set(), []

    def visit(module):
        if module in path:
            return path[path.index(module):] + [module]
        if module in done:
            return None
        path.append(module)
        for target in sorted(graph.get(module, ())):
            ring = visit(target)
            if ring:
                return ring
        path.pop()
        done.add(module)
        return None

    return next((ring for ring in map(visit, sorted(graph)) if ring), None)


def test_no_modules_import_each_other_in_a_ring():
    """What is imported in functions, and late by the table, counts as well."""
    graph = {}
    for module, target, *_ in _edges():
        graph.setdefault(module, set()).add(target)
    assert len(graph) > 50 and "weir.core.graph" in graph["weir.ops.array_ops"]
    assert _cycle(graph) is None


def test_a_ring_is_found():
    assert _cycle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == ["a", "b", "c", "a"]


def test_no_function_imports_a_module_of_the_package():
    hidden = [f"{module}:{line} imports {target}" for module, target, line, inside, by_table in _edges()
              if inside and not by_table]
    assert not hidden, hidden


def _lacking(tree, modules):
    """(line, what is asked of a module of the package that does not have it)."""
    there = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "weir":
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                if name in modules:
                    there[alias.asname or alias.name] = importlib.import_module(name)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in there:
            if not hasattr(there[node.value.id], node.attr):
                yield node.lineno, f"{node.value.id}.{node.attr}"


def test_modules_have_what_others_ask_of_them():
    """Names that functions use are looked up when these run, which a test may never do."""
    modules, wrong = _modules(), []
    for path in modules.values():
        with open(path, encoding="utf-8") as file:
            wrong += [f"{path}:{line}: {what}" for line, what in _lacking(ast.parse(file.read()), modules)]
    assert not wrong, "\n".join(wrong)


def test_what_a_module_lacks_is_found():
    tree = ast.parse("from weir.ops import array_ops\n\ndef f():\n    return array_ops.shape, array_ops.no_such_thing\n")
    assert list(_lacking(tree, _modules())) == [(4, "array_ops.no_such_thing")]
