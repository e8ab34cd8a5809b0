"""tf.profiler.profile: parameters and floating-point operations of a graph, by scope, by operation or by line."""

import math
import re

import weir as tf
from weir.profiler.flops import _float_operations

TRAINABLE_VARIABLES = "_trainable_variables"


class ProfileOptionBuilder:
    """Options of a profile. The settings that only pick and order what is printed are kept as they are."""

    def __init__(self, options=None):
        self._options = dict(options) if options is not None else {
            "max_depth": 100, "min_bytes": 0, "min_micros": 0, "min_params": 0, "min_float_ops": 0, "min_occurrence": 0,
            "order_by": "name", "account_type_regexes": [".*"], "start_name_regexes": [".*"], "trim_name_regexes": [],
            "show_name_regexes": [".*"], "hide_name_regexes": [], "account_displayed_op_only": False,
            "select": ["micros"], "step": -1, "output": "stdout"}

    @staticmethod
    def trainable_variables_parameter():
        return {**ProfileOptionBuilder()._options, "max_depth": 10000, "account_type_regexes": [TRAINABLE_VARIABLES],
                "select": ["params"]}

    @staticmethod
    def float_operation():
        return {**ProfileOptionBuilder()._options, "max_depth": 10000, "min_float_ops": 1, "order_by": "float_ops",
                "select": ["float_ops"]}

    @staticmethod
    def time_and_memory(min_micros=1, min_bytes=1, min_accelerator_micros=0, min_cpu_micros=0, min_peak_bytes=0,
                        min_residual_bytes=0, min_output_bytes=0):
        return {**ProfileOptionBuilder()._options, "max_depth": 10000, "min_micros": min_micros, "min_bytes": min_bytes,
                "order_by": "micros", "select": ["micros", "bytes"]}

    def build(self):
        return dict(self._options)

    def _set(self, **changes):
        self._options.update(changes)
        return self

    def with_max_depth(self, max_depth):
        return self._set(max_depth=max_depth)

    def with_min_memory(self, min_bytes=0, min_peak_bytes=0, min_residual_bytes=0, min_output_bytes=0):
        return self._set(min_bytes=min_bytes)

    def with_min_execution_time(self, min_micros=0, min_accelerator_micros=0, min_cpu_micros=0):
        return self._set(min_micros=min_micros)

    def with_min_parameters(self, min_params):
        return self._set(min_params=min_params)

    def with_min_occurrence(self, min_occurrence):
        return self._set(min_occurrence=min_occurrence)

    def with_min_float_operations(self, min_float_ops):
        return self._set(min_float_ops=min_float_ops)

    def with_accounted_types(self, account_type_regexes):
        return self._set(account_type_regexes=list(account_type_regexes))

    def with_node_names(self, start_name_regexes=None, show_name_regexes=None, hide_name_regexes=None,
                        trim_name_regexes=None):
        given = {"start_name_regexes": start_name_regexes, "show_name_regexes": show_name_regexes,
                 "hide_name_regexes": hide_name_regexes, "trim_name_regexes": trim_name_regexes}
        return self._set(**{key: list(value) for key, value in given.items() if value is not None})

    def account_displayed_op_only(self, is_true):
        return self._set(account_displayed_op_only=is_true)

    def with_empty_output(self):
        return self._set(output="none")

    def with_stdout_output(self):
        return self._set(output="stdout")

    def with_file_output(self, outfile):
        return self._set(output=f"file:outfile={outfile}")

    def with_timeline_output(self, timeline_file):
        return self._set(output=f"timeline:outfile={timeline_file}")

    def with_pprof_output(self, pprof_file):
        return self._set(output=f"pprof:outfile={pprof_file}")

    def order_by(self, attribute):
        return self._set(order_by=attribute)

    def select(self, attributes):
        return self._set(select=list(attributes))

    def with_step(self, step):
        return self._set(step=step)


class GraphNodeProto:
    """A scope or an operation, with what is below it."""

    def __init__(self, name):
        self.name, self.children = name, []
        self.float_ops = self.total_float_ops = self.parameters = self.total_parameters = 0
        self.exec_micros = self.total_exec_micros = self.requested_bytes = self.total_requested_bytes = 0
        self.run_count = self.total_run_count = self.total_definition_count = 0

    def _add(self, path, float_ops, parameters, full):
        self.total_float_ops += float_ops
        self.total_parameters += parameters
        self.total_definition_count += 1
        if not path:
            self.float_ops, self.parameters = self.float_ops + float_ops, self.parameters + parameters
            return
        full = f"{full}/{path[0]}" if full else path[0]
        child = next((child for child in self.children if child.name == full), None)
        if child is None:
            child = GraphNodeProto(full)
            self.children.append(child)
        child._add(path[1:], float_ops, parameters, full)

    def _lines(self, options, depth=0):
        if depth > options["max_depth"]:
            return
        values = []
        if "params" in options["select"]:
            values.append(f"{self.parameters}/{self.total_parameters} params")
        if "float_ops" in options["select"]:
            values.append(f"{self.float_ops}/{self.total_float_ops} flops")
        hidden = (self.total_parameters < options["min_params"] or self.total_float_ops < options["min_float_ops"]
                  or "params" in options["select"] and not self.total_parameters)
        if depth == 0 or not hidden:
            yield f"{'  ' * depth}{self.name} ({', '.join(values)})"
            order = {"float_ops": lambda child: -child.total_float_ops, "params": lambda child: -child.total_parameters}
            for child in sorted(self.children, key=order.get(options["order_by"], lambda child: child.name)):
                yield from child._lines(options, depth + 1)


MultiGraphNodeProto = GraphNodeProto


def _accounted(operation, trainable, types):
    own = [operation.type, operation.device or ""]
    if operation.name in trainable:
        own.append(TRAINABLE_VARIABLES)
    return any(re.fullmatch(pattern, kind) for pattern in types for kind in own)


def profile(graph=None, run_meta=None, op_log=None, cmd="scope", options=None):
    """What the nodes of a graph count for, summed over scopes (or types of operations); printed, and given as a tree."""
    graph = tf.get_default_graph() if graph is None else graph
    options = {**ProfileOptionBuilder()._options, **(options or {})}
    trainable = {variable.op.name: variable for variable in graph.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES)}
    root = GraphNodeProto("_TFProfRoot")
    for operation in graph.get_operations():
        if not _accounted(operation, trainable, options["account_type_regexes"]):
            continue
        variable = trainable.get(operation.name)
        shape = variable.get_shape() if variable is not None else None
        parameters = math.prod(shape.as_list()) if shape is not None and shape.is_fully_defined() else 0
        path = [operation.type] if cmd == "op" else operation.name.split("/") if cmd != "graph" else [operation.name]
        root._add(path, _float_operations(operation), parameters, "")
    _write("\n".join(root._lines(options)), options["output"])
    return root


def _write(text, output):
    if output == "stdout":
        print(text)
    elif output.startswith("file:outfile="):
        with tf.gfile.GFile(output[len("file:outfile="):], "w") as file:
            file.write(text + "\n")


def advise(graph=None, run_meta=None, options=None):
    raise NotImplementedError("tf.profiler.advise is not in Weir; `weir run --profile` shows where the time goes.")


class Profiler:
    """Profiles of several steps of a graph."""

    def __init__(self, graph=None, op_log=None):
        self._graph, self._steps = tf.get_default_graph() if graph is None else graph, []

    def add_step(self, step, run_meta):
        self._steps.append(step)

    def profile_operations(self, options):
        return profile(self._graph, cmd="op", options=options)

    def profile_name_scope(self, options):
        return profile(self._graph, cmd="scope", options=options)

    def profile_graph(self, options):
        return profile(self._graph, cmd="graph", options=options)

    profile_python = profile_name_scope


# tf.contrib.tfprof, of before TensorFlow 1.3.

TRAINABLE_VARS_PARAMS_STAT_OPTIONS = ProfileOptionBuilder.trainable_variables_parameter()
FLOAT_OPS_OPTIONS = ProfileOptionBuilder.float_operation()
PRINT_ALL_TIMING_MEMORY = ProfileOptionBuilder.time_and_memory()


def print_model_analysis(graph, run_meta=None, op_log=None, tfprof_cmd="scope",
                         tfprof_options=TRAINABLE_VARS_PARAMS_STAT_OPTIONS):
    options = dict(tfprof_options)
    if "dump_to_file" in options:
        options["output"] = f"file:outfile={options['dump_to_file']}" if options["dump_to_file"] else "stdout"
    return profile(graph, run_meta, op_log, tfprof_cmd, options)
