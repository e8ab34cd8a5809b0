"""Optimizers of other libraries, which see all variables as one vector and run the session themselves."""

import numpy as np

import weir as tf


def _gradient_vector(loss, variables):
    """The gradients as one vector, zeros where the loss does not depend on a variable."""
    gradients = tf.gradients(loss, variables)
    return _vector([tf.zeros_like(v) if g is None else g for g, v in zip(gradients, variables)])


def _vector(tensors):
    flat = [tf.reshape(tensor, [-1]) for tensor in tensors]
    return flat[0] if len(flat) == 1 else tf.concat(flat, 0)


def _packed_bounds(variables, bounds):
    """A (low, high) for each element of the vector; None or infinite where there is none."""
    packed = []
    for variable in variables:
        low, high = bounds.get(variable, (-np.inf, np.inf))
        shape = variable.get_shape().as_list()
        packed += zip(np.broadcast_to(low, shape).flat, np.broadcast_to(high, shape).flat)
    return packed


class ExternalOptimizerInterface:
    """Minimises a loss under constraints: ``equalities`` are held at zero, ``inequalities`` at zero or above, and variables
    between the bounds of ``var_to_bounds``. A subclass defines ``_minimize``."""

    def __init__(self, loss, var_list=None, equalities=None, inequalities=None, var_to_bounds=None, **optimizer_kwargs):
        self._loss, self.optimizer_kwargs = loss, optimizer_kwargs
        self._equalities, self._inequalities = equalities or [], inequalities or []
        self._vars = tf.trainable_variables() if var_list is None else list(var_list)
        self._bounds = None if var_to_bounds is None else _packed_bounds(self._vars, var_to_bounds)
        shapes = [tuple(v.get_shape().as_list()) for v in self._vars]
        self._new_values = [tf.placeholder(v.dtype.base_dtype) for v in self._vars]
        self._updates = [v.assign(tf.reshape(value, shape)) for v, value, shape in zip(self._vars, self._new_values, shapes)]
        self._gradient = _gradient_vector(loss, self._vars)
        self._equality_gradients = [_gradient_vector(t, self._vars) for t in self._equalities]
        self._inequality_gradients = [_gradient_vector(t, self._vars) for t in self._inequalities]
        self._values = _vector(self._vars)
        ends = np.cumsum([0] + [int(np.prod(shape)) for shape in shapes])
        self._parts = [(v, shape, slice(begin, end)) for v, shape, begin, end in zip(self._vars, shapes, ends, ends[1:])]

    def minimize(self, session=None, feed_dict=None, fetches=None, step_callback=None, loss_callback=None, **run_kwargs):
        """Runs the optimizer to its end and sets the variables; ``loss_callback`` gets the fetches at each evaluation,
        ``step_callback`` the vector at each step."""
        session = session or tf.get_default_session()
        fetches = fetches or []

        def function(tensors, callback=None):
            def evaluate(vector):
                feeds = {v: vector[part].reshape(shape) for v, shape, part in self._parts}
                feeds.update(feed_dict or {})
                values = session.run(list(tensors) + fetches, feed_dict=feeds)
                if callback is not None:
                    callback(*values[len(tensors):])
                return values[:len(tensors)]

            return evaluate

        def functions(tensors):
            return [function([tensor]) for tensor in tensors]

        vector = self._minimize(
            initial_val=session.run(self._values), loss_grad_func=function([self._loss, self._gradient], loss_callback),
            equality_funcs=functions(self._equalities), equality_grad_funcs=functions(self._equality_gradients),
            inequality_funcs=functions(self._inequalities), inequality_grad_funcs=functions(self._inequality_gradients),
            packed_bounds=self._bounds, step_callback=step_callback or (lambda vector: None),
            optimizer_kwargs=self.optimizer_kwargs)
        session.run(self._updates, feed_dict={place: vector[part] for place, (_, _, part) in zip(self._new_values, self._parts)},
                    **run_kwargs)

    def _minimize(self, initial_val, loss_grad_func, equality_funcs, equality_grad_funcs, inequality_funcs,
                  inequality_grad_funcs, packed_bounds, step_callback, optimizer_kwargs):
        """The vector at the minimum."""
        raise NotImplementedError("To use ExternalOptimizerInterface, subclass from it and implement the _minimize() method.")


class ScipyOptimizerInterface(ExternalOptimizerInterface):
    """``scipy.optimize.minimize``; further arguments are its own, ``method`` and ``options`` above all."""

    _DEFAULT_METHOD = "L-BFGS-B"

    def _minimize(self, initial_val, loss_grad_func, equality_funcs, equality_grad_funcs, inequality_funcs,
                  inequality_grad_funcs, packed_bounds, step_callback, optimizer_kwargs):
        from scipy import optimize  # the program's: Weir works without it

        def loss_and_gradient(vector):
            loss, gradient = loss_grad_func(vector)
            return float(loss), gradient.astype("float64")

        def first(function):
            return lambda vector: np.asarray(function(vector)[0], "float64")

        constraints = [{"type": kind, "fun": first(function), "jac": first(gradient)}
                       for kind, pairs in (("eq", zip(equality_funcs, equality_grad_funcs)),
                                           ("ineq", zip(inequality_funcs, inequality_grad_funcs)))
                       for function, gradient in pairs]
        options = dict(optimizer_kwargs)
        arguments = {"jac": True, "callback": step_callback, "method": options.pop("method", self._DEFAULT_METHOD),
                     "constraints": constraints, "bounds": packed_bounds}
        for name in arguments:
            if name in options:
                raise ValueError("Bounds must be set using the var_to_bounds argument" if name == "bounds" else
                                 f"Optimizer keyword arg '{name}' is set automatically and cannot be injected manually")
        # In double precision: most of its methods refuse any other.
        result = optimize.minimize(loss_and_gradient, initial_val.astype("float64"), **arguments, **options)
        counts = [f"\n  Number of {words}: {result[key]}" for key, words in
                  (("nit", "iterations"), ("nfev", "functions evaluations")) if key in result]
        tf.logging.info("Optimization terminated with:\n  Message: %s\n  Objective function value: %f%s", result.message,
                        result.fun, "".join(counts))
        return result["x"]
