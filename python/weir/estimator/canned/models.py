"""The logits of the ready models: deep, linear, both, and none at all."""

import math

import weir as tf
from weir.estimator.model_fn import ModeKeys
from weir.feature_column.layers import InputLayer, LinearModel

_OPTIMIZERS = {"Adagrad": "AdagradOptimizer", "Adam": "AdamOptimizer", "Ftrl": "FtrlOptimizer",
               "RMSProp": "RMSPropOptimizer", "SGD": "GradientDescentOptimizer"}


def _optimizer(opt, learning_rate=None):
    """An optimizer, by its name, by a function that makes it, or as it is."""
    if isinstance(opt, str):
        if opt not in _OPTIMIZERS:
            raise ValueError(f"Unsupported optimizer name: {opt}. Supported names are: {tuple(sorted(_OPTIMIZERS))}")
        if not learning_rate:
            raise ValueError("learning_rate must be specified when opt is string.")
        return getattr(tf.train, _OPTIMIZERS[opt])(learning_rate=learning_rate)
    if callable(opt) and not isinstance(opt, tf.train.Optimizer):
        opt = opt()
    if not isinstance(opt, tf.train.Optimizer):
        raise ValueError(f"The given object is not an Optimizer instance. Given: {opt}")
    return opt


def _checked_features(features):
    if not isinstance(features, dict):
        raise ValueError(f"features should be a dictionary of `Tensor`s. Given type: {type(features)}")


def _partitioner(config, min_slice_size=256 << 10):
    return tf.min_max_variable_partitioner(max_partitions=max(1, config.num_ps_replicas if config else 1),
                                           min_slice_size=min_slice_size)


def _layer_summary(value, tag):
    tf.summary.scalar(f"{tag}/fraction_of_zero_values", tf.nn.zero_fraction(value))
    tf.summary.histogram(f"{tag}/activation", value)


def dnn_logit_fn_builder(units, hidden_units, feature_columns, activation_fn, dropout, input_layer_partitioner,
                         batch_norm=False):
    """A function of (features, mode) that gives the logits of a deep model."""
    if not isinstance(units, int):
        raise ValueError(f"units must be an int.  Given type: {type(units)}")

    def dnn_logit_fn(features, mode):
        training = mode == ModeKeys.TRAIN
        with tf.variable_scope("input_from_feature_columns", partitioner=input_layer_partitioner):
            net = InputLayer(feature_columns, name="input_layer", create_scope_now=False)(features)
        for i, size in enumerate(hidden_units):
            with tf.variable_scope(f"hiddenlayer_{i}", values=(net,)) as scope:
                net = tf.layers.dense(net, units=size, activation=activation_fn,
                                      kernel_initializer=tf.glorot_uniform_initializer(), name=scope)
                if dropout is not None and training:
                    net = tf.layers.dropout(net, rate=dropout, training=True)
                if batch_norm:
                    net = tf.layers.batch_normalization(net, momentum=0.999, trainable=True, training=training,
                                                        name=f"batchnorm_{i}")
            _layer_summary(net, scope.name)
        with tf.variable_scope("logits", values=(net,)) as scope:
            logits = tf.layers.dense(net, units=units, activation=None,
                                     kernel_initializer=tf.glorot_uniform_initializer(), name=scope)
        _layer_summary(logits, scope.name)
        return logits

    return dnn_logit_fn


def _zero_fraction(variables):
    with tf.name_scope("zero_fraction"):
        total = tf.add_n([tf.cast(tf.size(variable), tf.float32) for variable in variables])
        zeros = tf.add_n([tf.nn.zero_fraction(variable) * tf.cast(tf.size(variable), tf.float32)
                          for variable in variables])
        return tf.identity(zeros / total, name="zero_fraction_or_nan")


def linear_logit_fn_builder(units, feature_columns, sparse_combiner="sum"):
    """A function of features that gives the logits of a linear model."""

    def linear_logit_fn(features):
        model = LinearModel(feature_columns, units=units, sparse_combiner=sparse_combiner, name="linear_model")
        logits = model(features)
        by_column = dict(model.cols_to_vars())
        bias = by_column.pop("bias")
        if units > 1:
            tf.summary.histogram("bias", bias)
        else:
            tf.summary.scalar("bias", bias[0][0])
        tf.summary.scalar("fraction_of_zero_weights",
                          _zero_fraction([variable for variables in by_column.values() for variable in variables]))
        return logits

    return linear_logit_fn


def _dnn_model_fn(features, labels, mode, head, hidden_units, feature_columns, optimizer="Adagrad",
                 activation_fn=tf.nn.relu, dropout=None, input_layer_partitioner=None, config=None, batch_norm=False):
    optimizer = _optimizer(optimizer, learning_rate=0.05)
    _checked_features(features)
    with tf.variable_scope("dnn", values=tuple(features.values()), partitioner=_partitioner(config)):
        logits = dnn_logit_fn_builder(head.logits_dimension, hidden_units, feature_columns, activation_fn, dropout,
                                      input_layer_partitioner or _partitioner(config, 64 << 20),
                                      batch_norm)(features, mode)
        return head.create_estimator_spec(features=features, mode=mode, labels=labels, optimizer=optimizer,
                                          logits=logits)


def _linear_model_fn(features, labels, mode, head, feature_columns, optimizer, partitioner, config,
                    sparse_combiner="sum"):
    _checked_features(features)
    with tf.variable_scope("linear", values=tuple(features.values()),
                           partitioner=partitioner or _partitioner(config, 64 << 20)):
        logits = linear_logit_fn_builder(head.logits_dimension, feature_columns, sparse_combiner)(features)
        if optimizer is None:
            optimizer = tf.train.FtrlOptimizer(min(0.2, 1.0 / math.sqrt(len(feature_columns))))
        optimizer = _optimizer(optimizer, learning_rate=0.2)
        return head.create_estimator_spec(features=features, mode=mode, labels=labels, optimizer=optimizer,
                                          logits=logits)


def _combined_model_fn(features, labels, mode, head, linear_feature_columns=None, linear_optimizer="Ftrl",
                      dnn_feature_columns=None, dnn_optimizer="Adagrad", dnn_hidden_units=None,
                      dnn_activation_fn=tf.nn.relu, dnn_dropout=None, input_layer_partitioner=None, config=None,
                      batch_norm=False, linear_sparse_combiner="sum"):
    """A deep and a linear model whose logits are added, each with an optimizer of its own."""
    _checked_features(features)
    if not linear_feature_columns and not dnn_feature_columns:
        raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
    partitioner = input_layer_partitioner or _partitioner(config, 64 << 20)
    values, parts = tuple(features.values()), []  # (optimizer, scope, logits)
    if dnn_feature_columns:
        dnn_optimizer = _optimizer(dnn_optimizer, learning_rate=0.001)
        if not dnn_hidden_units:
            raise ValueError("dnn_hidden_units must be defined when dnn_feature_columns is specified.")
        with tf.variable_scope("dnn", values=values, partitioner=_partitioner(config)) as scope:
            logits = dnn_logit_fn_builder(head.logits_dimension, dnn_hidden_units, dnn_feature_columns,
                                          dnn_activation_fn, dnn_dropout, partitioner, batch_norm)(features, mode)
            parts.append((dnn_optimizer, scope.name, logits))
    if linear_feature_columns:
        rate = min(0.005, 1.0 / math.sqrt(len(linear_feature_columns)))
        linear_optimizer = _optimizer(linear_optimizer, learning_rate=rate)
        with tf.variable_scope("linear", values=values, partitioner=partitioner) as scope:
            logits = linear_logit_fn_builder(head.logits_dimension, linear_feature_columns,
                                             linear_sparse_combiner)(features)
            _layer_summary(logits, scope.name)
            parts.append((linear_optimizer, scope.name, logits))
    for optimizer, _, _ in parts:
        if type(optimizer).__name__ == "SyncReplicasOptimizer":
            raise ValueError("SyncReplicasOptimizer does not support multi optimizers case. Therefore, it is not "
                             "supported in DNNLinearCombined model. If you want to use this optimizer, please use either "
                             "DNN or Linear model.")
    logits = parts[0][2] if len(parts) == 1 else parts[0][2] + parts[1][2]

    def train_op_fn(loss):
        updates = [optimizer.minimize(loss, var_list=tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope=scope))
                   for optimizer, scope, _ in parts]
        with tf.control_dependencies([tf.group(*updates)]):
            return tf.assign_add(tf.train.get_global_step(), 1).op

    return head.create_estimator_spec(features=features, mode=mode, labels=labels, train_op_fn=train_op_fn,
                                      logits=logits)


def _baseline_model_fn(features, labels, mode, head, optimizer, weight_column=None, config=None):
    """A bias, the same for all examples."""
    skipped = weight_column if weight_column is None or isinstance(weight_column, str) else weight_column.key
    sizes = [tf.shape(feature)[0] for key, feature in features.items() if key != skipped]
    with tf.control_dependencies([tf.assert_equal(sizes[0], size) for size in sizes[1:]]):
        with tf.variable_scope("baseline"):
            bias = tf.get_variable("bias", shape=[head.logits_dimension], initializer=tf.zeros_initializer())
            logits = tf.multiply(bias, tf.ones([sizes[0], head.logits_dimension]))

    def train_op_fn(loss):
        return _optimizer(optimizer, learning_rate=0.3).minimize(loss, global_step=tf.train.get_global_step())

    return head.create_estimator_spec(features=features, mode=mode, logits=logits, labels=labels,
                                      train_op_fn=train_op_fn)
