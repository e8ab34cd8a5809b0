"""tensorflow.examples.tutorials.mnist: the digits and the network of the first tutorial."""

from weir.examples.tutorials.mnist import input_data, mnist

__all__ = ["input_data", "mnist"]
