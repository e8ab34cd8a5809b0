"""tf.contrib.layers.optimize_loss: a training step with schedule, clipping, noise and summaries."""

from weir import summary
from weir.core.graph import GraphKeys, Tensor, convert_to_tensor, get_collection
from weir.core.tensor import IndexedSlices
from weir.core.variable_scope import get_variable, variable_scope
from weir.core.variables import trainable_variables
from weir.ops import array_ops, check_ops, clip_ops, control_flow_ops, math_ops, random_ops
from weir.ops.init_ops import constant_initializer, zeros_initializer
from weir.train import optimizer as optimizers, schedules, steps

OPTIMIZER_CLS_NAMES = {
    "Adagrad": optimizers.AdagradOptimizer,
    "Adam": optimizers.AdamOptimizer,
    "Ftrl": optimizers.FtrlOptimizer,
    "Momentum": lambda learning_rate: optimizers.MomentumOptimizer(learning_rate, momentum=0.9),
    "RMSProp": optimizers.RMSPropOptimizer,
    "SGD": optimizers.GradientDescentOptimizer,
}
OPTIMIZER_SUMMARIES = ["learning_rate", "loss", "gradients", "gradient_norm", "global_gradient_norm"]


def optimize_loss(loss, global_step, learning_rate, optimizer, gradient_noise_scale=None, gradient_multipliers=None,
                  clip_gradients=None, learning_rate_decay_fn=None, update_ops=None, variables=None, name=None,
                  summaries=None, colocate_gradients_with_ops=False, increment_global_step=True):
    """A tensor, the loss, whose evaluation is a training step."""
    loss = convert_to_tensor(loss)
    check_ops.assert_scalar(loss)
    if global_step is None:
        global_step = steps.get_global_step()
    else:
        steps.assert_global_step(global_step)
    with variable_scope(name, "OptimizeLoss", [loss, global_step]):
        if update_ops is None:
            update_ops = get_collection(GraphKeys.UPDATE_OPS)
        if update_ops:
            loss = control_flow_ops.with_dependencies(list(update_ops), loss)
        rate = _rate(learning_rate)
        if summaries is None:
            summaries = ["loss", "learning_rate", "global_gradient_norm"]
        for wanted in summaries:
            if wanted not in OPTIMIZER_SUMMARIES:
                raise ValueError(f"Summaries should be one of [{', '.join(OPTIMIZER_SUMMARIES)}], you provided {wanted}.")
        if learning_rate is not None and learning_rate_decay_fn is not None:
            if global_step is None:
                raise ValueError("global_step is required for learning_rate_decay_fn.")
            rate = learning_rate_decay_fn(rate, global_step)
            if "learning_rate" in summaries:
                summary.scalar("learning_rate", rate)
        opt = _optimizer(optimizer, learning_rate, rate)
        gradients = opt.compute_gradients(loss, trainable_variables() if variables is None else variables,
                                          colocate_gradients_with_ops=colocate_gradients_with_ops)
        gradients = _changed(gradients, gradient_noise_scale, gradient_multipliers, clip_gradients, summaries)
        _summarize(loss, gradients, clip_gradients, summaries)
        update = opt.apply_gradients(gradients, global_step=global_step if increment_global_step else None,
                                     name="train")
        return control_flow_ops.with_dependencies([update], loss)


def _rate(learning_rate):
    if learning_rate is None:
        return None
    if isinstance(learning_rate, Tensor) and learning_rate.get_shape().ndims == 0:
        return learning_rate
    if not isinstance(learning_rate, float):
        raise ValueError(f"Learning rate should be 0d Tensor or float. Got {learning_rate} of type {type(learning_rate)}")
    if learning_rate < 0.0:
        raise ValueError("Invalid learning_rate %s.", learning_rate)
    return get_variable("learning_rate", [], trainable=False, initializer=constant_initializer(learning_rate))


def _optimizer(optimizer, learning_rate, rate):
    """An optimizer, of its name, its class, a function that makes it, or itself."""
    if isinstance(optimizer, str):
        if rate is None:
            raise ValueError(f"Learning rate is None, but should be specified if optimizer is string ({optimizer}).")
        if optimizer not in OPTIMIZER_CLS_NAMES:
            raise ValueError(f"Optimizer name should be one of [{', '.join(OPTIMIZER_CLS_NAMES)}], you provided "
                             f"{optimizer}.")
        return OPTIMIZER_CLS_NAMES[optimizer](learning_rate=rate)
    if isinstance(optimizer, type) and issubclass(optimizer, optimizers.Optimizer):
        if rate is None:
            raise ValueError(f"Learning rate is None, but should be specified if optimizer is class ({optimizer}).")
        return optimizer(learning_rate=rate)
    if isinstance(optimizer, optimizers.Optimizer):
        return optimizer
    if not callable(optimizer):
        raise ValueError("Unrecognized optimizer: should be string, subclass of Optimizer, instance of subclass of "
                         f"Optimizer or function with one argument. Got {optimizer}.")
    made = optimizer(rate) if learning_rate is not None else optimizer()
    if not isinstance(made, optimizers.Optimizer):
        raise ValueError(f"Unrecognized optimizer: function should return subclass of Optimizer. Got {made}.")
    return made


def _changed(gradients, noise, multipliers, clip, summaries):
    if noise is not None:
        gradients = _with_noise(gradients, noise)
    if multipliers is not None:
        gradients = _multiplied(gradients, multipliers)
        if not gradients:
            raise ValueError("Empty list of (gradient, var) pairs encountered. This is most likely to be caused by an "
                             "improper value of gradient_multipliers.")
    if "global_gradient_norm" in summaries or "gradient_norm" in summaries:
        summary.scalar("global_norm/gradient_norm", clip_ops.global_norm([grad for grad, _ in gradients]))
    if isinstance(clip, float):
        clipped, _ = clip_ops.clip_by_global_norm([grad for grad, _ in gradients], clip)
        return [(grad, variable) for grad, (_, variable) in zip(clipped, gradients)]
    if callable(clip):
        return clip(gradients)
    if clip is not None:
        raise ValueError(f"Unknown type {type(clip)} for clip_gradients")
    return gradients


def _summarize(loss, gradients, clip, summaries):
    if "loss" in summaries:
        summary.scalar("loss", loss)
    for gradient, variable in gradients:
        values = gradient.values if isinstance(gradient, IndexedSlices) else gradient
        if values is not None:
            name = variable.name.replace(":", "_")
            if "gradients" in summaries:
                summary.histogram(f"gradients/{name}", values)
            if "gradient_norm" in summaries:
                summary.scalar(f"gradient_norm/{name}", clip_ops.global_norm([values]))
    if clip is not None and ("global_gradient_norm" in summaries or "gradient_norm" in summaries):
        summary.scalar("global_norm/clipped_gradient_norm", clip_ops.global_norm([grad for grad, _ in gradients]))


def _times(gradient, factor):
    if gradient is None:
        return None
    if isinstance(gradient, IndexedSlices):
        return IndexedSlices(gradient.values * factor, gradient.indices, gradient.dense_shape)
    return gradient * factor


def _with_noise(grads_and_vars, scale):
    result = []
    for grad, variable in grads_and_vars:
        if grad is not None:
            shape = grad.dense_shape if isinstance(grad, IndexedSlices) else grad.get_shape().as_list()
            noise = random_ops.truncated_normal(shape) * scale
            grad = convert_to_tensor(grad) + noise
        result.append((grad, variable))
    return result


def _multiplied(grads_and_vars, multipliers):
    result = []
    for grad, variable in grads_and_vars:
        key = variable if variable in multipliers else variable.name
        if grad is not None and key in multipliers:
            grad = _times(grad, math_ops.cast(multipliers[key], grad.dtype))
        result.append((grad, variable))
    return result


def adaptive_clipping_fn(std_factor=2.0, decay=0.95, static_max_norm=None, global_step=None, report_summary=False,
                         epsilon=1e-8, name=None):
    """Clips gradients whose norm is far above its moving average, to that average."""

    def gradient_clipping(grads_and_vars):
        norm = clip_ops.global_norm([grad for grad, _ in grads_and_vars])
        most, log_mean = _adaptive_max_norm(norm, std_factor, decay, global_step, epsilon, name)
        if report_summary:
            summary.scalar("global_norm/adaptive_max_gradient_norm", most)
        factor = array_ops.where(norm < most, array_ops.ones_like(norm), math_ops.exp(log_mean) / norm)
        if static_max_norm is not None:
            factor = math_ops.minimum(static_max_norm / norm, factor)
        return [(_times(grad, factor), variable) for grad, variable in grads_and_vars]

    return gradient_clipping


def _adaptive_max_norm(norm, std_factor, decay, global_step, epsilon, name):
    with variable_scope(name, "AdaptiveMaxNorm", [norm]):
        log_norm = math_ops.log(norm + epsilon)
        if global_step is not None:
            n = math_ops.cast(global_step, "float32")
            decay = math_ops.minimum(decay, n / (n + 1.0))

        def average(kind, value):
            kept = get_variable(kind, shape=value.get_shape(), dtype=value.dtype, initializer=zeros_initializer(),
                                trainable=False)
            return schedules.assign_moving_average(kept, value, decay, zero_debias=False)

        mean, square_mean = average("mean", log_norm), average("sq_mean", math_ops.square(log_norm))
        deviation = math_ops.sqrt(math_ops.maximum(epsilon, square_mean - math_ops.square(mean)))
        return math_ops.exp(mean + std_factor * deviation), mean
