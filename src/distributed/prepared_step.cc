#include "distributed/prepared_step.h"

#include <algorithm>

#include "base/errors.h"
#include "distributed/status.h"
#include "distributed/wire.h"
#include "proto/worker.pb.h"

namespace weir::distributed {
namespace {

enum Field { kSend = 3, kRecv = 1 };  // of RunGraphRequest and RunGraphResponse

template <class List, class Name>
void append(std::string& text, const char* what, const List& list, Name name) {
  constexpr size_t kMost = 3;
  if (list.empty()) return;
  text += text.empty() ? what : fmt::format("; {}", what);
  for (size_t i = 0; i < list.size() && i < kMost; ++i) text += (i ? ", " : " ") + name(list[i]);
  if (list.size() > kMost) text += fmt::format(" and {} more", list.size() - kMost);
}

}  // namespace

std::string PreparedStep::describe() const {
  std::string text;
  append(text, "fetches", spec.fetches, [](const Output& o) { return o.name(); });
  append(text, "runs", spec.targets, [](const Operation& o) { return o.name(); });
  append(text, "in", parts, [](const CutPart& p) { return p.task; });
  return text;
}

PartsRun::PartsRun(const PreparedStep& step, int64_t id, const std::stop_token& stop)
    : step_(step), id_(id), by_caller_(stop, [this] { source_.request_stop(); }) {}

PartsRun::~PartsRun() {
  {
    std::lock_guard lock(mutex_);
    if (under_way_ == 0) return;
  }
  source_.request_stop();
  wait();
}

Message PartsRun::request(int part, const std::vector<const Tensor*>& feeds, const std::string& session, bool trace) const {
  proto::RunGraphRequest request;
  request.set_session_handle(session);
  request.set_create_worker_session_called(true);
  request.set_graph_handle(step_.handles[static_cast<size_t>(part)]);
  request.set_step_id(id_);
  request.mutable_exec_opts()->set_record_timeline(trace);
  request.set_store_errors_in_response_body(true);
  request.set_request_id(id_);
  const CutPart& cut = step_.parts[static_cast<size_t>(part)];
  for (const auto& [fetch, key] : cut.fetches) request.add_recv_key(key);
  Message message = encode(request);
  for (const auto& [feed, key] : cut.feeds) add_named_tensor(message, kSend, key, *feeds[static_cast<size_t>(feed)]);
  return message;
}

void PartsRun::begun() {
  std::lock_guard lock(mutex_);
  ++under_way_;
}

void PartsRun::ended(int part, Reply reply) {
  try {
    if (reply.code != Code::Ok) throw error_from_text(reply.code, reply.error, nullptr);
    const CutPart& cut = step_.parts[static_cast<size_t>(part)];
    proto::RunGraphResponse rest;
    std::vector<std::pair<int, Tensor>> values;
    decode_with_tensors(reply.body, kRecv, true, rest, [&](const std::string& name, Tensor value) {
      for (const auto& [fetch, key] : cut.fetches) {
        if (key == name) values.emplace_back(fetch, std::move(value));
      }
    });
    if (rest.status_code() != proto::error::OK) {
      throw error_from_text(static_cast<Code>(rest.status_code()),
                            fmt::format("From {}:\n{}", cut.task, rest.status_error_message()), nullptr);
    }
    if (values.size() != cut.fetches.size()) {
      throw error(Code::Internal, "{} gave {} values; {} were asked for", cut.task, values.size(), cut.fetches.size());
    }
    std::lock_guard lock(mutex_);
    for (auto& value : values) fetched_.push_back(std::move(value));
    if (rest.has_step_stats()) stats_ += rest.step_stats().SerializeAsString();
  } catch (...) {
    failed(as_error(std::current_exception()));
  }
  std::lock_guard lock(mutex_);
  if (--under_way_ == 0) changed_.notify_all();
}

void PartsRun::gave(int part, std::vector<Tensor> fetches) {
  const CutPart& cut = step_.parts[static_cast<size_t>(part)];
  std::lock_guard lock(mutex_);
  for (size_t i = 0; i < cut.fetches.size(); ++i) fetched_.emplace_back(cut.fetches[i].first, std::move(fetches[i]));
}

void PartsRun::failed(Error error) {
  {
    std::lock_guard lock(mutex_);
    errors_.push_back(std::move(error));
  }
  source_.request_stop();
}

void PartsRun::add_stats(const std::string& stats) {
  std::lock_guard lock(mutex_);
  stats_ += stats;
}

void PartsRun::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return under_way_ == 0; });
}

bool PartsRun::has_failed() const {
  std::lock_guard lock(mutex_);
  return !errors_.empty();
}

void PartsRun::finish(std::vector<Tensor>& results, std::string* stats, const Graph* graph) {
  std::lock_guard lock(mutex_);
  if (!errors_.empty()) {
    // What was cancelled, and who only heard of it, is a consequence.
    auto cause = std::find_if(errors_.begin(), errors_.end(), [](const Error& e) {
      return e.code() != Code::Cancelled && e.message().find("is over") == std::string::npos;
    });
    const Error& first = cause == errors_.end() ? errors_.front() : *cause;
    const Operation node = graph && !first.node().empty() ? graph->find(first.node()) : Operation();
    throw node ? first.blaming(node.type(), first.node(), node.line()) : first;
  }
  for (auto& [fetch, value] : fetched_) results[static_cast<size_t>(fetch)] = std::move(value);
  if (stats) *stats = stats_;
}

std::vector<Tensor> receive_all(StepTable& table, int64_t step, const std::vector<std::string>& keys,
                                const std::stop_token& caller, const std::stop_token& session, Deadline deadline) {
  std::vector<Tensor> values(keys.size());
  std::mutex mutex;
  std::condition_variable changed;
  size_t left = keys.size();
  std::exception_ptr failed;
  std::stop_source source;
  auto end = [&] { source.request_stop(); };
  std::stop_callback by_caller(caller, end), by_session(session, end);
  for (size_t i = 0; i < keys.size(); ++i) {
    table.receive_here(step, keys[i], source.get_token(), [&, i](Tensor value, std::exception_ptr why) {
      std::lock_guard lock(mutex);
      values[i] = std::move(value);
      if (why && !failed) failed = why;
      --left;
      changed.notify_all();
    });
  }
  std::unique_lock lock(mutex);
  auto done = [&] { return left == 0; };
  if (deadline == kNoDeadline) {
    changed.wait(lock, done);
  } else if (!changed.wait_until(lock, deadline, done)) {
    lock.unlock();
    source.request_stop();
    lock.lock();
    changed.wait(lock, done);
    throw error(Code::DeadlineExceeded, "the partial run took longer than its timeout allows");
  }
  if (failed) std::rethrow_exception(failed);
  return values;
}

}  // namespace weir::distributed
