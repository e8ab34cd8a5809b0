"""tensorflow.python.util.tf_should_use: TensorFlow warns of results that nobody uses; here they are left alone."""


def should_use_result(function):
    return function


must_use_result_or_fatal = should_use_result
