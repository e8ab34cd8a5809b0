"""tf.train.experimental: losses times a scale."""

import pytest

import weir as tf

experimental = tf.train.experimental


def test_a_dynamic_scale_grows_with_finite_gradients_and_falls_with_others():
    with tf.Graph().as_default(), tf.Session() as session:
        scale = experimental.DynamicLossScale(initial_loss_scale=4, increment_period=2, multiplier=2)
        gradient = tf.placeholder(tf.float32, [])
        update, should_apply = scale.update([gradient, None])
        current = scale()
        session.run(tf.global_variables_initializer())
        seen = []
        for value in [1.0, 1.0, float("nan"), 1.0, float("inf"), float("inf"), float("inf"), float("inf")]:
            applied, _ = session.run([should_apply, update], {gradient: value})
            seen.append((bool(applied), float(session.run(current))))
    assert seen == [(True, 4), (True, 8), (False, 4), (True, 4), (False, 2), (False, 1), (False, 1), (False, 1)]


def test_a_scaled_optimizer_steps_as_without_a_scale_and_leaves_out_what_is_not_finite():
    with tf.Graph().as_default(), tf.Session() as session:
        v, step, factor = tf.Variable(1.0), tf.train.get_or_create_global_step(), tf.placeholder(tf.float32, [])
        plain = tf.train.GradientDescentOptimizer(0.5)
        optimizer = experimental.MixedPrecisionLossScaleOptimizer(plain, "dynamic")
        (gradient, _), = optimizer.compute_gradients(v * factor, [v])
        train = optimizer.apply_gradients([(gradient, v)], global_step=step)
        session.run(tf.global_variables_initializer())
        assert session.run(gradient, {factor: 3.0}) == 3.0
        session.run(train, {factor: 3.0})
        session.run(train, {factor: float("nan")})
        assert session.run([v, step]) == [-0.5, 1]


def test_scales_are_made_of_numbers_and_of_their_configurations():
    from weir.train import loss_scale

    fixed = loss_scale.get(128)
    assert repr(experimental.FixedLossScale.from_config(fixed.get_config())) == "FixedLossScale(128.0)"
    with pytest.raises(ValueError, match="at least 1"):
        experimental.FixedLossScale(0.5)
    with pytest.raises(ValueError, match="Could not interpret"):
        loss_scale.get("none")
    with pytest.raises(ValueError, match='"opt" must be an instance of Optimizer'):
        experimental.MixedPrecisionLossScaleOptimizer(None, 1)


def test_managers_of_tf_contrib_count_finite_steps_on_end_and_others_in_all():
    managers = tf.contrib.mixed_precision
    with tf.Graph().as_default(), tf.Session() as session:
        manager = managers.ExponentialUpdateLossScaleManager(4.0, 2, 2, incr_ratio=2, decr_ratio=0.5)
        v, gradient = tf.Variable(1.0), tf.placeholder(tf.float32, [])
        descent = tf.train.GradientDescentOptimizer(1.0)
        train = managers.LossScaleOptimizer(descent, manager).apply_gradients([(gradient, v)])
        session.run(tf.global_variables_initializer())
        seen = []
        for value in [0.0, 0.0, 0.0, float("nan"), 0.0, float("inf"), 0.25]:
            session.run(train, {gradient: value})
            seen.append(float(session.run(manager.get_loss_scale())))
        assert seen == [4, 8, 8, 8, 8, 4, 4] and session.run(v) == 0.75
        half = tf.cast(v, tf.float16) * tf.constant(1e4, tf.float16) * tf.constant(1e-4, tf.float16) * tf.constant(
            1e-4, tf.float16)
        scaled = managers.LossScaleOptimizer(descent, managers.FixedLossScaleManager(1e4))
        assert session.run(scaled.compute_gradients(half, [v])[0][0]) == pytest.approx(1e-4, rel=1e-2)
