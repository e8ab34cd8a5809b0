#pragma once

#include <map>
#include <mutex>
#include <optional>

#include "base/errors.h"
#include "distributed/master_session.h"
#include "distributed/prepared_step.h"

namespace weir::distributed {

// What a session of a master is made of; for the files of MasterSession alone.

// What a step is known by.
struct MasterSession::Signature {
  std::vector<std::string> feeds, fetches, targets;

  std::string key(bool partial) const {
    std::string text = partial ? "p" : "r";
    for (const auto* list : {&feeds, &fetches, &targets}) {
      text += '\n';
      for (const std::string& name : *list) text.append(name).push_back(' ');
    }
    return text;
  }
};

// One state of the session's graph, and the session that runs what needs no other task.
struct MasterSession::Graphs {
  SessionGraph graph;
  std::unique_ptr<Session> session;
  std::mutex mutex;
  int64_t described = -1;  // guarded by mutex: the graph's version that its message is of

  // The graph with its message as it is now. REQUIRES: mutex is held.
  const SessionGraph& whole() {
    if (described != graph.graph.version()) {
      graph.describe();
      described = graph.graph.version();
    }
    return graph;
  }
};

struct MasterSession::Prepared : PreparedStep {
  explicit Prepared(MasterSession& o) : owner(o) {}
  ~Prepared() { owner.let_go(*this); }  // runs that are under way keep it
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  MasterSession& owner;
  std::shared_ptr<Graphs> graphs;
  std::optional<Session::Callable> local;  // when nothing needs another task
};

struct MasterSession::Callable {
  std::shared_ptr<Prepared> prepared;
  proto::RunOptions options;
};

struct MasterSession::PartialRun {
  std::shared_ptr<Prepared> prepared;
  int64_t step = 0;
  Signature signature;
  std::vector<bool> fed, fetched;  // guarded by the session's mutex
};

// Notes that a step is under way.
class MasterSession::Running {
 public:
  Running(MasterSession& session, int64_t step, std::shared_ptr<const PreparedStep> what)
      : session_(session), step_(step) {
    std::lock_guard lock(session_.mutex_);
    if (session_.closed_) throw error(Code::Cancelled, "Session has been closed.");
    ++session_.steps_;
    session_.running_[step] = {std::move(what), std::chrono::steady_clock::now()};
  }
  ~Running() {
    std::lock_guard lock(session_.mutex_);
    session_.running_.erase(step_);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  MasterSession& session_;
  const int64_t step_;
};

}  // namespace weir::distributed
