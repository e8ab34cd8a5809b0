"""Distributions: densities, moments and divergences are TensorFlow 1.15.5's, samples have the moments."""

import numpy as np
import pytest

import weir as tf

D = tf.contrib.distributions
B = D.bijectors
X = np.array([[0.2, 0.5, 0.9], [0.3, 0.1, 0.7]], np.float32)
TRIL = [[1.0, 0, 0], [0.5, 2.0, 0], [0.1, 0.2, 3.0]]

# name: (distribution, value, {function: what TensorFlow gives})
CASES = {
    "Normal": (lambda: D.Normal([0.0, 1.0, 2.0], [1.0, 2.0, 0.5]), X),
    "Laplace": (lambda: D.Laplace([0.0, 1.0, 2.0], 2.0), X),
    "Logistic": (lambda: D.Logistic([0.0, 1.0, 2.0], 2.0), X),
    "Uniform": (lambda: D.Uniform([0.0, 0.2, 0.4], [1.0, 0.8, 2.0]), X),
    "Gamma": (lambda: D.Gamma([1.5, 2.0, 3.0], [1.0, 2.0, 3.0]), X),
    "Exponential": (lambda: D.Exponential([1.0, 2.0, 3.0]), X),
    "InverseGamma": (lambda: D.InverseGamma([1.5, 2.5, 3.0], [1.0, 2.0, 3.0]), X),
    "Beta": (lambda: D.Beta([1.5, 2.0, 3.0], [1.2, 2.0, 3.0]), X),
    "StudentT": (lambda: D.StudentT([3.0, 4.0, 2.5], [0.0, 1.0, 2.0], [1.0, 2.0, 3.0]), X),
    "Bernoulli": (lambda: D.Bernoulli(logits=[0.1, -2.0, 3.0]), np.array([[0, 1, 1], [1, 0, 0]], np.int32)),
    "Categorical": (lambda: D.Categorical(logits=[[0.1, -2.0, 3.0], [1.0, 2.0, 3.0]]), np.array([2, 0], np.int32)),
    "OneHotCategorical": (lambda: D.OneHotCategorical(logits=[0.1, -2.0, 3.0]), np.array([[0, 0, 1], [1, 0, 0]])),
    "Binomial": (lambda: D.Binomial(5.0, probs=[0.1, 0.5, 0.9]), np.array([1.0, 2.0, 3.0], np.float32)),
    "Multinomial": (lambda: D.Multinomial(4.0, probs=[0.2, 0.3, 0.5]), np.array([1.0, 2.0, 1.0], np.float32)),
    "Poisson": (lambda: D.Poisson([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 0.0], np.float32)),
    "Geometric": (lambda: D.Geometric(probs=[0.1, 0.5, 0.9]), np.array([1.0, 2.0, 0.0], np.float32)),
    "NegativeBinomial": (lambda: D.NegativeBinomial(3.0, probs=[0.1, 0.5, 0.9]), np.array([1.0, 2.0, 0.0], np.float32)),
    "Dirichlet": (lambda: D.Dirichlet([1.5, 2.0, 3.0]), np.array([0.2, 0.3, 0.5], np.float32)),
    "MultivariateNormalDiag": (lambda: D.MultivariateNormalDiag([0.0, 1.0, 2.0], [1.0, 2.0, 3.0]), X),
    "MultivariateNormalTriL": (lambda: D.MultivariateNormalTriL([0.0, 1.0, 2.0], TRIL), X),
    "MixtureSameFamily": (lambda: D.MixtureSameFamily(D.Categorical(probs=[0.3, 0.7]),
                                                      D.Normal([-1.0, 1.0], [0.1, 0.5])), np.array([0.1, 0.5], np.float32)),
    "Mixture": (lambda: D.Mixture(D.Categorical(probs=[0.3, 0.7]), [D.Normal(-1.0, 0.1), D.Normal(1.0, 0.5)]),
                np.array([0.1, 0.5], np.float32)),
    "RelaxedBernoulli": (lambda: D.RelaxedBernoulli(0.5, probs=[0.1, 0.5, 0.4]), X),
    "RelaxedOneHotCategorical": (lambda: D.RelaxedOneHotCategorical(0.5, probs=[0.1, 0.5, 0.4]),
                                 np.array([0.2, 0.3, 0.5], np.float32)),
    "LogNormal": (lambda: D.TransformedDistribution(D.Normal(0.0, [1.0, 2.0, 3.0]), B.Exp()), X),
    "Chain": (lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), B.Chain([B.Sigmoid(), B.AffineScalar(1.0, 2.0)]),
                                                event_shape=[3]), X),
}
EXPECTED = {  # functions of TensorFlow 1.15.5
    "Normal": {"log_prob": [[-0.9389, -1.6433, -2.6458], [-0.9639, -1.7133, -3.6058]],
        "cdf": [[0.5793, 0.4013, 0.0139], [0.6179, 0.3264, 0.0047]], "entropy": [1.4189, 2.1121, 0.7258],
        "mean": [0.0, 1.0, 2.0], "variance": [1.0, 4.0, 0.25], "mode": [0.0, 1.0, 2.0]},
    "Laplace": {"log_prob": [[-1.4863, -1.6363, -1.9363], [-1.5363, -1.8363, -2.0363]],
        "cdf": [[0.5476, 0.3894, 0.2885], [0.5696, 0.3188, 0.261]], "entropy": [2.3863, 2.3863, 2.3863],
        "mean": [0.0, 1.0, 2.0], "variance": [8.0, 8.0, 8.0], "mode": [0.0, 1.0, 2.0]},
    "Logistic": {"log_prob": [[-2.0819, -2.095, -2.1541], [-2.0851, -2.1296, -2.1833]],
        "cdf": [[0.525, 0.4378, 0.3659], [0.5374, 0.3894, 0.343]], "entropy": [2.6931, 2.6931, 2.6931],
        "mean": [0.0, 1.0, 2.0], "variance": [13.1595, 13.1595, 13.1595], "mode": [0.0, 1.0, 2.0]},
    "Uniform": {"cdf": [[0.2, 0.5, 0.3125], [0.3, 0.0, 0.1875]], "entropy": [0.0, -0.5108, 0.47],
        "mean": [0.5, 0.5, 1.2], "variance": [0.0833, 0.03, 0.2133]},
    "Gamma": {"log_prob": [[-0.8839, -0.3069, -0.308], [-0.7812, -1.1163, -0.2107]],
        "cdf": [[0.0598, 0.2642, 0.5064], [0.1036, 0.0175, 0.3504]], "entropy": [1.361, 0.8841, 0.749],
        "mean": [1.5, 1.0, 1.0], "variance": [1.5, 0.5, 0.3333], "mode": [0.5, 0.5, 0.6667]},
    "Exponential": {"log_prob": [[-0.2, -0.3069, -1.6014], [-0.3, 0.4931, -1.0014]],
        "cdf": [[0.1813, 0.6321, 0.9328], [0.2592, 0.1813, 0.8775]], "entropy": [1.0, 0.3069, -0.0986],
        "mean": [1.0, 0.5, 0.3333], "variance": [1.0, 0.25, 0.1111]},
    "InverseGamma": {"log_prob": [[-0.8556, -0.1258, -0.3092], [-0.2026, -10.4928, -0.2563]],
        "cdf": [[0.0186, 0.1562, 0.3528], [0.0833, 0.0, 0.1992]], "entropy": [1.288, 1.0168, 1.1006],
        "mean": [2.0, 1.3333, 1.5], "mode": [0.4, 0.5714, 0.75]},
    "Beta": {"log_prob": [[-0.2084, 0.4055, -1.4147], [-0.0323, -0.6162, 0.2799]],
        "entropy": [-0.0437, -0.1251, -0.2679], "mean": [0.5556, 0.5, 0.5], "variance": [0.0667, 0.05, 0.0357],
        "mode": [0.7143, 0.5, 0.5]},
    "StudentT": {"log_prob": [[-1.0274, -1.7127, -2.2069], [-1.06, -1.7974, -2.242]],
        "entropy": [1.7735, 2.3749, 2.9464], "mean": [0.0, 1.0, 2.0], "variance": [3.0, 8.0, 45.0],
        "mode": [0.0, 1.0, 2.0]},
    "Bernoulli": {"log_prob": [[-0.7444, -2.1269, -0.0486], [-0.6444, -0.1269, -3.0486]],
        "entropy": [0.6919, 0.3653, 0.1909], "mean": [0.525, 0.1192, 0.9526], "variance": [0.2494, 0.105, 0.0452],
        "mode": [1.0, 0.0, 1.0]},
    "Categorical": {"log_prob": [-0.0599, -2.4076], "cdf": [0.0582, 0.0], "entropy": [0.2419, 0.8324],
        "mode": [2.0, 2.0]},
    "OneHotCategorical": {"log_prob": [-0.0599, -2.9599], "entropy": 0.2419, "variance": [0.0491, 0.0063, 0.0548],
        "mode": [0.0, 0.0, 1.0]},
    "Binomial": {"log_prob": [-1.1146, -1.1632, -2.6187], "cdf": [0.9185, 0.5, 0.0815], "mean": [0.5, 2.5, 4.5],
        "variance": [0.45, 1.25, 0.45], "mode": [0.0, 3.0, 5.0]},
    "Multinomial": {"log_prob": -2.2256, "mean": [0.8, 1.2, 2.0], "variance": [0.64, 0.84, 1.0]},
    "Poisson": {"log_prob": [-1.0, -1.3069, -3.0], "cdf": [0.7358, 0.6767, 0.0498], "mean": [1.0, 2.0, 3.0],
        "variance": [1.0, 2.0, 3.0], "mode": [1.0, 2.0, 3.0]},
    "Geometric": {"log_prob": [-2.4079, -2.0794, -0.1054], "cdf": [0.19, 0.875, 0.9],
        "entropy": [3.2508, 1.3863, 0.3612], "mean": [9.0, 1.0, 0.1111], "variance": [90.0, 2.0, 0.1235],
        "mode": [0.0, 0.0, 0.0]},
    "NegativeBinomial": {"log_prob": [-1.5201, -1.674, -6.9078], "cdf": [0.9477, 0.5, 0.001],
        "mean": [0.3333, 3.0, 27.0], "variance": [0.3704, 6.0, 269.9999], "mode": [0.0, 2.0, 17.0]},
    "Dirichlet": {"log_prob": 1.6952, "entropy": -1.1016, "mean": [0.2308, 0.3077, 0.4615],
        "variance": [0.0237, 0.0284, 0.0331], "mode": [0.1429, 0.2857, 0.5714]},
    "MultivariateNormalDiag": {"log_prob": [-4.667, -4.7887], "entropy": 6.0486, "mean": [0.0, 1.0, 2.0],
        "variance": [1.0, 4.0, 9.0], "mode": [0.0, 1.0, 2.0]},
    "MultivariateNormalTriL": {"log_prob": [-4.676, -4.8148], "entropy": 6.0486, "mean": [0.0, 1.0, 2.0],
        "variance": [1.0, 4.25, 9.05], "mode": [0.0, 1.0, 2.0]},
    "MixtureSameFamily": {"log_prob": [-2.2025, -1.0825], "cdf": [0.3252, 0.4111], "mean": 0.4, "variance": 1.018},
    "Mixture": {"log_prob": [-2.2025, -1.0825], "cdf": [0.3252, 0.4111], "mean": 0.4, "variance": 1.018},
    "RelaxedBernoulli": {"log_prob": [[-0.766, -0.6931, -0.1906], [-1.2196, 0.0408, -0.6859]],
        "cdf": [[0.8182, 0.5, 0.8182], [0.8549, 0.25, 0.6962]]},
    "RelaxedOneHotCategorical": {"log_prob": -0.941},
    "LogNormal": {"log_prob": [[-0.6046, -0.979, -1.9128], [-0.4397, 0.0278, -1.6679]],
        "cdf": [[0.0538, 0.3645, 0.486], [0.1143, 0.1248, 0.4527]]},
    "Chain": {"log_prob": [-0.2254, -1.0143]},
}


def _run(value):
    with tf.Session() as session:
        return session.run(value)


@pytest.mark.parametrize("name", sorted(CASES))
def test_densities_and_moments_are_tensorflows(name):
    make, value = CASES[name]
    distribution = make()
    functions = EXPECTED[name]
    found = _run({key: getattr(distribution, key)(value) if key in ("log_prob", "cdf") else getattr(distribution, key)()
                  for key in functions})
    for key, expected in functions.items():
        np.testing.assert_allclose(found[key], np.array(expected), rtol=2e-3, atol=2e-4, err_msg=key)


@pytest.mark.parametrize("name", sorted(set(CASES) - {"StudentT", "InverseGamma", "LogNormal"}))
def test_samples_have_the_moments(name):
    distribution = CASES[name][0]()
    samples = distribution.sample([2000], seed=3)
    assert samples.dtype == distribution.dtype
    assert samples.get_shape().as_list() == [2000, *distribution.batch_shape.as_list(), *distribution.event_shape.as_list()]
    values = _run(samples)
    try:
        mean, stddev = distribution.mean(), distribution.stddev()
    except NotImplementedError:
        assert np.isfinite(values).all()
        return
    mean, stddev = _run([mean, stddev])
    assert (np.abs(values.mean(0) - mean) < 5 * stddev / np.sqrt(2000) + 1e-3).all()


def test_gradients_of_samples_go_to_the_parameters():
    loc = tf.Variable(1.0)
    samples = D.Normal(loc, 2.0).sample([5])
    assert tf.gradients(samples, loc)[0] is not None
    assert D.Normal(loc, 1.0).reparameterization_type is D.FULLY_REPARAMETERIZED
    assert D.Categorical([1.0, 2.0]).reparameterization_type is D.NOT_REPARAMETERIZED


def test_divergences():
    kl = tf.distributions.kl_divergence
    pairs = [(D.Normal(0.0, 1.0), D.Normal(1.0, 3.0), 0.7097), (D.Bernoulli(probs=0.1), D.Bernoulli(probs=0.3), 0.1163),
             (D.MultivariateNormalDiag([0.0, 0.0], [1.0, 2.0]), D.MultivariateNormalDiag([1.0, 0.0], [2.0, 2.0]), 0.4431),
             (D.Independent(D.Normal([0.0, 1.0], 1.0), 1), D.Independent(D.Normal([1.0, 1.0], 2.0), 1), 0.7613)]
    for a, b, expected in pairs:
        assert _run(kl(a, b)) == pytest.approx(expected, abs=2e-4)
    with pytest.raises(NotImplementedError, match="No KL"):
        kl(D.Normal(0.0, 1.0), D.Gamma(1.0, 1.0))


def test_bijectors_go_back_and_forth():
    for bijector in (B.Exp(), B.Sigmoid(), B.Softplus(), B.AffineScalar(1.0, 2.0), B.Invert(B.Exp()), B.Tanh(),
                     B.Affine([1.0, 2.0, 3.0], scale_tril=TRIL), B.Permute([2, 0, 1]),
                     B.RealNVP(1, lambda x, n: (tf.tile(x, [1, n]), tf.tile(x, [1, n])))):
        y = bijector.forward(X)
        back, there, inverse = _run([bijector.inverse(y), bijector.forward_log_det_jacobian(X, event_ndims=1),
                                     bijector.inverse_log_det_jacobian(y, event_ndims=1)])
        np.testing.assert_allclose(back, X, rtol=1e-4, atol=1e-5, err_msg=bijector.name)
        np.testing.assert_allclose(there, -inverse, rtol=1e-4, atol=1e-5, err_msg=bijector.name)


def test_wrong_arguments():
    with pytest.raises(ValueError, match="but not both"):
        D.Bernoulli(logits=1.0, probs=0.5)
    with pytest.raises(tf.errors.InvalidArgumentError):
        _run(D.Normal(0.0, -1.0, validate_args=True).sample())
    with pytest.raises(NotImplementedError, match="quantile is not implemented: Gamma"):
        D.Gamma(1.0, 1.0).quantile(0.5)


def test_functions_of_triangles_and_order():
    assert _run(D.fill_triangular([1.0, 2, 3, 4, 5, 6])).tolist() == [[4, 0, 0], [6, 5, 0], [3, 2, 1]]
    assert _run(D.fill_triangular([1.0, 2, 3, 4, 5, 6], upper=True)).tolist() == [[1, 2, 3], [0, 5, 6], [0, 0, 4]]
    for upper in (False, True):
        matrix = D.fill_triangular([1.0, 2, 3, 4, 5, 6], upper=upper)
        assert _run(D.fill_triangular_inverse(matrix, upper=upper)).tolist() == [1, 2, 3, 4, 5, 6]
    assert _run(D.percentile(tf.constant([1.0, 5, 2, 4, 3]), 30.0)) == 2
    assert _run(D.tridiag([1.0, 2], [3.0, 4, 5], [6.0, 7])).tolist() == [[3, 6, 0], [1, 4, 7], [0, 2, 5]]
    np.testing.assert_allclose(_run(tf.nn.softplus(D.softplus_inverse([1e-5, 0.5, 3.0]))), [1e-5, 0.5, 3.0], rtol=1e-4)


def test_names_of_before_tensorflow_1_0_are_taken_and_there():
    ds = tf.contrib.distributions
    with tf.Session() as session:
        normal = ds.Normal(mu=[1.0, 2.0], sigma=3.0)
        assert session.run([normal.mu, normal.sigma])[0].tolist() == [1.0, 2.0]
        assert session.run(normal.batch_shape()).tolist() == [2] and normal.batch_shape.as_list() == [2]
        np.testing.assert_allclose(*session.run([normal.pdf(0.5), normal.prob(0.5)]))
        np.testing.assert_allclose(*session.run([ds.Bernoulli(p=0.3).log_pmf(1), tf.log(0.3)]), rtol=1e-6)
        np.testing.assert_allclose(session.run(ds.NormalWithSoftplusSigma(mu=0.0, sigma=0.0).sigma), np.log(2.0),
                                   rtol=1e-6)
    with pytest.raises(TypeError, match="the same parameter"):
        ds.Normal(mu=0.0, loc=0.0, scale=1.0)


@pytest.mark.parametrize("make", [
    lambda: D.StudentT(-1.0, 0.0, 1.0, validate_args=True).df, lambda: D.StudentT(1.0, 0.0, -1.0, validate_args=True).scale,
    lambda: D.InverseGamma(1.0, -1.0, validate_args=True).rate, lambda: D.Poisson(-1.0, validate_args=True).rate,
    lambda: D.Binomial(3.0, probs=0.5, validate_args=True).prob(4.0),
    lambda: D.Binomial(3.0, probs=0.5, validate_args=True).prob(1.5),
    lambda: D.Multinomial(3.0, probs=[0.5, 0.5], validate_args=True).prob([1.0, 1.0]),
    lambda: D.Dirichlet([1.0, 2.0], validate_args=True).prob([0.5, 0.6])])
def test_arguments_are_checked_where_that_is_asked_for(make):
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed"):
            session.run(make())


def test_functions_for_distributions_of_ones_own():
    from weir.distributions import distribution_util

    with tf.Graph().as_default(), tf.Session() as session:
        np.testing.assert_allclose(session.run(distribution_util.log_combinations(5.0, [2.0, 3.0])), np.log(10), rtol=1e-6)
        assert session.run(distribution_util.fill_lower_triangular([1.0, 2.0, 3.0])).tolist() == [[1, 0], [2, 3]]
        assert session.run(tf.shape(distribution_util.rotate_transpose(tf.zeros([2, 3, 4]), 1))).tolist() == [4, 2, 3]
        assert session.run(distribution_util.pick_vector(tf.less(1, 2), [1, 2], [3])).tolist() == [1, 2]
        for check in (distribution_util.assert_close([1.0], [1.1]), distribution_util.assert_integer_form([1.5])):
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(check)


def test_wishart_matrices(sess):
    scale = np.array([[2.0, 0.5], [0.5, 1.0]])
    wishart = tf.contrib.distributions.WishartFull(df=tf.constant(5.0, tf.float64), scale=tf.constant(scale))
    wanted = {"log_prob": -6.20596, "entropy": 7.64997, "mean_log_det": 3.07185, "log_normalization": 5.72182}
    found = {"log_prob": wishart.log_prob(tf.constant([[5.0, 1.0], [1.0, 4.0]], tf.float64)), "entropy": wishart.entropy(),
             "mean_log_det": wishart.mean_log_det(), "log_normalization": wishart.log_normalization()}
    for name, value in sess.run(found).items():
        assert value == pytest.approx(wanted[name], abs=1e-4), name
    np.testing.assert_allclose(sess.run(wishart.mean()), 5 * scale)
    np.testing.assert_allclose(sess.run(wishart.variance()), [[40.0, 11.25], [11.25, 10.0]])
    np.testing.assert_allclose(sess.run(wishart.mode()), 2 * scale)
    np.testing.assert_allclose(sess.run(wishart.sample(20000, seed=1)).mean(0), 5 * scale, atol=0.2)
    factor = tf.contrib.distributions.WishartCholesky(tf.constant([5.0, 7.0], tf.float64), tf.constant(np.linalg.cholesky(scale)))
    assert factor.batch_shape.as_list() == [2] and factor.event_shape.as_list() == [2, 2]
    assert sess.run(factor.log_prob(tf.constant([[5.0, 1.0], [1.0, 4.0]], tf.float64)))[0] == pytest.approx(-6.20596, abs=1e-4)


@pytest.mark.parametrize("name", ["Normal", "Laplace", "Logistic", "Cauchy", "HalfNormal", "Uniform", "Gamma", "Exponential",
                                  "Chi2", "InverseGamma", "Beta", "StudentT", "Bernoulli", "Poisson", "Geometric"])
def test_parameters_of_these_shapes_make_batches_of_that_shape(name):
    with tf.Graph().as_default():
        for shape in ((), (10, 20)):
            kind = getattr(D, name)
            shapes = kind.param_static_shapes(shape)
            assert shapes and all(parameter == shape for parameter in shapes.values())
            batch = kind(**{key: tf.ones(parameter) for key, parameter in kind.param_shapes(shape).items()})
            assert batch.sample().shape == shape and batch.copy().parameters == batch.parameters


def test_distributions_say_what_they_are():
    with tf.Graph().as_default():
        rates = D.Exponential(tf.placeholder(tf.float32))
        assert str(rates) == 'tfp.distributions.Exponential("Exponential/", event_shape=(), dtype=float32)'
        assert repr(rates) == "<tfp.distributions.Exponential 'Exponential/' batch_shape=<unknown> event_shape=() dtype=float32>"
        assert str(D.Normal([0.0, 1.0], 1.0)) == 'tfp.distributions.Normal("Normal/", batch_shape=(2,), event_shape=(), dtype=float32)'


def test_one_component_is_chosen_for_all_of_a_batch_where_the_mixture_has_none():
    with tf.Graph().as_default(), tf.Session() as session:
        loc = tf.constant([[[0.0, 1], [10, 20]], [[2, 3], [30, 40]], [[4, 5], [50, 60]]])  # [batch, components, event]
        mixture = D.MixtureSameFamily(tf.distributions.Categorical(probs=[0.3, 0.7]),
                                      D.MultivariateNormalDiag(loc, tf.constant([0.01, 0.01])))
        drawn, mean, covariance, variance = session.run([
            mixture.sample([40, 50], seed=1), mixture.mean(), mixture.covariance(), mixture.variance()])
    assert drawn.shape == (40, 50, 3, 2)
    high = drawn[..., 0] > 7
    assert (high == high[..., :1]).all() and abs(high.mean() - 0.7) < 0.05
    flat = drawn.reshape(2000, 3, 2)
    np.testing.assert_allclose(flat.mean(0), mean, rtol=0.1, atol=0.5)
    for i in range(3):
        np.testing.assert_allclose(np.diag(covariance[i]), variance[i], rtol=1e-4)
        np.testing.assert_allclose(np.cov(flat[:, i].T), covariance[i], rtol=0.15)


def test_divergences_of_normal_vectors_broadcast_their_batches():
    with tf.Graph().as_default(), tf.Session() as session:
        one = D.MultivariateNormalTriL([0.1, 0.2, 0.3], TRIL)
        two = D.MultivariateNormalTriL(np.array([[0.0, 1, 2], [1, 1, 1]], np.float32), np.array([TRIL, np.eye(3) * 2], np.float32))
        for a, b in ((one, two), (two, one)):
            both = session.run(D.kl_divergence(a, b))
            assert both.shape == (2,)
            for i in range(2):
                parts = [d if d is one else D.MultivariateNormalTriL(two.loc[i], session.run(two.scale.to_dense())[i])
                         for d in (a, b)]
                np.testing.assert_allclose(both[i], session.run(D.kl_divergence(*parts)), rtol=1e-4)


def test_a_geometric_cumulative_function_broadcasts():
    with tf.Graph().as_default(), tf.Session() as session:
        counts = np.array([[-1.0], [0], [2.5]], np.float32)
        found = session.run(D.Geometric(probs=[0.2, 0.5]).cdf(counts))
    expected = np.where(counts < 0, 0, 1 - (1 - np.array([0.2, 0.5])) ** (np.floor(counts) + 1))
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_components_that_do_not_fit_a_mixture_are_refused():
    normal, cat = tf.distributions.Normal, tf.distributions.Categorical
    with tf.Graph().as_default():
        for weights, components, error, message in (
            ([0.1, 0.5], [normal(1.0, 2.0)], ValueError, "cat.num_classes != len"),
            ([0.1, 0.5], [normal(1.0, 2.0), normal([1.0, 1.0], 2.0)], ValueError, r"\(\) and \(2,\) are not compatible"),
            (tf.placeholder(tf.float32, [None]), [normal(1.0, 2.0)], ValueError, "Could not infer"),
            ([0.1, 0.5], [None, normal(1.0, 2.0)], TypeError, "must be Distribution instances"),
        ):
            with pytest.raises(error, match=message):
                D.Mixture(cat(weights), components)


def test_a_program_may_override_what_comes_from_cpp():
    class Shifted(D.Normal):
        def _log_prob(self, x):
            return super()._log_prob(x - 1.0)

        def _mean(self):
            return super()._mean() + 1.0

    shifted, normal = Shifted(0.5, 2.0), D.Normal(1.5, 2.0)
    assert shifted.name.startswith("Normal")
    with tf.Session() as session:
        ours, theirs = session.run([[d.prob(0.7), d.log_prob(0.7), d.mean()] for d in (shifted, normal)])
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)
        np.testing.assert_allclose(*session.run([shifted.sample(3, seed=1) + 1.0, normal.sample(3, seed=1)]), rtol=1e-6)


def test_moments_that_are_not_defined_are_refused_on_request():
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="mode not defined"):
        session.run(D.Gamma(0.5, 1.0, allow_nan_stats=False).mode())


def test_the_scale_of_a_normal_vector_is_a_linear_operator():
    d = tf.contrib.distributions.MultivariateNormalTriL(loc=[0.0, 0.0], scale_tril=[[2.0, 0.0], [1.0, 3.0]])
    with tf.Session() as session:
        assert session.run([d.scale.determinant(), d.scale.trace()]) == [6, 5]
    assert d.scale.domain_dimension.value == 2
