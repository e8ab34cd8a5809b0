"""Warm starts: variables that begin with the values of another model's, also where its vocabulary was another."""

import collections

import numpy as np

from weir import logging
from weir.core.graph import GraphKeys, convert_to_tensor, get_collection
from weir.core.variables import PartitionedVariable, Variable
from weir.gfile import GFile
from weir.ops import state_ops
from weir.train.checkpoints import init_from_checkpoint, load_checkpoint


class VocabInfo(collections.namedtuple("VocabInfo", [
        "new_vocab", "new_vocab_size", "num_oov_buckets", "old_vocab", "old_vocab_size", "backup_initializer", "axis"])):
    """The vocabulary files of a variable, before and now; ``axis`` is that of the vocabulary."""

    def __new__(cls, new_vocab, new_vocab_size, num_oov_buckets, old_vocab, old_vocab_size=-1, backup_initializer=None,
                axis=0):
        if axis not in (0, 1):
            raise ValueError(f"The only supported values for the axis argument are 0 and 1.  Provided axis: {axis}")
        return super().__new__(cls, new_vocab, new_vocab_size, num_oov_buckets, old_vocab, old_vocab_size,
                               backup_initializer, axis)


def _name(variable):
    info = getattr(variable, "_save_slice_info", None)
    return info.full_name if info else variable.op.name


def _grouped(vars_to_warm_start):
    """{name: the variable, or its parts}"""
    if isinstance(vars_to_warm_start, str) or vars_to_warm_start is None:
        logging.info("Warm-starting variables only in TRAINABLE_VARIABLES.")
        found = get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=vars_to_warm_start)
    elif not isinstance(vars_to_warm_start, list):
        raise ValueError(f"`vars_to_warm_start must be a `list` or `str`.  Given type is {type(vars_to_warm_start)}")
    elif all(isinstance(part, str) for part in vars_to_warm_start):
        found = [variable for part in vars_to_warm_start
                 for variable in get_collection(GraphKeys.GLOBAL_VARIABLES, scope=part)]
    elif all(isinstance(part, (Variable, PartitionedVariable)) for part in vars_to_warm_start):
        found = [variable for part in vars_to_warm_start
                 for variable in ([part] if isinstance(part, Variable) else list(part))]
    else:
        raise ValueError("If `vars_to_warm_start` is a list, it must be all `Variable` or all `str`.  Given types are "
                         f"{[type(part) for part in vars_to_warm_start]}")
    groups = {}
    for variable in found:
        parts = groups.setdefault(_name(variable), [])
        if not any(variable is other for other in parts):
            parts.append(variable)
    return groups


def _words(path, size):
    with GFile(path, "rb") as file:
        words = [line.rstrip(b"\r\n") for line in file.read().splitlines(True)]
    return words if size is None or size < 0 else words[:size]


def _warm_start_with_vocabulary(parts, info, old_value):
    """Rows (or columns) of words that both vocabularies have come from the checkpoint, others from an initializer."""
    old = {word: i for i, word in enumerate(_words(info.old_vocab, info.old_vocab_size))}
    sources = [old.get(word, -1) for word in _words(info.new_vocab, info.new_vocab_size)] + [-1] * info.num_oov_buckets
    for variable in parts:
        shape = variable.get_shape().as_list()
        slice_info = getattr(variable, "_save_slice_info", None)
        offset = slice_info.var_offset if slice_info else [0] * len(shape)
        if info.backup_initializer is None:
            base = convert_to_tensor(np.zeros(shape, old_value.dtype))
        else:
            base = convert_to_tensor(info.backup_initializer(shape, dtype=variable.dtype.base_dtype))
        taken = np.zeros(shape, old_value.dtype)
        known = np.zeros(shape, old_value.dtype)
        for i in range(shape[info.axis]):
            source = sources[offset[info.axis] + i]
            if source < 0:
                continue
            if info.axis == 0:
                taken[i], known[i] = old_value[source], 1
            else:
                taken[:, i], known[:, i] = old_value[offset[0]:offset[0] + shape[0], source], 1
        variable._replace_initializer(state_ops.assign(variable, base * (1 - known) + taken).op)


def _parts(var):
    """The variables that a variable, a list of its parts or a partitioned one is made of."""
    if isinstance(var, Variable):
        return [var]
    if isinstance(var, (list, tuple)):
        return [part for given in var for part in _parts(given)]
    if isinstance(var, PartitionedVariable):
        return list(var)
    raise TypeError("var MUST be one of the following: a Variable, list of Variable or PartitionedVariable, but is "
                    f"{type(var)}")


def _infer_var_name(var):
    """What a variable, or the whole that a list has parts of, is called in checkpoints."""
    return _name(_parts(var)[0])


def _get_var_info(var, prev_tensor_name=None):
    """(the name in the checkpoint, the variable or its parts)"""
    parts = _parts(var)
    return prev_tensor_name or _name(parts[0]), parts[0] if len(parts) == 1 else parts


def _warm_start_var_with_vocab(var, current_vocab_path, current_vocab_size, prev_ckpt, prev_vocab_path,
                               previous_vocab_size=-1, current_oov_buckets=0, prev_tensor_name=None, initializer=None,
                               axis=0):
    """Lets one variable begin with the values of a checkpoint, word by word."""
    if not (current_vocab_path and current_vocab_size and prev_ckpt and prev_vocab_path):
        raise ValueError("Invalid args: Must provide all of [current_vocab_path, current_vocab_size, prev_ckpt, "
                         "prev_vocab_path}.")
    parts = _parts(var)
    info = VocabInfo(current_vocab_path, current_vocab_size, current_oov_buckets, prev_vocab_path, previous_vocab_size,
                     initializer, axis)
    _warm_start_with_vocabulary(parts, info, load_checkpoint(prev_ckpt).get_tensor(prev_tensor_name or _name(parts[0])))


def warm_start(ckpt_to_initialize_from, vars_to_warm_start=".*", var_name_to_vocab_info=None,
               var_name_to_prev_var_name=None):
    """Makes the initializers of variables take their values from a checkpoint."""
    logging.info("Warm-starting from: %s", ckpt_to_initialize_from)
    groups = _grouped(vars_to_warm_start)
    vocabularies, previous = var_name_to_vocab_info or {}, var_name_to_prev_var_name or {}
    for given, field in ((previous, "var_name_to_prev_var_name"), (vocabularies, "var_name_to_vocab_info")):
        unknown = set(given) - set(groups)
        if unknown:
            raise ValueError(f"You provided the following variables in {field} that were not used: {unknown}.  Perhaps "
                             f"you misspelled them?  Here is the list of viable variable names: {groups.keys()}")
    reader, plain = load_checkpoint(ckpt_to_initialize_from), {}
    for name, parts in groups.items():
        source = previous.get(name, name)
        if name in vocabularies:
            _warm_start_with_vocabulary(parts, vocabularies[name], reader.get_tensor(source))
        elif vars_to_warm_start:
            plain[source] = parts if len(parts) > 1 else parts[0]
    init_from_checkpoint(ckpt_to_initialize_from, plain)
    logging.info("Warm-started %d variables.", len(groups))
