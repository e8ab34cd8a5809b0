#include "runtime/partial_steps.h"

#include <algorithm>

#include "base/errors.h"
#include "graph/graph_impl.h"

namespace weir {

PartialSteps::PartialSteps(const PlanEnvironment& environment, const CallableSpec& spec)
    : environment_(environment), spec_(spec) {
  if (spec.fetches.empty() && spec.targets.empty()) {
    throw invalid_argument("Must specify at least one target to fetch or execute.");
  }
  awaited_feeds_.insert(spec.feeds.begin(), spec.feeds.end());
  awaited_fetches_.insert(spec.fetches.begin(), spec.fetches.end());
  std::vector<const Node*> todo;
  auto need = [&](const Node* node) {
    if (all_.insert(node).second) todo.push_back(node);
  };
  std::lock_guard lock((spec.fetches.empty() ? spec.targets[0].graph() : spec.fetches[0].graph()).impl().storage.mutex);
  for (const Output& fetch : spec.fetches) need(fetch.node());
  for (const Operation& target : spec.targets) {
    awaited_targets_.insert(target.node());
    need(target.node());
  }
  while (!todo.empty()) {
    const Node* node = todo.back();
    todo.pop_back();
    for (const Output& input : node->inputs) {
      if (!awaited_feeds_.contains(input)) need(input.node());
    }
    for (const Node* control : node->control_inputs) need(control);
  }
}

bool PartialSteps::is_handle(const Node& node) {
  return gives_named_handle(*node.op) && node.op->role != Role::Placeholder;
}

Output PartialSteps::variable_behind(Output output) {
  while (!is_handle(*output.node())) {
    if (output.node()->inputs.empty() || !output.node()->inputs[0].is_ref()) {
      output.node()->fail(Code::Unimplemented, "a partial run cannot go on with a reference that is no variable's");
    }
    output = output.node()->inputs[0];
  }
  return output;
}

void PartialSteps::take_feeds(std::span<const Feed> feeds) {
  for (const Feed& feed : feeds) {
    if (std::find(spec_.feeds.begin(), spec_.feeds.end(), feed.output) == spec_.feeds.end()) {
      throw invalid_argument("The feed {} was not specified in partial_run_setup.", feed.output.name());
    }
    if (!awaited_feeds_.contains(feed.output)) {
      throw invalid_argument("The feed {} has already been fed.", feed.output.name());
    }
  }
  for (const Feed& feed : feeds) {
    awaited_feeds_.erase(feed.output);
    values_[feed.output] = feed.value;
  }
}

void PartialSteps::take_fetches(std::span<const Output> fetches, std::span<const Operation> targets) {
  for (const Output& fetch : fetches) {
    if (std::find(spec_.fetches.begin(), spec_.fetches.end(), fetch) == spec_.fetches.end()) {
      throw invalid_argument("The fetch {} was not specified in partial_run_setup.", fetch.name());
    }
    if (!awaited_fetches_.contains(fetch))
      throw invalid_argument("The fetch {} has already been fetched.", fetch.name());
  }
  for (const Operation& target : targets) {
    if (std::find(spec_.targets.begin(), spec_.targets.end(), target) == spec_.targets.end()) {
      throw invalid_argument("The fetch {} was not specified in partial_run_setup.", target.name());
    }
    if (!awaited_targets_.contains(target.node())) {
      throw invalid_argument("The fetch {} has already been fetched.", target.name());
    }
  }
  for (const Output& fetch : fetches) awaited_fetches_.erase(fetch);
  for (const Operation& target : targets) awaited_targets_.erase(target.node());
}

void PartialSteps::find_needed(std::span<const Output> fetches, std::span<const Operation> targets) {
  needed_.clear();
  inputs_.clear();
  references_.clear();
  std::vector<const Node*> todo;
  auto need = [&](const Node* node) {
    if (!done_.contains(node) && needed_.insert(node).second) todo.push_back(node);
  };
  auto read = [&](const Output& output) {
    if (values_.contains(output)) {
      if (std::find(inputs_.begin(), inputs_.end(), output) == inputs_.end()) inputs_.push_back(output);
    } else if (awaited_feeds_.contains(output)) {
      output.node()->fail(Code::InvalidArgument,
                          fmt::format("You must feed a value for placeholder tensor '{}'", output.node()->name));
    } else if (done_.contains(output.node()) && output.is_ref() && !is_handle(*output.node())) {
      references_.emplace(output, variable_behind(output));
    } else {
      need(output.node());
    }
  };
  for (const Output& fetch : fetches) read(fetch);
  for (const Operation& target : targets) need(target.node());
  while (!todo.empty()) {
    const Node* node = todo.back();
    todo.pop_back();
    for (const Output& input : node->inputs) read(input);
    for (const Node* control : node->control_inputs) need(control);
  }
}

// Values of this piece that nodes of later ones read, or that are fetched then.
void PartialSteps::find_kept() {
  kept_.clear();
  auto keep = [&](const Output& output) {
    if (!needed_.contains(output.node()) || output.is_ref() || output.dtype() == DType::Resource) return;
    if (std::find(kept_.begin(), kept_.end(), output) == kept_.end()) kept_.push_back(output);
  };
  for (const Node* node : all_) {
    if (done_.contains(node) || needed_.contains(node)) continue;
    for (const Output& input : node->inputs) keep(input);
  }
  for (const Output& fetch : awaited_fetches_) keep(fetch);
}

void PartialSteps::run(std::span<const Output> fetches, std::span<const Feed> feeds, std::span<const Operation> targets,
                       std::span<Tensor> results, const RunControl& control, RunTrace* trace) {
  if (fetches.empty() && targets.empty() && feeds.empty()) return;
  take_feeds(feeds);
  take_fetches(fetches, targets);
  {
    const Node* any = !fetches.empty()   ? fetches[0].node()
                      : !targets.empty() ? targets[0].node()
                                         : feeds[0].output.node();
    std::lock_guard lock(any->graph->impl().storage.mutex);
    find_needed(fetches, targets);
    find_kept();
  }
  std::vector<Output> wanted(fetches.begin(), fetches.end());
  wanted.insert(wanted.end(), kept_.begin(), kept_.end());
  std::vector<FeedSpec> specs;
  std::vector<const Tensor*> values;
  for (const Output& input : inputs_) {
    values.push_back(&values_.at(input));
    specs.push_back({values.back()->dtype(), values.back()->shape()});
  }
  std::vector<Tensor> given(wanted.size());
  const PlanPart part{needed_, references_};
  Plan plan({wanted, inputs_, specs, targets, nullptr, true, &part}, environment_);
  plan.run(plan.first_fit(), values, given, control, trace);
  for (size_t i = 0; i < fetches.size(); ++i) results[i] = given[i];
  for (size_t i = 0; i < kept_.size(); ++i) values_[kept_[i]] = given[fetches.size() + i];
  // What a handle stands for is looked up by every piece.
  for (const Node* node : needed_) {
    if (!is_handle(*node)) done_.insert(node);
  }
}

}  // namespace weir
