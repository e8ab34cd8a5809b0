"""Evaluating checkpoints as they come."""

import time

from weir import logging, names
from weir.core.graph import GraphKeys, get_collection
from weir.core.variable_scope import get_variable
from weir.ops.init_ops import zeros_initializer
from weir.train.checkpoints import latest_checkpoint


def get_or_create_eval_step():
    """The counter of evaluations, a local variable."""
    found = get_collection(GraphKeys.EVAL_STEP)
    if len(found) > 1:
        raise ValueError("Multiple tensors added to tf.GraphKeys.EVAL_STEP")
    if found:
        return found[0]
    return get_variable("eval_step", shape=[], dtype="int64", initializer=zeros_initializer(), trainable=False,
                        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.EVAL_STEP])


def wait_for_new_checkpoint(checkpoint_dir, last_checkpoint=None, seconds_to_sleep=1, timeout=None):
    """The path of a checkpoint that is not ``last_checkpoint``; None when there is none in time."""
    logging.info("Waiting for new checkpoint at %s", checkpoint_dir)
    end = None if timeout is None else time.time() + timeout
    while True:
        path = latest_checkpoint(checkpoint_dir)
        if path is not None and path != last_checkpoint:
            logging.info("Found new checkpoint at %s", path)
            return path
        if end is not None and time.time() + seconds_to_sleep > end:
            return None
        time.sleep(seconds_to_sleep)


def checkpoints_iterator(checkpoint_dir, min_interval_secs=0, timeout=None, timeout_fn=None):
    """Gives each new checkpoint, until ``timeout`` seconds without one and ``timeout_fn()``, if given, agrees."""
    path = None
    while True:
        new = wait_for_new_checkpoint(checkpoint_dir, path, timeout=timeout)
        if new is None:
            if not timeout_fn:
                logging.info("Timed-out waiting for a checkpoint.")
                return
            if timeout_fn():
                return
            continue
        begin, path = time.time(), new
        yield path
        rest = begin + min_interval_secs - time.time()
        if rest > 0:
            time.sleep(rest)


def evaluate_once(checkpoint_path, master="", scaffold=None, eval_ops=None, feed_dict=None, final_ops=None,
                  final_ops_feed_dict=None, hooks=None, config=None):
    """Evaluates one checkpoint: runs ``eval_ops`` until a hook ends it, then ``final_ops``, whose values it gives."""
    monitored = names.find("tf.train")
    hooks, final_hook = list(hooks or []), None
    if final_ops is not None:
        final_hook = monitored.FinalOpsHook(final_ops, final_ops_feed_dict)
        hooks.append(final_hook)
    creator = monitored.ChiefSessionCreator(scaffold=scaffold, checkpoint_filename_with_path=checkpoint_path,
                                            master=master, config=config)
    with monitored.MonitoredSession(session_creator=creator, hooks=hooks) as session:
        while eval_ops is not None and not session.should_stop():
            session.run(eval_ops, feed_dict)
    return None if final_hook is None else final_hook.final_ops_values


def evaluate_repeatedly(checkpoint_dir, master="", scaffold=None, eval_ops=None, feed_dict=None, final_ops=None,
                        final_ops_feed_dict=None, eval_interval_secs=60, hooks=None, config=None,
                        max_number_of_evaluations=None, timeout=None, timeout_fn=None):
    """Evaluates each new checkpoint of a folder."""
    values, count = None, 0
    for path in checkpoints_iterator(checkpoint_dir, eval_interval_secs, timeout, timeout_fn):
        values = evaluate_once(path, master, scaffold, eval_ops, feed_dict, final_ops, final_ops_feed_dict, hooks,
                               config)
        count += 1
        if max_number_of_evaluations is not None and count >= max_number_of_evaluations:
            break
    return values
