"""Elements of several data sets, and of one in other proportions."""

from weir import _weir
from weir.core import dtypes
from weir.core.graph import convert_to_tensor
from weir.core.op_functions import apply
from weir.core.values import TensorSpec
from weir.data import structure
from weir.data.arguments import flat, seeds
from weir.data.dataset import Dataset
from weir.data.experimental.grouping import scan
from weir.data.readers import parallel_interleave as _parallel_interleave
from weir.ops import array_ops, control_flow_ops, math_ops, random_ops


def parallel_interleave(map_func, cycle_length, block_length=1, sloppy=False, buffer_output_elements=None,
                        prefetch_input_elements=None):
    """The elements of the data sets that ``map_func`` gives, read ahead and in turn."""
    return lambda dataset: _parallel_interleave(dataset, map_func, cycle_length, block_length, sloppy,
                                                buffer_output_elements, prefetch_input_elements)


def sloppy_interleave(map_func, cycle_length, block_length=1):
    return parallel_interleave(map_func, cycle_length, block_length, sloppy=True)


class RandomDataset(Dataset):
    """Random int64 numbers without end."""

    def __init__(self, seed=None):
        self._spec = TensorSpec([], dtypes.int64)
        super().__init__(apply("RandomDataset", seeds(seed), flat(self._spec), None))

    element_spec = property(lambda self: self._spec)


def _directed(selector, datasets):
    first = datasets[0]
    spec = first.element_spec
    for dataset in datasets[1:]:
        if dataset.output_types != first.output_types or dataset.output_classes != first.output_classes:
            raise TypeError("All input datasets must have the same element structure: "
                            f"{first.output_types} and {dataset.output_types}.")
        spec = structure.common(spec, dataset.element_spec)
    variant = apply("DirectedInterleaveDataset", (selector._variant_tensor, [d._variant_tensor for d in datasets]),
                    flat(spec), None)
    return Dataset._make(variant, spec, [selector, *datasets])


def choose_from_datasets(datasets, choice_dataset):
    """Elements of the data sets that ``choice_dataset`` names one after the other, by their numbers."""
    spec = choice_dataset.element_spec
    if not (isinstance(spec, TensorSpec) and spec.dtype == dtypes.int64 and spec.shape.is_compatible_with([])):
        raise TypeError("`choice_dataset` must be a dataset of scalar `tf.int64` tensors.")
    return _directed(choice_dataset, datasets)


def sample_from_datasets(datasets, weights=None, seed=None):
    """Elements of data sets that are drawn with these probabilities."""
    if isinstance(weights, Dataset):
        logits = weights.map(lambda *p: math_ops.log(p, name="logits"))
        selector = Dataset.zip((logits, RandomDataset(seed).batch(2))).map(_draw)
        return _directed(selector, datasets)
    if weights is None:
        logits = [[1.0] * len(datasets)]
    else:
        weights = convert_to_tensor(weights, name="weights")
        if weights.dtype not in (dtypes.float32, dtypes.float64):
            raise TypeError("`weights` must be convertible to a tensor of `tf.float32` or `tf.float64` elements.")
        if not weights.shape.is_compatible_with([len(datasets)]):
            raise ValueError("`weights` must be a vector of length `len(datasets)`.")
        logits = array_ops.expand_dims(math_ops.log(weights, name="logits"), 0)
    if len(datasets) == 1:
        return datasets[0]
    return _directed(RandomDataset(seed).batch(2).map(lambda numbers: _draw(logits, numbers)), datasets)


def _draw(logits, numbers):
    drawn = apply("StatelessMultinomial", (logits, 1, numbers), {}, None)
    return array_ops.squeeze(drawn, axis=[0, 1])


def rejection_resample(class_func, target_dist, initial_dist=None, seed=None):
    """(class, element) with classes in the proportions ``target_dist``, by leaving elements out."""
    def transform(dataset):
        target = convert_to_tensor(target_dist, name="target_dist")
        classes = dataset.map(class_func)
        known = None
        if initial_dist is not None:
            initial = convert_to_tensor(initial_dist, name="initial_dist")
            acceptance, original = _acceptance_with_mixing(initial, target)
            initial_ds = Dataset.from_tensors(initial).repeat()
            acceptance_ds = Dataset.from_tensors(acceptance).repeat()
            original_ds = Dataset.from_tensors(original).repeat()
            values = _weir.constant_value(initial), _weir.constant_value(target)
            if values[0] is not None and values[1] is not None:
                known = (values[1] / values[0]).min()
        else:
            initial_ds = _estimated(target, classes)
            both = initial_ds.map(lambda initial: _acceptance_with_mixing(initial, target))
            acceptance_ds = both.map(lambda acceptance, _: acceptance)
            original_ds = both.map(lambda _, original: original)
        filtered = _filtered(dataset, acceptance_ds, initial_ds, classes, seed).prefetch(3)
        everything = Dataset.zip((classes, dataset))
        if known == 1:
            return everything
        if known == 0:
            return filtered
        return sample_from_datasets([everything, filtered],
                                    weights=original_ds.map(lambda p: [(p, 1.0 - p)]), seed=seed)

    return transform


def _filtered(dataset, acceptance_ds, initial_ds, classes, seed):
    def warn(distribution):
        return control_flow_ops.cond(
            math_ops.less(math_ops.reduce_max(distribution), 0.1),
            lambda: control_flow_ops.Print(distribution, [distribution],
                                           message="Data is highly skewed: acceptance probabilities", first_n=1),
            lambda: array_ops.identity(distribution))

    acceptance_ds = Dataset.zip((acceptance_ds, initial_ds)).map(lambda accept, _: accept).map(warn)
    gathered = Dataset.zip((acceptance_ds, classes)).map(lambda accept, value: (array_ops.gather(accept, value), value))
    kept = Dataset.zip((gathered, dataset)).map(lambda chosen, data: (chosen[0], chosen[1], data))
    drawn = kept.filter(lambda accept, value, data: math_ops.less(random_ops.random_uniform([], seed=seed), accept))
    return drawn.map(lambda accept, value, data: (value, data))


def _estimated(target, classes, smoothing=10):
    """The proportions of classes so far, for every element."""
    count = target.shape[0].value
    begin = array_ops.fill([count], math_ops.cast(smoothing, dtypes.int64))

    def step(counts, value):
        counts = counts + array_ops.one_hot(value, count, dtype=dtypes.int64)
        total = math_ops.reduce_sum(counts)
        return counts, math_ops.cast(counts, dtypes.float32) / math_ops.cast(total, dtypes.float32)

    return classes.apply(scan(begin, step))


def _acceptance_with_mixing(initial, target):
    """How likely an element of each class is kept, and how often one is taken without asking."""
    smallest = dtypes._numpy().finfo(target.dtype.as_numpy_dtype).tiny
    ratio = target / math_ops.maximum(initial, smallest)
    largest = math_ops.reduce_max(ratio)
    original = math_ops.reduce_min(ratio)
    acceptance = (ratio - original) / math_ops.maximum(largest - original, smallest)
    return acceptance, original
