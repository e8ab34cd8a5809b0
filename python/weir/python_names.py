"""Where the names of TensorFlow's inner modules are found in Weir.

MODULES: module below `tensorflow` -> the namespaces of `weir` that are searched for its names, in order ("" is `weir`
itself). A namespace that does not exist is passed over; if none does, the module does not exist.
"""

# fmt: off
_OPS = {
    # tensorflow.python.ops.<key>
    "array_ops": ("", "raw_ops"), "math_ops": ("", "math", "raw_ops"), "nn_ops": ("nn", "", "inner.nn_ops", "raw_ops"),
    "nn": ("nn",), "nn_impl": ("nn", "", "inner.nn_ops", "raw_ops"), "nn_grad": ("nn", ""), "standard_ops": ("",),
    "variables": ("", "inner.variables"), "variable_scope": ("",),
    "resource_variable_ops": ("", "inner.variables", "raw_ops"), "init_ops": ("",
    "initializers"),
    "initializers_ns": ("initializers", ""), "control_flow_ops": ("", "ops.control_flow_ops", "raw_ops"), "gradients": ("",),
    "gradients_impl": ("", "ops.gradients"), "state_ops": ("", "inner.variables", "raw_ops"),
    "random_ops": ("", "random"), "check_ops": ("", "debugging"),
    "clip_ops": ("",), "candidate_sampling_ops": ("nn", "raw_ops"), "confusion_matrix": ("", "math", "ops.confusion_matrix"),
    "constant_op": ("",), "ctc_ops": ("nn", ""), "custom_gradient": ("",), "data_flow_ops": ("", "raw_ops"),
    "embedding_ops": ("nn", "", "inner.nn_ops"), "functional_ops": ("",), "histogram_ops": ("",), "image_ops": ("image",),
    "image_ops_impl": ("image",), "io_ops": ("", "io", "raw_ops"), "linalg_ops": ("", "linalg"),
    "linalg_ns": ("linalg", ""),
    "logging_ops": ("", "summary", "raw_ops"), "lookup_ops": ("tables", "contrib.lookup", "lookup", "", "raw_ops"),
    "losses.losses": ("losses",), "losses.losses_impl": ("losses",), "losses.util": ("losses",), "map_fn": ("",),
    "metrics": ("metrics",), "metrics_impl": ("metrics",), "numerics": ("",), "parsing_ops": ("", "io", "raw_ops"),
    "partitioned_variables": ("",), "resources": ("", "resources"), "rnn": ("nn", ""),
    "rnn_cell": ("nn.rnn_cell", "contrib.rnn"), "rnn_cell_impl": ("nn.rnn_cell", "contrib.rnn"),
    "script_ops": ("",), "sdca_ops": ("train",), "seq2seq": ("contrib.legacy_seq2seq", "nn.seq2seq"),
    "session_ops": ("",), "sets": ("sets",), "sets_impl": ("sets",), "sparse_ops": ("", "sparse", "raw_ops"),
    "special_math_ops": ("",), "spectral_ops": ("", "spectral"), "string_ops": ("", "strings", "raw_ops"),
    "summary_ops": ("summary", ""), "template": ("",), "tensor_array_ops": ("", "raw_ops"), "sort_ops": ("",),
    "weights_broadcast_ops": ("inner.weights_broadcast_ops",), "distributions": ("distributions", "contrib.distributions"),
    "bitwise_ops": ("bitwise",), "gradient_checker": ("test",), "user_ops": ("user_ops", ""),
    **{f"gen_{area}_ops": ("core.op_functions.generated", "raw_ops", "") for area in (
        "array", "candidate_sampling", "control_flow", "ctc", "data_flow", "functional", "image", "io", "linalg",
        "logging",
        "lookup", "math", "nn", "parsing", "random", "resource_variable", "script", "sparse", "spectral", "state",
        "string",
        "summary", "user")},
    **{f"{area}_grad": ("",) for area in (
        "array", "control_flow", "data_flow", "image", "linalg", "math", "random", "sparse", "spectral", "state")},
    "gradient_checker_v2": ("inner.gradient_checker_v2",), "array_ops_stack": ("",), "manip_ops": ("manip", ""),
    "linalg_ops_impl": ("", "linalg"), "linalg.linalg": ("linalg", ""), "linalg.linalg_impl": ("linalg", ""),
    "list_ops": ("raw_ops",), "gen_list_ops": ("core.op_functions.generated", "raw_ops"), "stateless_random_ops": ("random", ""),
    "control_flow_util": ("inner.compatibility", ""), "control_flow_v2_toggles": ("inner.compatibility",),
    "cond_v2": ("",), "while_v2": ("",), "inplace_ops": ("raw_ops",), "gradients_util": ("",),
    "distributions.distribution": ("distributions", "contrib.distributions"),
    "distributions.normal": ("distributions", "contrib.distributions"),
}
_FRAMEWORK = {
    # tensorflow.python.framework.<key>
    "ops": ("", "core.ops"), "dtypes": ("", "dtypes"), "errors": ("errors",), "errors_impl": ("errors",),
    "constant_op": ("",), "common_shapes": ("core.common_shapes",), "tensor_shape": ("", "tensor_shape",
    "core.tensor_shape"),
    "tensor_util": ("", "contrib.util", "core.tensor_util"), "graph_util": ("graph_util",),
    "graph_util_impl": ("graph_util",),
    "graph_io": ("train", ""), "importer": ("",), "function": ("", "core.function"), "random_seed": ("", "random"),
    "sparse_tensor": ("",), "test_util": ("inner.test_util", "test"), "load_library": ("",), "device": ("",
    "core.device"),
    "meta_graph": ("train", "core.meta_graph"), "op_def_library": ("core.op_def_library",), "versions": ("",),
    "framework_lib": ("",), "smart_cond": ("", "contrib.framework"), "tensor_spec": ("",), "indexed_slices": ("",),
    "config": ("config",), "tensor_conversion_registry": ("",), "test_ops": ("raw_ops",),
    "types": ("dtypes",), "registry": ("core.registry",), "op_def_registry": ("core.op_def_registry",),
}
_TRAINING = {
    # tensorflow.python.training.<key>: all of them search train, then these
    "adadelta": (), "adagrad": (), "adagrad_da": (), "adam": (), "basic_loops": (), "basic_session_run_hooks": (),
    "checkpoint_management": (), "checkpoint_utils": (), "coordinator": (), "device_setter": (), "evaluation": (),
    "ftrl": (), "gradient_descent": (), "input": (), "learning_rate_decay": (), "momentum": (), "monitored_session": (),
    "moving_averages": ("moving_averages",), "optimizer": (), "proximal_adagrad": (), "proximal_gradient_descent": (),
    "queue_runner": (), "queue_runner_impl": (), "rmsprop": (), "saver": (), "server_lib": (), "session_manager": (),
    "session_run_hook": (), "slot_creator": ("inner.slot_creator",), "summary_io": ("summary", ""), "supervisor": (),
    "sync_replicas_optimizer": (), "training": (), "training_ops": ("raw_ops",), "training_util": (),
    "gen_training_ops": ("core.op_functions.generated", "raw_ops"),
}

MODULES = {
    **{f"python.ops.{name}": spaces for name, spaces in _OPS.items()},
    # TensorFlow 0.x had them one floor higher as well.
    **{f"python.{name}": spaces for name, spaces in _OPS.items() if name.endswith("_ops")},
    **{f"python.framework.{name}": spaces for name, spaces in _FRAMEWORK.items()},
    **{f"python.training.{name}": ("train", *more) for name, more in _TRAINING.items()},
    "python.platform.app": ("app",), "python.platform.flags": ("flags",), "python.platform.gfile": ("gfile",),
    "python.platform.tf_logging": ("logging",), "python.platform.logging": ("logging",),
    "python.platform.test": ("test",),
    "python.platform.googletest": ("test",), "python.platform.benchmark": ("test",),
    "python.platform.resource_loader": ("resource_loader",), "python.platform.sysconfig": ("sysconfig",),
    "python.platform.default._app": ("app",), "python.platform.default._flags": ("flags",),
    "python.platform.default._gfile": ("gfile",), "python.platform.default._logging": ("logging",),
    "python.client.timeline": ("timeline",), "python.client.device_lib": ("device_lib",), "python.client.session": ("",
    "core.session", "core.devices"),
    "python.client.client_lib": ("",),
    "python.lib.io.file_io": ("file_io",), "python.lib.io.python_io": ("python_io",),
    "python.lib.io.tf_record": ("python_io", "io"),
    "python.util.compat": ("compat",), "python.util.nest": ("nest", "contrib.framework.nest"),
    "python.util.deprecation": ("inner.deprecation",), "python.util.tf_inspect": ("inner.tf_inspect",),
    "python.util.tf_export": ("inner.deprecation",), "python.util.tf_decorator": ("inner.deprecation",),
    "python.util.tf_contextlib": ("inner.deprecation",), "python.util.all_util": ("all_util",),
    "python.compat.compat": ("inner.compatibility",), "python.tf2": ("inner.compatibility",),
    "python.layers.base": ("layers",), "python.layers.core": ("layers",), "python.layers.convolutional": ("layers",),
    "python.layers.normalization": ("layers",), "python.layers.pooling": ("layers",),
    "python.layers.layers": ("layers",),
    "python.layers.utils": ("layers.utils", "layers"),
    "python.summary.summary": ("summary",), "python.summary.summary_iterator": ("train", "summary"),
    "python.summary.event_accumulator": ("event_accumulator",), "python.summary.writer.writer": ("summary",),
    "python.summary.writer.writer_cache": ("summary",), "python.summary.writer.event_file_writer": ("summary",),
    "python.saved_model.builder": ("saved_model.builder",), "python.saved_model.builder_impl": ("saved_model.builder",),
    "python.saved_model.loader": ("saved_model.loader",), "python.saved_model.loader_impl": ("saved_model.loader",),
    "python.saved_model.constants": ("saved_model.constants",), "python.saved_model.main_op": ("saved_model.main_op",),
    "python.saved_model.signature_constants": ("saved_model.signature_constants",),
    "python.saved_model.signature_def_utils": ("saved_model.signature_def_utils",),
    "python.saved_model.tag_constants": ("saved_model.tag_constants",),
    "python.saved_model.utils": ("saved_model.utils",),
    "python.saved_model.simple_save": ("saved_model",),
    "python.tools.freeze_graph": ("tools.freeze_graph",),
    "python.tools.inspect_checkpoint": ("tools.inspect_checkpoint",),
    "python.tools.optimize_for_inference_lib": ("tools.optimize_for_inference_lib",),
    "python.pywrap_tensorflow": ("train", "pywrap_tensorflow", "errors"), "python.eager.context": ("inner.context",),
    "python.data.ops.dataset_ops": ("data",), "python.data.ops.iterator_ops": ("data",), "python.debug": ("debug",),
    "python.user_ops.user_ops": ("user_ops",), "python.keras": ("keras",), "python.estimator.estimator": ("estimator",),
    "python.feature_column.feature_column": ("feature_column",), "python.ops.losses": ("losses",),
    # TensorFlow 0.5 and 0.6 kept the recurrent networks here.
    "models.rnn.rnn": ("inner.models_rnn", "nn", ""), "models.rnn.rnn_cell": ("nn.rnn_cell", "contrib.rnn"),
    "models.rnn.seq2seq": ("contrib.legacy_seq2seq", "nn.seq2seq"), "models.rnn.linear": ("inner.models_rnn",),
    "models.rnn": ("",), "models": ("",),
    "contrib.learn.datasets.mnist": ("examples.tutorials.mnist.input_data",),
    "contrib.learn.python.learn.datasets.mnist": ("examples.tutorials.mnist.input_data",),
    "contrib.learn.python.learn.datasets.base": ("examples.tutorials.mnist.input_data",),
    # Public names that are modules of their own in some releases only.
    "tensorboard.plugins.projector": ("contrib.tensorboard.plugins.projector",),
}

# `tensorflow.python` has the public names as well: programs of 0.x import from it.
MODULES["python"] = ("",)
MODULES["python.ops"] = ("",)
MODULES["python.framework"] = ("",)
MODULES["python.training"] = ("train",)
MODULES["python.platform"] = ("",)
MODULES["python.client"] = ("",)
MODULES["python.util"] = ("",)
MODULES["python.layers"] = ("layers",)
MODULES["python.summary"] = ("summary",)

# Of these packages a module that is not above can be imported all the same, because TensorFlow's own tests and libraries
# import more than they use; whoever uses a name of it is told.
STAND_INS = ("python.autograph", "python.data", "python.debug", "python.distribute", "python.eager", "python.estimator",
             "python.feature_column", "python.grappler", "python.keras", "python.ops.linalg", "python.ops.parallel_for",
             "python.ops.ragged", "python.ops.signal", "python.ops.structured", "python.profiler", "python.tpu",
             "python.training.tracking")

MESSAGE_PACKAGES = {"core", "core.framework", "core.protobuf", "core.util", "core.example", "core.lib"}
MESSAGE_FILES = {
    "allocation_description", "api_def", "attr_value", "checkpoint_state", "cluster", "config", "control_flow",
    "cost_graph",
    "debug", "device_attributes", "event", "example", "feature", "function", "graph", "meta_graph", "named_tensor",
    "node_def",
    "op_def", "queue_runner", "reader_base", "resource_handle", "rewriter_config", "saved_model", "saved_tensor_slice",
    "saver",
    "step_stats", "summary", "tensor", "tensor_bundle", "tensor_description", "tensor_shape", "tensor_slice",
    "tensorflow_server", "types", "variable", "verifier_config", "versions",
}
# fmt: on

# Every folder on the way to a module.
PACKAGES = {".".join(path.split(".")[:depth]) for path in MODULES for depth in range(1, path.count(".") + 1)}
