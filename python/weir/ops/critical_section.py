"""tf.CriticalSection: a part of a graph that one run at a time is in."""

from weir import nest
from weir.core.graph import Operation, control_dependencies, name_scope
from weir.core.op_functions import apply
from weir.ops import array_ops


class CriticalSection:
    """What ``execute`` builds runs alone: other runs, and other parts of the same run, wait."""

    def __init__(self, name=None, shared_name=None, critical_section_def=None, import_scope=None):
        if critical_section_def is not None:
            raise NotImplementedError("CriticalSection from a message is not in Weir yet.")
        with name_scope(name, "CriticalSection", []) as scope:
            self._handle = apply("MutexV2", (), {"shared_name": shared_name or (scope or "").rstrip("/"), "container": ""},
                                 None)

    name = property(lambda self: self._handle.op.name)

    def execute(self, fn, exclusive_resource_access=True, name=None):
        """The results of ``fn()``, whose operations run while the section is locked."""
        with name_scope(name, "critical_section_execute", []):
            lock = apply("MutexLock", (self._handle,), {}, None)
            with control_dependencies([lock]):
                result = fn()
            flat = nest.flatten(result)
            with control_dependencies([item for item in flat if item is not None]):
                release = apply("ConsumeMutexLock", (lock,), {}, None)
            with control_dependencies([release]):
                flat = [item if item is None or isinstance(item, Operation) else array_ops.identity(item)
                        for item in flat]
            if isinstance(result, Operation):
                return release
            return nest.pack_sequence_as(result, flat) if nest.is_sequence(result) else flat[0]
