"""tf.CriticalSection: a part of a graph that one run at a time is in."""

from collections import namedtuple

from weir import nest
from weir.core import dtypes
from weir.core.graph import (Operation, add_to_collection, control_dependencies, convert_to_tensor, get_collection,
                             name_scope)
from weir.core.op_functions import apply
from weir.core.stack import get_default_graph
from weir.ops import array_ops
from weir.ops.control_flow_ops import group

CRITICAL_SECTIONS = "critical_sections"  # collections
CRITICAL_SECTION_EXECUTIONS = "critical_section_executions"

_ExecutionSignature = namedtuple("_ExecutionSignature", "op handle resources exclusive_resource_access")


class CriticalSection:
    """What ``execute`` builds runs alone: other runs, and other parts of the same run, wait."""

    def __init__(self, name=None, shared_name=None, critical_section_def=None, import_scope=None):
        if critical_section_def is not None:
            raise NotImplementedError("CriticalSection from a message is not in Weir yet.")
        with name_scope(name, "CriticalSection", []) as scope:
            self._shared_name = shared_name or (scope or "").rstrip("/")
            self._handle = apply("MutexV2", (), {"shared_name": self._shared_name, "container": ""}, None)
        add_to_collection(CRITICAL_SECTIONS, self)

    name = property(lambda self: self._handle.op.name)

    def execute(self, fn, exclusive_resource_access=True, name=None):
        """The results of ``fn()``, whose operations run while the section is locked.

        What they read from outside is computed before. ValueError if they lock the section again, or use a resource
        that another section uses, of which either wants it alone.
        """
        with name_scope(name, "critical_section_execute", []):
            lock = apply("MutexLock", (self._handle,), {}, None)
            graph = get_default_graph()
            begin = len(graph.get_operations())
            with control_dependencies([lock]):
                result = fn()
                made = graph.get_operations()[begin:]
                flat = [item if item is None or isinstance(item, Operation) else convert_to_tensor(item)
                        for item in nest.flatten(result)]
            resources = self._resources_of(made)
            self._check_other_sections(resources, exclusive_resource_access)
            self._wait_for_inputs(lock.op, made)
            with control_dependencies([item for item in flat if item is not None]):
                release = apply("ConsumeMutexLock", (lock,), {}, None)
            with control_dependencies([release]):
                flat = [item if item is None or isinstance(item, Operation) else array_ops.identity(item)
                        for item in flat]
            add_to_collection(CRITICAL_SECTION_EXECUTIONS, _ExecutionSignature(
                lock.op, self._handle, resources, exclusive_resource_access))
            if isinstance(result, Operation):
                return release
            return nest.pack_sequence_as(result, flat) if nest.is_sequence(result) else flat[0]

    def _is_self(self, handle):
        if handle.op.type != "MutexV2":
            return False
        shared = handle.op.get_attr("shared_name").decode()
        return handle.name == self._handle.name or bool(shared) and shared == self._shared_name

    def _resources_of(self, made):
        """The names of the resources from outside that the operations use."""
        inside = {op.name for op in made}
        handles = {tensor.name: tensor for op in made for tensor in op.inputs
                   if tensor.dtype == dtypes.resource and tensor.op.name not in inside}
        if any(map(self._is_self, handles.values())):
            raise ValueError("The function fn attempts to directly access the CriticalSection in which it would be "
                             "running. This is illegal and would cause deadlocks.")
        return set(handles)

    def _check_other_sections(self, resources, exclusive):
        for other in get_collection(CRITICAL_SECTION_EXECUTIONS):
            shared = resources & other.resources
            if shared and not self._is_self(other.handle) and (exclusive or other.exclusive_resource_access):
                raise ValueError(
                    f"This execution would access resources: {sorted(shared)}. Either this lock (CriticalSection: "
                    f"{self._handle.name}) or lock '{other.op.name}' (CriticalSection: {other.handle.name}) requested "
                    "exclusive resource access of this resource. Did you mean to call execute with keyword argument "
                    "exclusive_resource_access=False?")

    @staticmethod
    def _wait_for_inputs(lock, made):
        """Makes the lock wait for what the operations read: it may need the lock itself."""
        known = {op.name for op in [*made, lock, *lock.control_inputs, *(tensor.op for tensor in lock.inputs)]}
        needed = {op.name: op for each in made for op in [*(tensor.op for tensor in each.inputs), *each.control_inputs]
                  if op.name not in known}
        if needed:
            lock._add_control_input(group(*needed.values()))
