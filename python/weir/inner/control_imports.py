"""tensorflow.python.platform.control_imports, of TensorFlow 0.x."""

USE_OSS = True  # the release of TensorFlow that everybody has
