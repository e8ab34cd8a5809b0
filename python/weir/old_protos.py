"""Message modules that protoc wrote before 3.20, which protobuf since 4.21 refuses to load.

Such a module holds its file's serialized descriptor and then builds every descriptor a second time, by hand. What
`weir run` runs gets the module that today's protoc would have written: the same descriptor, and the messages made of it.
"""

import ast
import importlib.util
from importlib.machinery import PathFinder, SourceFileLoader


class Finder:
    """Finds message modules of the old form, the program's own and installed ones."""

    @staticmethod
    def find_spec(fullname, path=None, target=None):
        if not fullname.endswith("_pb2") or fullname.startswith("google.protobuf."):
            return None
        spec = PathFinder.find_spec(fullname, path)
        if spec is None or type(spec.loader) is not SourceFileLoader:
            return None
        source = spec.loader.get_source(fullname)
        if "_descriptor.FileDescriptor(" not in source:
            return None
        parts = _parts(source)
        if parts is None:
            return None
        return importlib.util.spec_from_file_location(fullname, spec.origin, loader=_Loader(fullname, spec.origin, parts))


class _Loader(SourceFileLoader):
    def __init__(self, fullname, path, parts):
        super().__init__(fullname, path)
        self._imports, self._serialized = parts

    def get_code(self, fullname):
        return compile(ast.Module(self._imports, []), self.path, "exec")

    def exec_module(self, module):
        from google.protobuf import descriptor_pool
        from google.protobuf.internal import builder

        exec(self.get_code(module.__name__), module.__dict__)  # the messages of these files come first
        module.DESCRIPTOR = descriptor_pool.Default().AddSerializedFile(self._serialized)
        builder.BuildMessageAndEnumDescriptors(module.DESCRIPTOR, module.__dict__)
        builder.BuildTopDescriptorsAndMessages(module.DESCRIPTOR, module.__name__, module.__dict__)


def _parts(source):
    """The imports of other message modules and the serialized descriptor; None when the text is not of that form."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return None
    imports = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom)) and _is_of_messages(node)]
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "serialized_pb":
            value = node.value
            if isinstance(value, ast.Call) and len(value.args) == 1:  # _b('...'), which encodes as latin-1
                value = value.args[0]
            if isinstance(value, ast.Constant) and isinstance(value.value, (str, bytes)):
                text = value.value
                return imports, text if isinstance(text, bytes) else text.encode("latin1")
    return None


def _is_of_messages(node):
    names = [name.name for name in node.names] + [getattr(node, "module", None) or ""]
    return any(name.endswith("_pb2") for name in names)
