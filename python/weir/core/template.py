"""make_template: a function whose variables are made by its first call and shared by the others."""

from weir.core.stack import get_default_graph
from weir.core.variable_scope import AUTO_REUSE, variable_scope


def _skip_common_stack_elements(stacktrace, base_case):
    """The end of a stack trace, from where it differs from another."""
    for i, (line, other) in enumerate(zip(stacktrace, base_case)):
        if line != other:
            return stacktrace[i:]
    return stacktrace[-1:]


class Template:
    def __init__(self, name, func, create_scope_now=False, unique_name=None, custom_getter=None):
        if not name:
            raise ValueError("name cannot be None.")
        self._name, self._func, self._unique_name = name, func, unique_name
        self._custom_getter, self._called, self._scope = custom_getter, False, None
        if create_scope_now:  # of variables only: the first call is the first to use the scope of names
            with self._open(auxiliary_name_scope=False) as scope:
                self._scope = scope

    def _open(self, **options):
        if self._unique_name is not None:
            return variable_scope(self._unique_name, custom_getter=self._custom_getter, **options)
        return variable_scope(None, default_name=self._name, custom_getter=self._custom_getter, **options)

    def __call__(self, *args, **kwargs):
        if self._scope is None:
            with self._open() as scope:
                self._scope = scope
                return self._run(args, kwargs)
        with variable_scope(self._scope, reuse=True if self._called else AUTO_REUSE):
            return self._run(args, kwargs)

    def _run(self, args, kwargs):
        graph = get_default_graph()
        before = len(graph.get_collection("trainable_variables"))
        result = self._func(*args, **kwargs)
        if self._called and len(graph.get_collection("trainable_variables")) != before:
            new = [v.name for v in graph.get_collection("trainable_variables")[before:]]
            raise ValueError("Trainable variable created when calling a template after the first time, perhaps you used "
                             f"tf.Variable when you meant tf.get_variable: {new}")
        self._called = True
        return result

    @property
    def name(self):
        return self._name

    @property
    def func(self):
        return self._func

    @property
    def variable_scope(self):
        return self._scope

    @property
    def variable_scope_name(self):
        return self._scope.name if self._scope else None

    var_scope = variable_scope
    _variables_created = property(lambda self: self._called)  # libraries ask whether it was called

    def _collected(self, key):
        graph_scope = self._scope
        return [] if graph_scope is None else graph_scope.get_collection(key)

    variables = global_variables = property(lambda self: self._collected("variables"))
    trainable_variables = trainable_weights = property(lambda self: self._collected("trainable_variables"))
    local_variables = property(lambda self: self._collected("local_variables"))


def make_template(name_, func_, create_scope_now_=False, unique_name_=None, custom_getter_=None, **kwargs):
    if kwargs:
        given = func_

        def func_(*args, **more):
            return given(*args, **dict(kwargs, **more))

    return Template(name_, func_, create_scope_now_, unique_name_, custom_getter_)


