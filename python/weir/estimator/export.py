"""What comes into an exported model, and the signatures and folders of exports."""

import collections
import os
import time

import weir as tf
from weir import logging, names as _names
from weir.estimator import util as _util
from weir.saved_model import signatures

EXPORT_TAG_MAP = {"infer": ["serve"], "train": ["train"], "eval": ["eval"]}
_SINGLE_NAMES = {"feature": "feature", "label": "label", "receiver_tensor": "input",
                 "receiver_tensors_alternative": "input"}


def _checked_tensor(tensor, name, label="feature"):
    if not isinstance(tensor, (tf.Tensor, tf.SparseTensor)):
        raise ValueError(f"{label}{f' {name}' if name else ''} must be a Tensor or SparseTensor.")


def _checked_inputs(tensors, field, allow_ints=False):
    if tensors is None:
        raise ValueError(f"{field}s must be defined.")
    if not isinstance(tensors, dict):
        tensors = {_SINGLE_NAMES[field]: tensors}
    for name, tensor in tensors.items():
        if not isinstance(name, str) and not allow_ints:
            raise ValueError(f"{field} keys must be strings: {name}.")
        if not isinstance(name, (str, int)):
            raise ValueError(f"{field} keys must be strings or ints: {name}.")
        _checked_tensor(tensor, name, field)
    return tensors


_RECEIVER_FIELDS = ["features", "receiver_tensors", "receiver_tensors_alternatives"]


class ServingInputReceiver(collections.namedtuple("ServingInputReceiver", _RECEIVER_FIELDS)):
    """The features of a model and the placeholders that they are made of."""

    def __new__(cls, features, receiver_tensors, receiver_tensors_alternatives=None):
        features = _checked_inputs(features, "feature", allow_ints=True)
        receiver_tensors = _checked_inputs(receiver_tensors, "receiver_tensor")
        if receiver_tensors_alternatives is not None:
            if not isinstance(receiver_tensors_alternatives, dict):
                raise ValueError(f"receiver_tensors_alternatives must be a dict: {receiver_tensors_alternatives}.")
            for name, tensors in receiver_tensors_alternatives.items():
                receiver_tensors_alternatives[name] = _checked_inputs(tensors, "receiver_tensors_alternative")
        return super().__new__(cls, features=features, receiver_tensors=receiver_tensors,
                               receiver_tensors_alternatives=receiver_tensors_alternatives)


class TensorServingInputReceiver(collections.namedtuple("TensorServingInputReceiver", _RECEIVER_FIELDS)):
    """The same for models whose features are one tensor."""

    def __new__(cls, features, receiver_tensors, receiver_tensors_alternatives=None):
        if features is None:
            raise ValueError("features must be defined.")
        _checked_tensor(features, None)
        receiver = ServingInputReceiver(features, receiver_tensors, receiver_tensors_alternatives)
        return super().__new__(cls, features=receiver.features["feature"], receiver_tensors=receiver.receiver_tensors,
                               receiver_tensors_alternatives=receiver.receiver_tensors_alternatives)


class SupervisedInputReceiver(collections.namedtuple("SupervisedInputReceiver",
                                                     ["features", "labels", "receiver_tensors"])):
    """Features and labels, for graphs that train or evaluate."""

    def __new__(cls, features, labels, receiver_tensors):
        _checked_inputs(features, "feature", allow_ints=True)
        _checked_inputs(labels, "label", allow_ints=True)
        return super().__new__(cls, features=features, labels=labels,
                               receiver_tensors=_checked_inputs(receiver_tensors, "receiver_tensor"))


class UnsupervisedInputReceiver(ServingInputReceiver):
    def __new__(cls, features, receiver_tensors):
        return super().__new__(cls, features=features, receiver_tensors=receiver_tensors)


def build_parsing_serving_input_receiver_fn(feature_spec, default_batch_size=None):
    """A receiver of serialised tf.Examples."""

    def serving_input_receiver_fn():
        examples = tf.placeholder(tf.string, shape=[default_batch_size], name="input_example_tensor")
        return ServingInputReceiver(tf.parse_example(examples, feature_spec), {"examples": examples})

    return serving_input_receiver_fn


def _placeholder_like(tensor, batch_size):
    shape = tf.TensorShape([batch_size]).concatenate(tensor.get_shape()[1:])
    return tf.placeholder(tensor.dtype, shape=shape, name=getattr(getattr(tensor, "op", None), "name", None))


def _placeholders_like(tensors, batch_size):
    return {name: _placeholder_like(tensor, batch_size) for name, tensor in tensors.items()}


def build_raw_serving_input_receiver_fn(features, default_batch_size=None):
    """A receiver of the features themselves."""

    def serving_input_receiver_fn():
        placeholders = _placeholders_like(features, default_batch_size)
        return ServingInputReceiver(placeholders, placeholders)

    return serving_input_receiver_fn


def build_raw_supervised_input_receiver_fn(features, labels, default_batch_size=None):
    """A receiver of features and labels."""
    both = (set(features if isinstance(features, dict) else ["input"])
            & set(labels if isinstance(labels, dict) else ["label"]))
    if both:
        raise ValueError(f"Features and labels must have distinct keys. Found overlapping keys: {both}")

    def made(tensors, single_name):
        if isinstance(tensors, dict):
            placeholders = _placeholders_like(tensors, default_batch_size)
            return placeholders, placeholders
        placeholder = _placeholder_like(tensors, default_batch_size)
        return placeholder, {single_name: placeholder}

    def supervised_input_receiver_fn():
        own_features, receivers = made(features, "input")
        own_labels, more = made(labels, "label")
        return SupervisedInputReceiver(own_features, own_labels, {**receivers, **more})

    return supervised_input_receiver_fn


def build_supervised_input_receiver_fn_from_input_fn(input_fn, **input_fn_args):
    with tf.Graph().as_default():
        features, labels, _ = _util.parse_input_fn_result(input_fn(**input_fn_args))
        return build_raw_supervised_input_receiver_fn(features, labels)


def build_all_signature_defs(receiver_tensors, export_outputs, receiver_tensors_alternatives=None, serving_only=True):
    """The signatures of all outputs; what cannot be served is left out and said so."""
    if not isinstance(receiver_tensors, dict):
        receiver_tensors = {"input": receiver_tensors}
    if export_outputs is None or not isinstance(export_outputs, dict):
        raise ValueError(f"export_outputs must be a dict and not{type(export_outputs)}")
    found, left_out = {}, {}

    def add(receivers, prefix):
        receivers = receivers if isinstance(receivers, dict) else {"input": receivers}
        for key, output in export_outputs.items():
            name = f"{prefix}{key or 'None'}"
            try:
                found[name] = output.as_signature_def(receivers)
            except ValueError as error:
                left_out[name] = str(error)

    add(receiver_tensors, "")
    for name, receivers in (receiver_tensors_alternatives or {}).items():
        add(receivers, f"{name or 'None'}:")
    for name, signature in found.items():
        logging.info("Signature %s (%s) is exported", name, signature.method_name)
    for name, reason in left_out.items():
        logging.info("Signature %s is not exported: %s", name, reason)
    if not found:
        logging.warning("Export includes no signatures!")
    elif "serving_default" not in found and serving_only:
        logging.warning("Export includes no default signature!")
    if serving_only:
        found = {name: signature for name, signature in found.items() if signatures.is_valid_signature(signature)}
    return found


def get_timestamped_export_dir(export_dir_base):
    """A folder below the given one that does not exist yet, named by the time in seconds."""
    for _ in range(10):
        path = os.path.join(os.fsencode(export_dir_base), str(int(time.time())).encode())
        if not tf.gfile.Exists(path):
            return path
        time.sleep(1)
    raise RuntimeError("Failed to obtain a unique export directory name after 10 attempts.")


def get_temp_export_dir(timestamped_export_dir):
    """Where an export is written before it gets its name."""
    folder, name = os.path.split(os.fsencode(timestamped_export_dir))
    return os.path.join(folder, b"temp-" + name)


__getattr__, __dir__ = _names.namespace(__name__)
