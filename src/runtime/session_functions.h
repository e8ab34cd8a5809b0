#pragma once

#include <list>
#include <mutex>

#include "ops/function_runner.h"
#include "runtime/plan_cache.h"

namespace weir {

// The functions of a session's graph as plans of their own. Pipelines call them from their own threads, and may outlive
// the session in resources that it shares: end() is the last moment at which any of them uses something of it.
class SessionFunctions final : public FunctionRunner {
 public:
  SessionFunctions(Graph& graph, const PlanEnvironment& environment, std::stop_token closed);
  ~SessionFunctions() override;

  std::shared_ptr<GraphFunctions> functions() override { return make_group(environment_); }
  std::shared_ptr<GraphFunctions> pipeline_functions() override;
  std::stop_token closed() const override { return closed_; }

  // Refuses further calls, waits for those under way and drops all plans. REQUIRES: closed() is stopped, so that the
  // wait is short.
  void end();

 private:
  class Group;
  std::shared_ptr<GraphFunctions> make_group(const PlanEnvironment& environment);

  Graph& graph_;
  const PlanEnvironment environment_;
  const std::stop_token closed_;
  std::mutex mutex_;
  bool ended_ = false;                        // guarded by mutex_
  std::vector<std::weak_ptr<Group>> groups_;  // guarded by mutex_
};

}  // namespace weir
