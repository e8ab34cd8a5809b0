// Finds the reads of variables whose values are let go before the run writes the variable: they need no snapshot.

#include <algorithm>

#include "runtime/plan_builder.h"

namespace weir {
namespace {

constexpr int kAnyVariable = -1;

// What keeps its inputs, or hands them on, beyond the end of its step.
bool keeps_inputs(const Step& step) {
  if (step.kind == Step::Kind::Flow || step.op->def->waits) return true;
  return step.kernel->gives_outputs && step.op->role != Role::Read;
}

}  // namespace

// A live read is the same as a snapshot to its own run, because every user of the value comes before the run's next
// write, and regions and parts keep that order (see step_facts). Comes before the steps are put into parts.
void Plan::Builder::mark_live_reads() {
  std::vector<Step>& steps = plan_.steps_;
  // Handles are told apart by their nodes. Where two nodes name one variable, as function bodies do, the plan keeps no
  // order between them: their reads stay snapshots, and so do those through handles that come from elsewhere.
  std::vector<std::string> names(ir_.nodes.size());
  std::map<std::string, int> handles;
  for (int i = 0; i < ir_.size(); ++i) {
    const IrNode& node = ir_[i];
    if (node.dead || node.is_feed() || !node.inputs.empty() || !node.op->attr("shared_name")) continue;
    const auto& shared_name = node.attrs.get<std::string>("shared_name");
    std::string& name = names[static_cast<size_t>(i)];
    name = node.attrs.get<std::string>("container") + "/" + (shared_name.empty() ? node.name : shared_name);
    ++handles[name];
  }
  auto variable_behind = [&](const IrEdge& reference) {
    const int node = variable_of(ir_, reference);
    const std::string& name = names[static_cast<size_t>(node)];
    return !name.empty() && handles[name] == 1 ? node : kAnyVariable;
  };

  struct Read {
    int step, variable, last_use;
    bool live = true;
  };
  std::vector<Read> reads;
  std::vector<int> read_of(plan_.first_.slots.size(), -1);  // slot -> the read whose value it is, or is a view of
  std::vector<std::vector<int>> writes(ir_.nodes.size());   // of each variable, in order
  std::vector<int> unknown_writes;
  for (int i = 0; i < static_cast<int>(steps.size()); ++i) {
    const Step& step = steps[static_cast<size_t>(i)];
    const IrNode& node = ir_[step_nodes_[static_cast<size_t>(i)]];
    for (int n = 0; n < step.view.input_count; ++n) {
      const int of = read_of[static_cast<size_t>(step.view.inputs[n])];
      if (of < 0) continue;
      Read& read = reads[static_cast<size_t>(of)];
      read.last_use = i;
      if (keeps_inputs(step)) read.live = false;
      if (step.op->def->alias == n) read_of[static_cast<size_t>(step.view.outputs[0])] = of;
    }
    if (step.op->role == Role::Read) {
      read_of[static_cast<size_t>(step.view.outputs[0])] = static_cast<int>(reads.size());
      reads.push_back({i, variable_behind(node.inputs[0]), i});
    }
    if (node.flow && node.flow->writes) unknown_writes.push_back(i);
    if (step.op->effect != Effect::Writes) continue;
    for (size_t n = 0; n < node.inputs.size(); ++n) {
      if (!step.op->input_arg(n, node.attrs).is_ref && ir_.type(node.inputs[n]) != DType::Resource) continue;
      const int variable = variable_behind(node.inputs[n]);
      (variable == kAnyVariable ? unknown_writes : writes[static_cast<size_t>(variable)]).push_back(i);
    }
  }
  for (int fetch : plan_.fetch_slots_) {
    if (const int of = read_of[static_cast<size_t>(fetch)]; of >= 0) reads[static_cast<size_t>(of)].live = false;
  }
  for (const Read& read : reads) {
    auto overlaps = [&](const std::vector<int>& list) {
      auto next = std::upper_bound(list.begin(), list.end(), read.step);
      return next != list.end() && *next <= read.last_use;
    };
    if (!read.live || read.variable == kAnyVariable) continue;
    if (overlaps(unknown_writes) || overlaps(writes[static_cast<size_t>(read.variable)])) continue;
    steps[static_cast<size_t>(read.step)].attrs.set("_live", true);
  }
}

}  // namespace weir
