"""Tables of values by key: tf.lookup, tf.contrib.lookup."""

import collections
import functools
import uuid

from weir.core import dtypes
from weir.core.graph import GraphKeys, Tensor, add_to_collection, colocate_with, convert_to_tensor, name_scope
from weir.core.op_functions import apply
from weir.core.tensor_shape import TensorShape
from weir.core.tensor_util import constant_value
from weir.ops import array_ops, control_flow_ops, math_ops, string_ops
from weir.ops.sparse_ops import SparseTensor
from weir.train.saveable import SaveableObject, SaveSpec


class LookupInterface:
    """A table: types of keys and values, ``lookup`` and ``size``."""

    def __init__(self, key_dtype, value_dtype, name=None):
        self._key_dtype, self._value_dtype = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)
        self._table_name = name

    key_dtype = property(lambda self: self._key_dtype)
    value_dtype = property(lambda self: self._value_dtype)
    name = property(lambda self: self._table_name)
    init = property(lambda self: self.initializer)

    def size(self, name=None):
        raise NotImplementedError

    def lookup(self, keys, name=None):
        raise NotImplementedError


class _Table(LookupInterface):
    """A table that is a resource of the graph."""

    def __init__(self, op, key_dtype, value_dtype, attrs, name, inputs=()):
        super().__init__(key_dtype, value_dtype)
        attrs = dict(attrs, key_dtype=self._key_dtype, value_dtype=self._value_dtype)
        self._resource_handle = apply(op, inputs, attrs, name)
        self._table_name = self._resource_handle.op.name.split("/")[-1]

    resource_handle = property(lambda self: self._resource_handle)
    table_ref = _table_ref = property(lambda self: self._resource_handle)
    default_value = property(lambda self: self._default_value)

    def _scope(self, name, what, values=()):
        return name_scope(name, f"{self.name}_{what}", [self._resource_handle, *values])

    def _check_keys(self, keys):
        if keys.dtype.base_dtype != self._key_dtype:
            raise TypeError(f"Signature mismatch. Keys must be dtype {self._key_dtype}, got {keys.dtype}.")

    def size(self, name=None):
        with self._scope(name, "Size") as scope, colocate_with(self._resource_handle):
            return apply("LookupTableSizeV2", (self._resource_handle,), {}, scope)

    def lookup(self, keys, name=None):
        """The values of keys, a tensor or a SparseTensor; the default value where there is none."""
        if not isinstance(keys, SparseTensor):
            keys = convert_to_tensor(keys, dtype=None if isinstance(keys, Tensor) else self._key_dtype, name="keys")
        self._check_keys(keys)
        sparse = isinstance(keys, SparseTensor)
        key_tensor = keys.values if sparse else keys
        with self._scope(name, "Lookup", [key_tensor, self._default_value]), colocate_with(self._resource_handle):
            values = apply("LookupTableFindV2", (self._resource_handle, key_tensor, self._default_value), {}, None)
        shape = key_tensor.get_shape()
        if shape.ndims is not None:
            inner = self._key_shape.ndims
            shape = shape if not inner else shape[:-inner]
            values.set_shape(shape.concatenate(self._default_value.get_shape()))
        return SparseTensor(keys.indices, values, keys.dense_shape) if sparse else values

    def export(self, name=None):
        """(all keys, all values)."""
        with self._scope(name, "Export"), colocate_with(self._resource_handle):
            keys, values = apply("LookupTableExportV2", (self._resource_handle,),
                                 {"Tkeys": self._key_dtype, "Tvalues": self._value_dtype}, None)
        keys.set_shape(TensorShape([None]).concatenate(self._key_shape))
        values.set_shape(TensorShape([None]).concatenate(self._default_value.get_shape()))
        return keys, values

    _key_shape = TensorShape([])


class InitializableLookupTableBase(_Table):
    """A table that its initializer fills once."""

    def __init__(self, default_value, initializer, shared_name, name):
        super().__init__("HashTableV2", initializer.key_dtype, initializer.value_dtype, {"shared_name": shared_name}, name)
        self._default_value = convert_to_tensor(default_value, dtype=self._value_dtype)
        self._default_value.get_shape().merge_with(TensorShape([]))
        self._initializer = initializer
        self._init_op = initializer.initialize(self)

    initializer = property(lambda self: self._init_op)


class HashTable(InitializableLookupTableBase):
    def __init__(self, initializer, default_value, shared_name=None, name=None):
        shared_name = shared_name or initializer._shared_name or f"hash_table_{uuid.uuid4()}"
        super().__init__(default_value, initializer, shared_name, name or "hash_table")


class StaticHashTable(HashTable):
    def __init__(self, initializer, default_value, name=None):
        super().__init__(initializer, default_value, name=name)


class TableInitializerBase:
    def __init__(self, key_dtype, value_dtype):
        self._key_dtype, self._value_dtype = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)

    key_dtype = property(lambda self: self._key_dtype)
    value_dtype = property(lambda self: self._value_dtype)
    _shared_name = ""

    def initialize(self, table):
        raise NotImplementedError

    def _check(self, table):
        if table.key_dtype.base_dtype != self._key_dtype.base_dtype:
            raise TypeError(f"Invalid key dtype for table, expected {table.key_dtype} but got {self._key_dtype}.")
        if table.value_dtype.base_dtype != self._value_dtype.base_dtype:
            raise TypeError(f"Invalid value dtype for table, expected {table.value_dtype} but got {self._value_dtype}.")


class KeyValueTensorInitializer(TableInitializerBase):
    def __init__(self, keys, values, key_dtype=None, value_dtype=None, name=None):
        with name_scope(name, "key_value_init", [keys, values]) as scope:
            self._keys = convert_to_tensor(keys, dtype=key_dtype, name="keys")
            self._values = convert_to_tensor(values, dtype=value_dtype, name="values")
            self._name = scope
        super().__init__(self._keys.dtype, self._values.dtype)

    def initialize(self, table):
        self._check(table)
        with name_scope(self._name, values=[table.resource_handle, self._keys, self._values]):
            done = apply("LookupTableImportV2", (table.resource_handle, self._keys, self._values), {}, None)
        add_to_collection(GraphKeys.TABLE_INITIALIZERS, done)
        return done


class TextFileIndex:
    WHOLE_LINE = -2
    LINE_NUMBER = -1


class TextFileInitializer(TableInitializerBase):
    """Fills a table from the lines of a file: keys and values are columns, whole lines, or numbers of lines."""

    def __init__(self, filename, key_dtype, key_index, value_dtype, value_index, vocab_size=None, delimiter="\t", name=None):
        if not isinstance(filename, Tensor) and not filename:
            raise ValueError(f"Filename required for {name}.")
        key_dtype, value_dtype = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)
        for what, index, dtype in (("key", key_index, key_dtype), ("value", value_index, value_dtype)):
            if index < TextFileIndex.WHOLE_LINE:
                raise ValueError(f"Invalid {what} index {index}.")
            wanted = f"Signature mismatch. {what.capitalize()}s must be"
            if index == TextFileIndex.LINE_NUMBER and dtype != dtypes.int64:
                raise ValueError(f"{wanted} dtype {dtypes.int64}, got {dtype}.")
            if index == TextFileIndex.WHOLE_LINE and dtype != dtypes.string and (what == "value" or not dtype.is_integer):
                kind = f"dtype {dtypes.string}" if what == "value" else "integer or string"
                raise ValueError(f"{wanted} {kind}, got {dtype}.")
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"Invalid vocab_size {vocab_size}.")
        self._filename, self._name, self._vocab_size = filename, name, vocab_size
        self._attrs = {"key_index": key_index, "value_index": value_index,
                       "vocab_size": -1 if vocab_size is None else vocab_size, "delimiter": delimiter}
        super().__init__(key_dtype, value_dtype)

    @property
    def _shared_name(self):
        file = constant_value(self._filename) if isinstance(self._filename, Tensor) else self._filename
        size = f"{self._vocab_size}_" if self._vocab_size else ""
        return f"hash_table_{file}_{size}{self._attrs['key_index']}_{self._attrs['value_index']}"

    def initialize(self, table):
        self._check(table)
        with name_scope(self._name, "text_file_init", [table.resource_handle]):
            file = convert_to_tensor(self._filename, dtypes.string, name="asset_filepath")
            done = apply("InitializeTableFromTextFileV2", (table.resource_handle, file), self._attrs, None)
        add_to_collection(GraphKeys.TABLE_INITIALIZERS, done)
        if constant_value(file) is not None:
            add_to_collection(GraphKeys.ASSET_FILEPATHS, file)
        return done


class TextFileStringTableInitializer(TextFileInitializer):
    def __init__(self, filename, key_column_index=TextFileIndex.LINE_NUMBER, value_column_index=TextFileIndex.WHOLE_LINE,
                 vocab_size=None, delimiter="\t", name="text_file_string_table_init"):
        super().__init__(filename, dtypes.int64, key_column_index, dtypes.string, value_column_index, vocab_size, delimiter,
                         name)


class TextFileIdTableInitializer(TextFileInitializer):
    def __init__(self, filename, key_column_index=TextFileIndex.WHOLE_LINE, value_column_index=TextFileIndex.LINE_NUMBER,
                 vocab_size=None, delimiter="\t", name="text_file_id_table_init", key_dtype=dtypes.string):
        super().__init__(filename, key_dtype, key_column_index, dtypes.int64, value_column_index, vocab_size, delimiter,
                         name)


class HasherSpec(collections.namedtuple("HasherSpec", ["hasher", "key"])):
    """Which hash function puts unknown words into buckets."""

    __slots__ = ()


FastHashSpec = HasherSpec("fasthash", None)


class StrongHashSpec(HasherSpec):
    __slots__ = ()

    def __new__(cls, key):
        if len(key) != 2:
            raise ValueError(f"key must have size 2, got {len(key)}.")
        if not all(isinstance(part, int) for part in key):
            raise TypeError(f"Invalid key {key}. Must be unsigned integer values.")
        return super().__new__(cls, "stronghash", key)


class IdTableWithHashBuckets(LookupInterface):
    """Ids of a table, and behind them ids of buckets for words that are not in it."""

    def __init__(self, table, num_oov_buckets, hasher_spec=FastHashSpec, name=None, key_dtype=None):
        name = name.rstrip("/") if name else name
        if table:
            key_dtype = table.key_dtype if key_dtype is None else dtypes.as_dtype(key_dtype)
            if table.key_dtype not in (dtypes.int64, dtypes.string):
                raise TypeError(f"Invalid key dtype, expected one of {(dtypes.int64, dtypes.string)}, but got {key_dtype}.")
            if table.key_dtype.is_integer != key_dtype.is_integer:
                kind = "integer" if key_dtype.is_integer else "non-integer"
                raise TypeError(f"Invalid key dtype, expected {kind} but got {table.key_dtype}.")
            if table.value_dtype != dtypes.int64:
                raise TypeError(f"Invalid value dtype, expected {dtypes.int64} but got {table.value_dtype}.")
        else:
            if num_oov_buckets <= 0:
                raise ValueError("oov_buckets must be > 0 if no table is supplied.")
            key_dtype = dtypes.string if key_dtype is None else dtypes.as_dtype(key_dtype)
        if not key_dtype.is_integer and key_dtype != dtypes.string:
            raise TypeError(f"Invalid key_dtype, expected integer or string, got {key_dtype}.")
        if not isinstance(hasher_spec, HasherSpec):
            raise TypeError(f"hasher_spec must be of type HasherSpec, got {hasher_spec}")
        self._table, self._num_oov_buckets, self._hasher_spec = table, num_oov_buckets, hasher_spec
        name = name or (table.name if table else "hash_bucket")
        super().__init__(key_dtype, dtypes.int64, name.split("/")[-1])

    @property
    def initializer(self):
        if self._table:
            return self._table.initializer
        with name_scope(None, "init"):
            return control_flow_ops.no_op()

    resource_handle = property(lambda self: self._table.resource_handle if self._table else None)

    def size(self, name=None):
        with name_scope(name, f"{self.name}_Size"):
            known = self._table.size() if self._table else convert_to_tensor(0, dtype=dtypes.int64)
            return known + self._num_oov_buckets

    def _buckets(self, words):
        hashers = {"fasthash": string_ops.to_hash_bucket_fast, "legacy": string_ops.to_hash_bucket,
                   "stronghash": functools.partial(string_ops.to_hash_bucket_strong, key=self._hasher_spec.key)}
        hasher = hashers.get(self._hasher_spec.hasher)
        if hasher is None:
            raise ValueError(f"Unknown hasher {self._hasher_spec.hasher}")
        if words.dtype.base_dtype != dtypes.string:
            words = array_ops.as_string(words)
        return hasher(words, num_buckets=self._num_oov_buckets, name="hash_bucket")

    def lookup(self, keys, name=None):
        if keys.dtype.base_dtype != self._key_dtype:
            raise TypeError(f"Signature mismatch. Keys must be dtype {self._key_dtype}, got {keys.dtype}.")
        values = keys.values if isinstance(keys, SparseTensor) else keys
        if self._table and self._table.key_dtype.base_dtype == dtypes.int64:
            values = math_ops.cast(values, dtypes.int64)
        if self._num_oov_buckets == 0:
            ids = self._table.lookup(values, name=name)
        else:
            with name_scope(name, f"{self.name}_Lookup"):
                ids = self._buckets(values)
                if self._table:
                    known = self._table.lookup(values)
                    unknown = math_ops.add(ids, self._table.size())
                    ids = array_ops.where(math_ops.not_equal(known, self._table.default_value), known, unknown)
        return SparseTensor(keys.indices, ids, keys.dense_shape) if isinstance(keys, SparseTensor) else ids


class StaticVocabularyTable(IdTableWithHashBuckets):
    def __init__(self, initializer, num_oov_buckets, lookup_key_dtype=None, name=None):
        if num_oov_buckets <= 0:
            raise ValueError("oov_buckets must be > 0.")
        table = HashTable(initializer, default_value=-1) if initializer else None
        super().__init__(table, num_oov_buckets, name=name, key_dtype=lookup_key_dtype)


def _check_file(vocabulary_file, vocab_size):
    if vocabulary_file is None or (isinstance(vocabulary_file, str) and not vocabulary_file):
        raise ValueError("vocabulary_file must be specified and must not be empty.")
    if vocab_size is not None and vocab_size < 1:
        file = constant_value(vocabulary_file) if isinstance(vocabulary_file, Tensor) else vocabulary_file
        raise ValueError(f"vocab_size must be greater than 0, got {vocab_size}. vocabulary_file: {file}")


def _check_buckets(num_oov_buckets, dtype):
    if num_oov_buckets < 0:
        raise ValueError(f"num_oov_buckets must be greater or equal than 0, got {num_oov_buckets}.")
    if not dtype.is_integer and dtype.base_dtype != dtypes.string:
        raise TypeError("Only integer and string keys are supported.")


def _with_buckets(table, num_oov_buckets, hasher_spec, dtype):
    return table if not num_oov_buckets else IdTableWithHashBuckets(table, num_oov_buckets, hasher_spec, key_dtype=dtype)


def index_table_from_file(vocabulary_file=None, num_oov_buckets=0, vocab_size=None, default_value=-1,
                          hasher_spec=FastHashSpec, key_dtype=dtypes.string, name=None,
                          key_column_index=TextFileIndex.WHOLE_LINE, value_column_index=TextFileIndex.LINE_NUMBER,
                          delimiter="\t"):
    """A table from the lines of a file to their numbers."""
    _check_file(vocabulary_file, vocab_size)
    key_dtype = dtypes.as_dtype(key_dtype)
    _check_buckets(num_oov_buckets, key_dtype)
    with name_scope(name, "string_to_index"):
        with name_scope(None, "hash_table"):
            initializer = TextFileIdTableInitializer(
                vocabulary_file, key_column_index, value_column_index, vocab_size, delimiter, "table_init",
                dtypes.int64 if key_dtype.is_integer else key_dtype)
            table = HashTable(initializer, default_value)
        return _with_buckets(table, num_oov_buckets, hasher_spec, key_dtype)


def index_table_from_tensor(vocabulary_list=None, num_oov_buckets=0, default_value=-1, hasher_spec=FastHashSpec,
                            dtype=dtypes.string, name=None, mapping=None):
    """A table from the strings (or numbers) of a vector to their places."""
    vocabulary_list = mapping if vocabulary_list is None else vocabulary_list
    if vocabulary_list is None:
        raise ValueError("vocabulary_list must be specified.")
    dtype = dtypes.as_dtype(dtype)
    _check_buckets(num_oov_buckets, dtype)
    with name_scope(name, "string_to_index"):
        keys = convert_to_tensor(vocabulary_list)
        if keys.dtype.is_integer != dtype.is_integer:
            raise ValueError(f"Expected {'integer' if dtype.is_integer else 'non-integer'}, got {keys.dtype}.")
        if not dtype.is_integer and keys.dtype.base_dtype != dtype:
            raise ValueError(f"Expected {dtype}, got {keys.dtype}.")
        values = math_ops.cast(math_ops.range(array_ops.size(keys)), dtypes.int64)
        with name_scope(None, "hash_table"):
            keys = math_ops.cast(keys, dtypes.int64) if keys.dtype.is_integer else keys
            initializer = KeyValueTensorInitializer(keys, values, keys.dtype.base_dtype, dtypes.int64, "table_init")
            table = HashTable(initializer, default_value)
        return _with_buckets(table, num_oov_buckets, hasher_spec, dtype)


def index_to_string_table_from_file(vocabulary_file, vocab_size=None, default_value="UNK", name=None,
                                    key_column_index=TextFileIndex.LINE_NUMBER,
                                    value_column_index=TextFileIndex.WHOLE_LINE, delimiter="\t"):
    _check_file(vocabulary_file, vocab_size)
    with name_scope(name, "index_to_string"):
        initializer = TextFileStringTableInitializer(vocabulary_file, key_column_index, value_column_index, vocab_size,
                                                     delimiter, "table_init")
        return HashTable(initializer, default_value)


def index_to_string_table_from_tensor(vocabulary_list=None, default_value="UNK", name=None, mapping=None):
    vocabulary_list = mapping if vocabulary_list is None else vocabulary_list
    if vocabulary_list is None:
        raise ValueError("vocabulary_list must be specified.")
    with name_scope(name, "index_to_string"):
        values = convert_to_tensor(vocabulary_list, dtypes.string)
        keys = math_ops.cast(math_ops.range(array_ops.size(values)), dtypes.int64)
        initializer = KeyValueTensorInitializer(keys, values, dtypes.int64, dtypes.string, "table_init")
        return HashTable(initializer, default_value)


def string_to_index(tensor, mapping, default_value=-1, name=None):
    return index_table_from_tensor(mapping, default_value=default_value, name=name).lookup(tensor)


def index_to_string(tensor, mapping, default_value="UNK", name=None):
    return index_to_string_table_from_tensor(mapping, default_value=default_value, name=name).lookup(tensor)


class _SaveableTable(SaveableObject):
    """What savers save of a table: all keys, and all values."""

    def __init__(self, table, name):
        keys, values = table.export()
        super().__init__(table, [SaveSpec(keys, "", f"{name}-keys"), SaveSpec(values, "", f"{name}-values")], name)

    def restore(self, restored_tensors, restored_shapes, name=None):
        handle = self.op.resource_handle
        with name_scope(name, f"{self.name}_table_restore"), colocate_with(handle):
            return apply("LookupTableImportV2", (handle, *restored_tensors), {}, None)


class _MutableTable(_Table):
    def _add_to_savers(self, name):
        add_to_collection(GraphKeys.SAVEABLE_OBJECTS, _SaveableTable(self, name))

    def insert(self, keys, values, name=None):
        """An operation that gives keys their values."""
        keys, values = self._pairs(keys, values)
        with self._scope(name, "lookup_table_insert", [keys, values]), colocate_with(self._resource_handle):
            return apply("LookupTableInsertV2", (self._resource_handle, keys, values), {}, None)

    def remove(self, keys, name=None):
        keys = convert_to_tensor(keys, dtype=None if isinstance(keys, Tensor) else self._key_dtype, name="keys")
        self._check_keys(keys)
        with self._scope(name, "lookup_table_remove", [keys]), colocate_with(self._resource_handle):
            return apply("LookupTableRemoveV2", (self._resource_handle, keys), {}, None)

    def _pairs(self, keys, values):
        keys = convert_to_tensor(keys, dtype=None if isinstance(keys, Tensor) else self._key_dtype, name="keys")
        values = convert_to_tensor(values, dtype=None if isinstance(values, Tensor) else self._value_dtype, name="values")
        self._check_keys(keys)
        if values.dtype.base_dtype != self._value_dtype:
            raise TypeError(f"Signature mismatch. Values must be dtype {self._value_dtype}, got {values.dtype}.")
        return keys, values

    @property
    def initializer(self):
        with name_scope(None, "init"):
            return control_flow_ops.no_op()

    erase = remove


class MutableHashTable(_MutableTable):
    def __init__(self, key_dtype, value_dtype, default_value, shared_name=None, name="MutableHashTable", checkpoint=True):
        self._default_value = convert_to_tensor(default_value, dtype=value_dtype)
        shape = self._default_value.get_shape()
        attrs = {"shared_name": shared_name or "", "use_node_name_sharing": checkpoint and shared_name is None}
        if shape.ndims == 0:
            super().__init__("MutableHashTableV2", key_dtype, value_dtype, attrs, name)
        else:
            super().__init__("MutableHashTableOfTensorsV2", key_dtype, value_dtype,
                             dict(attrs, value_shape=shape), name)
        if checkpoint:
            self._add_to_savers(name)


class MutableDenseHashTable(_MutableTable):
    """A mutable table in one block of memory, in which a key that never occurs marks what is empty."""

    def __init__(self, key_dtype, value_dtype, default_value, empty_key, deleted_key=None, initial_num_buckets=None,
                 shared_name=None, name="MutableDenseHashTable", checkpoint=True):
        self._default_value = convert_to_tensor(default_value, dtype=value_dtype, name="default_value")
        empty_key = convert_to_tensor(empty_key, dtype=key_dtype, name="empty_key")
        self._key_shape = empty_key.get_shape()
        attrs = {"shared_name": shared_name or "", "use_node_name_sharing": checkpoint and shared_name is None,
                 "value_shape": self._default_value.get_shape()}
        if initial_num_buckets is not None:
            attrs["initial_num_buckets"] = initial_num_buckets
        if deleted_key is None:
            # One that no program uses: TensorFlow before 1.14 had none.
            unused = "__deleted_key__" if empty_key.dtype == dtypes.string else empty_key.dtype.min + 1
            deleted_key = array_ops.fill(array_ops.shape(empty_key), array_ops.constant(unused, empty_key.dtype))
        deleted_key = convert_to_tensor(deleted_key, dtype=key_dtype, name="deleted_key")
        super().__init__("MutableDenseHashTableV2", key_dtype, value_dtype, attrs, name, (empty_key, deleted_key))
        if checkpoint:
            self._add_to_savers(name)
