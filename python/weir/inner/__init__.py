"""What TensorFlow's own tests, and libraries written against its insides, import from tensorflow.python."""
