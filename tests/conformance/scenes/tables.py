"""Scenes: lookup tables, and maps of sparse tensors."""
import numpy as np

from scenes.queues import words
from scenes.scene import scene

KEYS, VALUES = ['b', 'a', 'd'], [10, 20, 30]


class Table(object):
    """The operations of one table: string keys, int64 values."""

    def __init__(self, s, version, kind, **attrs):
        self.s, self.version = s, version
        if 'empty_key' not in attrs:  # which has the type of the keys
            attrs = dict(dict(key_dtype='string', value_dtype='int64'), **attrs)
        self.handle = s(kind + version, **attrs)

    def op(self, name, **inputs):
        return self.s(name + self.version, table_handle=self.handle, **inputs)

    def find(self, keys, default):
        self.s.run(self.op('LookupTableFind', keys=self.s.fed(keys), default_value=self.s.fed(default)))

    def size(self):
        self.s.run(self.op('LookupTableSize'))

    def export(self, key_type, value_type):
        """In the order of the keys: tables have none."""
        keys, values = self.op('LookupTableExport', Tkeys=key_type, Tvalues=value_type)
        order = self.s('TopKV2', input=keys, k=self.s('Size', input=keys)).indices
        axis = self.s.constant(0)
        self.s.run(self.s('GatherV2', params=keys, indices=order, axis=axis),
                   self.s('GatherV2', params=values, indices=order, axis=axis))


@scene('', 'V2')
def constant_table(s, version):
    table = Table(s, version, 'HashTable')
    table.find(words('a'), np.int64(-1))  # not initialised
    s.run(table.op('InitializeTable', keys=s.fed(words(*KEYS)), values=s.fed(VALUES, 'int64')))
    table.find(words('a', 'x', 'd'), np.int64(-1))
    table.size()
    s.run(table.op('InitializeTable', keys=s.fed(words(*KEYS)), values=s.fed(VALUES, 'int64')))  # the same again
    s.run(table.op('InitializeTable', keys=s.fed(words('a', 'z')), values=s.fed([1, 2], 'int64')))


@scene('', 'V2')
def doubled_keys(s, version):
    table = Table(s, version, 'HashTable')
    s.run(table.op('InitializeTable', keys=s.fed(words('a', 'a')), values=s.fed([1, 2], 'int64')))


@scene('', 'V2')
def numbers_to_words(s, version):
    table = Table(s, version, 'HashTable', key_dtype='int64', value_dtype='string')
    s.run(table.op('InitializeTable', keys=s.fed([3, 1], 'int64'), values=s.fed(words('three', 'one'))))
    table.find(np.array([[1, 2], [3, 1]], np.int64), b'none')
    table.export('int64', 'string')
    table.find(words('a'), b'none')  # another type of keys


@scene('', 'V2')
def table_of_a_file(s, version):
    for name, columns in (('lines', (-2, -1)), ('words', (0, 1)), ('back', (1, 0))):
        types = ('string', 'int64') if name != 'back' else ('int64', 'string')
        table = Table(s, version, 'HashTable', key_dtype=types[0], value_dtype=types[1], shared_name=name)
        s.run(table.op('InitializeTableFromTextFile', filename=s.fed(b'input/words.tsv' if name != 'lines' else b'input/old.txt'),
                       key_index=columns[0], value_index=columns[1]))
        if name == 'back':
            table.find(np.array([5, 7], np.int64), b'none')
        else:
            table.find(words('two', 'none', 'one', 'c'), np.int64(-1))
        table.size()
    for name, columns in (('missing', (0, 1)), ('lines.txt', (-2, -1)), ('words.tsv', (0, 2)), ('old.txt', (0, 0))):
        table = Table(s, version, 'HashTable', shared_name=name)
        s.run(table.op('InitializeTableFromTextFile', filename=s.fed(b'input/' + name.encode()), key_index=columns[0],
                       value_index=columns[1]))
        table.size()


@scene('', 'V2')
def mutable(s, version):
    table = Table(s, version, 'MutableHashTable', key_dtype='int64', value_dtype='float32')
    table.size()
    s.run(table.op('LookupTableInsert', keys=s.fed([4, 2, 4], 'int64'), values=s.fed([1.0, 2.0, 3.0])))
    table.find(np.array([[2, 4], [0, 2]], np.int64), np.float32(-1))
    table.size()
    table.export('int64', 'float32')
    if version:
        s.run(table.op('LookupTableRemove', keys=s.fed([2, 77], 'int64')))
        table.export('int64', 'float32')
    s.run(table.op('LookupTableImport', keys=s.fed([9, 8], 'int64'), values=s.fed([0.5, 0.25])))
    table.export('int64', 'float32')


@scene('', 'V2')
def mutable_rows(s, version):
    table = Table(s, version, 'MutableHashTableOfTensors', key_dtype='int64', value_dtype='float32', value_shape=[2])
    s.run(table.op('LookupTableInsert', keys=s.fed([4, 2], 'int64'), values=s.fed([[1.0, 2.0], [3.0, 4.0]])))
    table.find(np.array([2, 0], np.int64), np.array([-1, -2], np.float32))
    s.run(table.op('LookupTableInsert', keys=s.fed([4, 2], 'int64'), values=s.fed([1.0, 2.0])))  # not rows
    table.export('int64', 'float32')
    if not version:  # TensorFlow 1.15 takes rows for a mistake in the shape function of V2
        s.run(table.op('LookupTableImport', keys=s.fed([9], 'int64'), values=s.fed([[0.5, 0.25]])))
        table.export('int64', 'float32')
    table.size()


def dense_table(s):
    return Table(s, 'V2', 'MutableDenseHashTable', value_dtype='float32', empty_key=s.constant(np.int64(-1)),
                 deleted_key=s.constant(np.int64(-2)), initial_num_buckets=4)


@scene()
def dense(s):
    table = dense_table(s)
    s.run(table.op('LookupTableInsert', keys=s.fed([11, 12, 11], 'int64'), values=s.fed([1.0, 2.0, 3.0])))
    table.find(np.array([11, 12, 15], np.int64), np.float32(-1))
    table.size()
    table.find(np.array([11, -1], np.int64), np.float32(-1))  # the empty key
    s.run(table.op('LookupTableInsert', keys=s.fed(np.arange(20), 'int64'), values=s.fed(np.arange(20) * 1.5)))
    table.size()
    table.find(np.array([19, 0, 12], np.int64), np.float32(-1))


@scene()
def keys_removed(s):
    table = dense_table(s)
    s.run(table.op('LookupTableInsert', keys=s.fed([11, 12], 'int64'), values=s.fed([1.0, 2.0])))
    s.run(table.op('LookupTableRemove', keys=s.fed([12, 3], 'int64')))
    table.size()


@scene()
def sparse_tensors(s):
    def sparse(places, values, shape):
        return dict(sparse_indices=s.fed(places, 'int64'), sparse_values=s.fed(values, 'float32'),
                    sparse_shape=s.fed(shape, 'int64'))

    one = s('AddSparseToTensorsMap', shared_name='map', **sparse([[0], [2]], [1, 2], [4]))
    other = s('AddSparseToTensorsMap', shared_name='map', **sparse([[1]], [3], [5]))
    with s.after(one):
        handles = s('Pack', values=[one, other])
    s.run(s('TakeManySparseFromTensorsMap', sparse_handles=handles, dtype='float32', shared_name='map'))
    many = s('AddManySparseToTensorsMap', shared_name='many', **sparse([[0, 1], [2, 0], [2, 2]], [1, 2, 3], [3, 3]))
    s.run(s('TakeManySparseFromTensorsMap', sparse_handles=many, dtype='float32', shared_name='many'))
    s.run(s('TakeManySparseFromTensorsMap', sparse_handles=s.fed([77], 'int64'), dtype='float32', shared_name='many'))


@scene()
def sparse_tensors_as_strings(s):
    sparse = dict(sparse_indices=s.fed([[0, 1], [2, 0], [2, 2]], 'int64'), sparse_values=s.fed([1.0, 2.0, 3.0]),
                  sparse_shape=s.fed([3, 3], 'int64'))
    for out_type in ('string', 'variant'):
        one = s('SerializeSparse', out_type=out_type, **sparse)
        s.run(s('DeserializeSparse', serialized_sparse=one, dtype='float32'))
        s.run(s('DeserializeSparse', serialized_sparse=s('Pack', values=[one, one]), dtype='float32'))
        many = s('SerializeManySparse', out_type=out_type, **sparse)
        s.run(s('DeserializeSparse', serialized_sparse=many, dtype='float32'))
        s.run(s('DeserializeSparse', serialized_sparse=many, dtype='int32'))
    one = s('Pack', values=[s('SerializeSparse', **sparse)] * 2)
    s.run(s('DeserializeManySparse', serialized_sparse=one, dtype='float32'))
