"""tf.keras: the package Keras (multi-backend, up to 2.3.1) on Weir, where it is installed.

    pip install keras==2.3.1

Without it the names are stand-ins that say so when they are used.
"""

import functools
import importlib
import importlib.util
import inspect
import operator
import os

from weir import names as _names, nest as _nest, old_libraries as _old_libraries
from weir.names import tensorflow_alias as _tensorflow_alias
from weir.names.absent import Absent as _Absent

_package = None


def _keras():
    """The package, or None when there is none that runs on TensorFlow 1."""
    global _package
    if _package is None:
        if importlib.util.find_spec("keras") is None:
            return None
        metadata = importlib.import_module("importlib.metadata")
        try:
            version = metadata.version("keras")
        except metadata.PackageNotFoundError:  # a module of the program that is called so
            return None
        if tuple(int(part) for part in version.split(".")[:2]) > (2, 3):
            return None
        _tensorflow_alias.install()  # Keras imports tensorflow
        _old_libraries.install()  # and Python as it was
        os.environ.setdefault("KERAS_BACKEND", "tensorflow")
        _package = importlib.import_module("keras")
        network = importlib.import_module("keras.engine.network").Network
        _take_training(network)
        _see_output_shapes(importlib.import_module("keras.engine.base_layer").Layer, network)
        _take_distributions(importlib.import_module("keras.initializers").VarianceScaling)
        layers = importlib.import_module("keras.layers")  # tf.keras names the base of wrappers among them
        _give_shapes(layers.Layer)
        _take_arguments(layers.Layer, layers.InputLayer)
        _take_weights(layers.Layer, importlib.import_module("keras.initializers").get)
        _name_weights_variables(layers.Layer)
        _flatten_matrices(layers.Flatten, layers.InputSpec)
        if not hasattr(layers, "Wrapper"):
            layers.Wrapper = importlib.import_module("keras.layers.wrappers").Wrapper
    return _package


def _take_training(network):
    """Lets models be called with ``training``, as those of tf.keras are: it is the phase of the layers inside."""
    original = network.call
    if "training" in inspect.signature(original).parameters:
        return

    @functools.wraps(original)
    def call(self, inputs, mask=None, training=None):
        if training is None or not isinstance(training, (bool, int)):
            return original(self, inputs, mask)
        with _names.at("weir.inner.keras_backend:learning_phase_scope")(int(training)):
            return original(self, inputs, mask)

    network.call = call


def _take_distributions(variance_scaling):
    """The names that tf.keras has for normal distributions: Keras' own, "normal", is the truncated one."""
    init, call = variance_scaling.__init__, variance_scaling.__call__

    @functools.wraps(init)
    def __init__(self, scale=1.0, mode="fan_in", distribution="normal", seed=None, dtype=None):
        given = distribution.lower()
        init(self, scale, mode, "normal" if given in ("truncated_normal", "untruncated_normal") else given, seed)
        self._untruncated = given == "untruncated_normal"

    @functools.wraps(call)
    def __call__(self, shape, dtype=None, **options):
        if not getattr(self, "_untruncated", False):
            return call(self, shape, dtype)
        plain = _names.find("tf.variance_scaling_initializer")(self.scale, self.mode, "untruncated_normal", self.seed)
        return plain(shape, dtype or "float32")

    variance_scaling.__init__, variance_scaling.__call__ = __init__, __call__


def _see_output_shapes(layer, network):
    """Lets layers and models of the program give any structure of tensors and leave the shapes of these unsaid, as those
    of tf.keras may: the tensors have shapes."""
    add, of_input, of_network = layer._add_inbound_node, layer.compute_output_shape, network.compute_output_shape
    names = list(inspect.signature(add).parameters)[1:]

    @functools.wraps(of_network)
    def compute_output_shape(self, input_shape):
        return of_network(self, input_shape) if self._is_graph_network else None

    def leaves_shapes_open(self):
        method = type(self).compute_output_shape
        if method is compute_output_shape:
            return not self._is_graph_network
        return method is of_input and type(self).__module__.partition(".")[0] != "keras"

    @functools.wraps(add)
    def add_inbound_node(self, *args, **kwargs):
        given = {**dict(zip(names, args)), **kwargs}
        if leaves_shapes_open(self):
            outputs = given["output_tensors"] = _nest.flatten(given["output_tensors"])
            given["output_shapes"] = [tuple(x.shape.as_list()) if x.shape.ndims is not None else None for x in outputs]
            masks = given["output_masks"]
            given["output_masks"] = masks if isinstance(masks, list) and len(masks) == len(outputs) else None
        return add(self, **given)

    layer._add_inbound_node, network.compute_output_shape = add_inbound_node, compute_output_shape


class _Size(int):
    """A size of a shape, which programs of TensorFlow 1 ask for its value."""

    value = property(int)


class _Sizes(tuple):
    """A shape as Keras has it, with what programs ask a TensorShape."""

    rank = ndims = property(len)

    def __new__(cls, sizes):
        return super().__new__(cls, (size if size is None else _Size(size) for size in sizes))

    def as_list(self):
        return [size if size is None else int(size) for size in self]

    def is_fully_defined(self):
        return None not in self


def _sizes(shape):
    """A shape, or a list of shapes, for a layer of the program."""
    if isinstance(shape, list):
        return [_sizes(part) for part in shape]
    return _Sizes(shape) if isinstance(shape, tuple) and all(s is None or isinstance(s, int) for s in shape) else shape


def _give_shapes(layer):
    """Lets layers of the program take shapes as tf.keras gives them: with ``as_list()``, and sizes with ``value``."""

    def init_subclass(cls, **options):
        super(layer, cls).__init_subclass__(**options)
        build = cls.__dict__.get("build")
        if cls.__module__.partition(".")[0] != "keras" and inspect.isfunction(build):
            @functools.wraps(build)
            def with_sizes(self, *shapes, **named):
                named = {name: _sizes(shape) if name == "input_shape" else shape for name, shape in named.items()}
                return build(self, *map(_sizes, shapes[:1]), *shapes[1:], **named)

            cls.build = with_sizes

    layer.__init_subclass__ = classmethod(init_subclass)


def _take_arguments(*layers):
    """Lets layers take types as well as their names, and all of them a regularizer of what they give."""

    def taking(init):
        @functools.wraps(init)
        def __init__(self, *args, dtype=None, activity_regularizer=None, **options):
            if dtype is not None:
                options["dtype"] = dtype.name if hasattr(dtype, "as_datatype_enum") else dtype
            init(self, *args, **options)
            if not hasattr(self, "dtype") and type(self).__module__.partition(".")[0] != "keras":
                self.dtype = options.get("dtype")  # layers of tf.keras always have one
            if activity_regularizer is not None:
                self.activity_regularizer = activity_regularizer

        return __init__

    for layer in layers:
        layer.__init__ = taking(layer.__init__)


def _take_weights(layer, initializer_of):
    """Lets layers add weights with the arguments of tf.keras: any type, no name, no initial values."""
    add = layer.add_weight

    @functools.wraps(add)
    def add_weight(self, name=None, shape=None, dtype=None, initializer=None, regularizer=None, trainable=None,
                   constraint=None, partitioner=None, use_resource=None, synchronization=None, aggregation=None, **options):
        dtype = dtype.name if hasattr(dtype, "as_datatype_enum") else dtype
        if initializer is None:
            initializer = "glorot_uniform" if dtype is None or "float" in dtype else "zeros"
        if dtype == "bool" and initializer in ("zeros", "ones"):
            initializer = functools.partial(_names.find(f"tf.{initializer}"), dtype=dtype)
        elif dtype not in (None, "float32"):  # Keras asks for values of its own type
            initializer = functools.partial(initializer_of(initializer), dtype=dtype)
        shape = () if shape is None else tuple(int(size) for size in shape)
        return add(self, name=name, shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer,
                   trainable=trainable is None or trainable, constraint=constraint, **options)

    layer.add_weight = layer.add_variable = add_weight
    layer._track_trackable = lambda self, trackable, name, overwrite=False: trackable


def _name_weights_variables(layer):
    """Lets layers and models tell their weights by the names that tf.keras has for them, too."""
    for name, weights in (("variables", "weights"), ("trainable_variables", "trainable_weights"),
                          ("non_trainable_variables", "non_trainable_weights")):
        if not hasattr(layer, name):
            setattr(layer, name, property(operator.attrgetter(weights)))


def _flatten_matrices(flatten, spec):
    """Lets Flatten take matrices, which stay as they are, and sizes that are not known."""
    init, of_known = flatten.__init__, flatten.compute_output_shape

    @functools.wraps(init)
    def __init__(self, *args, **options):
        init(self, *args, **options)
        self.input_spec = spec(min_ndim=2)

    @functools.wraps(of_known)
    def compute_output_shape(self, input_shape):
        return (input_shape[0], None) if None in input_shape[1:] else of_known(self, input_shape)

    flatten.__init__, flatten.compute_output_shape = __init__, compute_output_shape


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'weir.keras' has no attribute {name!r}")
    package = _keras()
    if package is None:
        return _Absent(f"tf.keras.{name}")
    if not hasattr(package, name):
        try:
            return importlib.import_module(f"keras.{name}")
        except ModuleNotFoundError:
            raise AttributeError(f"Keras {package.__version__} has no {name!r}") from None
    return getattr(package, name)


def __dir__():
    package = _keras()
    return [] if package is None else [name for name in dir(package) if not name.startswith("_")]
