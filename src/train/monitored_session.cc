#include "weir/monitored_session.h"

#include <algorithm>
#include <exception>
#include <thread>

#include "base/errors.h"
#include "train/log.h"
#include "train/termination.h"
#include "weir/queue_runner.h"

namespace weir::train {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{100}, kLongestPause{5000};

// A server that the session used went away, and may come back.
bool is_loss(const Error& error) { return error.code() == Code::Aborted || error.code() == Code::Unavailable; }

void require_different(std::span<const Feed> first, std::span<const Feed> second, std::string_view message) {
  for (const Feed& feed : second) {
    if (std::ranges::any_of(first, [&](const Feed& other) { return other.output == feed.output; })) {
      throw invalid_argument("{} Conflict(s): {}", message, feed.output.name());
    }
  }
}

}  // namespace

struct MonitoredSession::Impl {
  // A session, the threads that serve it, and whether a hook has asked for the end.
  struct Live {
    std::unique_ptr<Session> session;
    Coordinator coordinator{{}};  // errors of runners come out of run()
    std::optional<RunnerThreads> threads;
    bool stop_requested = false;
  };

  Impl(Graph& g, const MonitoredSessionOptions& o)
      : graph(g),
        options(o),
        scaffold(g, o.scaffold),
        log(log_or_stderr(o.log)),
        setup(g, scaffold, log),
        was_finalized(g.finalized()),
        termination(o.handle_sigterm) {
    options.log = log;
  }

  std::unique_ptr<Session> make_session() {
    scaffold.finalize();
    if (options.create_session) return options.create_session(scaffold);
    SessionManager manager(graph, {.ready_op = scaffold.ready_op(),
                                   .ready_for_local_init_op = scaffold.ready_for_local_init_op(),
                                   .local_init_op = scaffold.local_init_op(),
                                   .log = log,
                                   .interrupted = [this] { return termination.requested(); }});
    if (!options.is_chief) return manager.wait_for_session(options.session, options.max_wait);
    return manager.prepare_session({.restore = {.session = options.session,
                                                .saver = scaffold.saver().get(),
                                                .checkpoint_dir = options.checkpoint_dir,
                                                .checkpoint_path = options.checkpoint_path},
                                    .init_op = scaffold.init_op(),
                                    .init_feeds = scaffold.init_feeds(),
                                    .init_fn = scaffold.init_fn()});
  }

  void create() {
    while (true) {
      try {
        live = std::make_unique<Live>();
        live->session = make_session();
        if (!graph.collection(kQueueRunners).empty()) {
          live->threads.emplace(start_queue_runners(*live->session, live->coordinator));
        }
        for (const Hook& hook : options.hooks) hook->after_create_session(*live->session, live->coordinator);
        return;
      } catch (const Error& error) {
        end_live(false);
        if (!options.recover || !is_loss(error)) throw;
        log(fmt::format("An error was raised while a session was being created; another one will be. Error: {}",
                        error.what()));
        wait_a_little();
      } catch (...) {
        end_live(false);
        throw;
      }
    }
  }

  // A server that is being started again takes a while.
  void wait_a_little() {
    pause = std::clamp(2 * pause, kFirstPause, kLongestPause);
    for (milliseconds left = pause; left > milliseconds(0); left -= kFirstPause) {
      if (termination.requested()) {
        throw error(Code::Cancelled, "the program was told to end while it waited for a server to come back");
      }
      std::this_thread::sleep_for(std::min(left, kFirstPause));
    }
  }

  void lose(const Error& error) {
    log(fmt::format("The session was lost and will be made again. Error: {}", error.what()));
    end_live(false);
    wait_a_little();
    create();
  }

  // Stops the threads and closes the session; throws what a thread failed with, if that is wanted.
  void end_live(bool tell) {
    const std::unique_ptr<Live> ended = std::move(live);
    if (!ended) return;
    std::exception_ptr failure;
    ended->coordinator.request_stop();
    try {
      ended->coordinator.join(options.stop_grace_period);
    } catch (const Error& error) {
      // Threads that wait on are ended by the end of their session.
      if (error.code() != Code::DeadlineExceeded && !is_loss(error)) failure = std::current_exception();
    } catch (...) {
      failure = std::current_exception();
    }
    if (ended->session) {
      try {
        ended->session->close();
      } catch (const Error& error) {
        log(fmt::format("An error occurred when the session was closed: {}", error.what()));
      }
    }
    if (tell && failure) std::rethrow_exception(failure);
  }

  // Calls what uses the session, again and again as long as servers are lost on the way.
  template <class Work>
  void persistently(const Work& work) {
    // A run within a step function is the function's: who loses its session is called again.
    if (depth > 0) return work();
    struct Depth {
      explicit Depth(int& d) : depth(++d) {}
      ~Depth() { --depth; }
      int& depth;
    } const inside(depth);
    while (true) {
      if (!live) create();
      try {
        live->coordinator.rethrow();
        work();
        pause = milliseconds(0);
        at_end = false;
        return;
      } catch (const Error& error) {
        // A thread that failed closes the queues, and the run ends because of that.
        try {
          live->coordinator.rethrow();
        } catch (const Error& first) {
          if (!options.recover || !is_loss(first)) throw;
          lose(first);
          continue;
        }
        at_end = error.code() == Code::OutOfRange;
        if (!options.recover || !is_loss(error)) throw;
        lose(error);
      }
    }
  }

  void hooked_run(std::span<const Output> fetches, std::span<const Feed> feeds, std::span<const Operation> targets,
                  const RunOptions& run_options, std::span<Tensor> results) {
    if (live->stop_requested) throw error(Code::FailedPrecondition, "Run called even after should_stop requested.");
    SessionRunContext context(*live->session, fetches, feeds, targets, [this] { return interrupted(); });
    std::vector<Output> all_fetches(fetches.begin(), fetches.end());
    std::vector<Feed> hook_feeds;
    std::vector<size_t> counts;
    RunTrace trace;
    RunOptions all_options = run_options;
    for (const Hook& hook : options.hooks) {
      SessionRunArgs args = hook->before_run(context);
      require_different(hook_feeds, args.feeds, "Same tensor is fed by two hooks.");
      counts.push_back(args.fetches.size());
      all_fetches.insert(all_fetches.end(), args.fetches.begin(), args.fetches.end());
      hook_feeds.insert(hook_feeds.end(), args.feeds.begin(), args.feeds.end());
      if (args.trace && !all_options.trace) all_options.trace = &trace;
    }
    require_different(feeds, hook_feeds, "Same tensor is fed by a SessionRunHook and user.");
    std::vector<Feed> all_feeds(feeds.begin(), feeds.end());
    all_feeds.insert(all_feeds.end(), hook_feeds.begin(), hook_feeds.end());
    std::vector<Tensor> values(all_fetches.size());
    live->session->run_into(all_fetches, all_feeds, targets, all_options, values);
    size_t at = fetches.size();
    for (size_t i = 0; i < options.hooks.size(); ++i) {
      options.hooks[i]->after_run(
          context, {.results = std::span<const Tensor>(values).subspan(at, counts[i]), .trace = all_options.trace});
      at += counts[i];
    }
    if (context.stop_requested()) live->stop_requested = true;
    std::move(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(fetches.size()), results.begin());
  }

  bool interrupted() const { return termination.requested() || (live && live->coordinator.should_stop()); }

  void close(bool with_hooks) {
    closed = true;
    std::exception_ptr failure;
    try {
      if (with_hooks && live) {
        for (const Hook& hook : options.hooks) hook->end(*live->session);
      }
    } catch (...) {
      failure = std::current_exception();
    }
    try {
      end_live(true);
    } catch (...) {
      if (!failure) failure = std::current_exception();
    }
    if (!was_finalized) graph.unfinalize();
    termination.leave();
    if (failure) std::rethrow_exception(failure);
  }

  // After an error, which is what counts.
  void abandon() {
    try {
      close(false);
    } catch (const std::exception& error) {
      log(fmt::format("the end of a monitored session failed: {}", error.what()));
    }
  }

  Graph& graph;
  MonitoredSessionOptions options;
  Scaffold scaffold;
  Log log;
  SessionSetup setup;
  const bool was_finalized;
  Termination termination;
  std::unique_ptr<Live> live;  // null while there is none
  milliseconds pause{0};
  int depth = 0;  // of persistently()
  bool closed = false;
  bool at_end = false;  // the last run ended with the input
  const int exceptions = std::uncaught_exceptions();
};

MonitoredSession::MonitoredSession(Graph& graph, const MonitoredSessionOptions& options)
    : impl_(std::make_unique<Impl>(graph, options)) {
  for (const Hook& hook : impl_->options.hooks) hook->begin(impl_->setup);
  try {
    impl_->create();
  } catch (...) {
    impl_->abandon();
    throw;
  }
}

MonitoredSession::~MonitoredSession() {
  if (impl_->closed) return;
  if (std::uncaught_exceptions() > impl_->exceptions && !impl_->at_end) {
    impl_->abandon();
    return;
  }
  try {
    impl_->close(true);
  } catch (const std::exception& error) {
    impl_->log(fmt::format("the end of a monitored session failed: {}", error.what()));
  }
}

void MonitoredSession::run_into(std::span<const Output> fetches, std::span<const Feed> feeds,
                                std::span<const Operation> targets, const RunOptions& options,
                                std::span<Tensor> results) {
  if (impl_->closed) throw error(Code::FailedPrecondition, "the monitored session has been closed");
  impl_->persistently([&] { impl_->hooked_run(fetches, feeds, targets, options, results); });
}

Tensor MonitoredSession::run(const Output& fetch, const Feeds& feeds, const Targets& targets,
                             const RunOptions& options) {
  Tensor result;
  run_into({&fetch, 1}, feeds.span(), targets.span(), options, {&result, 1});
  return result;
}

std::vector<Tensor> MonitoredSession::run(const std::vector<Output>& fetches, const Feeds& feeds,
                                          const Targets& targets, const RunOptions& options) {
  std::vector<Tensor> results(fetches.size());
  run_into(fetches, feeds.span(), targets.span(), options, results);
  return results;
}

void MonitoredSession::run(const Operation& target, const Feeds& feeds, const RunOptions& options) {
  run_into({}, feeds.span(), {&target, 1}, options, {});
}

void MonitoredSession::StepContext::request_stop() const {
  throw error(Code::OutOfRange, "step_fn has requested the iterations to stop.");
}

void MonitoredSession::run_step_fn(const std::function<void(StepContext&)>& step) {
  if (impl_->closed) throw error(Code::FailedPrecondition, "the monitored session has been closed");
  impl_->persistently([&] {
    StepContext context(*this);
    step(context);
  });
}

bool MonitoredSession::should_stop() {
  if (impl_->closed || impl_->termination.requested()) return true;
  if (!impl_->live) return false;  // the next run makes one
  try {
    impl_->live->coordinator.rethrow();
  } catch (const Error& error) {
    if (!impl_->options.recover || !is_loss(error)) throw;
    impl_->lose(error);
    return false;
  }
  return impl_->live->stop_requested || impl_->live->coordinator.should_stop();
}

void MonitoredSession::run_steps(const std::function<void()>& step) {
  try {
    while (!should_stop()) step();
  } catch (const Error& error) {
    if (error.code() != Code::OutOfRange) {
      impl_->abandon();
      throw;
    }
  } catch (...) {
    impl_->abandon();
    throw;
  }
  close();
}

void MonitoredSession::close() {
  if (!impl_->closed) impl_->close(true);
}

Graph& MonitoredSession::graph() const { return impl_->graph; }

Session& MonitoredSession::session() const {
  if (!impl_->live) throw error(Code::FailedPrecondition, "the monitored session has been closed");
  return *impl_->live->session;
}

Scaffold& MonitoredSession::scaffold() const { return impl_->scaffold; }

std::shared_ptr<summary::FileWriter> MonitoredSession::writer(const std::string& logdir) {
  return impl_->setup.writer(logdir);
}

namespace {

bool wanted(const Every& every) { return every.steps ? *every.steps > 0 : every.secs && every.secs->count() > 0; }

MonitoredSessionOptions training_options(const MonitoredTrainingSessionOptions& o) {
  MonitoredSessionOptions options{.is_chief = o.is_chief,
                                  .scaffold = o.scaffold,
                                  .session = o.session,
                                  .handle_sigterm = o.handle_sigterm,
                                  .max_wait = o.max_wait,
                                  .stop_grace_period = o.stop_grace_period,
                                  .log = o.log};
  if (o.is_chief) {
    options.checkpoint_dir = o.checkpoint_dir;
    options.hooks = o.chief_only_hooks;
    const std::string& summary_dir = o.summary_dir.empty() ? o.checkpoint_dir : o.summary_dir;
    if (!summary_dir.empty() && o.log_step_count_steps > 0) {
      options.hooks.emplace_back(
          StepCounterHook({.every = {.steps = o.log_step_count_steps}, .output_dir = summary_dir}));
    }
    if (!summary_dir.empty() && wanted(o.save_summaries)) {
      options.hooks.emplace_back(SummarySaverHook({.every = o.save_summaries, .output_dir = summary_dir}));
    }
    if (!o.checkpoint_dir.empty() && wanted(o.save_checkpoints)) {
      options.hooks.emplace_back(
          CheckpointSaverHook(o.checkpoint_dir, {.every = o.save_checkpoints, .listeners = o.listeners}));
    }
  }
  options.hooks.insert(options.hooks.end(), o.hooks.begin(), o.hooks.end());
  return options;
}

}  // namespace

MonitoredTrainingSession::MonitoredTrainingSession(Graph& graph, const MonitoredTrainingSessionOptions& options)
    : MonitoredSession(graph, training_options(options)) {}

}  // namespace weir::train
