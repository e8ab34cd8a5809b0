"""slim.evaluation: a checkpoint, or every new one, evaluated with operations of the program."""

from weir import names, summary
from weir.contrib.training import evaluation as loops
from weir.errors import NotFoundError
from weir.train.checkpoints import checkpoint_exists
from weir.train.saver import Saver

_USE_DEFAULT = 0
wait_for_new_checkpoint, checkpoints_iterator = loops.wait_for_new_checkpoint, loops.checkpoints_iterator


def _evaluate(checkpoint_path, logdir, num_evals, initial_op, initial_op_feed_dict, init_fn, eval_op,
              eval_op_feed_dict, final_op, final_op_feed_dict, summary_op, summary_op_feed_dict, saver, master, config,
              step):
    """In a session with the checkpoint's values: eval_op so many times, then final_op, then the summaries."""
    if not checkpoint_exists(checkpoint_path):
        raise NotFoundError(None, None, f"Unsuccessful TensorSliceReader constructor: Failed to find any matching files for "
                            f"{checkpoint_path}")
    train, session_class = names.find("tf.train"), names.find("tf.Session")
    with session_class(master, config=config) as sess:
        if initial_op is not None:
            sess.run(initial_op, initial_op_feed_dict)
        saver.restore(sess, checkpoint_path)
        if init_fn is not None:
            init_fn(sess)
        sess.run(names.find("tf.local_variables_initializer")())
        sess.run(names.find("tf.tables_initializer")())
        writer = summary.FileWriter(logdir, graph=sess.graph) if summary_op is not None and logdir else None
        coordinator = train.Coordinator()
        threads = train.start_queue_runners(sess=sess, coord=coordinator)
        try:
            return _run(sess, num_evals, eval_op, eval_op_feed_dict, final_op, final_op_feed_dict, summary_op,
                        summary_op_feed_dict, writer, step)
        finally:
            coordinator.request_stop()
            coordinator.join(threads, stop_grace_period_secs=10, ignore_live_threads=True)
            if writer is not None:
                writer.close()


def _run(sess, num_evals, eval_op, eval_op_feed_dict, final_op, final_op_feed_dict, summary_op, summary_op_feed_dict,
         writer, step):
    for _ in range(num_evals if eval_op is not None else 0):
        sess.run(eval_op, eval_op_feed_dict)
    values = None if final_op is None else sess.run(final_op, final_op_feed_dict)
    if summary_op is not None and writer is not None:
        writer.add_summary(sess.run(summary_op, summary_op_feed_dict), step)
        writer.flush()
    return values


def evaluation(sess, num_evals=1, initial_op=None, initial_op_feed_dict=None, init_fn=None, eval_op=None,
               eval_op_feed_dict=None, final_op=None, final_op_feed_dict=None, summary_op=None, summary_op_feed_dict=None,
               summary_writer=None, global_step=None):
    """Evaluates in a session of the program; gives the value of ``final_op``."""
    if initial_op is not None:
        sess.run(initial_op, initial_op_feed_dict)
    if init_fn is not None:
        init_fn(sess)
    if summary_op is not None and global_step is None:
        global_step = names.find("tf.train.get_global_step")()
    step = None if global_step is None or summary_op is None else sess.run(global_step)
    return _run(sess, num_evals, eval_op, eval_op_feed_dict, final_op, final_op_feed_dict, summary_op,
                summary_op_feed_dict, summary_writer, step)


def _step_of(path):
    """The global step in a checkpoint's name."""
    digits = path.rpartition("-")[2]
    return int(digits) if digits.isdigit() else None


def evaluate_once(master, checkpoint_path, logdir, num_evals=1, initial_op=None, initial_op_feed_dict=None,
                  eval_op=None, eval_op_feed_dict=None, final_op=None, final_op_feed_dict=None,
                  summary_op=_USE_DEFAULT, summary_op_feed_dict=None, variables_to_restore=None, session_config=None,
                  hooks=None):
    """Evaluates one checkpoint; gives the value of ``final_op``."""
    if summary_op is _USE_DEFAULT:
        summary_op = summary.merge_all()
    if hooks:
        return names.at("weir.contrib.training.evaluation:evaluate_once")(
            checkpoint_path, master=master, eval_ops=eval_op, feed_dict=eval_op_feed_dict, final_ops=final_op,
            final_ops_feed_dict=final_op_feed_dict, hooks=hooks, config=session_config)
    return _evaluate(checkpoint_path, logdir, num_evals, initial_op, initial_op_feed_dict, None, eval_op,
                     eval_op_feed_dict, final_op, final_op_feed_dict, summary_op, summary_op_feed_dict,
                     Saver(variables_to_restore), master, session_config, _step_of(checkpoint_path))


def evaluation_loop(master, checkpoint_dir, logdir, num_evals=1, initial_op=None, initial_op_feed_dict=None,
                    init_fn=None, eval_op=None, eval_op_feed_dict=None, final_op=None, final_op_feed_dict=None,
                    summary_op=_USE_DEFAULT, summary_op_feed_dict=None, variables_to_restore=None,
                    eval_interval_secs=60, max_number_of_evaluations=None, session_config=None, timeout=None,
                    timeout_fn=None, hooks=None):
    """Evaluates each new checkpoint of a folder; gives the last value of ``final_op``."""
    if summary_op is _USE_DEFAULT:
        summary_op = summary.merge_all()
    saver, values, count = Saver(variables_to_restore), None, 0
    for path in checkpoints_iterator(checkpoint_dir, eval_interval_secs, timeout, timeout_fn):
        values = _evaluate(path, logdir, num_evals, initial_op, initial_op_feed_dict, init_fn, eval_op,
                           eval_op_feed_dict, final_op, final_op_feed_dict, summary_op, summary_op_feed_dict, saver,
                           master, session_config, _step_of(path))
        count += 1
        if max_number_of_evaluations is not None and count >= max_number_of_evaluations:
            break
    return values
