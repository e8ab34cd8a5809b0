"""What experiments ask of estimators: a program's own class derives from these."""

import abc


class Trainable(abc.ABC):
    """Can be trained."""

    @abc.abstractmethod
    def fit(self, x=None, y=None, input_fn=None, steps=None, batch_size=None, monitors=None, max_steps=None):
        raise NotImplementedError


class Evaluable(abc.ABC):
    """Can be evaluated."""

    model_dir = property(lambda self: None)

    @abc.abstractmethod
    def evaluate(self, x=None, y=None, input_fn=None, feed_fn=None, batch_size=None, steps=None, metrics=None, name=None,
                 checkpoint_path=None, hooks=None):
        raise NotImplementedError
