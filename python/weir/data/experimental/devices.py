"""Elements on their way to devices. A step that needs one elsewhere copies it: see docs/devices.md."""

from weir.data.dataset import Dataset


def prefetch_to_device(device, buffer_size=None):
    """Elements made ahead of the steps that take them."""
    return lambda dataset: dataset.prefetch(1 if buffer_size is None else buffer_size)


def copy_to_device(target_device, source_device="/cpu:0"):
    """The elements, for steps on another device."""
    return lambda dataset: Dataset._make(dataset._variant_tensor, dataset.element_spec, [dataset])
