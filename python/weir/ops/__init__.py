"""Functions that build graphs: TensorFlow's names, argument orders and defaults over the C++ API."""
