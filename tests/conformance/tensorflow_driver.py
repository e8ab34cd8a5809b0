"""Runs a TensorFlow 1 program on the TensorFlow of this Python: tensorflow_driver.py PROGRAM [arguments].

TensorFlow 2 is given its `tensorflow.compat.v1` as `tensorflow`.
"""
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
        sys.modules['tensorflow'] = tf1
        tf = tf1
    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)


def main():
    take_version_1()
    del sys.argv[0]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    runpy.run_path(sys.argv[0], run_name='__main__')


if __name__ == '__main__':
    main()
