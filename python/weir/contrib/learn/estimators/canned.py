"""tf.contrib.learn's ready models."""

import math

import weir as tf
from weir.contrib.layers import feature_column as fc, feature_column_ops
from weir.contrib.layers.layers import dropout as _dropout, fully_connected as _fully_connected
from weir.contrib.layers.optimizers import optimize_loss as _optimize_loss
from weir.contrib.learn.estimators import head as _heads
from weir.contrib.learn.estimators.estimator import Estimator
from weir.contrib.learn.estimators.model_fn import ModeKeys, PredictionKey
from weir.feature_column import layers as _core_columns

_ACTIVATIONS = {"relu": tf.nn.relu, "tanh": tf.nn.tanh, "sigmoid": tf.nn.sigmoid}


def _by_name(features):
    return features if isinstance(features, dict) else {"": features}


def _optimizer(optimizer):
    return optimizer() if callable(optimizer) and not isinstance(optimizer, tf.train.Optimizer) else optimizer


def _partitioner(config, min_slice_size=256 << 10):
    return tf.min_max_variable_partitioner(max_partitions=max(1, config.num_ps_replicas if config else 1),
                                           min_slice_size=min_slice_size)


def _own_columns(columns):
    return all(isinstance(column, fc._FeatureColumn) for column in columns)


def _layer_summary(value, tag):
    tf.summary.scalar(f"{tag}_fraction_of_zero_values", tf.nn.zero_fraction(value))
    tf.summary.histogram(f"{tag}_activation", value)


def _dnn_logits(features, mode, head, columns, hidden_units, activation_fn, dropout, config, partitioner):
    """The logits of a deep model, and the scope of its input."""
    values = tuple(features.values())
    with tf.variable_scope("dnn", values=values, partitioner=_partitioner(config)):
        with tf.variable_scope("input_from_feature_columns", values=values, partitioner=partitioner) as scope:
            if _own_columns(columns):
                net = feature_column_ops.input_from_feature_columns(features, columns, weight_collections=["dnn"],
                                                                    scope=scope)
            else:
                net = _core_columns.input_layer(features, columns, weight_collections=["dnn"])
        for i, size in enumerate(hidden_units):
            with tf.variable_scope(f"hiddenlayer_{i}", values=(net,)) as layer:
                net = _fully_connected(net, size, activation_fn=activation_fn, variables_collections=["dnn"], scope=layer)
                if dropout is not None and mode == ModeKeys.TRAIN:
                    net = _dropout(net, keep_prob=1.0 - dropout)
            _layer_summary(net, layer.name)
        with tf.variable_scope("logits", values=(net,)) as layer:
            logits = _fully_connected(net, head.logits_dimension, activation_fn=None, variables_collections=["dnn"],
                                      scope=layer)
        _layer_summary(logits, layer.name)
    return logits


def _linear_logits(features, head, columns, joint, config):
    with tf.variable_scope("linear", values=tuple(features.values()), partitioner=_partitioner(config, 64 << 20)) as scope:
        if not _own_columns(columns):
            return _core_columns.linear_model(features, columns, units=head.logits_dimension,
                                              weight_collections=["linear"]), scope
        make = (feature_column_ops.joint_weighted_sum_from_feature_columns if joint
                else feature_column_ops.weighted_sum_from_feature_columns)
        return make(features, columns, num_outputs=head.logits_dimension, weight_collections=["linear"],
                    scope=scope)[0], scope


def _dnn_model_fn(features, labels, mode, params, config=None):
    features, head = _by_name(features), params["head"]
    activation = params.get("activation_fn")
    if isinstance(activation, str):
        if activation not in _ACTIVATIONS:
            raise ValueError(f"Activation name should be one of [{', '.join(_ACTIVATIONS)}], you provided {activation}.")
        activation = _ACTIVATIONS[activation]
    min_slice = params.get("input_layer_min_slice_size") or 64 << 20
    logits = _dnn_logits(features, mode, head, params["feature_columns"], params["hidden_units"], activation,
                         params.get("dropout"), config, _partitioner(config, min_slice))

    def train_op_fn(loss):
        return _optimize_loss(loss=loss, global_step=tf.train.get_global_step(), learning_rate=0.05,
                              optimizer=_optimizer(params.get("optimizer") or "Adagrad"),
                              clip_gradients=params.get("gradient_clip_norm"), name="dnn", summaries=[])

    with tf.variable_scope("dnn", auxiliary_name_scope=False):
        return head.create_model_fn_ops(features=features, mode=mode, labels=labels, train_op_fn=train_op_fn,
                                        logits=logits)


def _linear_model_fn(features, labels, mode, params, config=None):
    features, head, columns = _by_name(features), params["head"], params["feature_columns"]
    logits, _ = _linear_logits(features, head, columns, params.get("joint_weights", False), config)

    def train_op_fn(loss):
        optimizer = params.get("optimizer")
        if optimizer is None:
            optimizer = tf.train.FtrlOptimizer(min(0.2, 1.0 / math.sqrt(len(columns))))
        elif isinstance(optimizer, str):
            optimizer = tf.contrib.layers.OPTIMIZER_CLS_NAMES[optimizer](learning_rate=0.2)
        variables = tf.get_collection("linear")
        gradients = tf.gradients(loss, variables)
        if params.get("gradient_clip_norm"):
            gradients, _ = tf.clip_by_global_norm(gradients, params["gradient_clip_norm"])
        return _optimizer(optimizer).apply_gradients(zip(gradients, variables), global_step=tf.train.get_global_step())

    with tf.variable_scope("linear", auxiliary_name_scope=False):
        return head.create_model_fn_ops(features=features, mode=mode, labels=labels, train_op_fn=train_op_fn,
                                        logits=logits)


def _combined_model_fn(features, labels, mode, params, config=None):
    features, head, parts = _by_name(features), params["head"], []
    linear, deep = params.get("linear_feature_columns"), params.get("dnn_feature_columns")
    if not linear and not deep:
        raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
    if deep:
        if not params.get("dnn_hidden_units"):
            raise ValueError("dnn_hidden_units must be defined when dnn_feature_columns is specified.")
        logits = _dnn_logits(features, mode, head, deep, params["dnn_hidden_units"],
                             params.get("dnn_activation_fn") or tf.nn.relu, params.get("dnn_dropout"), config,
                             params.get("input_layer_partitioner") or _partitioner(config, 64 << 20))
        parts.append(("dnn", params.get("dnn_optimizer") or "Adagrad", 0.05, logits))
    if linear:
        logits, scope = _linear_logits(features, head, linear, params.get("joint_linear_weights"), config)
        _layer_summary(logits, scope.name)
        parts.append(("linear", params.get("linear_optimizer") or "Ftrl", min(0.2, 1.0 / math.sqrt(len(linear))), logits))
    logits = parts[0][3] if len(parts) == 1 else parts[0][3] + parts[1][3]
    once = params.get("fix_global_step_increment_bug", True)

    def train_op_fn(loss):
        step = tf.train.get_global_step()
        updates = [_optimize_loss(loss=loss, global_step=step, learning_rate=rate, optimizer=_optimizer(optimizer),
                                  clip_gradients=params.get("gradient_clip_norm"), variables=tf.get_collection(scope),
                                  name=scope, summaries=[], increment_global_step=not once)
                   for scope, optimizer, rate, _ in parts]
        update = tf.group(*updates)
        if not once:
            return update
        with tf.control_dependencies([update]):
            return tf.assign_add(step, 1).op

    return head.create_model_fn_ops(features=features, mode=mode, labels=labels, train_op_fn=train_op_fn, logits=logits)


class _OneOutput(Estimator):
    """``predict`` gives one of the outputs."""

    def _one(self, key, x, input_fn, batch_size, as_iterable):
        found = super().predict(x=x, input_fn=input_fn, batch_size=batch_size, outputs=[key], as_iterable=as_iterable)
        return (part[key] for part in found) if as_iterable else found[key]


class _Classifier(_OneOutput):
    def predict(self, x=None, input_fn=None, batch_size=None, outputs=None, as_iterable=True):
        """The classes, unless ``outputs`` asks for others."""
        if not outputs:
            return self.predict_classes(x=x, input_fn=input_fn, batch_size=batch_size, as_iterable=as_iterable)
        return super().predict(x=x, input_fn=input_fn, batch_size=batch_size, outputs=outputs, as_iterable=as_iterable)

    def predict_classes(self, x=None, input_fn=None, batch_size=None, as_iterable=True):
        return self._one(PredictionKey.CLASSES, x, input_fn, batch_size, as_iterable)

    def predict_proba(self, x=None, input_fn=None, batch_size=None, as_iterable=True):
        return self._one(PredictionKey.PROBABILITIES, x, input_fn, batch_size, as_iterable)


class _Regressor(_OneOutput):
    def predict(self, x=None, input_fn=None, batch_size=None, outputs=None, as_iterable=True):
        """The scores, unless ``outputs`` asks for others."""
        if not outputs:
            return self.predict_scores(x=x, input_fn=input_fn, batch_size=batch_size, as_iterable=as_iterable)
        return super().predict(x=x, input_fn=input_fn, batch_size=batch_size, outputs=outputs, as_iterable=as_iterable)

    def predict_scores(self, x=None, input_fn=None, batch_size=None, as_iterable=True):
        return self._one(PredictionKey.SCORES, x, input_fn, batch_size, as_iterable)


def _dnn_params(head, hidden_units, feature_columns, optimizer, activation_fn, dropout, gradient_clip_norm, min_slice):
    return {"head": head, "hidden_units": hidden_units, "feature_columns": tuple(feature_columns or []),
            "optimizer": optimizer, "activation_fn": activation_fn, "dropout": dropout,
            "gradient_clip_norm": gradient_clip_norm, "input_layer_min_slice_size": min_slice}


class DNNClassifier(_Classifier):
    def __init__(self, hidden_units, feature_columns, model_dir=None, n_classes=2, weight_column_name=None,
                 optimizer=None, activation_fn=tf.nn.relu, dropout=None, gradient_clip_norm=None,
                 enable_centered_bias=False, config=None, feature_engineering_fn=None, embedding_lr_multipliers=None,
                 input_layer_min_slice_size=None, label_keys=None):
        head = _heads.multi_class_head(n_classes, weight_column_name=weight_column_name,
                                       enable_centered_bias=enable_centered_bias, label_keys=label_keys)
        super().__init__(_dnn_model_fn, model_dir, config, _dnn_params(
            head, hidden_units, feature_columns, optimizer, activation_fn, dropout, gradient_clip_norm,
            input_layer_min_slice_size), feature_engineering_fn)


class DNNRegressor(_Regressor):
    def __init__(self, hidden_units, feature_columns, model_dir=None, weight_column_name=None, optimizer=None,
                 activation_fn=tf.nn.relu, dropout=None, gradient_clip_norm=None, enable_centered_bias=False,
                 config=None, feature_engineering_fn=None, label_dimension=1, embedding_lr_multipliers=None,
                 input_layer_min_slice_size=None):
        head = _heads.regression_head(label_dimension=label_dimension, weight_column_name=weight_column_name,
                                      enable_centered_bias=enable_centered_bias)
        super().__init__(_dnn_model_fn, model_dir, config, _dnn_params(
            head, hidden_units, feature_columns, optimizer, activation_fn, dropout, gradient_clip_norm,
            input_layer_min_slice_size), feature_engineering_fn)


class DNNEstimator(Estimator):
    def __init__(self, head, hidden_units, feature_columns, model_dir=None, optimizer=None, activation_fn=tf.nn.relu,
                 dropout=None, gradient_clip_norm=None, config=None, feature_engineering_fn=None,
                 embedding_lr_multipliers=None, input_layer_min_slice_size=None):
        super().__init__(_dnn_model_fn, model_dir, config, _dnn_params(
            head, hidden_units, feature_columns, optimizer, activation_fn, dropout, gradient_clip_norm,
            input_layer_min_slice_size), feature_engineering_fn)


def _linear_params(head, feature_columns, optimizer, gradient_clip_norm, joint):
    return {"head": head, "feature_columns": tuple(feature_columns), "optimizer": optimizer,
            "gradient_clip_norm": gradient_clip_norm, "joint_weights": joint}


class LinearClassifier(_Classifier):
    def __init__(self, feature_columns, model_dir=None, n_classes=2, weight_column_name=None, optimizer=None,
                 gradient_clip_norm=None, enable_centered_bias=False, _joint_weight=False, config=None,
                 feature_engineering_fn=None, label_keys=None):
        head = _heads.multi_class_head(n_classes, weight_column_name=weight_column_name,
                                       enable_centered_bias=enable_centered_bias, label_keys=label_keys)
        super().__init__(_linear_model_fn, model_dir, config,
                         _linear_params(head, feature_columns, optimizer, gradient_clip_norm, _joint_weight),
                         feature_engineering_fn)


class LinearRegressor(_Regressor):
    def __init__(self, feature_columns, model_dir=None, weight_column_name=None, optimizer=None,
                 gradient_clip_norm=None, enable_centered_bias=False, label_dimension=1, _joint_weights=False,
                 config=None, feature_engineering_fn=None):
        head = _heads.regression_head(weight_column_name=weight_column_name, label_dimension=label_dimension,
                                      enable_centered_bias=enable_centered_bias)
        super().__init__(_linear_model_fn, model_dir, config,
                         _linear_params(head, feature_columns, optimizer, gradient_clip_norm, _joint_weights),
                         feature_engineering_fn)


class LinearEstimator(Estimator):
    def __init__(self, feature_columns, head, model_dir=None, weight_column_name=None, optimizer=None,
                 gradient_clip_norm=None, _joint_weights=False, config=None, feature_engineering_fn=None):
        super().__init__(_linear_model_fn, model_dir, config,
                         _linear_params(head, feature_columns, optimizer, gradient_clip_norm, _joint_weights),
                         feature_engineering_fn)


class DNNLinearCombinedEstimator(Estimator):
    """A deep and a linear model together."""

    def __init__(self, head, model_dir=None, linear_feature_columns=None, linear_optimizer=None,
                 _joint_linear_weights=False, dnn_feature_columns=None, dnn_optimizer=None, dnn_hidden_units=None,
                 dnn_activation_fn=None, dnn_dropout=None, gradient_clip_norm=None, config=None,
                 feature_engineering_fn=None, embedding_lr_multipliers=None, fix_global_step_increment_bug=False,
                 input_layer_partitioner=None):
        linear, deep = tuple(linear_feature_columns or ()), tuple(dnn_feature_columns or ())
        if not linear + deep:
            raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
        super().__init__(_combined_model_fn, model_dir, config, {
            "head": head, "linear_feature_columns": linear, "linear_optimizer": linear_optimizer,
            "joint_linear_weights": _joint_linear_weights, "dnn_feature_columns": deep, "dnn_optimizer": dnn_optimizer,
            "dnn_hidden_units": dnn_hidden_units, "dnn_activation_fn": dnn_activation_fn, "dnn_dropout": dnn_dropout,
            "gradient_clip_norm": gradient_clip_norm, "fix_global_step_increment_bug": fix_global_step_increment_bug,
            "input_layer_partitioner": input_layer_partitioner}, feature_engineering_fn)


class DNNLinearCombinedClassifier(DNNLinearCombinedEstimator, _Classifier):
    def __init__(self, model_dir=None, n_classes=2, weight_column_name=None, linear_feature_columns=None,
                 linear_optimizer=None, _joint_linear_weights=False, dnn_feature_columns=None, dnn_optimizer=None,
                 dnn_hidden_units=None, dnn_activation_fn=tf.nn.relu, dnn_dropout=None, gradient_clip_norm=None,
                 enable_centered_bias=False, config=None, feature_engineering_fn=None, embedding_lr_multipliers=None,
                 input_layer_min_slice_size=None, label_keys=None, fix_global_step_increment_bug=False):
        head = _heads.multi_class_head(n_classes, weight_column_name=weight_column_name,
                                       enable_centered_bias=enable_centered_bias, label_keys=label_keys)
        DNNLinearCombinedEstimator.__init__(
            self, head, model_dir, linear_feature_columns, linear_optimizer, _joint_linear_weights, dnn_feature_columns,
            dnn_optimizer, dnn_hidden_units, dnn_activation_fn, dnn_dropout, gradient_clip_norm, config,
            feature_engineering_fn, embedding_lr_multipliers, fix_global_step_increment_bug)


class DNNLinearCombinedRegressor(DNNLinearCombinedEstimator, _Regressor):
    def __init__(self, model_dir=None, weight_column_name=None, linear_feature_columns=None, linear_optimizer=None,
                 _joint_linear_weights=False, dnn_feature_columns=None, dnn_optimizer=None, dnn_hidden_units=None,
                 dnn_activation_fn=tf.nn.relu, dnn_dropout=None, gradient_clip_norm=None, enable_centered_bias=False,
                 label_dimension=1, config=None, feature_engineering_fn=None, embedding_lr_multipliers=None,
                 input_layer_min_slice_size=None, fix_global_step_increment_bug=False):
        head = _heads.regression_head(weight_column_name=weight_column_name, label_dimension=label_dimension,
                                      enable_centered_bias=enable_centered_bias)
        DNNLinearCombinedEstimator.__init__(
            self, head, model_dir, linear_feature_columns, linear_optimizer, _joint_linear_weights, dnn_feature_columns,
            dnn_optimizer, dnn_hidden_units, dnn_activation_fn, dnn_dropout, gradient_clip_norm, config,
            feature_engineering_fn, embedding_lr_multipliers, fix_global_step_increment_bug)
