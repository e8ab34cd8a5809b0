"""Runs a TensorFlow 1 program on the TensorFlow of this Python: tensorflow_driver.py PROGRAM [arguments].

Of TensorFlow 2 the program sees `tensorflow.compat.v1` as `tensorflow`, with Weir's reader of MNIST in the place of the
one that TensorFlow 2 has no more.
"""
import importlib.util
import os
import runpy
import sys
import warnings

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
os.environ.setdefault('CUDA_VISIBLE_DEVICES', '')
warnings.simplefilter('ignore')


def take_version_1():
    import tensorflow as tf

    if tf.__version__.startswith('2.'):
        import tensorflow.compat.v1 as tf1

        tf1.disable_v2_behavior()
        sys.modules['tensorflow'] = tf = tf1
        root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        folder = os.path.join(root, 'python', 'weir', 'examples')
        spec = importlib.util.spec_from_file_location('tensorflow.examples', os.path.join(folder, '__init__.py'),
                                                      submodule_search_locations=[folder])
        sys.modules['tensorflow.examples'] = importlib.util.module_from_spec(spec)
    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)


def main():
    take_version_1()
    del sys.argv[0]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    runpy.run_path(sys.argv[0], run_name='__main__')


if __name__ == '__main__':
    main()
