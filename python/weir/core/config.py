"""What of a ConfigProto reaches the engine."""

import os


def session_options(config):
    """What the extension takes of a ConfigProto."""
    if config is None:
        return {}
    if not hasattr(config, "intra_op_parallelism_threads"):
        raise TypeError(f"config must be a tf.ConfigProto, but got {type(config)}")
    return {
        "intra_op_parallelism_threads": config.intra_op_parallelism_threads,
        "inter_op_parallelism_threads": config.inter_op_parallelism_threads,
        "operation_timeout_in_ms": config.operation_timeout_in_ms,
        "allow_soft_placement": config.allow_soft_placement,
        "log_device_placement": config.log_device_placement,
        "device_count": dict(config.device_count),
        "device_filters": list(config.device_filters),
        "isolate_session_state": config.isolate_session_state,
        "passes_off": _passes_off(config.graph_options),
        **_gpu_options(config.gpu_options),
    }


def _gpu_options(gpu):
    """What is said of the GPUs; 0 means TensorFlow's default."""
    options = {"allow_growth": gpu.allow_growth}
    if gpu.visible_device_list:  # of the process, as in TensorFlow
        os.environ["WEIR_VISIBLE_GPUS"] = gpu.visible_device_list
    if gpu.per_process_gpu_memory_fraction:
        options["gpu_memory_fraction"] = gpu.per_process_gpu_memory_fraction
    limits = [limit for devices in gpu.experimental.virtual_devices for limit in devices.memory_limit_mb]
    if limits:
        options["gpu_memory_limit"] = int(min(limits) * (1 << 20))
    return options


_OFF = 2  # of RewriterConfig.Toggle


def _passes_off(graph_options):
    """Of the fields of PassOptions, those that are switched off."""
    rewrite = graph_options.rewrite_options
    if graph_options.optimizer_options.opt_level < 0 or rewrite.disable_meta_optimizer:  # L0
        return ["all"]
    return [name for switch, names in (
        (rewrite.constant_folding, ["fold_constants"]),
        (rewrite.arithmetic_optimization, ["remove_identities", "share_common_subexpressions"]),
        (rewrite.remapping, ["fuse_bias_activation", "fuse_elementwise"]),
        (rewrite.loop_optimization, ["hoist_invariants"]),
    ) if switch == _OFF for name in names]
