"""tf.data.Options and what it holds. Weir's pipelines need none of the advice: it is kept, checked and merged."""


class _Options:
    """Named values of certain types, None unless set."""

    _types = {}

    def __init__(self):
        object.__setattr__(self, "_values", {})

    def __getattr__(self, name):
        kind = self._types.get(name)
        if kind is None:
            raise AttributeError(f"{type(self).__name__} has no option {name!r}")
        if name not in self._values and issubclass(kind, _Options):
            self._values[name] = kind()
        return self._values.get(name)

    def __setattr__(self, name, value):
        kind = self._types.get(name)
        if kind is None:
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        if value is not None and not isinstance(value, kind):
            raise TypeError(f"Property \"{name}\" must be of type {kind}, got: {value!r} (type: {type(value)!r})")
        self._values[name] = value

    def __eq__(self, other):
        return type(self) is type(other) and all(getattr(self, name) == getattr(other, name) for name in self._types)

    def __ne__(self, other):
        return not self == other

    __hash__ = None

    def merge(self, options):
        """Both, where they do not contradict each other."""
        if type(options) is not type(self):
            raise TypeError("Cannot merge incompatible options.")
        merged = type(self)()
        for name, kind in self._types.items():
            own, other = getattr(self, name), getattr(options, name)
            if issubclass(kind, _Options):
                merged._values[name] = own.merge(other)
            elif own is not None and other is not None and own != other:
                raise ValueError(f"Cannot merge incompatible values of option: {name}")
            else:
                merged._values[name] = other if own is None else own
        return merged


class MapVectorizationOptions(_Options):
    _types = {"enabled": bool, "use_choose_fastest": bool}


_DEFAULTS = ("map_and_batch_fusion", "noop_elimination", "shuffle_and_repeat_fusion")
_OTHERS = ("filter_fusion", "filter_with_random_uniform_fusion", "hoist_random_uniform", "map_and_filter_fusion",
           "map_parallelization", "map_fusion", "parallel_batch")


class OptimizationOptions(_Options):
    _types = {"apply_default_optimizations": bool, "autotune": bool, "autotune_algorithm": int,
              "autotune_cpu_budget": int, "autotune_buffers": bool, "map_vectorization": MapVectorizationOptions,
              **{name: bool for name in _DEFAULTS + _OTHERS}}

    def _static_optimizations(self):
        wanted = {name for name in _DEFAULTS + _OTHERS if getattr(self, name)}
        if self.apply_default_optimizations is not False:
            wanted |= {name for name in _DEFAULTS if getattr(self, name) is not False}
        return sorted(wanted)


class ThreadingOptions(_Options):
    _types = {"max_intra_op_parallelism": int, "private_threadpool_size": int}


class StatsOptions(_Options):
    _types = {"aggregator": object, "prefix": str, "counter_prefix": str, "latency_all_edges": bool}


class DistributeOptions(_Options):
    _types = {"auto_shard": bool, "_make_stateless": bool, "num_devices": int}


class Options(_Options):
    _types = {"experimental_deterministic": bool, "experimental_distribute": DistributeOptions,
              "experimental_optimization": OptimizationOptions, "experimental_slack": bool,
              "experimental_stats": StatsOptions, "experimental_threading": ThreadingOptions,
              "experimental_stateful_whitelist": list}

    def _static_optimizations(self):
        names = self.experimental_optimization._static_optimizations()
        if self.experimental_deterministic is False:
            names.append("make_sloppy")
        if self.experimental_slack:
            names.append("slack")
        return names
