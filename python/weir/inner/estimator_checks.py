"""What TensorFlow's tests of estimators' heads ask for: tensorflow_estimator.python.estimator.head.head_utils."""

from weir.estimator.export_output import _DEFAULT_SERVING as _DEFAULT_SERVING_KEY  # noqa: F401: asked for here
from weir.estimator.head.class_heads import BinaryClassHead, MultiClassHead
from weir.protos import Summary


def binary_or_multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction):
    """A head for two classes, or for more."""
    options = {"weight_column": weight_column, "label_vocabulary": label_vocabulary, "loss_reduction": loss_reduction}
    return BinaryClassHead(**options) if n_classes == 2 else MultiClassHead(n_classes, **options)


def _initialize_variables(test_case, scaffold):
    """Starts a scaffold's variables and tables in the default session."""
    scaffold.finalize()
    test_case.assertIsNone(scaffold.init_feed_dict)
    test_case.assertIsNone(scaffold.init_fn)
    scaffold.init_op.run()
    scaffold.ready_for_local_init_op.eval()
    scaffold.local_init_op.run()
    scaffold.ready_op.eval()
    test_case.assertIsNotNone(scaffold.saver)


def _assert_simple_summaries(test_case, expected_summaries, summary_str, tol=1e-6):
    """The numbers of a summary, by tag."""
    values = {value.tag: value.simple_value for value in Summary.FromString(summary_str).value}
    test_case.assertAllClose(expected_summaries, values, rtol=tol, atol=tol)


def _assert_no_hooks(test_case, spec):
    test_case.assertAllEqual([], spec.training_chief_hooks)
    test_case.assertAllEqual([], spec.training_hooks)
