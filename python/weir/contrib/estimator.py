"""tf.contrib.estimator: optimizers and estimators changed by functions."""

import weir as tf
from weir import names as _names
from weir.estimator.estimator import Estimator
from weir.estimator.model_fn import ModeKeys


def clip_gradients_by_norm(optimizer, clip_norm):
    """An optimizer whose gradients have a global norm of at most ``clip_norm``."""
    def transform(grads_and_vars):
        gradients, variables = zip(*grads_and_vars)
        clipped, _ = tf.clip_by_global_norm(gradients, clip_norm)
        return list(zip(clipped, variables))

    return TransformGradients(optimizer, transform, f"ClipByNorm{optimizer.get_name()}")


class TransformGradients(tf.train.Optimizer):
    """An optimizer around another one, with a function of the gradients."""

    def __init__(self, optimizer, transform_grads_fn, name=None):
        super().__init__(False, name or f"TransformGradients{optimizer.get_name()}")
        self._optimizer_inside, self._transform = optimizer, transform_grads_fn

    def compute_gradients(self, *args, **kwargs):
        return self._optimizer_inside.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        return self._optimizer_inside.apply_gradients(self._transform(grads_and_vars), global_step=global_step, name=name)

    def get_slot(self, *args, **kwargs):
        return self._optimizer_inside.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        return self._optimizer_inside.get_slot_names(*args, **kwargs)


def forward_features(estimator, keys=None, sparse_default_values=None):
    """An estimator whose predictions have features beside them."""
    wanted = [keys] if isinstance(keys, str) else keys

    def model_fn(features, labels, mode, config):
        spec = estimator.model_fn(features, labels, mode, config)
        if mode != ModeKeys.PREDICT:
            return spec
        predictions = dict(spec.predictions)
        for key in wanted or features:
            if key not in features:
                raise ValueError(f"keys should be exist in features. Key \"{key}\" is not in features dict.")
            value = features[key]
            if isinstance(value, tf.SparseTensor):
                default = (sparse_default_values or {}).get(key, "" if value.dtype == tf.string else 0)
                value = tf.sparse_tensor_to_dense(value, default_value=default)
            predictions[key] = tf.identity(value)
        return spec._replace(predictions=predictions)

    return Estimator(model_fn=model_fn, model_dir=estimator.model_dir, config=estimator.config)


__getattr__, __dir__ = _names.namespace(__name__)
