// Steps of a master's session: whole ones, and callables.
#include <algorithm>

#include "distributed/master_state.h"
#include "distributed/status.h"
#include "distributed/step_stats.h"
#include "distributed/wire.h"
#include "proto/worker.pb.h"

namespace weir::distributed {
namespace {

constexpr std::chrono::seconds kCleanupTimeout{10};

std::chrono::milliseconds left_until(Deadline deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return std::max(left, std::chrono::milliseconds(1));
}

bool traces(const proto::RunOptions& options) { return options.trace_level() != proto::RunOptions::NO_TRACE; }

}  // namespace

Deadline MasterSession::end_of_step(const proto::RunOptions& options, Deadline by_caller) const {
  const int64_t timeout = options.timeout_in_ms() > 0 ? options.timeout_in_ms() : config_.operation_timeout_in_ms();
  if (timeout <= 0) return by_caller;
  return std::min(by_caller, std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout));
}

StepResult MasterSession::run(const StepRequest& request) {
  Signature signature;
  std::vector<const Tensor*> feeds;
  for (const auto& [name, value] : request.feeds) {
    signature.feeds.push_back(name);
    feeds.push_back(&value);
  }
  signature.fetches = request.fetches;
  signature.targets = request.targets;
  const Deadline deadline = end_of_step(request.options, request.deadline);
  return execute(prepared(signature, false, request.stop, deadline), feeds, request.options, request.stop, deadline);
}

StepResult MasterSession::execute(const std::shared_ptr<Prepared>& prepared, const std::vector<const Tensor*>& feeds,
                                  const proto::RunOptions& options, const std::stop_token& stop, Deadline deadline) {
  const int64_t step = random_step_id();
  const Running running(*this, step, prepared);
  StepResult result;
  result.fetches.resize(prepared->spec.fetches.size());
  if (!prepared->local) {
    run_parts(*prepared, nullptr, step, feeds, result, stop, deadline, traces(options) ? &result.step_stats : nullptr);
    return result;
  }
  std::stop_source source;
  auto end = [&] { source.request_stop(); };
  std::stop_callback by_client(stop, end), by_session(closing_.get_token(), end), by_server(worker_.stopping(), end);
  RunTrace trace;
  RunOptions run_options{.stop = source.get_token(), .trace = traces(options) ? &trace : nullptr};
  if (deadline != kNoDeadline) run_options.timeout = left_until(deadline);
  std::vector<Tensor> values;
  values.reserve(feeds.size());
  for (const Tensor* feed : feeds) values.push_back(*feed);
  try {
    prepared->local->call(values, result.fetches, run_options);
  } catch (const Error& e) {
    rethrow_unless_closed(e);
  }
  if (run_options.trace) result.step_stats = stats_of_task(trace, own_task_);
  return result;
}

// Throws the error that is being handled, or what it is a consequence of.
void MasterSession::rethrow_unless_closed(const Error& e) const {
  if (e.code() == Code::Cancelled && closing_.stop_requested()) {
    throw error(Code::Cancelled, "Step was cancelled by an explicit call to `Session::Close()`.");
  }
  throw;
}

void MasterSession::run_parts(const Prepared& prepared, const StepPiece* piece, int64_t step,
                              const std::vector<const Tensor*>& feeds, StepResult& result, const std::stop_token& stop,
                              Deadline deadline, std::string* stats) {
  std::stop_source source;
  auto end = [&] { source.request_stop(); };
  std::stop_callback by_client(stop, end), by_session(closing_.get_token(), end), by_server(worker_.stopping(), end);
  PartsRun run(prepared, piece, step, source.get_token());
  for (size_t i = 0; i < prepared.echo.size(); ++i) {
    const Tensor* fed = prepared.echo[i] < 0 ? nullptr : feeds[static_cast<size_t>(prepared.echo[i])];
    if (fed) result.fetches[i] = *fed;
  }
  // This thread runs the part of this task, or waits for the last of the others.
  const auto own = std::find(prepared.peers.begin(), prepared.peers.end(), nullptr);
  const int here = static_cast<int>((own == prepared.peers.end() ? own - 1 : own) - prepared.peers.begin());
  const CallOptions call{.deadline = deadline, .stop = run.stop()};
  constexpr const char* kDoing = "running its part of a step";
  for (int p = 0; p < static_cast<int>(prepared.peers.size()); ++p) {
    if (p == here) continue;
    run.begun();
    prepared.peers[static_cast<size_t>(p)]->begin("RunGraph", run.request(p, feeds, handle_, stats != nullptr), call,
                                                  kDoing, [&run, p](Reply reply) { run.ended(p, std::move(reply)); });
  }
  if (own != prepared.peers.end()) {
    RunTrace trace;
    Worker::Run local = run.own_request(here, feeds, handle_);
    if (deadline != kNoDeadline) local.timeout = left_until(deadline);
    if (stats) local.trace = &trace;
    try {
      run.gave(here, worker_.run(local));
      if (stats) run.add_stats(stats_of_task(trace, own_task_));
    } catch (...) {
      run.failed(as_error(std::current_exception()));
    }
  } else {
    Reply reply =
        prepared.peers.back()->call("RunGraph", run.request(here, feeds, handle_, stats != nullptr), call, kDoing);
    run.begun();
    run.ended(here, std::move(reply));
  }
  run.wait();
  // TensorFlow's tasks keep what belongs to a step until they are told that it is over.
  const bool over = !piece || piece->last;
  const bool others = over && std::any_of(prepared.peers.begin(), prepared.peers.end(),
                                          [](const Peer* p) { return p && !p->is_weir(); });
  if (run.has_failed() || others) cleanup(prepared, step);
  try {
    run.finish(result.fetches, stats, &prepared.graphs->graph.graph);
  } catch (const Error& e) {
    rethrow_unless_closed(e);
  }
}

void MasterSession::cleanup(const Prepared& prepared, int64_t step) {
  proto::CleanupGraphRequest request;
  request.set_step_id(step);
  for (Peer* peer : prepared.peers) {
    if (!peer) {
      worker_.cleanup(step);
      continue;
    }
    const Deadline deadline = std::chrono::steady_clock::now() + kCleanupTimeout;
    peer->begin("CleanupGraph", encode(request), {.deadline = deadline}, "cleaning up", [](const Reply&) {});
  }
}

int64_t MasterSession::make_callable(const proto::CallableOptions& options, const std::stop_token& stop,
                                     Deadline deadline) {
  if (options.tensor_connection_size() > 0) throw error(Code::Unimplemented, "callables with connected tensors");
  const Signature signature{{options.feed().begin(), options.feed().end()},
                            {options.fetch().begin(), options.fetch().end()},
                            {options.target().begin(), options.target().end()}};
  auto callable = std::make_shared<Callable>(
      Callable{prepared(signature, false, stop, end_of_step(options.run_options(), deadline)), options.run_options()});
  std::lock_guard lock(mutex_);
  if (closed_) throw error(Code::Cancelled, "Session has been closed.");
  callables_[++next_callable_] = std::move(callable);
  return next_callable_;
}

StepResult MasterSession::run_callable(int64_t handle, std::vector<Tensor> feeds, const std::stop_token& stop,
                                       Deadline deadline) {
  std::shared_ptr<Callable> callable;
  {
    std::lock_guard lock(mutex_);
    auto found = callables_.find(handle);
    if (found == callables_.end()) throw invalid_argument("No such callable handle: {}", handle);
    callable = found->second;
  }
  if (feeds.size() != callable->prepared->spec.feeds.size()) {
    throw invalid_argument("Expected {} feeds, but got {}", callable->prepared->spec.feeds.size(), feeds.size());
  }
  std::vector<const Tensor*> values;
  values.reserve(feeds.size());
  for (const Tensor& feed : feeds) values.push_back(&feed);
  return execute(callable->prepared, values, callable->options, stop, end_of_step(callable->options, deadline));
}

void MasterSession::release_callable(int64_t handle) {
  std::lock_guard lock(mutex_);
  if (callables_.erase(handle) == 0) throw invalid_argument("No such callable handle: {}", handle);
}

}  // namespace weir::distributed
