"""tf.layers: dense, dropout and flatten."""

from weir import _weir
from weir.core import dtypes
from weir.core.graph import convert_to_tensor
from weir.core.stack import get_default_graph as _graph
from weir.core.tensor_shape import TensorShape
from weir.layers.arguments import _activation, _data_format, _initializer
from weir.layers.base import Layer
from weir.layers.input_spec import InputSpec
from weir.layers.utils import smart_cond
from weir.ops import array_ops, nn_ops
from weir.ops.init_ops import zeros_initializer
from weir.ops.sparse_ops import SparseTensor, sparse_tensor_dense_matmul


class Dense(Layer):
    """activation(inputs * kernel + bias), along the last dimension."""

    def __init__(self, units, activation=None, use_bias=True, kernel_initializer=None,
                 bias_initializer=zeros_initializer(), kernel_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True, name=None,
                 **kwargs):
        super().__init__(trainable=trainable, name=name, activity_regularizer=activity_regularizer, **kwargs)
        self.units = units if isinstance(units, int) else int(units)
        self.activation, self.use_bias = _activation(activation), use_bias
        self.kernel_initializer = _initializer(kernel_initializer)
        self.bias_initializer = _initializer(bias_initializer)
        self.kernel_regularizer, self.bias_regularizer = kernel_regularizer, bias_regularizer
        self.kernel_constraint, self.bias_constraint = kernel_constraint, bias_constraint
        self.kernel = self.bias = None
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape):
        dtype = self._dtype or dtypes.float32
        if not (dtype.is_floating or dtype.is_complex):
            raise TypeError(f"Unable to build `Dense` layer with non-floating point dtype {dtype!r}")
        size = TensorShape(input_shape).as_list()[-1]
        if size is None:
            raise ValueError("The last dimension of the inputs to `Dense` should be defined. Found `None`.")
        self.input_spec = InputSpec(min_ndim=2, axes={-1: size})
        self.kernel = self.add_weight("kernel", shape=[size, self.units], initializer=self.kernel_initializer,
                                      regularizer=self.kernel_regularizer, constraint=self.kernel_constraint,
                                      trainable=True)
        if self.use_bias:
            self.bias = self.add_weight("bias", shape=[self.units], initializer=self.bias_initializer,
                                        regularizer=self.bias_regularizer, constraint=self.bias_constraint,
                                        trainable=True)
        self.built = True

    def call(self, inputs):
        if isinstance(inputs, SparseTensor):
            outputs = sparse_tensor_dense_matmul(inputs, self.kernel)
            outputs = nn_ops.bias_add(outputs, self.bias) if self.use_bias else outputs
        else:
            outputs = _weir.layer_dense(_graph(), convert_to_tensor(inputs), self.kernel, self.bias)
        return outputs if self.activation is None else self.activation(outputs)

    def compute_output_shape(self, input_shape):
        input_shape = TensorShape(input_shape).with_rank_at_least(2)
        if input_shape[-1].value is None:
            raise ValueError(f"The innermost dimension of input_shape must be defined, but saw: {input_shape}")
        return input_shape[:-1].concatenate(self.units)


def dense(inputs, units, activation=None, use_bias=True, kernel_initializer=None, bias_initializer=zeros_initializer(),
          kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
          bias_constraint=None, trainable=True, name=None, reuse=None):
    """activation(inputs * kernel + bias), along the last dimension."""
    return Dense(units, activation=activation, use_bias=use_bias, kernel_initializer=kernel_initializer,
                 bias_initializer=bias_initializer, kernel_regularizer=kernel_regularizer,
                 bias_regularizer=bias_regularizer, activity_regularizer=activity_regularizer,
                 kernel_constraint=kernel_constraint, bias_constraint=bias_constraint, trainable=trainable, name=name,
                 _scope=name, _reuse=reuse).apply(inputs)


class Dropout(Layer):
    """Sets a share ``rate`` of the elements to 0 and scales the others up; only where ``training`` says so."""

    def __init__(self, rate=0.5, noise_shape=None, seed=None, name=None, **kwargs):
        super().__init__(name=name, **kwargs)
        self.rate, self.noise_shape, self.seed, self.supports_masking = rate, noise_shape, seed, True

    def _get_noise_shape(self, inputs):
        if self.noise_shape is None or not isinstance(self.noise_shape, (list, tuple)):
            return self.noise_shape
        sizes = array_ops.shape(inputs)
        return convert_to_tensor([sizes[i] if size is None else size for i, size in enumerate(self.noise_shape)])

    def call(self, inputs, training=False):
        return smart_cond(
            training,
            lambda: nn_ops.dropout(inputs, noise_shape=self._get_noise_shape(inputs), seed=self.seed, rate=self.rate),
            lambda: array_ops.identity(inputs))

    def compute_output_shape(self, input_shape):
        return input_shape


def dropout(inputs, rate=0.5, noise_shape=None, seed=None, training=False, name=None):
    return Dropout(rate, noise_shape=noise_shape, seed=seed, name=name).apply(inputs, training=training)


class Flatten(Layer):
    """[batch, everything else]."""

    def __init__(self, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.data_format = _data_format(data_format)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs):
        return _weir.layer_flatten(_graph(), inputs, self.data_format)

    def compute_output_shape(self, input_shape):
        sizes = TensorShape(input_shape).as_list()
        rest = 1
        for size in sizes[1:]:
            rest = None if rest is None or size is None else rest * size
        return TensorShape([sizes[0], rest])


def flatten(inputs, name=None, data_format="channels_last"):
    return Flatten(name=name, data_format=data_format).apply(inputs)
