"""What sessions give for fetched objects of several tensors."""

from collections import namedtuple

IndexedSlicesValue = namedtuple("IndexedSlicesValue", ["values", "indices", "dense_shape"])
SparseTensorValue = namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])
