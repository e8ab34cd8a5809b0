"""tf.data.Dataset. Every method makes one node of a pipeline, in TensorFlow's names."""

import os

from weir import _weir
from weir.core import dtypes, stack
from weir.core.graph import colocate_with, control_dependencies, convert_to_tensor, name_scope
from weir.core.op_functions import apply
from weir.core.tensor_shape import TensorShape, dimension_value
from weir.core.values import TensorSpec
from weir.data import generator as _generator, nest, padding, structure
from weir.data.arguments import flat, int64_argument, known_batch, seeds
from weir.data.function import TracedFunction, node_with
from weir.data.iterators import Iterator, _as_list
from weir.data.options import Options
from weir.ops import array_ops, control_flow_ops, math_ops
from weir.ops.sparse_ops import SparseTensor

AUTOTUNE = -1
_MAX_INT64 = (1 << 63) - 1


class Dataset:
    """A potentially large set of elements, as a description of how they are made."""

    def __init__(self, variant_tensor=None):
        if variant_tensor is None:  # of a class of the program, as TensorFlow 1 has them
            variant_tensor = self._as_variant_tensor()
        self._variant_tensor = variant_tensor
        self._graph = stack.get_default_graph()

    def _as_variant_tensor(self):
        raise NotImplementedError("Dataset._as_variant_tensor")

    @classmethod
    def _make(cls, variant, spec, inputs=(), options=None):
        """A data set of elements ``spec`` that its node describes."""
        dataset = _NodeDataset.__new__(_NodeDataset)
        dataset._spec, dataset._input_datasets, dataset._own_options = spec, list(inputs), options
        Dataset.__init__(dataset, variant)
        return dataset

    @classmethod
    def _of_variant(cls, variant, spec):
        return cls._make(variant, spec)

    def _unary(self, op, arguments, spec=None, **attrs):
        spec = self.element_spec if spec is None else spec
        return self._make(apply(op, (self._variant_tensor, *arguments), {**attrs, **flat(spec)}, None), spec, [self])

    def _value_spec(self):
        return structure.DatasetSpec(self.element_spec)

    def _inputs(self):
        return []

    @property
    def element_spec(self):
        # Classes of programs may say it in the old way.
        return structure.from_legacy(self.output_types, self.output_shapes, self.output_classes)

    @property
    def output_types(self):
        return structure.types(self.element_spec)

    @property
    def output_shapes(self):
        return structure.shapes(self.element_spec)

    @property
    def output_classes(self):
        return structure.classes(self.element_spec)

    def __repr__(self):
        shapes = str(nest.map_structure(str, self.output_shapes)).replace("'", "")
        types = str(nest.map_structure(repr, self.output_types)).replace("'", "")
        return f"<{type(self).__name__} shapes: {shapes}, types: {types}>"

    def __iter__(self):
        raise RuntimeError("__iter__() is only supported inside of tf.function or when eager execution is enabled.")

    # ---- Iterators and options.

    def options(self):
        options = Options()
        for dataset in self._inputs():
            options = options.merge(dataset.options())
        return options

    def with_options(self, options):
        return self._make(self._variant_tensor, self.element_spec, [self], options)

    def _apply_options(self):
        return self._with_advice(self.options())

    def _with_advice(self, options):
        """The data set with the nodes that tell TensorFlow's executor what options say."""
        dataset = self
        threading = options.experimental_threading
        if threading.max_intra_op_parallelism is not None:
            dataset = dataset._unary("MaxIntraOpParallelismDataset", [
                int64_argument(threading.max_intra_op_parallelism, "max_intra_op_parallelism")])
        if threading.private_threadpool_size is not None:
            dataset = dataset._unary("PrivateThreadPoolDataset", [
                int64_argument(threading.private_threadpool_size, "num_threads")])
        optimizations = options._static_optimizations()
        if optimizations:
            dataset = dataset._unary("OptimizeDataset", [
                convert_to_tensor(optimizations, dtype=dtypes.string, name="optimizations")])
        advice = options.experimental_optimization
        if advice.autotune is not False:
            dataset = dataset._unary("ModelDataset", [], algorithm=advice.autotune_algorithm or 0,
                                     cpu_budget=advice.autotune_cpu_budget or 0)
        stats = options.experimental_stats
        if stats.aggregator is not None:
            if stats.latency_all_edges:
                raise NotImplementedError("StatsOptions.latency_all_edges: put latency_stats(tag) where it is wanted")
            dataset = dataset._unary("SetStatsAggregatorDataset", [
                stats.aggregator._resource, stats.prefix or "", stats.counter_prefix or ""])
        return dataset

    def make_one_shot_iterator(self):
        """An iterator that begins by itself and cannot begin again."""
        return self._make_one_shot_iterator()

    def _make_one_shot_iterator(self):
        try:
            factory = _weir.copy_into_function(
                self._variant_tensor, "_make_dataset",
                lambda copy: self._of_variant(copy, self.element_spec)._with_advice(self.options())._variant_tensor)
        except ValueError as error:
            if "Cannot capture a stateful node" not in str(error):
                raise
            raise ValueError("Failed to create a one-shot iterator for a dataset. `Dataset.make_one_shot_iterator()` does "
                             "not support datasets that capture stateful objects, such as a `Variable` or `LookupTable`. "
                             "In these cases, use `Dataset.make_initializable_iterator()`. (Original error: "
                             f"{error})") from None
        resource = apply("OneShotIterator", (), {"dataset_factory": factory, **flat(self.element_spec)}, None)
        return Iterator._of(resource, None, self.element_spec)

    def make_initializable_iterator(self, shared_name=None):
        """An iterator that begins when ``iterator.initializer`` runs."""
        return self._make_initializable_iterator(shared_name)

    def _make_initializable_iterator(self, shared_name=None):
        dataset = self._apply_options()
        resource = apply("IteratorV2", (), {"container": "", "shared_name": shared_name or "",
                                            **flat(self.element_spec)}, None)
        with colocate_with(resource):
            initializer = apply("MakeIterator", (dataset._variant_tensor, resource), {}, None)
        return Iterator._of(resource, initializer, self.element_spec)

    # ---- Where elements come from.

    @staticmethod
    def from_tensors(tensors):
        """One element: ``tensors``."""
        element = structure.normalize_element(tensors)
        spec = structure.spec_of(element)
        return Dataset._make(apply("TensorDataset", (structure.to_tensors(spec, element),),
                                   {"output_shapes": structure.flat_shapes(spec)}, None), spec)

    @staticmethod
    def from_tensor_slices(tensors):
        """The rows of ``tensors``."""
        element = structure.normalize_element(tensors)
        batched = structure.spec_of(element)
        components = structure.to_batched_tensors(batched, element)
        if not components:
            raise ValueError("Invalid `tensors`. `tensors` should not be empty.")
        spec = structure.unbatched(batched)
        rows = components[0].shape[0]
        for component in components[1:]:
            if component.shape.ndims is not None:
                _assert_compatible(rows, component.shape[0])
        return Dataset._make(apply("TensorSliceDataset", (components,), {"output_shapes": structure.flat_shapes(spec)},
                                   None), spec)

    @staticmethod
    def from_sparse_tensor_slices(sparse_tensor):
        """The rows of a SparseTensor as (indices, values, dense shape)."""
        if not isinstance(sparse_tensor, SparseTensor):
            raise TypeError(f"`sparse_tensor` must be a `tf.SparseTensor` object. Was {sparse_tensor}.")
        rank = sparse_tensor.shape.ndims
        rank = None if rank is None else rank - 1
        spec = (TensorSpec([None, rank], dtypes.int64), TensorSpec([None], sparse_tensor.dtype),
                TensorSpec([rank], dtypes.int64))
        return Dataset._make(apply("SparseTensorSliceDataset", (sparse_tensor.indices, sparse_tensor.values,
                                                                sparse_tensor.dense_shape), {}, None), spec)

    @staticmethod
    def from_generator(generator, output_types, output_shapes=None, args=None):
        """What ``iter(generator(*args))`` gives, a new one for every iteration."""
        return _generator.from_generator(Dataset, generator, output_types, output_shapes, args)

    @staticmethod
    def range(*args):
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Invalid arguments to RangeDataset: {args}")
        start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
        arguments = [int64_argument(v, name) for v, name in ((start, "start"), (stop, "stop"), (step, "step"))]
        spec = TensorSpec([], dtypes.int64)
        return Dataset._make(apply("RangeDataset", tuple(arguments), flat(spec), None), spec)

    @staticmethod
    def zip(datasets):
        """The elements of a nest of data sets, as one nest."""
        parts = nest.flatten(datasets)
        for part in parts:
            if not isinstance(part, Dataset):
                message = "The argument to `Dataset.zip()` must be a nested structure of `Dataset` objects."
                if isinstance(part, list):
                    message += " Nested structures do not support Python lists; please use a tuple instead."
                raise TypeError(message)
        spec = nest.pack_sequence_as(datasets, [part.element_spec for part in parts])
        return Dataset._make(apply("ZipDataset", ([part._variant_tensor for part in parts],), flat(spec), None), spec,
                             parts)

    @staticmethod
    def list_files(file_pattern, shuffle=None, seed=None):
        """The names of the files that match."""
        with name_scope("list_files"):
            file_pattern = convert_to_tensor(file_pattern, dtype=dtypes.string, name="file_pattern")
            files = apply("MatchingFiles", (file_pattern,), {}, None)
            found = math_ops.greater(array_ops.shape(files)[0], 0, name="match_not_empty")
            check = control_flow_ops.Assert(found, ["No files matched pattern: ", file_pattern], summarize=1,
                                            name="assert_not_empty")
            with control_dependencies([check]):
                files = array_ops.identity(files)
            dataset = Dataset.from_tensor_slices(files)
            if shuffle is None or shuffle:
                size = math_ops.maximum(array_ops.shape(files, out_type=dtypes.int64)[0], 1)
                dataset = dataset.shuffle(size, seed=seed)
            return dataset

    # ---- What is made of them.

    def concatenate(self, dataset):
        mine, other = self.output_types, dataset.output_types
        if mine != other:
            raise TypeError(f"Two datasets to concatenate have different types {mine} and {other}")
        if self.output_classes != dataset.output_classes:
            raise TypeError(f"Two datasets to concatenate have different classes {self.output_classes} and "
                            f"{dataset.output_classes}")
        spec = structure.common(self.element_spec, dataset.element_spec)
        return self._make(apply("ConcatenateDataset", (self._variant_tensor, dataset._variant_tensor), flat(spec), None),
                          spec, [self, dataset])

    def prefetch(self, buffer_size):
        return self._unary("PrefetchDataset", [int64_argument(buffer_size, "buffer_size", -1)])

    def repeat(self, count=None):
        return self._unary("RepeatDataset", [int64_argument(count, "count", -1)])

    def take(self, count):
        return self._unary("TakeDataset", [int64_argument(count, "count")])

    def skip(self, count):
        return self._unary("SkipDataset", [int64_argument(count, "count")])

    def shard(self, num_shards, index):
        return self._unary("ShardDataset", [int64_argument(num_shards, "num_shards"), int64_argument(index, "index")])

    def cache(self, filename=""):
        return self._unary("CacheDataset", [convert_to_tensor(filename, dtype=dtypes.string, name="filename")])

    def shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=None):
        size = int64_argument(buffer_size, "buffer_size")
        return self._unary("ShuffleDataset", [size, *seeds(seed)],
                           reshuffle_each_iteration=reshuffle_each_iteration is None or bool(reshuffle_each_iteration))

    def enumerate(self, start=0):
        return Dataset.zip((Dataset.range(start, _MAX_INT64), self))

    def batch(self, batch_size, drop_remainder=False):
        size = int64_argument(batch_size, "batch_size")
        drop = convert_to_tensor(drop_remainder, dtype=dtypes.bool, name="drop_remainder")
        spec = structure.batched(self.element_spec, known_batch(size, drop))
        return self._unary("BatchDatasetV2", [size, drop], spec)

    def padded_batch(self, batch_size, padded_shapes, padding_values=None, drop_remainder=False):
        return padding.padded_batch(self, batch_size, padded_shapes, padding_values, drop_remainder)

    def unbatch(self):
        """The rows of every element as elements."""
        spec, dataset = structure.unbatched(self.element_spec), self
        # The parts of a sparse tensor are cut into rows first, so that every component has them.
        if any(not isinstance(leaf, TensorSpec) for leaf in nest.flatten(self.element_spec)):
            def rows(*element):
                element = element if type(self.element_spec) is tuple else element[0]
                return tuple(structure.to_batched_tensors(self.element_spec, element))

            dataset = self.map(rows)
        return dataset._unary("UnbatchDataset", [], spec)

    def window(self, size, shift=None, stride=1, drop_remainder=False):
        arguments = [int64_argument(size, "size"), int64_argument(size if shift is None else shift, "shift"),
                     int64_argument(stride, "stride"),
                     convert_to_tensor(drop_remainder, dtype=dtypes.bool, name="drop_remainder")]
        leaves = [structure.DatasetSpec(leaf) for leaf in nest.flatten(self.element_spec)]
        return self._unary("WindowDataset", arguments, nest.pack_sequence_as(self.element_spec, leaves))

    def _traced(self, func, transformation):
        return TracedFunction(func, f"Dataset.{transformation}()", self.element_spec)

    def map(self, map_func, num_parallel_calls=None):
        f = self._traced(map_func, "map")
        attrs = {"f": f.name, **flat(f.output_spec)}
        if num_parallel_calls is None:
            variant = f.node("MapDataset", (self._variant_tensor, f.captured), attrs)
        else:
            calls = convert_to_tensor(num_parallel_calls, dtype=dtypes.int32, name="num_parallel_calls")
            variant = f.node("ParallelMapDataset", (self._variant_tensor, f.captured, calls), attrs)
        return self._make(variant, f.output_spec, [self])

    map_with_legacy_function = map

    def filter(self, predicate):
        f = self._traced(predicate, "filter")
        _require_bool(f)
        variant = f.node("FilterDataset", (self._variant_tensor, f.captured),
                         {"predicate": f.name, **flat(self.element_spec)})
        return self._make(variant, self.element_spec, [self])

    filter_with_legacy_function = filter

    def flat_map(self, map_func):
        f = self._traced(map_func, "flat_map")
        spec = inner_spec(f)
        variant = f.node("FlatMapDataset", (self._variant_tensor, f.captured), {"f": f.name, **flat(spec)})
        return self._make(variant, spec, [self])

    def interleave(self, map_func, cycle_length=AUTOTUNE, block_length=1, num_parallel_calls=None):
        f = self._traced(map_func, "interleave")
        spec = inner_spec(f)
        if cycle_length == AUTOTUNE and num_parallel_calls is None:
            cycle_length = os.cpu_count() or 1
        cycle, block = int64_argument(cycle_length, "cycle_length"), int64_argument(block_length, "block_length")
        attrs = {"f": f.name, **flat(spec)}
        if num_parallel_calls is None:
            variant = f.node("InterleaveDataset", (self._variant_tensor, f.captured, cycle, block), attrs)
        else:
            calls = int64_argument(num_parallel_calls, "num_parallel_calls")
            variant = f.node("ParallelInterleaveDatasetV2", (self._variant_tensor, f.captured, cycle, block, calls), attrs)
        return self._make(variant, spec, [self])

    def reduce(self, initial_state, reduce_func):
        """The last state: ``reduce_func(state, element)`` of every element gives the next."""
        with name_scope("initial_state"):
            initial_state = structure.normalize_element(initial_state)
        state_spec = structure.spec_of(initial_state)
        f, state_spec = stateful_function(reduce_func, "Dataset.reduce()", state_spec, self.element_spec,
                                          lambda spec: (spec, None))
        result = node_with([f], "ReduceDataset", (self._variant_tensor, structure.to_tensors(state_spec, initial_state),
                                                  f.captured), {"f": f.name, **flat(state_spec)})
        return structure.from_tensors(state_spec, _as_list(result))

    def apply(self, transformation_func):
        dataset = transformation_func(self)
        if not isinstance(dataset, Dataset):
            raise TypeError(f"`transformation_func` must return a Dataset. Got {dataset}.")
        return dataset


class _NodeDataset(Dataset):
    """One that a node describes."""

    element_spec = property(lambda self: self._spec)

    def _inputs(self):
        return self._input_datasets

    def options(self):
        options = super().options()
        return options if self._own_options is None else options.merge(self._own_options)


_NodeDataset.__name__ = _NodeDataset.__qualname__ = "DatasetV1Adapter"  # as TensorFlow 1.15 prints them
structure._dataset_class.append(Dataset)


def inner_spec(function):
    """What the data sets that a function gives have as elements."""
    if not isinstance(function.output_spec, structure.DatasetSpec):
        raise TypeError(f"`map_func` must return a `Dataset` object. Got {type(function.output_spec)}")
    return function.output_spec._element_spec


def stateful_function(func, transformation, state_spec, element_spec, parts):
    """``func(state, element)``, traced until it gives states of the shape that it gets.

    ``parts`` takes the specification of what it gives apart, into that of the state and another. Gives the function and
    the specification of the state that holds in every step.
    """
    while True:
        f = TracedFunction(func, transformation, (state_spec, element_spec))
        try:
            given, _ = parts(f.output_spec)
            nest.assert_same_structure(state_spec, given, check_types=False)
        except (TypeError, ValueError):
            raise TypeError(f"The element structure for the new state must match the initial state. Expected "
                            f"{state_spec}; got {f.output_spec}.") from None
        if structure.classes(given) != structure.classes(state_spec):
            raise TypeError(f"The element classes for the new state must match the initial state. Expected "
                            f"{structure.classes(state_spec)}; got {structure.classes(given)}.")
        if structure.types(given) != structure.types(state_spec):
            raise TypeError(f"The element types for the new state must match the initial state. Expected "
                            f"{structure.types(state_spec)}; got {structure.types(given)}.")
        relaxed = structure.common(state_spec, given)
        if structure.flat_shapes(relaxed) == structure.flat_shapes(state_spec) or _same_shapes(relaxed, state_spec):
            return f, state_spec
        state_spec = relaxed


def _same_shapes(first, second):
    def sizes(spec):
        return [None if shape.ndims is None else shape.as_list() for shape in structure.flat_shapes(spec)]

    return sizes(first) == sizes(second)


def _require_bool(function):
    spec = function.output_spec
    if not (isinstance(spec, TensorSpec) and spec.is_compatible_with(TensorSpec([], dtypes.bool))):
        raise ValueError("`predicate` return type must be convertible to a scalar boolean tensor. Was "
                         f"{function.output_spec}.")


def _assert_compatible(first, second):
    a, b = dimension_value(first), dimension_value(second)
    if a is not None and b is not None and a != b:
        raise ValueError(f"Dimensions {a} and {b} are not compatible")


def make_one_shot_iterator(dataset):
    return dataset._make_one_shot_iterator()


def make_initializable_iterator(dataset, shared_name=None):
    return dataset._make_initializable_iterator(shared_name)


def get_structure(dataset_or_iterator):
    try:
        return dataset_or_iterator.element_spec
    except AttributeError:
        raise TypeError("`dataset_or_iterator` must be a Dataset or Iterator object, but got "
                        f"{type(dataset_or_iterator)}.") from None


def get_legacy_output_types(dataset_or_iterator):
    return structure.types(get_structure(dataset_or_iterator))


def get_legacy_output_shapes(dataset_or_iterator):
    return structure.shapes(get_structure(dataset_or_iterator))


def get_legacy_output_classes(dataset_or_iterator):
    return structure.classes(get_structure(dataset_or_iterator))


def from_variant(variant, structure):
    return Dataset._of_variant(variant, structure)


def to_variant(dataset):
    return dataset._variant_tensor
