"""tf.contrib.predictor: a SavedModel, or an estimator, as a function of arrays."""

from weir import names as _names
from weir.core.graph import Graph as _Graph
from weir.core.session import Session as _Session
from weir.saved_model import loader as _loader

_DEFAULT_KEY = "serving_default"


class Predictor:
    """``predictor({"x": array})`` gives a dictionary of arrays."""

    graph = property(lambda self: self._graph)
    session = property(lambda self: self._session)
    feed_tensors = property(lambda self: self._feed_tensors)
    fetch_tensors = property(lambda self: self._fetch_tensors)

    def __repr__(self):
        return (f"{type(self).__name__} with feed tensors {self._feed_tensors} and fetch_tensors {self._fetch_tensors}")

    def __call__(self, input_dict):
        """The outputs for these inputs, by their names."""
        unexpected = set(input_dict) - set(self._feed_tensors)
        if unexpected:
            raise ValueError(f"Got unexpected keys in input_dict: {unexpected}\nexpected: {set(self._feed_tensors)}")
        feeds = {self._feed_tensors[key]: value for key, value in input_dict.items()}
        return self._session.run(self._fetch_tensors, feeds)


class SavedModelPredictor(Predictor):
    """A signature of a SavedModel."""

    def __init__(self, export_dir, signature_def_key=None, signature_def=None, input_names=None, output_names=None,
                 tags=None, graph=None, config=None):
        if signature_def_key and signature_def:
            raise ValueError("You must specify at most one of signature_def_key or signature_def.")
        if (input_names is None) != (output_names is None):
            raise ValueError("input_names and output_names must both be specified or both be unspecified.")
        if input_names is not None and (signature_def_key or signature_def):
            raise ValueError("You must specify at most one of signature_def_key, signature_def, or input_names and "
                             "output_names.")
        tags = (tags or "serve").split(",") if isinstance(tags or "", str) else list(tags)
        self._graph = graph or _Graph()
        with self._graph.as_default():
            self._session = _Session(config=config)
            meta_graph = _loader.load(self._session, [tag.strip() for tag in tags], export_dir)
        if input_names is None:
            if signature_def is None:
                key = signature_def_key or _DEFAULT_KEY
                if key not in meta_graph.signature_def:
                    raise ValueError(f"Got signature_def_key \"{key}\". Available signatures are "
                                     f"{sorted(meta_graph.signature_def)}. Original error:\n{key!r}")
                signature_def = meta_graph.signature_def[key]
            input_names = {key: info.name for key, info in signature_def.inputs.items()}
            output_names = {key: info.name for key, info in signature_def.outputs.items()}
        self._feed_tensors = {key: self._graph.get_tensor_by_name(name) for key, name in input_names.items()}
        self._fetch_tensors = {key: self._graph.get_tensor_by_name(name) for key, name in output_names.items()}


class _EstimatorPredictor(Predictor):
    """What an estimator's model function makes for predicting, with the values of its newest checkpoint."""

    def __init__(self, estimator, receiver, spec_of, output_key, graph, config):
        self._graph = graph or _Graph()
        with self._graph.as_default():
            receiver = receiver()
            spec = spec_of(receiver.features)
            sessions = _names.at("weir.train.monitored_session")
            checkpoint = _names.at("weir.train.checkpoints:latest_checkpoint")(estimator.model_dir)
            self._session = sessions.MonitoredSession(sessions.ChiefSessionCreator(
                config=config, checkpoint_filename_with_path=checkpoint))
        tensors = receiver.receiver_tensors
        self._feed_tensors = tensors if isinstance(tensors, dict) else {"input": tensors}
        outputs = (getattr(spec, "export_outputs", None) or {}).get(output_key) if output_key else None
        outputs = getattr(outputs, "outputs", None) or spec.predictions
        self._fetch_tensors = outputs if isinstance(outputs, dict) else {"output": outputs}


def from_saved_model(export_dir, signature_def_key=None, signature_def=None, input_names=None, output_names=None,
                     tags=None, graph=None, config=None):
    """A Predictor for a SavedModel."""
    return SavedModelPredictor(export_dir, signature_def_key, signature_def, input_names, output_names, tags, graph, config)


def from_estimator(estimator, serving_input_receiver_fn, output_key=None, graph=None, config=None):
    """A Predictor for a trained estimator."""
    mode = _names.find("tf.estimator.ModeKeys").PREDICT
    return _EstimatorPredictor(estimator, serving_input_receiver_fn,
                               lambda features: estimator._call_model_fn(features, None, mode, estimator.config),
                               output_key or _DEFAULT_KEY, graph, config)


__getattr__, __dir__ = _names.namespace(__name__)
