"""Stand-ins for what TensorFlow has and Weir has not.

A program may mention a name that is absent: import it, keep it in a dictionary, a default argument or an annotation,
derive a class from it, ask with ``is`` whether something is it. Whoever uses it (calls it, compares it, takes it for
true or false, computes with it, makes an object of a class that is derived from it) gets a NotImplementedError that
names it, since any answer would be a guess: `mode == tf.estimator.ModeKeys.TRAIN` is neither true nor false.
"""

from types import ModuleType

_known = {}  # one stand-in for each name, so that `is`, dictionaries and typing.Union see the same one again


# What is left out for good, and what to do instead.
_LEFT_OUT = {
    "tf.keras.": "not in Weir itself: tf.keras is the package Keras, pip install keras==2.3.1",
    "tf.contrib.eager": "left out: Weir runs graphs, as TensorFlow 1 does by default. Build the graph once and run it in a "
                        "tf.Session",
    "tf.contrib.tensor_forest": "not in Weir yet, and is left out: forests of decision trees are scikit-learn's subject, "
                                "sklearn.ensemble.RandomForestClassifier for one",
}

# Names that TensorFlow 2 brought, which TensorFlow 1 has not either: what to say instead. hasattr stays false for them,
# since that is how programs ask which TensorFlow they run on.
_OF_TENSORFLOW_2 = {
    "tf.summary.create_file_writer": "tf.summary.FileWriter(folder), whose add_summary takes what a run of "
                                     "tf.summary.merge_all() gives",
    "tf.summary.flush": "FileWriter.flush",
    "tf.summary.write": "tf.summary.tensor_summary",
    "tf.summary.trace_on": "tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE) and FileWriter.add_run_metadata",
    "tf.random.set_seed": "tf.set_random_seed",
    "tf.random.Generator": "tf.random_uniform and its like, or the tf.random.stateless_* functions",
    "tf.config.run_functions_eagerly": "no call: there is nothing eager to switch",
    "tf.optimizers": "tf.train, tf.train.AdamOptimizer for one",
    "tf.train.CheckpointOptions": "tf.train.Saver",
    "tf.data.AUTOTUNE": "tf.data.experimental.AUTOTUNE",
}


def advice(name):
    """What to add to the message that TensorFlow 1 has no such name; often nothing."""
    instead = _OF_TENSORFLOW_2.get(name)
    return f": it is TensorFlow 2's. In TensorFlow 1 it is {instead}." if instead else ""


def _explained(name):
    for prefix, reason in _LEFT_OUT.items():
        if name.startswith(prefix):
            return f"{name} is {reason}."
    return f"{name} is not in Weir yet."


class Absent:
    """Stands for a function, class, value or module of TensorFlow that is not there yet."""

    def __new__(cls, name):
        stand_in = _known.get(name)
        if stand_in is None:
            stand_in = _known.setdefault(name, object.__new__(cls))
            stand_in.__dict__["__name__"] = name
        return stand_in

    def _fail(self, *args, **kwargs):
        raise NotImplementedError(_explained(self.__name__))

    __call__ = __instancecheck__ = __subclasscheck__ = __enter__ = __aenter__ = __await__ = _fail
    __bool__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _fail
    __len__ = __iter__ = __next__ = __reversed__ = __contains__ = __getitem__ = __setitem__ = __delitem__ = _fail
    __int__ = __float__ = __complex__ = __index__ = __round__ = __neg__ = __pos__ = __abs__ = __invert__ = _fail
    __add__ = __sub__ = __mul__ = __matmul__ = __truediv__ = __floordiv__ = __mod__ = __divmod__ = __pow__ = _fail
    __radd__ = __rsub__ = __rmul__ = __rmatmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __rdivmod__ = _fail
    __rpow__ = __lshift__ = __rshift__ = __and__ = __xor__ = __rlshift__ = __rrshift__ = __rand__ = __rxor__ = _fail

    def __exit__(self, *exc):
        return False

    def __eq__(self, other):
        # typing compares what stands in an annotation with its own forms, `Optional[tf.RaggedTensor]` for one.
        if other is type(None) or getattr(other, "__module__", None) == "typing":
            return False
        return self._fail()

    def __hash__(self):
        return hash((Absent, self.__name__))

    def __or__(self, other):
        if other is None or isinstance(other, (type, Absent)) or getattr(other, "__module__", None) == "typing":
            import typing  # slow to import, and few programs come here

            return typing.Union[self, other]  # an annotation: `tf.RaggedTensor | None`
        return self._fail()

    def __ror__(self, other):
        return self | other

    def __mro_entries__(self, bases):
        return (_base_of(self.__name__),)

    def __getattr__(self, attribute):
        if attribute.startswith("_"):
            raise AttributeError(attribute)
        return Absent(f"{self.__name__}.{attribute}")

    def __setattr__(self, attribute, value):
        # The import system notes where a module was found, and a module in the one that it is below.
        if not attribute.startswith("__") and not isinstance(value, (Absent, ModuleType)):
            raise NotImplementedError(f"{self.__name__}.{attribute} cannot be set: {self.__name__} is not in Weir yet.")
        self.__dict__[attribute] = value

    def __delattr__(self, attribute):
        self._fail()

    def __reduce__(self):
        return Absent, (self.__name__,)

    def __repr__(self):
        return f"<{self.__name__}: not in Weir yet>"


def _base_of(name):
    """A base for classes that derive from an absent one: they can be defined, and say so when an object is made."""

    def refuse(cls, *args, **kwargs):
        raise NotImplementedError(f"{cls.__qualname__} is derived from {name}, which is not in Weir yet.")

    return type(name.rpartition(".")[2], (), {"__new__": refuse, "__module__": __name__, "__doc__": f"{name}, absent"})


def is_absent(value):
    """Whether a value is a stand-in."""
    return type(value) is Absent
