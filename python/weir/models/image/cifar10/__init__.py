"""tensorflow.models.image.cifar10, the tutorial's package. Importing any part of it defines the flags of cifar10."""

from weir.models.image.cifar10 import cifar10_input  # noqa: F401  isort: skip
from weir.models.image.cifar10 import cifar10  # noqa: F401
