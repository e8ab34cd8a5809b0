"""tf.estimator's ready models."""

import weir as tf
from weir.estimator.canned import models
from weir.estimator.estimator import Estimator
from weir.estimator.head.class_heads import _class_head
from weir.estimator.head.regression_heads import RegressionHead

_SUM = "weighted_sum"  # tf.losses.Reduction.SUM


def _regression_head(label_dimension, weight_column, loss_reduction):
    return RegressionHead(label_dimension=label_dimension, weight_column=weight_column, loss_reduction=loss_reduction)


class DNNEstimator(Estimator):
    """A deep model with a head."""

    def __init__(self, head, hidden_units, feature_columns, model_dir=None, optimizer="Adagrad",
                 activation_fn=tf.nn.relu, dropout=None, input_layer_partitioner=None, config=None,
                 warm_start_from=None, batch_norm=False):
        def model_fn(features, labels, mode, config):
            return models._dnn_model_fn(
                features=features, labels=labels, mode=mode, head=head, hidden_units=hidden_units,
                feature_columns=tuple(feature_columns or []), optimizer=optimizer, activation_fn=activation_fn,
                dropout=dropout, input_layer_partitioner=input_layer_partitioner, config=config, batch_norm=batch_norm)

        super().__init__(model_fn, model_dir=model_dir, config=config, warm_start_from=warm_start_from)


class DNNClassifier(DNNEstimator):
    def __init__(self, hidden_units, feature_columns, model_dir=None, n_classes=2, weight_column=None,
                 label_vocabulary=None, optimizer="Adagrad", activation_fn=tf.nn.relu, dropout=None,
                 input_layer_partitioner=None, config=None, warm_start_from=None, loss_reduction=_SUM,
                 batch_norm=False):
        super().__init__(_class_head(n_classes, weight_column, label_vocabulary, loss_reduction), hidden_units,
                         feature_columns, model_dir, optimizer, activation_fn, dropout, input_layer_partitioner, config,
                         warm_start_from, batch_norm)


class DNNRegressor(DNNEstimator):
    def __init__(self, hidden_units, feature_columns, model_dir=None, label_dimension=1, weight_column=None,
                 optimizer="Adagrad", activation_fn=tf.nn.relu, dropout=None, input_layer_partitioner=None, config=None,
                 warm_start_from=None, loss_reduction=_SUM, batch_norm=False):
        super().__init__(_regression_head(label_dimension, weight_column, loss_reduction), hidden_units,
                         feature_columns, model_dir, optimizer, activation_fn, dropout, input_layer_partitioner, config,
                         warm_start_from, batch_norm)


class LinearEstimator(Estimator):
    """A linear model with a head."""

    def __init__(self, head, feature_columns, model_dir=None, optimizer=None, config=None, partitioner=None,
                 sparse_combiner="sum", warm_start_from=None):
        def model_fn(features, labels, mode, config):
            return models._linear_model_fn(
                features=features, labels=labels, mode=mode, head=head, feature_columns=tuple(feature_columns or []),
                optimizer=optimizer, partitioner=partitioner, config=config, sparse_combiner=sparse_combiner)

        super().__init__(model_fn, model_dir=model_dir, config=config, warm_start_from=warm_start_from)


class LinearClassifier(LinearEstimator):
    def __init__(self, feature_columns, model_dir=None, n_classes=2, weight_column=None, label_vocabulary=None,
                 optimizer="Ftrl", config=None, partitioner=None, warm_start_from=None, loss_reduction=_SUM,
                 sparse_combiner="sum"):
        super().__init__(_class_head(n_classes, weight_column, label_vocabulary, loss_reduction), feature_columns,
                         model_dir, optimizer, config, partitioner, sparse_combiner, warm_start_from)


class LinearRegressor(LinearEstimator):
    def __init__(self, feature_columns, model_dir=None, label_dimension=1, weight_column=None, optimizer="Ftrl",
                 config=None, partitioner=None, warm_start_from=None, loss_reduction=_SUM, sparse_combiner="sum"):
        super().__init__(_regression_head(label_dimension, weight_column, loss_reduction), feature_columns, model_dir,
                         optimizer, config, partitioner, sparse_combiner, warm_start_from)


class DNNLinearCombinedEstimator(Estimator):
    """A deep and a linear model together ("wide and deep") with a head."""

    def __init__(self, head, model_dir=None, linear_feature_columns=None, linear_optimizer="Ftrl",
                 dnn_feature_columns=None, dnn_optimizer="Adagrad", dnn_hidden_units=None,
                 dnn_activation_fn=tf.nn.relu, dnn_dropout=None, input_layer_partitioner=None, config=None,
                 linear_sparse_combiner="sum", batch_norm=False, warm_start_from=None):
        linear, deep = tuple(linear_feature_columns or ()), tuple(dnn_feature_columns or ())
        self._feature_columns = [*linear, *deep]
        if not self._feature_columns:
            raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")

        def model_fn(features, labels, mode, config):
            return models._combined_model_fn(
                features=features, labels=labels, mode=mode, head=head, linear_feature_columns=linear,
                linear_optimizer=linear_optimizer, dnn_feature_columns=deep, dnn_optimizer=dnn_optimizer,
                dnn_hidden_units=dnn_hidden_units, dnn_activation_fn=dnn_activation_fn, dnn_dropout=dnn_dropout,
                input_layer_partitioner=input_layer_partitioner, config=config, batch_norm=batch_norm,
                linear_sparse_combiner=linear_sparse_combiner)

        super().__init__(model_fn, model_dir=model_dir, config=config, warm_start_from=warm_start_from)


class DNNLinearCombinedClassifier(DNNLinearCombinedEstimator):
    def __init__(self, model_dir=None, linear_feature_columns=None, linear_optimizer="Ftrl", dnn_feature_columns=None,
                 dnn_optimizer="Adagrad", dnn_hidden_units=None, dnn_activation_fn=tf.nn.relu, dnn_dropout=None,
                 n_classes=2, weight_column=None, label_vocabulary=None, input_layer_partitioner=None, config=None,
                 warm_start_from=None, loss_reduction=_SUM, batch_norm=False, linear_sparse_combiner="sum"):
        super().__init__(_class_head(n_classes, weight_column, label_vocabulary, loss_reduction), model_dir,
                         linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer, dnn_hidden_units,
                         dnn_activation_fn, dnn_dropout, input_layer_partitioner, config, linear_sparse_combiner,
                         batch_norm, warm_start_from)


class DNNLinearCombinedRegressor(DNNLinearCombinedEstimator):
    def __init__(self, model_dir=None, linear_feature_columns=None, linear_optimizer="Ftrl", dnn_feature_columns=None,
                 dnn_optimizer="Adagrad", dnn_hidden_units=None, dnn_activation_fn=tf.nn.relu, dnn_dropout=None,
                 label_dimension=1, weight_column=None, input_layer_partitioner=None, config=None,
                 warm_start_from=None, loss_reduction=_SUM, batch_norm=False, linear_sparse_combiner="sum"):
        super().__init__(_regression_head(label_dimension, weight_column, loss_reduction), model_dir,
                         linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer, dnn_hidden_units,
                         dnn_activation_fn, dnn_dropout, input_layer_partitioner, config, linear_sparse_combiner,
                         batch_norm, warm_start_from)


class BaselineEstimator(Estimator):
    """A model that knows no features: what others are compared with."""

    def __init__(self, head, model_dir=None, optimizer="Ftrl", config=None):
        def model_fn(features, labels, mode, config):
            return models._baseline_model_fn(features=features, labels=labels, mode=mode, head=head, optimizer=optimizer,
                                            weight_column=head._weight_column, config=config)

        super().__init__(model_fn, model_dir=model_dir, config=config)


class BaselineClassifier(BaselineEstimator):
    def __init__(self, model_dir=None, n_classes=2, weight_column=None, label_vocabulary=None, optimizer="Ftrl",
                 config=None, loss_reduction=_SUM):
        super().__init__(_class_head(n_classes, weight_column, label_vocabulary, loss_reduction), model_dir, optimizer,
                         config)


class BaselineRegressor(BaselineEstimator):
    def __init__(self, model_dir=None, label_dimension=1, weight_column=None, optimizer="Ftrl", config=None,
                 loss_reduction=_SUM):
        super().__init__(_regression_head(label_dimension, weight_column, loss_reduction), model_dir, optimizer, config)
