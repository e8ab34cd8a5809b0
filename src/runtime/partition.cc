// Cuts a plan into stretches, and those into parts, one for each device.

#include <algorithm>
#include <queue>
#include <set>

#include "runtime/plan_builder.h"
#include "tensor/elements.h"

namespace weir {
namespace {

// How long another part needs to notice that a step has ended.
constexpr double kHandOver = 2;

// Plays the steps through, each device taking what is ready in the order of the plan, and gives the order in which each
// device comes to its steps. So a device is not kept from work that others wait for by a step that waits for others.
// `first` marks steps that go before all others: copies, which somebody needs.
class Rehearsal {
 public:
  Rehearsal(const std::vector<StepFacts>& facts, const std::vector<int>& part_of, const std::vector<bool>& first,
            size_t parts)
      : facts_(facts), part_of_(part_of), first_(first), lanes_(parts), order_(parts) {
    const size_t count = facts.size();
    successors_.resize(count);
    waiting_.assign(count, 0);
    ready_at_.assign(count, 0);
    for (size_t i = 0; i < count; ++i) {
      waiting_[i] = static_cast<int>(facts[i].before.size());
      for (int before : facts[i].before) successors_[static_cast<size_t>(before)].push_back(static_cast<int>(i));
      if (waiting_[i] == 0) offer(static_cast<int>(i));
    }
  }

  std::vector<std::vector<int>> run() {
    for (size_t done = 0; done < facts_.size(); ++done) {
      size_t next = 0;
      double start = kNone;
      for (size_t p = 0; p < lanes_.size(); ++p) {
        if (double at = next_start(lanes_[p]); at < start) {
          next = p;
          start = at;
        }
      }
      take(next, start);
    }
    return std::move(order_);
  }

 private:
  static constexpr double kNone = 1e300;
  using Later = std::pair<double, int>;  // when a step will be ready
  struct Lane {
    double clock = 0;
    std::set<std::pair<int, int>> now;  // position, step
    std::priority_queue<Later, std::vector<Later>, std::greater<>> later;
  };

  void offer(int step) {
    auto at = static_cast<size_t>(step);
    lanes_[static_cast<size_t>(part_of_[at])].later.emplace(ready_at_[at], step);
  }
  static double next_start(const Lane& lane) {
    if (!lane.now.empty()) return lane.clock;
    return lane.later.empty() ? kNone : std::max(lane.clock, lane.later.top().first);
  }
  void take(size_t part, double start) {
    Lane& lane = lanes_[part];
    for (; !lane.later.empty() && lane.later.top().first <= start; lane.later.pop()) {
      const int step = lane.later.top().second;
      lane.now.emplace(first_[static_cast<size_t>(step)] ? -1 : step, step);
    }
    const int step = lane.now.begin()->second;
    lane.now.erase(lane.now.begin());
    lane.clock = start + facts_[static_cast<size_t>(step)].microseconds;
    order_[part].push_back(step);
    for (int after : successors_[static_cast<size_t>(step)]) {
      auto at = static_cast<size_t>(after);
      const bool crosses = part_of_[at] != static_cast<int>(part);
      ready_at_[at] = std::max(ready_at_[at], lane.clock + (crosses ? kHandOver : 0));
      if (--waiting_[at] == 0) offer(after);
    }
  }

  const std::vector<StepFacts>& facts_;
  const std::vector<int>& part_of_;
  const std::vector<bool>& first_;
  std::vector<Lane> lanes_;
  std::vector<std::vector<int>> order_;
  std::vector<std::vector<int>> successors_;
  std::vector<int> waiting_;
  std::vector<double> ready_at_;
};

}  // namespace

// The devices that have steps or memory in this plan get an arena each, the home device first; each stretch is cut into
// a part for every device.
void Plan::Builder::form_stretches() {
  const std::vector<Step>& steps = plan_.steps_;
  const PlanEnvironment& environment = plan_.environment_;
  std::set<int> used;
  // The device whose memory each output of a step is in.
  auto memory_for = [&](size_t i, int o) { return memory_of(ir_, {step_nodes_[i], o}, environment.devices); };
  for (size_t i = 0; i < steps.size(); ++i) {
    used.insert({steps[i].device, steps[i].to});
    for (int o = 0; o < steps[i].view.output_count; ++o) used.insert(memory_for(i, o));
  }
  std::vector<int> devices(used.begin(), used.end());
  if (devices.empty()) devices.push_back(environment.home);
  auto home = std::find(devices.begin(), devices.end(), environment.home);
  if (home != devices.end()) std::rotate(devices.begin(), home, home + 1);
  memory_of_device_.assign(static_cast<size_t>(environment.devices.size()), -1);
  for (size_t m = 0; m < devices.size(); ++m) {
    memory_of_device_[static_cast<size_t>(devices[m])] = static_cast<int>(m);
    plan_.memories_.push_back(devices[m]);
    plan_.device_memories_.push_back(environment.devices[devices[m]].memory());
  }
  for (size_t i = 0; i < steps.size(); ++i) {
    for (int o = 0; o < steps[i].view.output_count; ++o) {
      memory(steps[i].view.outputs[o]).memory = memory_of_device_[static_cast<size_t>(memory_for(i, o))];
    }
  }
  for (Step& step : plan_.steps_) step.own_memory = memory_of_device_[static_cast<size_t>(step.device)];
  plan_.stretches_.resize(static_cast<size_t>(stretches_.size()));
  const int count = static_cast<int>(steps.size());
  const bool waits =
      std::any_of(steps.begin(), steps.end(), [](const Step& s) { return s.kind == Step::Kind::Waiting; });
  if (devices.size() == 1 && !waits) {  // nothing to cut, but for what all iterations of a loop share
    for (int s = 0, begin = 0; s < stretches_.size(); ++s) {
      int end = begin;
      while (end < count && stretch_of(end) == s) ++end;
      if (end > begin) plan_.stretches_[static_cast<size_t>(s)] = {.parts = {{.begin = begin, .end = end}}};
      begin = end;
    }
    return;
  }
  const std::vector<StepFacts> facts = step_facts();
  connect_stretches(facts);
  for (int begin = 0; begin < count;) {
    const int stretch = stretch_of(begin);
    int end = begin;
    while (end < count && stretch_of(end) == stretch) ++end;
    form_parts(plan_.stretches_[static_cast<size_t>(stretch)], begin, end, facts);
    begin = end;
  }
  for (int i = 0; i < count; ++i) {
    Step& step = plan_.steps_[static_cast<size_t>(i)];
    if (step.kind == Step::Kind::Waiting) plan_.waiting_steps_[static_cast<size_t>(step.waiting)] = i;
  }
}

// Numbers the steps that wait, and finds out what each stretch waits for.
void Plan::Builder::connect_stretches(const std::vector<StepFacts>& facts) {
  WaitingGraph& graph = plan_.waiting_;
  std::vector<int> number(ir_.nodes.size(), -1);  // node -> waiting step
  for (size_t i = 0; i < plan_.steps_.size(); ++i) {
    Step& step = plan_.steps_[i];
    if (step.kind != Step::Kind::Waiting) continue;
    step.waiting = static_cast<int>(plan_.waiting_steps_.size());
    number[static_cast<size_t>(step_nodes_[i])] = step.waiting;
    plan_.waiting_steps_.push_back(static_cast<int>(i));
  }
  graph.stretches.resize(plan_.stretches_.size());
  graph.after.resize(plan_.waiting_steps_.size());
  for (int s = 0; s < stretches_.size(); ++s) {
    for (int node : stretches_.needs[static_cast<size_t>(s)]) {
      graph.after[static_cast<size_t>(number[static_cast<size_t>(node)])].push_back(s);
      ++graph.stretches[static_cast<size_t>(s)].waits_for;
    }
  }
  std::set<std::pair<int, int>> known;
  for (int i = 0; i < static_cast<int>(facts.size()); ++i) {
    const int later = stretch_of(i);
    for (int before : facts[static_cast<size_t>(i)].before) {
      const int sooner = stretch_of(before);
      // Of two that wait for different things neither waits for the other, even if they use the same variables: one
      // runs after the other in any case.
      if (sooner == later || !stretches_.follows(sooner, later) || !known.emplace(sooner, later).second) continue;
      graph.stretches[static_cast<size_t>(sooner)].successors.push_back(later);
      ++graph.stretches[static_cast<size_t>(later)].waits_for;
    }
  }
}

// A copy to that part's device which the two devices order by themselves.
bool Plan::Builder::is_left_to_devices(const Step& step, size_t part) const {
  if (step.kind != Step::Kind::Copy || memory_of_device_[static_cast<size_t>(step.to)] != static_cast<int>(part)) {
    return false;
  }
  const DeviceMemory *to = plan_.memory_of_device(step.to), *from = plan_.memory_of_device(step.from);
  return to && from && is_plain(plan_.first_.slots[static_cast<size_t>(step.view.inputs[0])].dtype) &&
         to->follows(*from);
}

// Steps [begin, end) are the stretch: they are put into the order of their parts, and learn what they have to wait for.
void Plan::Builder::form_parts(Stretch& stretch, int begin, int end, const std::vector<StepFacts>& all_facts) {
  const auto first = static_cast<size_t>(begin), count = static_cast<size_t>(end - begin);
  std::vector<Step>& steps = plan_.steps_;
  // Numbered from the stretch's first step: what is before has ended.
  std::vector<StepFacts> facts(all_facts.begin() + begin, all_facts.begin() + end);
  for (StepFacts& step : facts) {
    std::erase_if(step.before, [&](int before) { return before < begin; });
    for (int& before : step.before) before -= begin;
  }
  std::vector<int> parts;
  std::vector<bool> copies;
  for (size_t i = 0; i < count; ++i) {
    const Step& step = steps[first + i];
    parts.push_back(memory_of_device_[static_cast<size_t>(step.device)]);
    copies.push_back(step.to != step.device);
  }
  const std::vector<std::vector<int>> order = Rehearsal(facts, parts, copies, plan_.memories_.size()).run();

  std::vector<Step> sorted;
  std::vector<int> nodes, place(count);  // place: old number -> new number
  std::vector<int> begins(order.size());
  for (size_t p = 0; p < order.size(); ++p) {
    begins[p] = static_cast<int>(sorted.size());
    for (int old : order[p]) {
      place[static_cast<size_t>(old)] = static_cast<int>(sorted.size());
      sorted.push_back(std::move(steps[first + static_cast<size_t>(old)]));
      nodes.push_back(step_nodes_[first + static_cast<size_t>(old)]);
    }
    if (order[p].empty()) continue;
    stretch.parts.push_back(
        {.memory = static_cast<int>(p), .begin = begin + begins[p], .end = begin + static_cast<int>(sorted.size())});
  }
  std::move(sorted.begin(), sorted.end(), steps.begin() + begin);
  std::copy(nodes.begin(), nodes.end(), step_nodes_.begin() + begin);
  if (stretch.parts.size() < 2) return;
  plan_.in_parts_ = true;

  for (size_t p = 0; p < order.size(); ++p) {
    // Steps of each part that this one knows to have been begun, and to have ended.
    std::vector<int> begun(order.size(), 0), ended(order.size(), 0);
    for (int old : order[p]) {
      Step& step = steps[first + static_cast<size_t>(place[static_cast<size_t>(old)])];
      std::vector<int> to_begin = begun, to_end = ended;
      for (int before : facts[static_cast<size_t>(old)].before) {
        const auto other = static_cast<size_t>(parts[static_cast<size_t>(before)]);
        if (other == p) continue;
        const int place_of_it = place[static_cast<size_t>(before)];
        std::vector<int>& wanted =
            is_left_to_devices(steps[first + static_cast<size_t>(place_of_it)], p) ? to_begin : to_end;
        wanted[other] = std::max(wanted[other], place_of_it + 1 - begins[other]);
      }
      for (size_t other = 0; other < order.size(); ++other) {
        auto await = [&](int wanted, bool ends) {
          step.waits.push_back({static_cast<int>(other), wanted});
          Step& awaited = steps[first + static_cast<size_t>(begins[other] + wanted - 1)];
          awaited.awaited = true;
          awaited.ends = awaited.ends || ends;
          begun[other] = std::max(begun[other], wanted);
        };
        if (to_end[other] > ended[other]) await(ended[other] = to_end[other], true);
        if (to_begin[other] > begun[other]) await(to_begin[other], false);
      }
    }
  }
}

}  // namespace weir
