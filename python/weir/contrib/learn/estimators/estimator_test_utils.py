"""What TensorFlow's own tests ask of every estimator."""

_NAMES = ("config", "evaluate", "export", "fit", "get_variable_names", "get_variable_value", "model_dir", "predict")


def assert_estimator_contract(tester, estimator_class):
    """Fails the test when a class lacks what estimators have."""
    for name in _NAMES:
        tester.assertTrue(hasattr(estimator_class, name), f"{estimator_class} has no {name}")


def assert_in_range(min_value, max_value, key, metrics):
    if metrics[key] < min_value:
        raise ValueError(f"{key}: {metrics[key]} < {min_value}.")
    if metrics[key] > max_value:
        raise ValueError(f"{key}: {metrics[key]} > {max_value}.")
