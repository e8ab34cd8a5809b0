"""tf.Module: an object with a name that knows the variables and modules among its attributes."""

import collections
import functools
import re

from weir import nest
from weir.core.graph import name_scope
from weir.core.tensor_shape import TensorShape
from weir.core.variables import Variable


class Module:
    """A subclass sets variables and other modules, or lists and dictionaries of them, as attributes."""

    _TF_MODULE_IGNORED_PROPERTIES = frozenset()

    def __init__(self, name=None):
        if name is None:
            name = re.sub("((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))", r"_\1", type(self).__name__).lower()
        elif not re.fullmatch("[a-zA-Z_][a-zA-Z0-9_]*", name):
            raise ValueError(f"{name!r} is not a valid module name. Module names must be valid Python identifiers (e.g. a "
                             "valid class name).")
        self._name = name
        with name_scope(name) as scope:
            self._scope_name = scope

    def __setattr__(self, name, value):
        try:
            super().__setattr__(name, value)
        except AttributeError:  # a property; to set it to what it is changes nothing
            present = getattr(self, name, None)
            shapes = isinstance(value, TensorShape) and isinstance(present, TensorShape)
            if present is not value and not (shapes and present._dims == value._dims):
                raise

    name = property(lambda self: self._name)

    @property
    def name_scope(self):
        """The scope that the module was made with, to be entered again."""
        return name_scope(self._scope_name)

    def _no_dependency(self, value):
        """What an attribute is set to that checkpoints of objects are not to follow: the value, since none are written."""
        return value

    @property
    def variables(self):
        """In the order of the attributes' names, those of modules inside last."""
        return tuple(self._flatten(predicate=lambda value: isinstance(value, Variable)))

    @property
    def trainable_variables(self):
        return tuple(self._flatten(predicate=lambda value: isinstance(value, Variable) and value.trainable))

    @property
    def submodules(self):
        return tuple(self._flatten(predicate=lambda value: isinstance(value, Module)))

    def _flatten(self, recursive=True, predicate=None, attribute_traversal_key=None, with_path=False):
        """What the attributes hold, each object once; with their paths, as often as there are paths to it."""
        seen, todo = {id(self)}, collections.deque([((), self)])
        while todo:
            path, module = todo.popleft()
            inside = []
            for key in sorted(vars(module), key=attribute_traversal_key):
                if key in module._TF_MODULE_IGNORED_PROPERTIES:
                    continue
                for leaf_path, leaf in nest.flatten_with_tuple_paths(vars(module)[key]):
                    if not with_path and id(leaf) in seen:
                        continue
                    seen.add(id(leaf))
                    leaf_path = path + (key,) + tuple(leaf_path)
                    if predicate is None or predicate(leaf):
                        yield (leaf_path, leaf) if with_path else leaf
                    if recursive and isinstance(leaf, Module):
                        inside.append((leaf_path, leaf))
            todo.extendleft(reversed(inside))

    @classmethod
    def with_name_scope(cls, method):
        """A method that runs in the module's name scope."""

        @functools.wraps(method)
        def in_scope(self, *args, **kwargs):
            with self.name_scope:
                return method(self, *args, **kwargs)

        return in_scope
