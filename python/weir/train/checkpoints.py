"""Finding and reading checkpoints."""

import os
import re

from weir import _weir, protos
from weir.core.stack import get_default_graph
from weir.core.variables import PartitionedVariable, Variable
from weir.ops import state_ops


class CheckpointReader:
    """What is in a checkpoint: ``get_variable_to_shape_map()``, ``get_tensor(name)``."""

    def __init__(self, filepattern):
        self._reader = _weir.CheckpointReader(_text(filepattern))

    def has_tensor(self, tensor_str):
        return self._reader.has_tensor(_text(tensor_str))

    def get_tensor(self, tensor_str):
        return self._reader.get_tensor(_text(tensor_str))

    def get_variable_to_shape_map(self):
        return {name: list(shape) for name, _, shape in self._reader.tensors()}

    def get_variable_to_dtype_map(self):
        return {name: dtype for name, dtype, _ in self._reader.tensors()}

    def debug_string(self):
        return self._reader.debug_string()


NewCheckpointReader = CheckpointReader


def _text(path):
    return path.decode() if isinstance(path, bytes) else os.fspath(path)


def load_checkpoint(ckpt_dir_or_file):
    return CheckpointReader(_checkpoint_path(ckpt_dir_or_file))


def _checkpoint_path(ckpt_dir_or_file):
    if os.path.isdir(ckpt_dir_or_file):
        path = latest_checkpoint(ckpt_dir_or_file)
        if path is None:
            raise ValueError(f"Couldn't find 'checkpoint' file or checkpoints in given directory {ckpt_dir_or_file}")
        return path
    return ckpt_dir_or_file


def load_variable(ckpt_dir_or_file, name):
    name = name[:-2] if name.endswith(":0") else name
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name)


def list_variables(ckpt_dir_or_file):
    shapes = load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map()
    return sorted(shapes.items())


def init_from_checkpoint(ckpt_dir_or_file, assignment_map):
    """Makes variables begin with values of a checkpoint: name or scope there -> variable, name or scope here."""
    reader = load_checkpoint(ckpt_dir_or_file)
    by_name = {v.op.name: v for v in get_default_graph().get_collection("variables")}
    pairs = []
    for source, target in assignment_map.items():
        if isinstance(target, Variable):
            pairs.append((source, target))
        elif isinstance(target, (list, PartitionedVariable)):
            pairs.extend((source, part) for part in target)
        elif source.endswith("/"):
            prefix = "" if source == "/" else source
            target = "" if target == "/" else target
            for name in by_name:
                if name.startswith(target) and reader.has_tensor(prefix + name[len(target):]):
                    pairs.append((prefix + name[len(target):], by_name[name]))
        else:
            if target not in by_name:
                raise ValueError(f"Assignment map with scope only name {target} should map to variable in the graph")
            pairs.append((source, by_name[target]))
    for name, variable in pairs:
        if not reader.has_tensor(name):
            raise ValueError(f"Tensor {name} is not found in {ckpt_dir_or_file} checkpoint")
        value = _own_part(reader.get_tensor(name), variable)
        if list(value.shape) != variable.get_shape().as_list():
            raise ValueError(f"Shape of variable {variable.op.name} ({variable.get_shape()}) doesn't match with shape of "
                             f"tensor {name} ({list(value.shape)}) from checkpoint reader.")
        variable._replace_initializer(state_ops.assign(variable, value).op)


def _own_part(value, variable):
    """What of a value belongs to a variable, which may be a part of a partitioned one."""
    info = getattr(variable, "_save_slice_info", None)
    if info is None or list(value.shape) != list(info.full_shape):
        return value
    return value[tuple(slice(begin, begin + size) for begin, size in zip(info.var_offset, info.var_shape))]


def meta_graph_filename(checkpoint_filename, meta_graph_suffix="meta"):
    """The file of the graph beside a checkpoint, whose name may be that of its parts."""
    return re.sub(r"-[\d\?]+-of-\d+$", "", checkpoint_filename) + "." + meta_graph_suffix


def latest_checkpoint(checkpoint_dir, latest_filename=None):
    """The newest complete checkpoint of a directory, or None."""
    if checkpoint_dir is None:
        return None
    return _weir.latest_checkpoint(_text(checkpoint_dir), latest_filename or "checkpoint")


def get_checkpoint_state(checkpoint_dir, latest_filename=None):
    """The CheckpointState of a directory, or None: ``model_checkpoint_path``, ``all_model_checkpoint_paths``."""
    name = latest_filename or "checkpoint"
    found = _weir.get_checkpoint_state(_text(checkpoint_dir), name)
    if found is None:
        file = os.path.join(_text(checkpoint_dir), name)
        if os.path.isfile(file) and os.path.getsize(file) == 0:
            raise ValueError(f"Invalid checkpoint state loaded from {checkpoint_dir}")
        return None
    path, all_paths, times, preserved = found
    state = protos.CheckpointState(model_checkpoint_path=path, all_model_checkpoint_paths=all_paths)
    state.all_model_checkpoint_timestamps.extend(times)
    if preserved:
        state.last_preserved_timestamp = preserved
    return state


def update_checkpoint_state(save_dir, model_checkpoint_path, all_model_checkpoint_paths=None, latest_filename=None,
                            all_model_checkpoint_timestamps=None, last_preserved_timestamp=None):
    _weir.update_checkpoint_state(_text(save_dir), model_checkpoint_path, all_model_checkpoint_paths,
                                  all_model_checkpoint_timestamps, last_preserved_timestamp, False,
                                  latest_filename or "checkpoint")


def generate_checkpoint_state_proto(save_dir, model_checkpoint_path, all_model_checkpoint_paths=None, **kwargs):
    """A CheckpointState. The list of paths gets the last one when that is missing; paths below a relative folder are
    relative to it."""
    paths = [] if all_model_checkpoint_paths is None else all_model_checkpoint_paths
    if not paths or paths[-1] != model_checkpoint_path:
        paths.append(model_checkpoint_path)
    if not os.path.isabs(save_dir):
        paths = [path if os.path.isabs(path) else os.path.relpath(path, save_dir) for path in paths]
        model_checkpoint_path = paths[-1]
    return protos.CheckpointState(model_checkpoint_path=model_checkpoint_path, all_model_checkpoint_paths=paths)


def checkpoint_exists(checkpoint_prefix):
    return _weir.checkpoint_exists(_text(checkpoint_prefix))


def get_checkpoint_mtimes(checkpoint_prefixes):
    return _weir.checkpoint_mtimes([_text(path) for path in checkpoint_prefixes])


def remove_checkpoint(checkpoint_prefix, checkpoint_format_version=2, meta_graph_suffix="meta"):
    _weir.remove_checkpoint(_text(checkpoint_prefix), meta_graph_suffix)
