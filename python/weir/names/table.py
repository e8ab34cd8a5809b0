"""names.tsv: where every public name of TensorFlow is found in Weir. Its first lines say how rows are written."""

import os

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "names.tsv")

_modules = None


def modules():
    """The rows by module, ``{"tf.nn": {"relu": "weir.ops.nn_ops:relu", ...}, ...}``: "" for what is absent.

    Every module on the way to a row is a key. Read when first asked for, in about three milliseconds.
    """
    global _modules
    if _modules is None:
        _modules = _read(FILE)
    return _modules


def _read(path):
    found = {}
    with open(path, encoding="ascii") as file:
        for line in file:
            if line[0] in "#\n":
                continue
            name, _, place = line.rstrip("\n").partition("\t")
            module, _, last = name.rpartition(".")
            rows = found.get(module)
            if rows is None:
                rows = found[module] = {}
                while "." in module:
                    module = module.rpartition(".")[0]
                    found.setdefault(module, {})
            rows[last] = place
    return found


def rows():
    """(name, place) of every row, "tf.nn.relu" and "weir.ops.nn_ops:relu" for one."""
    for module, names in modules().items():
        for name, place in names.items():
            yield f"{module}.{name}", place


def place(name):
    """What the table says of a name; None when it says nothing."""
    module, _, last = name.rpartition(".")
    return modules().get(module, {}).get(last)


def public_name(module_name):
    """The name that a module of Weir has in the table: "tf.nn" is weir.nn."""
    return "tf" + module_name[len("weir"):]
