"""The evidence lower bound (ELBO) of a model with stochastic tensors: tf.contrib.bayesflow.variational_inference."""

import weir as tf
from weir.contrib.bayesflow import stochastic_graph
from weir.contrib.bayesflow.stochastic_tensor import StochasticTensor
from weir.distributions.distribution import Distribution, kl_divergence

VI_PRIORS = "__vi_priors__"


def register_prior(variational, prior):
    """Says which distribution a stochastic tensor, which approximates it, had before anything was observed."""
    if not isinstance(variational, StochasticTensor):
        raise TypeError("variational must be a StochasticTensor")
    if not isinstance(prior, Distribution):
        raise TypeError("prior must be a Distribution")
    tf.add_to_collection(VI_PRIORS, (variational, prior))


class _ELBOForm:
    def __init__(self, name):
        self._name = name

    def __repr__(self):
        return f"ELBOForms.{self._name}"


class ELBOForms:
    """How a bound is computed: with the formula of the divergence, with that of the entropy, or with samples. The default is
    the first of them that there is."""

    default = _ELBOForm("default")
    analytic_kl = _ELBOForm("analytic_kl")
    analytic_entropy = _ELBOForm("analytic_entropy")
    sample = _ELBOForm("sample")

    @staticmethod
    def check_form(form):
        if not isinstance(form, _ELBOForm):
            raise TypeError("form must be an ELBOForms constant")


def elbo(log_likelihood, variational_with_prior=None, keep_batch_dim=True, form=None, name="ELBO"):
    """The bound of log p(x), of log p(x|Z) and the stochastic tensors Z that it follows from: E[log p(x|Z)] - KL(q || p).

    ``variational_with_prior`` maps the stochastic tensors to their priors; without it they are those before
    ``log_likelihood``, with the priors that ``register_prior`` knows."""
    with tf.name_scope(name):
        found = _find_variational_and_priors(tf.convert_to_tensor(log_likelihood), variational_with_prior)
        return _elbo(form or ELBOForms.default, log_likelihood, found, keep_batch_dim, joint=False)


def elbo_with_log_joint(log_joint, variational=None, keep_batch_dim=True, form=None, name="ELBO"):
    """The same of log p(x, Z): E[log p(x, Z)] + entropy of q."""
    form = form or ELBOForms.default
    if form is ELBOForms.analytic_kl:
        raise ValueError("ELBOForms.analytic_kl is not available when using elbo_with_log_joint. Use elbo or a different form.")
    with tf.name_scope(name):
        given = None if variational is None else dict.fromkeys(variational)
        found = _find_variational_and_priors(tf.convert_to_tensor(log_joint), given, require_prior=False)
        return _elbo(form, log_joint, found, keep_batch_dim, joint=True)


def _elbo(form, first_term, variational_with_prior, keep_batch_dim, joint):
    ELBOForms.check_form(form)
    terms = []
    for stochastic, prior in variational_with_prior.items():
        terms += _terms(form, stochastic.distribution, stochastic.value(), prior, joint)
    return sum((term if keep_batch_dim else tf.reduce_sum(term) for term in terms), first_term)


def _terms(form, q, z, prior, joint):
    """What one stochastic tensor adds to the bound."""
    if not joint:
        divergence = _formula(form, ELBOForms.analytic_kl, lambda: kl_divergence(q, prior))
        if divergence is not None:
            return [-1.0 * divergence]
    entropy = _formula(form, ELBOForms.analytic_entropy, q.entropy)
    if entropy is None:
        if form not in (ELBOForms.default, ELBOForms.sample):
            return []
        entropy = -q.log_prob(z)
    return [entropy] if joint else [entropy, prior.log_prob(z)]


def _formula(form, wanted, compute):
    """The value of a formula when the form allows it. None where there is none, unless the form demands it."""
    if form not in (ELBOForms.default, wanted):
        return None
    try:
        return compute()
    except NotImplementedError:
        if form is wanted:
            raise
        return None


def _find_variational_and_priors(model, variational_with_prior, require_prior=True):
    if variational_with_prior is None:
        upstream = stochastic_graph._upstream_stochastic_nodes([model])[model]
        if not upstream:
            raise ValueError(f"No upstream stochastic nodes found for tensor: {model}")
        priors = dict(tf.get_collection(VI_PRIORS))
        for q in upstream:
            if require_prior and priors.get(q) is None:
                raise ValueError(f"No prior specified for StochasticTensor: {q}")
        variational_with_prior = {q: priors.get(q) for q in upstream}
    if not all(isinstance(q, StochasticTensor) for q in variational_with_prior):
        raise TypeError("variationals must be StochasticTensors")
    if not all(p is None or isinstance(p, Distribution) for p in variational_with_prior.values()):
        raise TypeError("priors must be Distributions")
    return variational_with_prior
