"""Variables of which a distribution is learned: tf.contrib.bayesflow.stochastic_variables."""

import functools

from weir.contrib.bayesflow import stochastic_tensor, variational_inference
from weir.distributions.continuous import NormalWithSoftplusSigma


def get_stochastic_variable(getter, name, shape=None, dist_cls=NormalWithSoftplusSigma, dist_kwargs=None,
                            param_initializers=None, prior=None, **kwargs):
    """For ``custom_getter`` of a variable scope: a sample of a distribution whose parameters are variables, named after the
    variable that was asked for (``weights_mu``). ``prior`` is a distribution, or a function of shape and type."""
    param_initializers = param_initializers or {}
    shapes = {} if shape is None else dist_cls.param_static_shapes(shape)
    common = kwargs.pop("initializer", None)
    parameters = dict(dist_kwargs or {})
    for parameter in list(shapes) + [parameter for parameter in param_initializers if parameter not in shapes]:
        initializer = param_initializers.get(parameter)
        if initializer is None:
            initializer = common
        has_shape = initializer is not None and not callable(initializer)
        parameters[parameter] = getter(f"{name}_{parameter}", shape=None if has_shape else shapes.get(parameter),
                                       initializer=initializer, **kwargs)
    sample = stochastic_tensor.StochasticTensor(dist_cls(**parameters))
    if prior is not None:
        if callable(prior):
            value = sample.value()
            value.get_shape().assert_is_fully_defined()
            prior = prior(value.get_shape(), value.dtype)
        variational_inference.register_prior(sample, prior)
    return sample


def make_stochastic_variable_getter(dist_cls, dist_kwargs=None, param_initializers=None, prior=None):
    return functools.partial(get_stochastic_variable, dist_cls=dist_cls, dist_kwargs=dist_kwargs,
                             param_initializers=param_initializers, prior=prior)
