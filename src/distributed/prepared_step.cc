#include "distributed/prepared_step.h"

#include <algorithm>
#include <random>

#include "base/errors.h"
#include "distributed/status.h"
#include "distributed/step_stats.h"
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

int64_t random_step_id() {
  static thread_local std::mt19937_64 generator{std::random_device{}()};
  return static_cast<int64_t>(generator() >> 8) | 1;
}

std::string PreparedStep::describe() const {
  std::string description;
  append(description, "fetches", spec.fetches, [](const Output& o) { return o.name(); });
  append(description, "runs", spec.targets, [](const Operation& o) { return o.name(); });
  append(description, "in", parts, [](const CutPart& p) { return p.task; });
  return description;
}

PartsRun::PartsRun(const PreparedStep& step, const StepPiece* piece, int64_t id, const std::stop_token& stop)
    : step_(step), piece_(piece), id_(id), began_us_(wall_clock_us()), by_caller_(stop, [this] {
        source_.request_stop();
      }) {}

PartsRun::~PartsRun() {
  {
    std::lock_guard lock(mutex_);
    if (under_way_ == 0) return;
  }
  source_.request_stop();
  wait();
}

Message PartsRun::request(int part, const std::vector<const Tensor*>& feeds, const std::string& session,
                          bool trace) const {
  proto::RunGraphRequest request;
  request.set_session_handle(session);
  request.set_create_worker_session_called(true);
  request.set_graph_handle(step_.handles[static_cast<size_t>(part)]);
  request.set_step_id(id_);
  request.mutable_exec_opts()->set_record_timeline(trace);
  request.set_store_errors_in_response_body(true);
  // Each of several calls of a step has a number of its own.
  request.set_request_id(piece_ ? random_step_id() : id_);
  if (piece_) {
    request.set_is_partial(true);
    request.set_is_last_partial_run(piece_->last);
  }
  const CutPart& cut = step_.parts[static_cast<size_t>(part)];
  for (const auto& [fetch, key] : cut.fetches) {
    if (wants(fetch)) request.add_recv_key(key);
  }
  Message message = encode(request);
  for (const auto& [feed, key] : cut.feeds) {
    if (const Tensor* value = feeds[static_cast<size_t>(feed)]) add_named_tensor(message, kSend, key, *value);
  }
  return message;
}

Worker::Run PartsRun::own_request(int part, const std::vector<const Tensor*>& feeds, const std::string& session) const {
  const CutPart& cut = step_.parts[static_cast<size_t>(part)];
  Worker::Run run{.session = session,
                  .graph = step_.handles[static_cast<size_t>(part)],
                  .step = id_,
                  .partial = piece_ != nullptr,
                  .last = piece_ && piece_->last,
                  .stop = stop()};
  for (const auto& [feed, key] : cut.feeds) {
    if (const Tensor* value = feeds[static_cast<size_t>(feed)]) run.sends.emplace_back(key, *value);
  }
  for (const auto& [fetch, key] : cut.fetches) {
    if (wants(fetch)) run.receives.push_back(key);
  }
  return run;
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
    const auto asked =
        std::count_if(cut.fetches.begin(), cut.fetches.end(), [&](const auto& fetch) { return wants(fetch.first); });
    if (values.size() != static_cast<size_t>(asked)) {
      throw error(Code::Internal, "{} gave {} values; {} were asked for", cut.task, values.size(), asked);
    }
    std::lock_guard lock(mutex_);
    for (auto& value : values) fetched_.push_back(std::move(value));
    if (rest.has_step_stats()) {
      fit_clock(*rest.mutable_step_stats(), {.begin = began_us_, .end = wall_clock_us()});
      stats_ += rest.step_stats().SerializeAsString();
    }
  } catch (...) {
    failed(as_error(std::current_exception()));
  }
  std::lock_guard lock(mutex_);
  if (--under_way_ == 0) changed_.notify_all();
}

void PartsRun::gave(int part, std::vector<Tensor> fetches) {
  const CutPart& cut = step_.parts[static_cast<size_t>(part)];
  std::lock_guard lock(mutex_);
  size_t next = 0;
  for (const auto& [fetch, key] : cut.fetches) {
    if (wants(fetch)) fetched_.emplace_back(fetch, std::move(fetches[next++]));
  }
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

}  // namespace weir::distributed
