"""tf.contrib.bayesflow: losses that learn through samples, bounds and estimates."""

import numpy as np
import pytest

import weir as tf

bf = tf.contrib.bayesflow
dist = tf.contrib.distributions


def test_a_sample_without_gradient_learns_by_the_score_function():
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        logits = tf.constant([0.3, -0.2])
        sample = bf.stochastic_tensor.StochasticTensor(dist.Bernoulli(logits=logits, dtype=tf.float32))
        loss = tf.square(tf.identity(sample) - 2.0)
        learned, = tf.gradients(bf.stochastic_graph.surrogate_loss([loss]), [logits])
        score, = tf.gradients(sample.distribution.log_prob(sample.value()) * tf.stop_gradient(loss), [logits])
        found, expected = session.run([learned, score])
        assert found.tolist() == expected.tolist() and np.all(found != 0)


def test_a_baseline_is_subtracted_from_the_loss():
    with tf.Graph().as_default(), tf.Session() as session:
        estimators = bf.stochastic_gradient_estimators
        sample = bf.stochastic_tensor.ObservedStochasticTensor(dist.Normal(loc=0.0, scale=1.0), 0.5)
        loss = tf.constant([3.0])
        plain = estimators.score_function(sample, sample.value(), loss)
        less = estimators.get_score_function_with_constant_baseline(tf.constant(1.0))(sample, sample.value(), loss)
        np.testing.assert_allclose(*session.run([plain * 2.0 / 3.0, less]), rtol=1e-6)


def test_the_value_type_around_decides_what_a_stochastic_tensor_is():
    st = bf.stochastic_tensor
    with tf.Graph().as_default(), tf.Session() as session:
        normal = dist.Normal(loc=[1.0, 2.0], scale=1.0)
        with st.value_type(st.MeanValue()):
            assert session.run(st.StochasticTensor(normal).value()).tolist() == [1.0, 2.0]
        with st.value_type(st.SampleValue(3)):
            assert st.StochasticTensor(normal).value().shape == (3, 2)
        with pytest.raises(st.NoValueTypeSetError):
            st.get_current_value_type()
        with pytest.raises(ValueError, match="Shape of observed value"):
            st.ObservedStochasticTensor(normal, [1.0, 2.0, 3.0])


def test_the_forms_of_the_bound_agree():
    vi, st = bf.variational_inference, bf.stochastic_tensor
    with tf.Graph().as_default(), tf.Session() as session:
        q = st.StochasticTensor(dist.Normal(loc=[0.4], scale=[0.5]), dist_value_type=st.MeanValue())
        prior = dist.Normal(loc=[0.0], scale=[1.0])
        vi.register_prior(q, prior)
        likelihood = dist.Normal(loc=q.value(), scale=1.0).log_prob([0.7])
        by_kl, by_entropy = session.run([vi.elbo(likelihood), vi.elbo(likelihood, form=vi.ELBOForms.analytic_entropy)])
        at, divergence = session.run([likelihood, dist.kl(q.distribution, prior)])
        np.testing.assert_allclose(by_kl, at - divergence, rtol=1e-6)
        log_prior, entropy = session.run([prior.log_prob(q.value()), q.entropy()])
        np.testing.assert_allclose(by_entropy, at + log_prior + entropy, rtol=1e-6)
        with pytest.raises(ValueError, match="No upstream stochastic nodes"):
            vi.elbo(tf.constant([1.0]))


def test_variables_of_a_scope_are_samples_of_what_is_learned():
    with tf.Graph().as_default(), tf.Session() as session:
        getter = bf.stochastic_variables.make_stochastic_variable_getter(
            dist_cls=dist.NormalWithSoftplusSigma, param_initializers={"mu": tf.constant_initializer(4.0)})
        with tf.variable_scope("net", custom_getter=getter):
            w = tf.get_variable("w", [3])
        assert [v.op.name for v in tf.trainable_variables()] == ["net/w_mu", "net/w_sigma"]
        session.run(tf.global_variables_initializer())
        assert session.run(w.distribution.mean()).tolist() == [4.0] * 3 and session.run(tf.identity(w)).shape == (3,)


def test_estimates_are_means_over_given_samples():
    mc, entropy = bf.monte_carlo, bf.entropy
    with tf.Graph().as_default(), tf.Session() as session:
        p = dist.Normal(loc=np.float64(0.0), scale=np.float64(1.0))
        q = dist.Normal(loc=np.float64(0.5), scale=np.float64(2.0))
        z = np.linspace(-4.0, 4.0, 9)
        weight = np.exp(-0.5 * z * z) / (np.exp(-0.125 * (z - 0.5) ** 2) / 2.0)
        f = lambda x: x ** 3 - 1.0  # noqa: E731
        estimate, ratio, exact = session.run([
            mc.expectation_importance_sampler(f, p.log_prob, q, z=z), entropy.renyi_ratio(p.log_prob, q, 0.5, z=z),
            entropy.entropy_shannon(p)])
        np.testing.assert_allclose(estimate, np.mean(f(z) * weight), rtol=1e-9)
        np.testing.assert_allclose(ratio, 2.0 * np.log(np.mean(np.sqrt(weight))), rtol=1e-9)
        np.testing.assert_allclose(exact, 0.5 * np.log(2.0 * np.pi * np.e), rtol=1e-9)
        with pytest.raises(ValueError, match="exactly one"):
            mc.expectation(f, p)


def test_the_normal_functions_have_gradients_far_out():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([-100.0, -20.5, 0.0, 6.0, 100.0], tf.float64)
        y = bf.special_math.log_ndtr(x)
        value, slope = session.run([y, tf.gradients(y, x)[0]])
        np.testing.assert_allclose(value[:3], [-5005.524208694205, -214.06672896856943, np.log(0.5)], rtol=1e-7)
        np.testing.assert_allclose(value[3:], [-9.865876e-10, 0.0], rtol=1e-6)
        np.testing.assert_allclose(slope[:1], [100.00999800099926], rtol=1e-4)
        assert np.all(np.isfinite(slope)) and slope[-1] == 0.0
