#include <algorithm>

#include "runtime/cost.h"
#include "runtime/plan_builder.h"

namespace weir {
namespace {

// Who touched a variable since it was last written.
struct Accesses {
  int writer = -1;
  std::vector<int> readers;

  // Enters a step, and what it has to come after into `before`.
  void add(int step, bool writes, std::vector<int>& before) {
    if (writer >= 0 && writer != step) before.push_back(writer);
    if (writes) {
      // Also after those who hold snapshots, so that the write can happen in place.
      before.insert(before.end(), readers.begin(), readers.end());
      writer = step;
      readers.clear();
    } else {
      readers.push_back(step);
    }
  }
};

}  // namespace

std::vector<StepFacts> Plan::Builder::step_facts() const {
  const std::vector<Step>& steps = plan_.steps_;
  std::vector<StepFacts> facts(steps.size());
  std::vector<int> producer(plan_.first_.slots.size(), -1);  // step of each slot
  std::vector<int> variable(plan_.first_.slots.size(),
                            -1);  // slot -> slot of the handle it refers to, or was read from
  std::vector<Accesses> accesses(plan_.first_.slots.size());
  Accesses in_bodies;                                            // of control flow
  std::vector<std::vector<int>> steps_behind(ir_.nodes.size());  // node -> the steps that its readers wait for
  for (const Step& step : plan_.once_) {
    for (int o = 0; o < step.view.output_count; ++o)
      variable[static_cast<size_t>(step.view.outputs[o])] = step.view.outputs[o];
  }
  auto refers = [&](size_t s) {
    return plan_.first_.slots[s].place == Place::Nowhere || plan_.first_.slots[s].dtype == DType::Resource;
  };
  auto source = [&](int s) {
    while (producer[static_cast<size_t>(s)] < 0 && alias_of_[static_cast<size_t>(s)] >= 0)
      s = alias_of_[static_cast<size_t>(s)];
    return s;
  };

  std::vector<int> step_of(ir_.nodes.size(), -1);
  for (size_t i = 0; i < step_nodes_.size(); ++i) step_of[static_cast<size_t>(step_nodes_[i])] = static_cast<int>(i);
  // Nodes without a step (NoOp, aliases, constants) pass on what they wait for.
  for (int id : ir_.topological_order()) {
    std::vector<int>& behind = steps_behind[static_cast<size_t>(id)];
    if (step_of[static_cast<size_t>(id)] >= 0) {
      behind = {step_of[static_cast<size_t>(id)]};
      continue;
    }
    auto join = [&](int other) {
      const auto& list = steps_behind[static_cast<size_t>(other)];
      behind.insert(behind.end(), list.begin(), list.end());
    };
    for (const IrEdge& input : ir_[id].inputs) join(input.node);
    for (int control : ir_[id].control) join(control);
    std::sort(behind.begin(), behind.end());
    behind.erase(std::unique(behind.begin(), behind.end()), behind.end());
  }

  for (int i = 0; i < static_cast<int>(steps.size()); ++i) {
    const Step& step = steps[static_cast<size_t>(i)];
    std::vector<int>& before = facts[static_cast<size_t>(i)].before;
    std::vector<const Shape*> shapes;
    for (int s : step.slots) shapes.push_back(&plan_.first_.slots[static_cast<size_t>(s)].shape);
    std::span<const Shape* const> all(shapes);
    auto inputs = static_cast<size_t>(step.view.input_count);
    facts[static_cast<size_t>(i)].microseconds =
        estimate_microseconds(*step.op, all.first(inputs), all.subspan(inputs));

    // The bodies of control flow read and write variables unseen; what waits is only started here.
    facts[static_cast<size_t>(i)].alone = step.kind == Step::Kind::Flow || step.kind == Step::Kind::Waiting;
    const Flow* flow = ir_[step_nodes_[static_cast<size_t>(i)]].flow.get();
    for (int control : ir_[step_nodes_[static_cast<size_t>(i)]].control) {
      const auto& list = steps_behind[static_cast<size_t>(control)];
      before.insert(before.end(), list.begin(), list.end());
    }
    for (int n = 0; n < step.view.input_count; ++n) {
      int s = source(step.view.inputs[n]);
      if (producer[static_cast<size_t>(s)] >= 0) before.push_back(producer[static_cast<size_t>(s)]);
      int handle = variable[static_cast<size_t>(s)];
      if (handle < 0) continue;
      Accesses& access = accesses[static_cast<size_t>(handle)];
      bool writes = refers(static_cast<size_t>(s)) && step.op->effect == Effect::Writes;
      if (!flow) access.add(i, writes, before);
    }
    if (flow) {
      // The variables that its bodies use are not seen here: it may be any.
      for (size_t s = 0; s < accesses.size(); ++s) {
        if (variable[s] == static_cast<int>(s)) accesses[s].add(i, flow->writes, before);
      }
      in_bodies.add(i, flow->writes, before);
    }
    for (int o = 0; o < step.view.output_count; ++o) {
      auto out = static_cast<size_t>(step.view.outputs[o]);
      producer[out] = i;
      bool passes_on = refers(out) || step.op->role == Role::Read || step.kind == Step::Kind::Alias;
      if (passes_on && step.view.input_count > 0)
        variable[out] = variable[static_cast<size_t>(source(step.view.inputs[0]))];
    }
    std::sort(before.begin(), before.end());
    before.erase(std::unique(before.begin(), before.end()), before.end());
    std::erase(before, i);
  }
  return facts;
}

void Plan::Builder::find_overlaps(int threads) {
  if (threads < 2) return;
  std::vector<StepFacts> facts;
  for (Stretch& stretch : plan_.stretches_) {
    stretch.first_region = static_cast<int>(plan_.regions_.size());
    if (stretch.parts.size() != 1) continue;
    if (facts.empty()) facts = step_facts();
    const Part& part = stretch.parts[0];
    for (Region& region : find_regions(
             std::span(facts).subspan(static_cast<size_t>(part.begin), static_cast<size_t>(part.end - part.begin)),
             part.begin, threads)) {
      plan_.regions_.push_back(std::move(region));
    }
  }
}

}  // namespace weir
