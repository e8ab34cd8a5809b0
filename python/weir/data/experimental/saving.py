"""Iterators in checkpoints: a program that is begun again goes on with the element after the last that was saved."""

from weir.core.graph import control_dependencies, get_collection
from weir.core.op_functions import apply
from weir.train.basic_session_run_hooks import CheckpointSaverHook
from weir.train.checkpoints import latest_checkpoint
from weir.train.saveable import SaveableObject, SaveSpec
from weir.train.saver import Saver
from weir.train.session_run_hook import SessionRunHook


class _IteratorSaveable(SaveableObject):
    def __init__(self, iterator_resource, name, initializer=None):
        state = apply("SerializeIterator", (iterator_resource,), {}, None)
        super().__init__(iterator_resource, [SaveSpec(state, "", name + "-state")], name)
        self._initializer = initializer

    def restore(self, restored_tensors, restored_shapes):
        # The state says where an iterator stands, not in which data set: that comes from its initializer.
        first = [] if self._initializer is None or _wants_feeds(self._initializer) else [self._initializer]
        with control_dependencies(first):
            return apply("DeserializeIterator", (self.op, restored_tensors[0]), {}, None)


def _wants_feeds(op):
    """Whether an operation depends on something that a run must feed: then only the program can run it."""
    seen, pending = set(), [op]
    while pending:
        op = pending.pop()
        if op in seen:
            continue
        seen.add(op)
        if op.type in ("Placeholder", "PlaceholderV2"):
            return True
        pending.extend(tensor.op for tensor in op.inputs)
    return False


def make_saveable_from_iterator(iterator):
    """The iterator as something that a ``Saver`` saves and restores, beside variables or by itself.

    It may also be added to the collection ``SAVEABLE_OBJECTS``, which savers of everything look at.
    """
    resource = iterator._iterator_resource
    return _IteratorSaveable(resource, resource.name, iterator._initializer)


class CheckpointInputPipelineHook(SessionRunHook):
    """Saves the iterators of an estimator's input beside its checkpoints, and lets them go on where they stood."""

    def __init__(self, estimator):
        config = estimator.config
        prefix = "input"
        if config.num_worker_replicas > 1:
            prefix += f"_{config.task_type}_{config.task_id}"
        self._checkpoint_saver_hook = CheckpointSaverHook(
            estimator.model_dir, save_secs=config.save_checkpoints_secs, save_steps=config.save_checkpoints_steps,
            checkpoint_basename=prefix + ".ckpt")
        self._latest_filename = "checkpoint_" + prefix
        self._first_run = True

    def begin(self):
        hook = self._checkpoint_saver_hook
        if hook._saver is None and hook._scaffold is None:
            saveables = [_IteratorSaveable(resource, resource.name) for resource in get_collection("iterators")]
            hook._saver = _SaverUnderName(saveables, self._latest_filename)
        hook.begin()

    def after_create_session(self, session, coord):
        self._first_run = True  # of this session

    def before_run(self, run_context):
        # Not in after_create_session: the hook that initialises the iterators may come after this one.
        if self._first_run:
            self._restore_or_save(run_context.session)
            self._first_run = False
        return self._checkpoint_saver_hook.before_run(run_context)

    def after_run(self, run_context, run_values):
        self._checkpoint_saver_hook.after_run(run_context, run_values)

    def end(self, session):
        self._checkpoint_saver_hook.end(session)

    def _restore_or_save(self, session):
        hook = self._checkpoint_saver_hook
        latest = latest_checkpoint(hook._checkpoint_dir, latest_filename=self._latest_filename)
        if latest:
            hook._get_saver().restore(session, latest)
            return
        step = session.run(hook._global_step_tensor)
        hook._save(session, step)
        hook._timer.update_last_triggered_step(step)


class _SaverUnderName(Saver):
    """Keeps the list of its checkpoints in a file of its own."""

    def __init__(self, var_list, latest_filename):
        super().__init__(var_list)
        self._latest_filename = latest_filename

    def save(self, sess, save_path, global_step=None, latest_filename=None, meta_graph_suffix="meta",
             write_meta_graph=True, write_state=True, strip_default_attrs=False, save_debug_info=False):
        return super().save(sess, save_path, global_step, latest_filename or self._latest_filename, meta_graph_suffix,
                            write_meta_graph, write_state, strip_default_attrs, save_debug_info)
