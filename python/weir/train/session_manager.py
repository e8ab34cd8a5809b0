"""tf.train.SessionManager: a session whose variables have their values, from a checkpoint or from their initializers."""

import time

import numpy as np

from weir import errors
from weir import logging as _logging
from weir.core import stack
from weir.core.session import Session
from weir.train.checkpoints import CheckpointReader, get_checkpoint_state
from weir.train.steps import get_global_step


class SessionManager:
    def __init__(self, local_init_op=None, ready_op=None, ready_for_local_init_op=None, graph=None,
                 recovery_wait_secs=30, local_init_run_options=None):
        if ready_for_local_init_op is not None and local_init_op is None:
            raise ValueError("If you pass a ready_for_local_init_op you must also pass a local_init_op , "
                             f"ready_for_local_init_op [{ready_for_local_init_op}]")
        self._local_init_op, self._ready_op = local_init_op, ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._graph = stack.get_default_graph() if graph is None else graph
        self._recovery_wait_secs = recovery_wait_secs
        self._local_init_run_options = local_init_run_options
        self._target = None

    def _restore_checkpoint(self, master, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint,
                            max_wait_secs, config):
        """(session, whether a checkpoint was restored)"""
        self._target = master
        if checkpoint_dir and checkpoint_filename_with_path:
            raise ValueError("Can not provide both checkpoint_dir and checkpoint_filename_with_path.")
        sess = Session(master, graph=self._graph, config=config)
        if not saver or not (checkpoint_dir or checkpoint_filename_with_path):
            return sess, False
        if checkpoint_filename_with_path:
            saver.restore(sess, checkpoint_filename_with_path)
            return sess, True
        waited = 0
        state = get_checkpoint_state(checkpoint_dir)
        while not state or not state.model_checkpoint_path:
            if not wait_for_checkpoint or waited >= max_wait_secs:
                return sess, False
            _logging.info("Waiting for checkpoint to be available.")
            time.sleep(self._recovery_wait_secs)
            waited += self._recovery_wait_secs
            state = get_checkpoint_state(checkpoint_dir)
        if self._has_later_values(sess, master, config, state.model_checkpoint_path):
            _logging.info("The servers are beyond the checkpoint %s: going on with what they have.", state.model_checkpoint_path)
        else:
            saver.restore(sess, state.model_checkpoint_path)
        saver.recover_last_checkpoints(state.all_model_checkpoint_paths)
        return sess, True

    def _has_later_values(self, sess, master, config, path):
        """Whether all variables live on, at the checkpoint's step or a later one, in servers that outlived the session: a chief
        that was started again would take back what the other workers have done without it."""
        step = get_global_step(self._graph)
        ready_op = self._ready_op if self._ready_for_local_init_op is None else self._ready_for_local_init_op
        if not master or step is None or ready_op is None or (config is not None and config.isolate_session_state):
            return False
        reader = CheckpointReader(path)
        if not reader.has_tensor(step.op.name) or not _ready(ready_op, sess, "Model not ready")[0]:
            return False
        return sess.run(step) >= reader.get_tensor(step.op.name)

    def prepare_session(self, master, init_op=None, saver=None, checkpoint_dir=None,
                        checkpoint_filename_with_path=None, wait_for_checkpoint=False, max_wait_secs=7200, config=None,
                        init_feed_dict=None, init_fn=None):
        """A session that is ready: restored, or else initialised."""
        sess, is_restored = self._restore_checkpoint(master, saver, checkpoint_dir, checkpoint_filename_with_path,
                                                     wait_for_checkpoint, max_wait_secs, config)
        if not is_restored:
            if init_op is None and not init_fn and self._local_init_op is None:
                raise RuntimeError("Model is not initialized and no init_op or init_fn or local_init_op was given")
            if init_op is not None:
                sess.run(init_op, feed_dict=init_feed_dict)
            if init_fn:
                init_fn(sess)
        name = getattr(init_op, "name", init_op)
        done, message = self._try_run_local_init_op(sess)
        if not done:
            raise RuntimeError("Init operations did not make model ready for local_init.  Init op: "
                               f"{name}, init fn: {init_fn}, error: {message}")
        ready, message = self._model_ready(sess)
        if not ready:
            raise RuntimeError(f"Init operations did not make model ready.  Init op: {name}, init fn: {init_fn}, "
                               f"local_init_op: {self._local_init_op}, error: {message}")
        return sess

    def recover_session(self, master, saver=None, checkpoint_dir=None, checkpoint_filename_with_path=None,
                        wait_for_checkpoint=False, max_wait_secs=7200, config=None):
        """(session, whether it was restored and is ready)"""
        sess, is_restored = self._restore_checkpoint(master, saver, checkpoint_dir, checkpoint_filename_with_path,
                                                     wait_for_checkpoint, max_wait_secs, config)
        done, message = self._try_run_local_init_op(sess)
        if not is_restored:
            return sess, False
        source = checkpoint_dir or checkpoint_filename_with_path
        if not done:
            _logging.info("Restoring model from %s did not make model ready for local init: %s", source, message)
            return sess, False
        ready, message = self._model_ready(sess)
        if not ready:
            _logging.info("Restoring model from %s did not make model ready: %s", source, message)
            return sess, False
        _logging.info("Restored model from %s", source)
        return sess, True

    def wait_for_session(self, master, config=None, max_wait_secs=float("Inf")):
        """A session in which somebody else has initialised the variables."""
        self._target = master
        max_wait_secs = float("Inf") if max_wait_secs is None else max_wait_secs
        end = time.time() + max_wait_secs
        pause = min(0.1, self._recovery_wait_secs)
        while True:
            sess = Session(master, graph=self._graph, config=config)
            message = None
            done, local_message = self._try_run_local_init_op(sess)
            if done:
                ready, message = self._model_ready(sess)
                if ready:
                    return sess
            self._safe_close(sess)
            if end - time.time() < pause:
                raise errors.DeadlineExceededError(None, None,
                                                   f"Session was not ready after waiting {max_wait_secs} secs.")
            _logging.info("Waiting for model to be ready.  Ready_for_local_init_op:  %s, ready: %s", local_message, message)
            # A chief that starts at the same moment needs a second, one that restores a large model minutes.
            time.sleep(pause)
            pause = min(2 * pause, self._recovery_wait_secs)

    def _safe_close(self, sess):
        try:
            sess.close()
        except Exception:  # it is of no further use
            pass

    def _model_ready(self, sess):
        return _ready(self._ready_op, sess, "Model not ready")

    def _model_ready_for_local_init(self, sess):
        return _ready(self._ready_for_local_init_op, sess, "Model not ready for local init")

    def _try_run_local_init_op(self, sess):
        if self._local_init_op is None:
            return True, None
        ready, message = self._model_ready_for_local_init(sess)
        if not ready:
            return False, message
        _logging.info("Running local_init_op.")
        sess.run(self._local_init_op, options=self._local_init_run_options)
        _logging.info("Done running local_init_op.")
        return True, None


def _ready(op, sess, message):
    """(whether the operation names no variable, why not)"""
    if op is None:
        return True, None
    try:
        value = sess.run(op)
    except errors.FailedPreconditionError as error:
        if "uninitialized" not in str(error):
            _logging.warning("%s : error [%s]", message, error)
            raise
        return False, str(error)
    if value is None or value.dtype == np.int32 or value.size == 0:
        return True, None
    return False, "Variables not initialized: " + ", ".join(name.decode("utf-8") for name in value)
