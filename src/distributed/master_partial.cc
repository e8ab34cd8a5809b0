// Partial runs of a master's session: steps whose feeds and fetches come and go in several calls.
#include <algorithm>

#include "distributed/master_state.h"

namespace weir::distributed {

std::string MasterSession::setup_partial(const std::vector<std::string>& feeds, const std::vector<std::string>& fetches,
                                         const std::vector<std::string>& targets, const std::stop_token& stop,
                                         Deadline deadline) {
  auto run = std::make_shared<PartialRun>();
  run->signature = {feeds, fetches, targets};
  run->prepared = prepared(run->signature, true, stop, end_of_step({}, deadline));
  run->step = random_step_id();
  run->fed.resize(feeds.size());
  run->fetched.resize(fetches.size());
  std::lock_guard lock(mutex_);
  if (closed_) throw error(Code::Cancelled, "Session has been closed.");
  const std::string handle = fmt::format("{};{}", handle_, ++next_partial_);
  partial_runs_[handle] = run;
  return handle;
}

StepResult MasterSession::run_partial(const std::string& handle, const StepRequest& request) {
  std::shared_ptr<PartialRun> run;
  std::vector<const Tensor*> feeds;
  std::vector<size_t> order;  // of the fetches, as they are asked for
  StepPiece piece;
  {
    std::lock_guard lock(mutex_);
    auto found = partial_runs_.find(handle);
    if (found == partial_runs_.end()) throw invalid_argument("Must run 'setup' before performing partial runs!");
    if (!request.targets.empty()) throw invalid_argument("a partial run takes its targets with its setup");
    run = found->second;
    take_piece(*run, request, feeds, order, piece);
    if (piece.last) partial_runs_.erase(found);
  }
  const Running running(*this, random_step_id(), run->prepared);
  StepResult all, result;
  all.fetches.resize(run->signature.fetches.size());
  try {
    run_parts(*run->prepared, &piece, run->step, feeds, all, request.stop, request.deadline, nullptr);
  } catch (...) {
    std::lock_guard lock(mutex_);
    partial_runs_.erase(handle);
    throw;
  }
  for (const size_t fetch : order) result.fetches.push_back(std::move(all.fetches[fetch]));
  return result;
}

// Notes what a call brings and asks for. REQUIRES: mutex_ is held.
void MasterSession::take_piece(PartialRun& run, const StepRequest& request, std::vector<const Tensor*>& feeds,
                               std::vector<size_t>& order, StepPiece& piece) {
  auto number = [](const std::vector<std::string>& names, const std::string& name, const char* what) {
    auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) throw invalid_argument("The {} '{}' was not specified in partial_run_setup.", what, name);
    return static_cast<size_t>(at - names.begin());
  };
  feeds.resize(run.signature.feeds.size());
  piece.fetches.resize(run.signature.fetches.size());
  for (const auto& [name, value] : request.feeds) {
    const size_t feed = number(run.signature.feeds, name, "feed");
    if (run.fed[feed]) throw invalid_argument("The feed {} has already been fed.", name);
    run.fed[feed] = true;
    feeds[feed] = &value;
  }
  for (const std::string& name : request.fetches) {
    const size_t fetch = number(run.signature.fetches, name, "fetch");
    if (run.fetched[fetch]) throw invalid_argument("The fetch {} has already been fetched.", name);
    run.fetched[fetch] = true;
    piece.fetches[fetch] = true;
    order.push_back(fetch);
  }
  piece.last = std::find(run.fed.begin(), run.fed.end(), false) == run.fed.end() &&
               std::find(run.fetched.begin(), run.fetched.end(), false) == run.fetched.end();
}

}  // namespace weir::distributed
