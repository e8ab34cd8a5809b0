#include "weir/session_manager.h"

#include <algorithm>
#include <thread>

#include "base/errors.h"
#include "train/log.h"
#include "train/step_value.h"
#include "weir/checkpoint.h"
#include "weir/global_step.h"

namespace weir::train {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kFirstPause{100};

// Why the operation says that something is not ready; empty when it says nothing.
std::string not_ready(Session& session, const Output& op, const char* what) {
  if (!op) return {};
  Tensor names;
  try {
    names = session.run(op);
  } catch (const Error& error) {
    if (error.code() != Code::FailedPrecondition) throw;
    if (error.message().find("uninitialized") == std::string::npos) throw;
    return error.what();
  }
  if (names.dtype() != DType::String || names.elements() == 0) return {};
  std::string text = fmt::format("{}: Variables not initialized: ", what);
  for (const std::string& name : names.data<std::string>()) text += name + ", ";
  text.resize(text.size() - 2);
  return text;
}

}  // namespace

SessionManager::SessionManager(Graph& graph, SessionManagerOptions options)
    : graph_(&graph), options_(std::move(options)) {
  options_.log = log_or_stderr(options_.log);
  if (options_.ready_for_local_init_op && !options_.local_init_op) {
    throw invalid_argument(
        "If you pass a ready_for_local_init_op you must also pass a local_init_op, "
        "ready_for_local_init_op [{}]",
        options_.ready_for_local_init_op.name());
  }
}

// In pieces, so that whoever ends the program need not wait for it.
void SessionManager::pause(milliseconds time) const {
  const Clock::time_point end = Clock::now() + time;
  while (true) {
    if (options_.interrupted && options_.interrupted()) {
      throw error(Code::Cancelled, "the program was told to end while it waited for its session");
    }
    const auto left = end - Clock::now();
    if (left <= Clock::duration::zero()) return;
    std::this_thread::sleep_for(std::min<Clock::duration>(left, kFirstPause));
  }
}

SessionManager::Recovered SessionManager::restore(const RestoreOptions& options) {
  if (!options.checkpoint_dir.empty() && !options.checkpoint_path.empty()) {
    throw invalid_argument("Can not provide both checkpoint_dir ('{}') and checkpoint_path ('{}').",
                           options.checkpoint_dir, options.checkpoint_path);
  }
  auto session = std::make_unique<Session>(*graph_, options.session);
  if (!options.saver) return {std::move(session), false};
  if (!options.checkpoint_path.empty()) {
    options.saver->restore(*session, options.checkpoint_path);
    return {std::move(session), true};
  }
  if (options.checkpoint_dir.empty()) return {std::move(session), false};
  const Clock::time_point end = Clock::now() + options.max_wait;
  std::optional<std::string> path = latest_checkpoint(options.checkpoint_dir);
  while (!path) {
    if (!options.wait_for_checkpoint || Clock::now() >= end) return {std::move(session), false};
    options_.log("Waiting for checkpoint to be available.");
    pause(std::min(options_.recovery_wait, std::chrono::ceil<milliseconds>(end - Clock::now())));
    path = latest_checkpoint(options.checkpoint_dir);
  }
  if (has_later_values(*session, options, *path)) {
    options_.log(fmt::format("The servers are beyond the checkpoint {}: going on with what they have.", *path));
  } else {
    options.saver->restore(*session, *path);
  }
  if (auto state = get_checkpoint_state(options.checkpoint_dir)) {
    options.saver->recover_last_checkpoints(state->all_model_checkpoint_paths);
  }
  return {std::move(session), true};
}

// Whether all variables live on, at the checkpoint's step or a later one, in servers that outlived the session: a chief
// that was started again would take back what the other workers have done without it.
bool SessionManager::has_later_values(Session& session, const RestoreOptions& options, const std::string& checkpoint) {
  const Variable step = get_global_step(*graph_);
  const Output ready = options_.ready_for_local_init_op ? options_.ready_for_local_init_op : options_.ready_op;
  if (options.session.target.empty() || options.session.isolate_session_state || !step || !ready) return false;
  const CheckpointReader reader(checkpoint);
  if (!reader.has_tensor(step.name()) || !not_ready(session, ready, "").empty()) return false;
  return step_value(session, step) >= step_value(reader.get_tensor(step.name()));
}

std::string SessionManager::run_local_init(Session& session) {
  if (!options_.local_init_op) return {};
  std::string why = not_ready(session, options_.ready_for_local_init_op, "Model not ready for local init");
  if (why.empty()) session.run(options_.local_init_op);
  return why;
}

std::unique_ptr<Session> SessionManager::prepare_session(const PrepareOptions& options) {
  auto [session, restored] = restore(options.restore);
  if (!restored) {
    if (!options.init_op && !options.init_fn && !options_.local_init_op) {
      throw error(Code::FailedPrecondition,
                  "Model is not initialized and no init_op or init_fn or local_init_op was given");
    }
    if (options.init_op) session->run(options.init_op, options.init_feeds);
    if (options.init_fn) options.init_fn(*session);
  }
  const std::string name = options.init_op ? options.init_op.name() : "none";
  if (const std::string why = run_local_init(*session); !why.empty()) {
    throw error(Code::FailedPrecondition,
                "Init operations did not make model ready for local_init.  Init op: {}, error: {}", name, why);
  }
  if (const std::string why = not_ready(*session, options_.ready_op, "Model not ready"); !why.empty()) {
    throw error(Code::FailedPrecondition, "Init operations did not make model ready.  Init op: {}, error: {}", name,
                why);
  }
  return std::move(session);
}

SessionManager::Recovered SessionManager::recover_session(const RestoreOptions& options) {
  Recovered found = restore(options);
  std::string why = run_local_init(*found.session);
  if (!found.ready) return found;
  if (why.empty()) why = not_ready(*found.session, options_.ready_op, "Model not ready");
  found.ready = why.empty();
  const std::string& source = options.checkpoint_dir.empty() ? options.checkpoint_path : options.checkpoint_dir;
  options_.log(found.ready ? fmt::format("Restored model from {}", source)
                           : fmt::format("Restoring model from {} did not make model ready: {}", source, why));
  return found;
}

std::unique_ptr<Session> SessionManager::wait_for_session(const SessionOptions& options, milliseconds max_wait) {
  const Clock::time_point end = Clock::now() + max_wait;
  milliseconds time = std::min(kFirstPause, options_.recovery_wait);
  while (true) {
    auto session = std::make_unique<Session>(*graph_, options);
    std::string why = run_local_init(*session);
    if (why.empty()) why = not_ready(*session, options_.ready_op, "Model not ready");
    if (why.empty()) return session;
    session.reset();
    if (end - Clock::now() < time) {
      throw error(Code::DeadlineExceeded, "Session was not ready after waiting {} secs. {}",
                  std::chrono::duration<double>(max_wait).count(), why);
    }
    options_.log("Waiting for model to be ready. " + why);
    // A chief that starts at the same moment needs a second, one that restores a large model minutes.
    pause(time);
    time = std::min(2 * time, options_.recovery_wait);
  }
}

}  // namespace weir::train
