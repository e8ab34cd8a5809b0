"""Items of a data set as tensors."""

import abc


class DataProvider(abc.ABC):
    def __init__(self, items_to_tensors, num_samples):
        self._items_to_tensors, self._num_samples = items_to_tensors, num_samples

    def get(self, items):
        self._validate_items(items)
        return [self._items_to_tensors[item] for item in items]

    def list_items(self):
        return self._items_to_tensors.keys()

    def num_samples(self):
        return self._num_samples

    def _validate_items(self, items):
        if not isinstance(items, (list, tuple)):
            raise ValueError("items must be a list or tuple")
        for item in items:
            if item not in self._items_to_tensors:
                raise ValueError(f"Item [{item}] is invalid. Valid entries include: {self.list_items()}")
