"""tf.layers: batch normalization."""

from weir import _weir
from weir.core import dtypes
from weir.core.stack import get_default_graph as _graph
from weir.core.tensor_shape import TensorShape
from weir.layers.arguments import _initializer
from weir.layers.base import Layer
from weir.layers.input_spec import InputSpec
from weir.layers.utils import constant_value
from weir.ops import array_ops, math_ops
from weir.ops.init_ops import ones_initializer, zeros_initializer


class BatchNormalization(Layer):
    """Normalises to mean 0 and variance 1 over all but ``axis``, then scales and shifts.

    In training by the batch, keeping moving averages of its moments (their updates are in the collection UPDATE_OPS);
    otherwise by the averages.
    """

    def __init__(self, axis=-1, momentum=0.99, epsilon=1e-3, center=True, scale=True,
                 beta_initializer=zeros_initializer(), gamma_initializer=ones_initializer(),
                 moving_mean_initializer=zeros_initializer(), moving_variance_initializer=ones_initializer(),
                 beta_regularizer=None, gamma_regularizer=None, beta_constraint=None, gamma_constraint=None,
                 renorm=False, renorm_clipping=None, renorm_momentum=0.99, fused=None, trainable=True,
                 virtual_batch_size=None, adjustment=None, name=None, **kwargs):
        super().__init__(name=name, trainable=trainable, **kwargs)
        if not isinstance(axis, (int, list, tuple)):
            raise TypeError(f"axis must be int or list, type given: {type(axis)}")
        self.axis = axis if isinstance(axis, int) else list(axis)
        self.momentum, self.epsilon, self.center, self.scale = momentum, epsilon, center, scale
        self.beta_initializer, self.gamma_initializer = _initializer(beta_initializer), _initializer(gamma_initializer)
        self.moving_mean_initializer = _initializer(moving_mean_initializer)
        self.moving_variance_initializer = _initializer(moving_variance_initializer)
        self.beta_regularizer, self.gamma_regularizer = beta_regularizer, gamma_regularizer
        self.beta_constraint, self.gamma_constraint = beta_constraint, gamma_constraint
        self.renorm, self.virtual_batch_size, self.adjustment = renorm, virtual_batch_size, adjustment
        self.fused = True if fused is None else fused
        self.supports_masking = True
        self.gamma = self.beta = self._gamma_const = self._beta_const = None
        self.moving_stddev = self.renorm_mean = self.renorm_stddev = None
        self.renorm_clipping, self.renorm_momentum = renorm_clipping or {}, renorm_momentum
        keys = ["rmax", "rmin", "dmax"]
        if renorm and set(self.renorm_clipping) - set(keys):
            raise ValueError(f"renorm_clipping {renorm_clipping} contains keys not in {keys}")

    def _can_be_fused(self):
        axis = [self.axis] if isinstance(self.axis, int) else self.axis
        return not self.renorm and len(axis) == 1 and axis[0] in (-3, -1, 1, 3) \
            and self.virtual_batch_size is None and self.adjustment is None

    @property
    def _param_dtype(self):
        dtype = self._dtype or dtypes.float32
        return dtypes.float32 if dtype in (dtypes.float16, dtypes.bfloat16) else dtype

    def build(self, input_shape):
        input_shape = TensorShape(input_shape)
        if not input_shape.ndims:
            raise ValueError("Input has undefined rank:", input_shape)
        ndims = input_shape.ndims
        self.axis = [axis + ndims if axis < 0 else axis
                     for axis in ([self.axis] if isinstance(self.axis, int) else self.axis)]
        for axis in self.axis:
            if axis < 0 or axis >= ndims:
                raise ValueError(f"Invalid axis: {axis}")
        if len(self.axis) != len(set(self.axis)):
            raise ValueError(f"Duplicate axis: {self.axis}")
        if self.virtual_batch_size is not None:
            self._check_virtual_batch()
        if self.fused:
            self.fused = ndims == 4 and self._can_be_fused()
        if self.fused and self.axis not in ([1], [3]):
            raise ValueError("Unsupported axis, fused batch norm only supports axis == [1] or axis == [3]")
        sizes = {axis: input_shape.as_list()[axis] for axis in self.axis}
        if None in sizes.values():
            raise ValueError("Input has undefined `axis` dimension. Input shape: ", input_shape)
        self.input_spec = InputSpec(ndim=ndims, axes=sizes)
        if len(sizes) == 1 and self.virtual_batch_size is None:
            shape = (sizes[self.axis[0]],)
        else:
            shape = [sizes.get(i, 1) for i in range(ndims)]
            if self.virtual_batch_size is not None:
                shape.insert(1, 1)
                self.axis = [axis + 1 for axis in self.axis]
        self._add_scale_and_center(shape)
        self._add_averages(shape)
        self.built = True

    def _check_virtual_batch(self):
        if self.virtual_batch_size <= 0:
            raise ValueError("virtual_batch_size must be a positive integer that divides the true batch size of the "
                             "input Tensor")
        if 0 in self.axis:
            raise ValueError("When using virtual_batch_size, the batch dimension must be 0 and thus axis cannot include "
                             "0")
        if self.adjustment is not None:
            raise ValueError("When using virtual_batch_size, adjustment cannot be specified")

    def _add_scale_and_center(self, shape):
        if self.scale:
            self.gamma = self.add_weight("gamma", shape=shape, dtype=self._param_dtype,
                                         initializer=self.gamma_initializer, regularizer=self.gamma_regularizer,
                                         constraint=self.gamma_constraint, trainable=True)
        elif self.fused:
            self._gamma_const = array_ops.constant(1.0, dtype=self._param_dtype, shape=shape)
        if self.center:
            self.beta = self.add_weight("beta", shape=shape, dtype=self._param_dtype,
                                        initializer=self.beta_initializer, regularizer=self.beta_regularizer,
                                        constraint=self.beta_constraint, trainable=True)
        elif self.fused:
            self._beta_const = array_ops.constant(0.0, dtype=self._param_dtype, shape=shape)

    def _add_averages(self, shape):
        def average(name, initializer):
            return self.add_weight(name, shape=shape, dtype=self._param_dtype, initializer=initializer, trainable=False)

        partitioner = self._scope.partitioner if self._scope else None
        if partitioner:
            self._scope.set_partitioner(None)  # they are updated whole
        try:
            self.moving_mean = average("moving_mean", self.moving_mean_initializer)
            self.moving_variance = average("moving_variance", self.moving_variance_initializer)
            if self.renorm:
                def stddev_initializer(*args, **kwargs):
                    return math_ops.sqrt(self.moving_variance_initializer(*args, **kwargs))

                self.moving_stddev = average("moving_stddev", stddev_initializer)
                self.renorm_mean = average("renorm_mean", self.moving_mean_initializer)
                self.renorm_stddev = average("renorm_stddev", stddev_initializer)
        finally:
            if partitioner:
                self._scope.set_partitioner(partitioner)

    def call(self, inputs, training=False):
        known = constant_value(training)
        training = bool(known) if known is not None or training is None else training
        adjustment = None
        if self.adjustment is not None and training is not False:
            adjustment = self.adjustment(array_ops.shape(inputs))
        outputs, updates = _weir.layer_batch_norm(_graph(), inputs, dict(
            axis=self.axis, gamma=self._gamma_const if self.gamma is None else self.gamma,
            beta=self._beta_const if self.beta is None else self.beta, moving_mean=self.moving_mean,
            moving_variance=self.moving_variance, moving_stddev=self.moving_stddev, renorm_mean=self.renorm_mean,
            renorm_stddev=self.renorm_stddev, training=training,
            momentum=self.momentum, epsilon=self.epsilon, renorm_momentum=self.renorm_momentum, fused=self.fused,
            renorm=self.renorm, renorm_clipping=self.renorm_clipping, virtual_batch_size=self.virtual_batch_size,
            adjustment=adjustment))
        self.add_update(updates)
        return outputs

    def compute_output_shape(self, input_shape):
        return input_shape


def batch_normalization(inputs, axis=-1, momentum=0.99, epsilon=1e-3, center=True, scale=True,
                        beta_initializer=zeros_initializer(), gamma_initializer=ones_initializer(),
                        moving_mean_initializer=zeros_initializer(), moving_variance_initializer=ones_initializer(),
                        beta_regularizer=None, gamma_regularizer=None, beta_constraint=None, gamma_constraint=None,
                        training=False, trainable=True, name=None, reuse=None, renorm=False, renorm_clipping=None,
                        renorm_momentum=0.99, fused=None, virtual_batch_size=None, adjustment=None):
    return BatchNormalization(
        axis=axis, momentum=momentum, epsilon=epsilon, center=center, scale=scale, beta_initializer=beta_initializer,
        gamma_initializer=gamma_initializer, moving_mean_initializer=moving_mean_initializer,
        moving_variance_initializer=moving_variance_initializer, beta_regularizer=beta_regularizer,
        gamma_regularizer=gamma_regularizer, beta_constraint=beta_constraint, gamma_constraint=gamma_constraint,
        renorm=renorm, renorm_clipping=renorm_clipping, renorm_momentum=renorm_momentum, fused=fused,
        trainable=trainable, virtual_batch_size=virtual_batch_size, adjustment=adjustment, name=name, _reuse=reuse,
        _scope=name).apply(inputs, training=training)


BatchNorm, batch_norm = BatchNormalization, batch_normalization
