"""What of scikit-learn tf.contrib.learn used, where that is not installed."""

import numpy as np

from weir.contrib.learn.estimators.estimator import NotFittedError  # noqa: F401


def accuracy_score(y_true, y_pred):
    """The share of predictions that are right."""
    return np.average(np.asarray(y_true) == np.asarray(y_pred))


def mean_squared_error(y_true, y_pred):
    y_true, y_pred = np.asarray(y_true), np.asarray(y_pred)
    return np.average((y_true.reshape(y_pred.shape) - y_pred) ** 2 if y_true.size == y_pred.size else (y_true - y_pred) ** 2)


def log_loss(y_true, y_pred, eps=1e-15):
    """The mean of minus the logarithm of the probability that the true class was given."""
    probabilities = np.clip(np.asarray(y_pred, np.float64), eps, 1 - eps)
    if probabilities.ndim == 1:
        probabilities = np.stack([1 - probabilities, probabilities], 1)
    probabilities /= probabilities.sum(1, keepdims=True)
    return -np.mean(np.log(probabilities[np.arange(len(probabilities)), np.asarray(y_true, np.int64).reshape(-1)]))


def train_test_split(*args, test_size=None, train_size=None, random_state=42):
    """Each array in two: for training, a quarter less unless told otherwise, and for tests."""
    share = 1 - train_size if test_size is None and train_size is not None else 0.25 if test_size is None else test_size
    order = np.random.RandomState(random_state).permutation(len(args[0]))
    cut = len(order) - int(np.ceil(share * len(order)))
    return [np.asarray(array)[rows] for array in args for rows in (order[:cut], order[cut:])]
