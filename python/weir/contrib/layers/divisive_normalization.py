"""Generalized divisive normalization (Balle et al., 2016)."""

from weir import _weir
from weir.core import dtypes
from weir.core.graph import convert_to_tensor
from weir.core.stack import get_default_graph as _graph
from weir.core.tensor_shape import TensorShape
from weir.layers.base import Layer
from weir.layers.input_spec import InputSpec


class GDN(Layer):
    """Each channel by the root of a learned sum of squares of all; ``inverse``: times that root."""

    def __init__(self, inverse=False, beta_min=1e-6, gamma_init=.1, reparam_offset=2**-18, data_format="channels_last",
                 activity_regularizer=None, trainable=True, name=None, **kwargs):
        super().__init__(trainable=trainable, name=name, activity_regularizer=activity_regularizer, **kwargs)
        self.inverse, self.data_format = inverse, data_format
        self._beta_min, self._gamma_init, self._reparam_offset = beta_min, gamma_init, reparam_offset
        self._channel_axis()
        self.input_spec = InputSpec(min_ndim=3, max_ndim=5)

    def _channel_axis(self):
        if self.data_format not in ("channels_first", "channels_last"):
            raise ValueError(f"Unsupported `data_format` for GDN layer: {self.data_format}.")
        return 1 if self.data_format == "channels_first" else -1

    def build(self, input_shape):
        axis, input_shape = self._channel_axis(), TensorShape(input_shape)
        channels = input_shape.as_list()[axis]
        if channels is None:
            raise ValueError("The channel dimension of the inputs to `GDN` must be defined.")
        self.input_spec = InputSpec(ndim=input_shape.ndims, axes={axis: channels})

        def initializer(gamma_init):
            return lambda shape, dtype=None, partition_info=None: _weir.gdn_initial(
                _graph(), TensorShape(shape), dtypes.as_dtype(dtype or dtypes.float32), gamma_init,
                self._reparam_offset)

        beta = self.add_variable("reparam_beta", shape=[channels], initializer=initializer(None), dtype=self.dtype)
        self.beta = _weir.gdn_parameter(_graph(), beta, self._beta_min, self._reparam_offset)
        gamma = self.add_variable("reparam_gamma", shape=[channels, channels], dtype=self.dtype,
                                  initializer=initializer(self._gamma_init))
        self.gamma = _weir.gdn_parameter(_graph(), gamma, 0, self._reparam_offset)
        self.built = True

    def call(self, inputs):
        inputs = convert_to_tensor(inputs, dtype=self.dtype)
        return _weir.layer_gdn(_graph(), inputs, self.beta, self.gamma, self.inverse,
                               self.data_format == "channels_first")

    def compute_output_shape(self, input_shape):
        input_shape = TensorShape(input_shape)
        if input_shape.ndims is None or not 3 <= input_shape.ndims <= 5:
            raise ValueError("`input_shape` must be of rank 3 to 5, inclusive.")
        if input_shape.as_list()[self._channel_axis()] is None:
            raise ValueError("The channel dimension of `input_shape` must be defined.")
        return input_shape


def gdn(inputs, inverse=False, beta_min=1e-6, gamma_init=.1, reparam_offset=2**-18, data_format="channels_last",
        activity_regularizer=None, trainable=True, name=None, reuse=None):
    """A ``GDN`` layer, called."""
    layer = GDN(inverse, beta_min, gamma_init, reparam_offset, data_format, activity_regularizer, trainable, name,
                dtype=inputs.dtype.base_dtype, _scope=name, _reuse=reuse)
    return layer.apply(inputs)
