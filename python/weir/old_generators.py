"""Generators as they were until Python 3.6: a StopIteration that leaves one, `next(other)` of an iterator at its end for
one, ends it quietly. Since Python 3.7 (PEP 479) it is a RuntimeError, which many an input pipeline of old programs meets
at the end of its data.
"""

import ast


def restore(tree):
    """The syntax tree of a module, whose generators end as they did; those of a module that asks for generator_stop stay."""
    if not any(isinstance(node, ast.ImportFrom) and node.module == "__future__"
               and any(name.name == "generator_stop" for name in node.names) for node in tree.body):
        for node in list(ast.walk(tree)):
            if isinstance(node, ast.FunctionDef) and _is_generator(node):
                _end_quietly(node)
    return tree


def _is_generator(function):
    """Whether a `yield` stands in the function itself, and not only in one inside of it."""
    open_nodes = list(function.body)
    while open_nodes:
        node = open_nodes.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            open_nodes.extend(ast.iter_child_nodes(node))
    return False


def _end_quietly(function):
    """def f(): try: <body>, except StopIteration as e: return e.value; with the file's line numbers."""
    documentation = 1 if ast.get_docstring(function, clean=False) is not None else 0
    body = function.body[documentation:]
    if not body:
        return
    caught = ast.parse("try:\n    pass\nexcept StopIteration as _weir_end:\n"
                       "    return _weir_end.value").body[0]
    last = function.end_lineno
    for node in ast.walk(caught):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = last
            node.col_offset = node.end_col_offset = 0
    caught.body = body
    function.body[documentation:] = [caught]
