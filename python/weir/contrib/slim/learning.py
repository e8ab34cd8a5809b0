"""slim.learning: training steps and the loop around them."""

import os
import sys
import time

from weir import file_io, logging, names, protos, summary
from weir.contrib.training import training
from weir.contrib.training.training import clip_gradient_norms, multiply_gradients
from weir.core import stack
from weir.core.graph import control_dependencies, name_scope
from weir.core.variables import (global_variables_initializer, local_variables_initializer,
                                 report_uninitialized_variables)
from weir.errors import AbortedError, OutOfRangeError
from weir.ops import array_ops, control_flow_ops, math_ops
from weir.train import steps
from weir.train.optimizer import Optimizer
from weir.train.saver import Saver

_USE_GLOBAL_STEP = _USE_DEFAULT = 0


def add_gradients_summaries(grads_and_vars):
    return training._add_summaries(grads_and_vars, "/")


def create_train_op(total_loss, optimizer, global_step=_USE_GLOBAL_STEP, update_ops=None, variables_to_train=None,
                    clip_gradient_norm=0, summarize_gradients=False, gate_gradients=Optimizer.GATE_OP,
                    aggregation_method=None, colocate_gradients_with_ops=False, gradient_multipliers=None,
                    check_numerics=True):
    """A tensor, the loss, whose evaluation is a training step after the updates."""

    def transform(grads):
        if gradient_multipliers:
            with name_scope("multiply_grads"):
                grads = multiply_gradients(grads, gradient_multipliers)
        if clip_gradient_norm > 0:
            with name_scope("clip_grads"):
                grads = clip_gradient_norms(grads, clip_gradient_norm)
        return grads

    return training.create_train_op(
        total_loss=total_loss, optimizer=optimizer, global_step=global_step, update_ops=update_ops,
        variables_to_train=variables_to_train, transform_grads_fn=transform, summarize_gradients=summarize_gradients,
        gate_gradients=gate_gradients, aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops, check_numerics=check_numerics)


def _wait_for_step(sess, global_step, step):
    while steps.global_step(sess, global_step) < step:
        time.sleep(1.0)


def train_step(sess, train_op, global_step, train_step_kwargs):
    """One step: (loss, whether to stop)."""
    begin, options, metadata = time.time(), None, None
    if "should_trace" in train_step_kwargs:
        if "logdir" not in train_step_kwargs:
            raise ValueError("logdir must be present in train_step_kwargs when should_trace is present")
        if sess.run(train_step_kwargs["should_trace"]):
            options = protos.RunOptions(trace_level=protos.RunOptions.FULL_TRACE)
            metadata = protos.RunMetadata()
    total_loss, step = sess.run([train_op, global_step], options=options, run_metadata=metadata)
    seconds = time.time() - begin
    if metadata is not None:
        _write_trace(metadata, step, train_step_kwargs)
    if "should_log" in train_step_kwargs and sess.run(train_step_kwargs["should_log"]):
        logging.info("global step %d: loss = %.4f (%.3f sec/step)", step, total_loss, seconds)
    stop = sess.run(train_step_kwargs["should_stop"]) if "should_stop" in train_step_kwargs else False
    return total_loss, stop


def _write_trace(metadata, step, train_step_kwargs):
    timeline = names.at("weir.timeline:Timeline")(metadata.step_stats)
    path = os.path.join(train_step_kwargs["logdir"], f"tf_trace-{step}.json")
    logging.info("Writing trace to %s", path)
    file_io.write_string_to_file(path, timeline.generate_chrome_trace_format())
    if "summary_writer" in train_step_kwargs:
        train_step_kwargs["summary_writer"].add_run_metadata(metadata, f"run_metadata-{step}")


def _check_arguments(train_op, logdir, summary_op, saver, trace_every_n_steps, sync_optimizer, startup_delay_steps,
                     number_of_steps):
    if train_op is None:
        raise ValueError("train_op cannot be None.")
    if logdir is None:
        if summary_op != _USE_DEFAULT:
            raise ValueError("Cannot provide summary_op because logdir=None")
        if saver is not None:
            raise ValueError("Cannot provide saver because logdir=None")
        if trace_every_n_steps is not None:
            raise ValueError("Cannot provide trace_every_n_steps because logdir=None")
    if sync_optimizer is not None and startup_delay_steps > 0:
        raise ValueError("startup_delay_steps must be zero when sync_optimizer is supplied.")
    if number_of_steps is not None and number_of_steps <= 0:
        raise ValueError("`number_of_steps` must be either None or a positive number.")


def _init_ops(init_op, ready_op, local_init_op, sync_optimizers, is_chief):
    """(init_op, ready_op, local_init_op, ready_for_local_init_op), those that are not given made."""
    with name_scope("init_ops"):
        if init_op == _USE_DEFAULT:
            init_op = global_variables_initializer()
        if ready_op == _USE_DEFAULT:
            ready_op = report_uninitialized_variables()
        if local_init_op == _USE_DEFAULT:
            local_init_op = control_flow_ops.group(local_variables_initializer(),
                                                   control_flow_ops.tables_initializer())
        ready_for_local = None
        if sync_optimizers:
            with control_dependencies([local_init_op] if local_init_op is not None else []):
                which = "chief_init_op" if is_chief else "local_step_init_op"
                local_init_op = control_flow_ops.group(*[getattr(opt, which) for opt in sync_optimizers])
            ready_for_local = control_flow_ops.group(*[opt.ready_for_local_init_op for opt in sync_optimizers])
    return init_op, ready_op, local_init_op, ready_for_local


def _step_arguments(global_step, number_of_steps, log_every_n_steps, trace_every_n_steps, is_chief, logdir):
    with name_scope("train_step"):
        if number_of_steps:
            arguments = {"should_stop": math_ops.greater_equal(global_step, number_of_steps)}
        else:
            arguments = {"should_stop": array_ops.constant(False)}
        if log_every_n_steps > 0:
            arguments["should_log"] = math_ops.equal(math_ops.mod(global_step, log_every_n_steps), 0)
        if is_chief and trace_every_n_steps is not None:
            arguments["should_trace"] = math_ops.equal(math_ops.mod(global_step, trace_every_n_steps), 0)
            arguments["logdir"] = logdir
    return arguments


def train(train_op, logdir, train_step_fn=train_step, train_step_kwargs=_USE_DEFAULT, log_every_n_steps=1, graph=None,
          master="", is_chief=True, global_step=None, number_of_steps=None, init_op=_USE_DEFAULT, init_feed_dict=None,
          local_init_op=_USE_DEFAULT, init_fn=None, ready_op=_USE_DEFAULT, summary_op=_USE_DEFAULT,
          save_summaries_secs=600, summary_writer=_USE_DEFAULT, startup_delay_steps=0, saver=None,
          save_interval_secs=600, sync_optimizer=None, session_config=None, session_wrapper=None,
          trace_every_n_steps=None, ignore_live_threads=False):
    """Runs training steps under a Supervisor, with checkpoints and summaries in ``logdir``; gives the last loss."""
    _check_arguments(train_op, logdir, summary_op, saver, trace_every_n_steps, sync_optimizer, startup_delay_steps,
                     number_of_steps)
    if sync_optimizer is not None and not isinstance(sync_optimizer, (list, tuple)):
        sync_optimizer = [sync_optimizer]
    graph = graph or stack.get_default_graph()
    with graph.as_default():
        if global_step is None:
            global_step = steps.get_or_create_global_step()
        saver = saver or Saver()
        init_op, ready_op, local_init_op, ready_for_local = _init_ops(init_op, ready_op, local_init_op, sync_optimizer,
                                                                      is_chief)
        if summary_op == _USE_DEFAULT:
            summary_op = summary.merge_all()
        runners, tokens = [], []
        if is_chief and sync_optimizer:
            tokens = [opt.get_init_tokens_op() for opt in sync_optimizer]
            runners = [opt.get_chief_queue_runner() for opt in sync_optimizer]
        if train_step_kwargs == _USE_DEFAULT:
            train_step_kwargs = _step_arguments(global_step, number_of_steps, log_every_n_steps, trace_every_n_steps,
                                                is_chief, logdir)
    supervisor_class = names.find("tf.train.Supervisor")
    if summary_writer == _USE_DEFAULT:
        summary_writer = supervisor_class.USE_DEFAULT
    supervisor = supervisor_class(
        graph=graph, is_chief=is_chief, logdir=logdir, init_op=init_op, init_feed_dict=init_feed_dict,
        local_init_op=local_init_op, ready_for_local_init_op=ready_for_local, ready_op=ready_op, summary_op=summary_op,
        summary_writer=summary_writer, global_step=global_step, saver=saver, save_summaries_secs=save_summaries_secs,
        save_model_secs=save_interval_secs, init_fn=init_fn)
    if summary_writer is not None:
        train_step_kwargs["summary_writer"] = supervisor.summary_writer
    while True:
        try:
            return _train(supervisor, master, session_config, session_wrapper, is_chief, logdir, startup_delay_steps,
                          number_of_steps, global_step, runners, tokens, train_step_fn, train_op, train_step_kwargs,
                          ignore_live_threads)
        except AbortedError:  # a task of the cluster went away: begin again from the last checkpoint
            logging.info("Retrying training!")


def _train(supervisor, master, config, wrapper, is_chief, logdir, delay, number_of_steps, global_step, runners, tokens,
           train_step_fn, train_op, train_step_kwargs, ignore_live_threads):
    total_loss = None
    with supervisor.managed_session(master, start_standard_services=False, config=config) as sess:
        logging.info("Starting Session.")
        if wrapper is not None:
            logging.info("Wrapping session with wrapper function: %s", wrapper)
            sess = wrapper(sess)
        if is_chief:
            if logdir:
                supervisor.start_standard_services(sess)
        elif delay > 0:
            _wait_for_step(sess, global_step, min(delay, number_of_steps or sys.maxsize))
        threads = supervisor.start_queue_runners(sess)
        logging.info("Starting Queues.")
        if runners:
            supervisor.start_queue_runners(sess, runners)
            sess.run(tokens)
        try:
            while not supervisor.should_stop():
                total_loss, stop = train_step_fn(sess, train_op, global_step, train_step_kwargs)
                if stop:
                    logging.info("Stopping Training.")
                    supervisor.request_stop()
                    break
        except OutOfRangeError as error:  # the data is at its end
            logging.info("Caught OutOfRangeError. Stopping Training. %s", error)
        if logdir and supervisor.is_chief:
            logging.info("Finished training! Saving model to disk.")
            supervisor.saver.save(sess, supervisor.save_path, global_step=supervisor.global_step)
            supervisor.stop(threads, close_summary_writer=True, ignore_live_threads=ignore_live_threads)
    return total_loss
