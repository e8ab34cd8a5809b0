#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/plan.h"

namespace weir {

// What weir/partial_run.h promises, on plans: each piece is a plan for the nodes that nobody has run yet.
class PartialSteps {
 public:
  PartialSteps(const PlanEnvironment& environment, const CallableSpec& spec);

  // `results` has a place for each fetch.
  void run(std::span<const Output> fetches, std::span<const Feed> feeds, std::span<const Operation> targets,
           std::span<Tensor> results, const RunControl& control, RunTrace* trace);

 private:
  using Outputs = std::unordered_set<Output, OutputHash>;

  void take_feeds(std::span<const Feed> feeds);
  void take_fetches(std::span<const Output> fetches, std::span<const Operation> targets);
  void find_needed(std::span<const Output> fetches, std::span<const Operation> targets);
  void find_kept();
  static bool is_handle(const Node& node);
  // The variable behind a reference that an earlier piece gave on.
  static Output variable_behind(Output output);

  const PlanEnvironment environment_;
  const CallableSpec spec_;
  Outputs awaited_feeds_, awaited_fetches_;
  std::unordered_set<const Node*> awaited_targets_;
  std::unordered_set<const Node*> all_;  // that the whole run needs
  std::unordered_set<const Node*> done_;
  std::unordered_map<Output, Tensor, OutputHash> values_;  // that were fed, and that later pieces may read

  // Of the piece under way:
  std::unordered_set<const Node*> needed_;
  std::vector<Output> inputs_, kept_;
  std::unordered_map<Output, Output, OutputHash> references_;
};

}  // namespace weir
