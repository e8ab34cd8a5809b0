"""What model functions of tf.contrib.learn are asked for and give."""

import collections

import weir as tf
from weir.estimator import export_output
from weir.estimator.model_fn import EstimatorSpec


class ModeKeys:
    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"

    @classmethod
    def validate(cls, key):
        if key not in (cls.TRAIN, cls.EVAL, cls.INFER):
            raise ValueError(f"Invalid mode {key}.")


class ProblemType:
    UNSPECIFIED = 0
    CLASSIFICATION = 1
    LINEAR_REGRESSION = 2
    LOGISTIC_REGRESSION = 3


class PredictionKey:
    CLASSES = "classes"
    PROBABILITIES = "probabilities"
    LOGITS = "logits"
    LOGISTIC = "logistic"
    SCORES = "scores"
    TOP_K = "top_k"
    GENERIC = "output"


class MetricKey:
    LOSS = "loss"
    AUC = "auc"
    AUC_PR = "auc_precision_recall"
    CLASS_AUC = "auc/class%d"
    CLASS_AUC_PR = "auc_precision_recall/class%d"
    PREDICTION_MEAN = "labels/prediction_mean"
    CLASS_PREDICTION_MEAN = "labels/prediction_mean/class%d"
    CLASS_LOGITS_MEAN = "labels/logits_mean/class%d"
    CLASS_PROBABILITY_MEAN = "labels/probability_mean/class%d"
    LABEL_MEAN = "labels/actual_label_mean"
    CLASS_LABEL_MEAN = "labels/actual_label_mean/class%d"
    ACCURACY = "accuracy"
    ACCURACY_BASELINE = "accuracy/baseline_label_mean"
    ACCURACY_MEAN = "accuracy/threshold_%f_mean"
    PRECISION_MEAN = "precision/positive_threshold_%f_mean"
    RECALL_MEAN = "recall/positive_threshold_%f_mean"


class ModelFnOps(collections.namedtuple("ModelFnOps", [
        "predictions", "loss", "train_op", "eval_metric_ops", "output_alternatives", "training_chief_hooks",
        "training_hooks", "scaffold", "mode"])):
    """The operations and tensors of a model in one mode."""

    def __new__(cls, mode, predictions=None, loss=None, train_op=None, eval_metric_ops=None, output_alternatives=None,
                training_chief_hooks=None, training_hooks=None, scaffold=None):
        ModeKeys.validate(mode)
        if train_op is None:
            if mode == ModeKeys.TRAIN:
                raise ValueError("Missing train_op.")
        elif not isinstance(train_op, tf.Operation):
            train_op = tf.convert_to_tensor(train_op).op
        if loss is None:
            if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
                raise ValueError("Missing loss.")
        else:
            loss = tf.convert_to_tensor(loss)
            if loss.get_shape().num_elements() not in (None, 1):
                raise ValueError(f"Loss must be scalar: {loss}.")
            if not loss.get_shape().is_compatible_with(tf.TensorShape([])):
                loss = tf.reshape(loss, [])
        if predictions is None:
            if mode in (ModeKeys.INFER, ModeKeys.EVAL):
                raise ValueError("Missing predictions.")
        elif isinstance(predictions, dict):
            predictions = {key: tf.convert_to_tensor_or_sparse_tensor(value) for key, value in predictions.items()}
        else:
            predictions = tf.convert_to_tensor_or_sparse_tensor(predictions)
        if eval_metric_ops is not None and not isinstance(eval_metric_ops, dict):
            raise ValueError("eval_metric_ops must be a dict.")
        hooks, chief_hooks = list(training_hooks or []), list(training_chief_hooks or [])
        for hook in hooks + chief_hooks:
            if not isinstance(hook, tf.train.SessionRunHook):
                raise TypeError("All hooks returned from model_fn must be SessionRunHook instances, got instance of "
                                f"{type(hook)}: {hook}")
        return super().__new__(cls, predictions, loss, train_op, eval_metric_ops or {}, output_alternatives, chief_hooks,
                               hooks, scaffold, mode)

    def estimator_spec(self, default_serving_output_alternative_key=None):
        """The same for tf.estimator."""
        outputs = None
        if self.output_alternatives:
            alternatives = dict(self.output_alternatives)
            if len(alternatives) > 1 and "serving_default" not in alternatives:
                alternatives["serving_default"] = alternatives[default_serving_output_alternative_key]
            outputs = {key: _export_output(*value) for key, value in alternatives.items()}
        metrics = {key: value for key, value in self.eval_metric_ops.items() if key != MetricKey.LOSS}
        return EstimatorSpec(mode=self.mode, predictions=self.predictions, loss=self.loss, train_op=self.train_op,
                             eval_metric_ops=metrics, export_outputs=outputs,
                             training_chief_hooks=self.training_chief_hooks, training_hooks=self.training_hooks,
                             scaffold=self.scaffold)


def _export_output(problem_type, predictions):
    """What an output of a problem is exported as."""
    scores = predictions.get(PredictionKey.SCORES)
    scores = predictions.get(PredictionKey.PROBABILITIES) if scores is None else scores
    if problem_type == ProblemType.LINEAR_REGRESSION:
        return export_output.RegressionOutput(scores)
    if problem_type in (ProblemType.CLASSIFICATION, ProblemType.LOGISTIC_REGRESSION):
        classes = predictions.get(PredictionKey.CLASSES)
        return export_output.ClassificationOutput(
            scores=scores, classes=classes if classes is not None and classes.dtype == tf.string else None)
    if problem_type == ProblemType.UNSPECIFIED:
        return export_output.PredictOutput(predictions)
    raise ValueError(f"Unknown problem_type={problem_type}")
