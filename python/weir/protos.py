"""Protocol buffer messages under TensorFlow's names: GraphDef, ConfigProto, Summary, Example, ...

The classes are built on first use from `_descriptors.bin`, a serialised FileDescriptorSet that protoc writes from
proto/*.proto at build time (tools/descriptors.sh). So no generated code depends on the version of the protobuf package
(3.20 and newer serve), and importing this module does not import protobuf.

Every top-level message, enumeration and enumeration value of those files is an attribute of this module.
"""

import os

# What TensorFlow shows of them in tf, tf.train and tf.summary. Listed, so that a namespace can tell without protobuf
# whether a name is a message.
TF_NAMES = frozenset((
    "AttrValue", "ConfigProto", "Event", "GPUOptions", "GraphDef", "GraphOptions", "HistogramProto", "LogMessage",
    "MetaGraphDef", "NameAttrList", "NodeDef", "OptimizerOptions", "RunMetadata", "RunOptions", "SessionLog", "Summary",
    "SummaryMetadata", "TensorInfo",
))  # fmt: skip
TRAIN_NAMES = frozenset((
    "BytesList", "CheckpointState", "ClusterDef", "Example", "Feature", "FeatureList", "FeatureLists", "Features",
    "FloatList", "Int64List", "JobDef", "QueueRunnerDef", "SaverDef", "SequenceExample", "ServerDef",
))  # fmt: skip
SUMMARY_NAMES = frozenset(("Event", "SessionLog", "Summary", "SummaryDescription", "TaggedRunMetadata"))

_DESCRIPTORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_descriptors.bin")
_PREFIX = "weir/proto/"

_registry = None


class _Registry:
    """The descriptors in a pool of their own, and how to make classes of them.

    A pool of their own, because another package in the process may register files of the same names.
    """

    def __init__(self):
        try:
            from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
        except ImportError as error:
            raise ImportError("Weir's messages need the package protobuf: pip install protobuf") from error
        try:
            with open(_DESCRIPTORS, "rb") as file:
                files = descriptor_pb2.FileDescriptorSet.FromString(file.read())
        except FileNotFoundError:
            raise ImportError(f"{_DESCRIPTORS} is missing; the build writes it with tools/descriptors.sh") from None
        pool = descriptor_pool.DescriptorPool()
        for file in files.file:  # protoc writes them in the order of their dependencies
            pool.AddSerializedFile(file.SerializeToString())
        if hasattr(message_factory, "GetMessageClass"):
            self.message_class = message_factory.GetMessageClass
        else:  # before protobuf 4.22
            self.message_class = message_factory.MessageFactory(pool).GetPrototype
        self.files = {}  # "graph" -> FileDescriptor
        self.names = {}  # top-level name -> message or enumeration descriptor, or the number of a value
        for file in files.file:
            descriptor = pool.FindFileByName(file.name)
            if file.name.startswith(_PREFIX):
                self.files[file.name[len(_PREFIX) : -len(".proto")]] = descriptor
                self.names.update(_top_level(descriptor))

    def make(self, name):
        """The Python object for a top-level name; KeyError when there is none."""
        entry = self.names[name]
        if isinstance(entry, int):
            return entry
        if hasattr(entry, "fields_by_name"):
            cls = self._class(entry)
            try:
                cls.__module__ = __name__  # lets pickle find the class again
            except (AttributeError, TypeError):
                pass
            return cls
        from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper

        return EnumTypeWrapper(entry)

    def _class(self, descriptor):
        cls = self.message_class(descriptor)
        for nested in descriptor.nested_types:  # protobuf 3.20 leaves Summary.Value and its like out
            if not hasattr(cls, nested.name):
                setattr(cls, nested.name, self._class(nested))
        if descriptor.name in ("Int64List", "FloatList"):
            _take_numbers(cls, int if descriptor.name == "Int64List" else float)
        return cls


def _take_numbers(cls, kind):
    """Lets lists of numbers be made of True, of numpy's and of arrays of one element, which protobuf 7 refuses."""
    original = cls.__init__

    def plain(item):
        item = item.item() if getattr(item, "shape", None) == () else item
        return kind(item) if isinstance(item, bool) else item

    def __init__(self, *args, **fields):
        try:
            original(self, *args, **fields)
        except TypeError:
            self.Clear()
            original(self, *args, **{**fields, "value": [plain(item) for item in fields.get("value", ())]})

    cls.__init__ = __init__


def _top_level(file):
    names = dict(file.message_types_by_name)
    for enum in file.enum_types_by_name.values():
        names[enum.name] = enum
        names.update((value.name, value.number) for value in enum.values)
    return names


def _load():
    global _registry
    if _registry is None:
        _registry = _Registry()
    return _registry


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    try:
        value = _load().make(name)
    except KeyError:
        raise AttributeError(f"Weir has no protocol buffer message or enumeration {name!r}") from None
    globals()[name] = value
    return value


def __dir__():
    return sorted(set(globals()) | set(_load().names))


def file_names():
    """The names of the .proto files, such as "graph"."""
    return sorted(_load().files)


def names_of_file(file):
    """The top-level names that proto/<file>.proto declares."""
    return sorted(_top_level(_load().files[file]))


def descriptor(path):
    """The descriptor of a message or enumeration, or of a file if `path` is "name.proto".

    Messages are named as generated code names them: "TENSORPROTO", "SUMMARY_VALUE" for Summary.Value. Raises KeyError.
    """
    registry = _load()
    if path.endswith(".proto"):
        return registry.files[path[: -len(".proto")]]
    first, *rest = path.split("_")
    for name, entry in registry.names.items():
        if not isinstance(entry, int) and name.upper() in (first, path):
            inner = rest if name.upper() == first else []
            while inner and entry is not None:
                nested = {**entry.nested_types_by_name, **entry.enum_types_by_name}
                entry = next((e for n, e in nested.items() if n.upper() == inner[0]), None)
                inner = inner[1:]
            if entry is not None:
                return entry
    raise KeyError(path)
