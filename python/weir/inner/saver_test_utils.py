"""tensorflow.python.training.saver_test_utils: a table that a program saves in a way of its own."""

from weir.core import dtypes
from weir.core.graph import GraphKeys, add_to_collection
from weir.core.op_functions import raw_ops
from weir.train.saveable import SaveableObject, SaveSpec


class CheckpointedOp:
    """A mutable table from texts to numbers, saved as its keys and values."""

    def __init__(self, name, table_ref=None):
        self.table_ref = table_ref if table_ref is not None else raw_ops.mutable_hash_table_v2(
            key_dtype=dtypes.string, value_dtype=dtypes.float32, name=name)
        self.name = name
        self.saveable = CheckpointedOp.CustomSaveable(self, name)
        add_to_collection(GraphKeys.SAVEABLE_OBJECTS, self.saveable)

    def insert(self, keys, values):
        return raw_ops.lookup_table_insert_v2(self.table_ref, keys, values)

    def lookup(self, keys, default):
        return raw_ops.lookup_table_find_v2(self.table_ref, keys, default)

    def keys(self):
        return self._export()[0]

    def values(self):
        return self._export()[1]

    def _export(self):
        return raw_ops.lookup_table_export_v2(self.table_ref, dtypes.string, dtypes.float32)

    class CustomSaveable(SaveableObject):
        def __init__(self, table, name):
            specs = [SaveSpec(tensor, "", f"{name}-{part}") for tensor, part in zip(table._export(), ("keys", "values"))]
            super().__init__(table, specs, name)

        def restore(self, restore_tensors, shapes):
            return raw_ops.lookup_table_import_v2(self.op.table_ref, *restore_tensors)
