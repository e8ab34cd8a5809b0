"""tensorflow.python.util.all_util: which names of a module are public. Libraries end their modules with a call of it."""

import inspect
import re
import sys

from weir import names

_RAW_OPS = "weir.core.op_functions:raw_ops"  # TensorFlow hides functions of operations in the modules of their areas
_hidden = {}  # module name: {name: what was hidden}

_REFERENCE = re.compile(r"\@\@([a-zA-Z0-9_]+)$", re.MULTILINE)


def make_all(module_name, doc_string_modules=None):
    """The names that the docstrings of modules mention as ``@@name`` and that the module has."""
    if doc_string_modules is None:
        doc_string_modules = [sys.modules[module_name]]
    present = {name for name, _ in inspect.getmembers(sys.modules[module_name])}
    mentioned = set()
    for module in doc_string_modules:
        mentioned.update(match.group(1) for match in _REFERENCE.finditer(module.__doc__ or ""))
    return sorted(present & mentioned)


def remove_undocumented(module_name, allowed_exception_list=None, doc_string_modules=None):
    """Hides the names of a module that are neither documented nor allowed."""
    module = sys.modules[module_name]
    kept = set(make_all(module_name, doc_string_modules)) | set(allowed_exception_list or ())
    hidden = _hidden.setdefault(module_name, {})
    for name in list(vars(module)):
        if name not in kept and not name.startswith("_"):
            hidden[name] = getattr(module, name)
            delattr(module, name)


def reveal_undocumented(symbol_name, target_module=None):
    """Brings back a name, ``module.name``, that remove_undocumented hid."""
    module_name, _, name = symbol_name.rpartition(".")
    hidden = _hidden.get(module_name, {})
    if name in hidden:
        value = hidden[name]
    else:
        value = getattr(sys.modules.get(module_name), name, None) or getattr(names.at(_RAW_OPS), name, None)
        if value is None:
            raise LookupError(f"Symbol {symbol_name} is not a hidden symbol")
    setattr(target_module if target_module is not None else sys.modules[module_name], name, value)
