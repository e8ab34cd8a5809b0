"""Entropies and divergences by formula or from samples: tf.contrib.bayesflow.entropy."""

import math

import weir as tf
from weir.contrib.bayesflow.monte_carlo import _get_samples, _logspace_mean, _sample_mean, expectation
from weir.contrib.bayesflow.variational_inference import ELBOForms, _formula


def elbo_ratio(log_p, q, z=None, n=None, seed=None, form=None, name="elbo_ratio"):
    """E[log p(Z) - log q(Z)] for Z of q: minus KL(q || p), or the evidence lower bound when p is a joint distribution."""
    with tf.name_scope(name, values=[n, z]):
        z = _get_samples(q, z, n, seed)
        return entropy_shannon(q, z=z, form=form) + _sample_mean(log_p(z))


def entropy_shannon(p, z=None, n=None, seed=None, form=None, name="entropy_shannon"):
    """The entropy of ``p``: its formula if it has one and the form allows it, or the mean of -log p over samples."""
    form = form or ELBOForms.default
    if n is not None and form is ELBOForms.analytic_entropy:
        raise ValueError("If form == ELBOForms.analytic_entropy, n must be None.")
    if form not in (ELBOForms.default, ELBOForms.analytic_entropy, ELBOForms.sample):
        raise ValueError(f"ELBOForm not handled by this function: {form}")
    with tf.name_scope(name, values=[n, z]):
        entropy = _formula(form, ELBOForms.analytic_entropy, p.entropy)
        return -1.0 * expectation(p.log_prob, p, z=z, n=n, seed=seed) if entropy is None else entropy


def renyi_ratio(log_p, q, alpha, z=None, n=None, seed=None, name="renyi_ratio"):
    """log(E[(p(Z) / q(Z)) ** (1 - alpha)]) / (1 - alpha) for Z of q: minus Renyi's divergence of q and p."""
    with tf.name_scope(name, values=[alpha, n, z]):
        z = _get_samples(q, z, n, seed)
        return _logspace_mean((1.0 - alpha) * (log_p(z) - q.log_prob(z))) / (1.0 - alpha)


def renyi_alpha(step, decay_time, alpha_min, alpha_max=0.99999, name="renyi_alpha"):
    """An alpha that falls from ``alpha_max`` to ``alpha_min`` while ``step`` goes from 0 to ``decay_time``."""
    with tf.name_scope(name, values=[step, decay_time, alpha_min, alpha_max]):
        alpha_min = tf.convert_to_tensor(alpha_min, name="alpha_min")
        dtype = alpha_min.dtype
        alpha_max = tf.convert_to_tensor(alpha_max, dtype=dtype, name="alpha_max")
        decay_time, step = tf.cast(decay_time, dtype), tf.cast(step, dtype)
        checks = [tf.assert_rank(x, 0, message=f"{label} must be scalar") for x, label in (
            (step, "step"), (decay_time, "decay_time"), (alpha_min, "alpha_min"), (alpha_max, "alpha_max"))]
        checks += [tf.assert_non_negative(step, message="step must be non-negative"),
                   tf.assert_positive(decay_time, message="decay_time must be positive")]
        with tf.control_dependencies(checks):
            share = tf.clip_by_value((tf.exp(step / decay_time) - 1.0) / (math.e - 1.0), 0.0, 1.0)
            return alpha_max * (1.0 - share) + alpha_min * share
