"""tf.contrib.integrate: ordinary differential equations dy/dt = func(y, t)."""

from collections import namedtuple

import weir as tf

# Dormand and Prince's pair of orders 5 and 4 with the coefficients of Shampine (1986), section 4. Each stage is a time, as
# a share of the step, and the shares of the derivatives so far; the last stage stands at the end of the step.
_STAGES = [(1 / 5, [1 / 5]),
           (3 / 10, [3 / 40, 9 / 40]),
           (4 / 5, [44 / 45, -56 / 15, 32 / 9]),
           (8 / 9, [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729]),
           (1., [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656]),
           (1., [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84])]
_MIDDLE = [c / 2 for c in (6025192743 / 30085553152, 0, 51252292925 / 65400821598, -2691868925 / 45128329728,
                           187940372067 / 1594534317056, -1776094331 / 19743644256, 11237099 / 235043384)]
_ERROR = [1951 / 21600 - 35 / 384, 0, 22642 / 50085 - 500 / 1113, 451 / 720 - 125 / 192, -12231 / 42400 + 2187 / 6784,
          649 / 6300 - 11 / 84, 1 / 60]

# The end of the last step and the derivative there, its times, the size of the next one, and a polynomial for what lies
# between the times.
_Step = namedtuple("_Step", ["y", "f", "t0", "t1", "dt", "coefficients"])


def _combine(dt, shares, derivatives):
    return tf.add_n([dt * share * k for share, k in zip(shares, derivatives) if share != 0])


def _runge_kutta_step(func, y, f, t, dt):
    """The end of a step, the derivative there, the estimated error, and the derivatives of all stages."""
    size = tf.cast(dt, y.dtype)
    derivatives = [f]
    for time, shares in _STAGES:
        end = y + _combine(size, shares, derivatives)
        derivatives.append(func(end, t + time * dt))
    return end, derivatives[-1], _combine(size, _ERROR, derivatives), derivatives


def _interp_fit(y0, y1, y_mid, f0, f1, dt):
    """The polynomial of degree 4, highest power first, over [0, 1] with these values at 0, 1 and 1/2 and these slopes at
    0 and 1."""
    rise0, rise1 = dt * f0, dt * f1
    terms = [[-2, 2, -8, -8, 16], [5, -3, 18, 14, -32], [-4, 1, -11, -5, 16]]
    given = [rise0, rise1, y0, y1, y_mid]
    return [sum(factor * value for factor, value in zip(row, given)) for row in terms] + [rise0, y0]


def _interp_evaluate(coefficients, t0, t1, t):
    """The polynomial of a step from t0 to t1 at a time between them."""
    with tf.name_scope("interp_evaluate"):
        t0, t1, t = tf.convert_to_tensor(t0), tf.convert_to_tensor(t1), tf.convert_to_tensor(t)
        coefficients = [tf.convert_to_tensor(c) for c in coefficients]
        inside = tf.Assert((t0 <= t) & (t <= t1), ["invalid interpolation, fails `t0 <= t <= t1`:", t0, t, t1])
        with tf.control_dependencies([inside]):
            x = tf.cast((t - t0) / (t1 - t0), coefficients[0].dtype)
        value = coefficients[0]
        for coefficient in coefficients[1:]:
            value = value * x + coefficient
        return value


def _optimal_step_size(last_step, error_ratio, safety=0.9, ifactor=10.0, dfactor=0.2, order=5, name=None):
    """The size of the next step from the error of the last one, as a share of what is allowed."""
    with tf.name_scope(name, "optimal_step_size", [last_step, error_ratio]) as scope:
        root = tf.cast(error_ratio, last_step.dtype)**tf.cast(1 / order, last_step.dtype)
        # Divided at the end: an error of zero must not be.
        return tf.div(last_step, tf.maximum(1 / ifactor, tf.minimum(root / safety, 1 / dfactor)), name=scope)


def _abs_square(x):
    return tf.square(tf.real(x)) + tf.square(tf.imag(x)) if x.dtype.is_complex else tf.square(x)


def _check_types(y0, **times):
    if not (y0.dtype.is_floating or y0.dtype.is_complex):
        raise TypeError("`y0` must have a floating point or complex floating point dtype")
    for name, time in times.items():
        if not time.dtype.is_floating:
            raise TypeError(f"`{name}` must have a floating point dtype")


def _increasing(t):
    return tf.control_dependencies([tf.Assert(tf.reduce_all(t[1:] > t[:-1]), ["`t` must be monotonic increasing"])])


def _dopri5(func, y0, t, rtol, atol, full_output, first_step=1.0, safety=0.9, ifactor=10.0, dfactor=0.2,
            max_num_steps=1000, name=None):
    with tf.name_scope(name, "dopri5", [y0, t, rtol, atol]) as scope:
        first_step, safety, ifactor, dfactor = (
            tf.convert_to_tensor(value, dtype=t.dtype)
            for value in (1.0 if first_step is None else first_step, safety, ifactor, dfactor))
        max_num_steps = tf.convert_to_tensor(max_num_steps, dtype=tf.int32)

        def advance(step, points, ratios, count):
            y, f, start, dt = step.y, step.f, step.t1, step.dt
            checks = [tf.Assert(start + dt > start, ["underflow in dt", dt]),
                      tf.Assert(count < max_num_steps, ["max_num_steps exceeded"]),
                      tf.Assert(tf.reduce_all(tf.is_finite(abs(y))), ["non-finite values in state `y`", y])]
            with tf.control_dependencies(checks):
                end, slope, error, derivatives = _runge_kutta_step(func, y, f, start, dt)
            allowed = atol + rtol * tf.maximum(abs(y), abs(end))
            ratio = tf.sqrt(tf.reduce_mean(_abs_square(error) / _abs_square(allowed)))

            def accepted():
                size = tf.cast(dt, y.dtype)
                middle = y + _combine(size, _MIDDLE, derivatives)
                return [end, slope, start + dt] + _interp_fit(y, end, middle, f, slope, size)

            # A step that is refused has no length; another one follows at once.
            state = tf.cond(ratio <= 1, accepted, lambda: [y, f, start] + list(step.coefficients))
            following = _Step(state[0], state[1], start, state[2],
                              _optimal_step_size(dt, ratio, safety, ifactor, dfactor), state[3:])
            return (following, points.write(points.size(), start + dt), ratios.write(ratios.size(), ratio), count + 1)

        def reach(solution, step, points, ratios, i):
            step, points, ratios, _ = tf.while_loop(lambda step, *_: t[i] > step.t1, advance, (step, points, ratios, 0),
                                                    name="integrate_loop")
            value = _interp_evaluate(step.coefficients, step.t0, step.t1, t[i])
            return solution.write(i, value), step, points, ratios, i + 1

        with _increasing(t):
            times = tf.size(t)
        solution = tf.TensorArray(y0.dtype, size=times).write(0, y0)
        points = tf.TensorArray(t.dtype, size=0, dynamic_size=True)
        ratios = tf.TensorArray(rtol.dtype, size=0, dynamic_size=True)
        step = _Step(y0, func(y0, t[0]), t[0], t[0], first_step, [y0] * 5)
        solution, _, points, ratios, _ = tf.while_loop(lambda *state: state[-1] < times, reach,
                                                       (solution, step, points, ratios, 1), name="interpolate_loop")
        y = solution.stack(name=scope)
        y.set_shape(t.get_shape().concatenate(y0.get_shape()))
        if not full_output:
            return y
        points = points.stack()
        return y, {"num_func_evals": 6 * tf.size(points) + 1, "integrate_points": points, "error_ratio": ratios.stack()}


def odeint(func, y0, t, rtol=1e-6, atol=1e-12, method=None, options=None, full_output=False, name=None):
    """The states at the times ``t``, with steps as small as the error asks for (Dormand-Prince, order 5)."""
    if method is not None and method != "dopri5":
        raise ValueError(f"invalid method: {method!r}")
    if options is not None and method is None:
        raise ValueError("cannot supply `options` without specifying `method`")
    with tf.name_scope(name, "odeint", [y0, t, rtol, atol]) as scope:
        y0 = tf.convert_to_tensor(y0, name="y0")
        t = tf.convert_to_tensor(t, preferred_dtype=tf.float64, name="t")
        _check_types(y0, t=t)
        real = abs(y0).dtype
        rtol, atol = tf.convert_to_tensor(rtol, dtype=real, name="rtol"), tf.convert_to_tensor(atol, dtype=real, name="atol")
        return _dopri5(func, y0, t, rtol, atol, full_output, name=scope, **(options or {}))


def _midpoint(func, y, t, dt):
    size = tf.cast(dt, y.dtype)
    return size * func(y + func(y, t) * size / 2, t + dt / 2)


def _rk4(func, y, t, dt):
    size = tf.cast(dt, y.dtype)
    k1 = func(y, t)
    k2 = func(y + size * k1 / 2, t + dt / 2)
    k3 = func(y + size * k2 / 2, t + dt / 2)
    return size * (k1 + 2 * k2 + 2 * k3 + func(y + size * k3, t + dt)) / 6


_FIXED = {"midpoint": _midpoint, "rk4": _rk4}


def odeint_fixed(func, y0, t, dt=None, method="rk4", name=None):
    """The states at the times ``t`` with steps of given sizes: one for all, one for each interval, or the intervals."""
    with tf.name_scope(name, "odeint_fixed", [y0, t, dt]):
        t = tf.convert_to_tensor(t, preferred_dtype=tf.float64, name="t")
        y0 = tf.convert_to_tensor(y0, name="y0")
        intervals = t[1:] - t[:-1]
        if dt is None:
            dt = intervals
        dt = tf.convert_to_tensor(dt, preferred_dtype=tf.float64, name="dt")
        steps = tf.ceil(intervals / dt)
        dt = intervals / steps
        steps = tf.cast(steps, dtype=tf.int32)
        _check_types(y0, t=t, dt=dt)
        if t.shape.ndims > 1 or dt.shape.ndims > 1:
            raise ValueError("t must be a 1D tensor")
        if t.shape[0] != dt.shape[0] + 1:
            raise ValueError("t and dt have incompatible lengths, must be N and N-1")
        if method not in _FIXED:
            raise ValueError(f"method not supported: {method!s}")
        with _increasing(t):
            times = tf.size(t)

        def interval(solution, y, time, i):
            def advance(y, time, done):
                size = dt[i - 1]
                return y + tf.cast(_FIXED[method](func, y, time, size), y.dtype), time + size, done + 1

            y, time, _ = tf.while_loop(lambda y, time, done: done < steps[i - 1], advance, (y, time, 0))
            return solution.write(i, y), y, time, i + 1

        solution = tf.TensorArray(y0.dtype, times).write(0, y0)
        solution, *_ = tf.while_loop(lambda *state: state[-1] < times, interval, (solution, y0, t[0], 1))
        y = solution.stack()
        y.set_shape(t.get_shape().concatenate(y0.get_shape()))
        return y
