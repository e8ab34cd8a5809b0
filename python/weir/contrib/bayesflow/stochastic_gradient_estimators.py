"""Losses whose gradient is the score function's estimate: they learn through samples that have no gradient themselves.

An estimator takes the stochastic tensor, its value and the loss that it influences. Subtracting a baseline from the loss
leaves the estimate's mean as it is and makes it vary less."""

import weir as tf


def score_function(stochastic_tensor, value, loss, baseline=None, name="ScoreFunction"):
    """log p(value) * (loss - baseline), where nothing is learned about the loss and the baseline."""
    with tf.name_scope(name, values=[value, loss, baseline]):
        advantage = tf.convert_to_tensor(loss)
        if baseline is not None:
            advantage -= tf.convert_to_tensor(baseline)
        return _of_advantage(stochastic_tensor, tf.convert_to_tensor(value), advantage)


def _of_advantage(stochastic_tensor, value, advantage):
    return stochastic_tensor.distribution.log_prob(value) * tf.stop_gradient(advantage)


def get_score_function_with_advantage(advantage_fn=None, name="ScoreFunctionWithAdvantage"):
    """An estimator whose advantage is ``advantage_fn(stochastic_tensor, loss)``."""

    def score_function_with_advantage(stochastic_tensor, value, loss):
        with tf.name_scope(name, values=[value, loss]):
            return _of_advantage(stochastic_tensor, value, advantage_fn(stochastic_tensor, loss))

    return score_function_with_advantage


def get_score_function_with_constant_baseline(baseline, name="ScoreFunction"):
    """An estimator that subtracts the same baseline always."""

    def score_function_with_constant_baseline(stochastic_tensor, value, loss):
        return score_function(stochastic_tensor, value, loss, baseline, name)

    return score_function_with_constant_baseline


def get_score_function_with_baseline(baseline_fn=None, name="ScoreFunction"):
    """An estimator whose baseline is ``baseline_fn(stochastic_tensor, loss)``; without one, the average of losses so far."""
    baseline_of = get_mean_baseline() if baseline_fn is None else baseline_fn

    def score_function_with_baseline(stochastic_tensor, value, loss):
        with tf.name_scope(name):
            return score_function(stochastic_tensor, value, loss, baseline_of(stochastic_tensor, loss))

    return score_function_with_baseline


def get_mean_baseline(ema_decay=0.99, name=None):
    """A baseline: the moving average of the mean loss, brought up to date whenever it is used."""

    def mean_baseline(_, loss):
        with tf.variable_scope(name, default_name="MeanBaseline"):
            mean = tf.reduce_mean(loss)
            average = tf.train.ExponentialMovingAverage(decay=ema_decay)
            with tf.control_dependencies([average.apply([mean])]):
                return tf.identity(average.average(mean))

    return mean_baseline
