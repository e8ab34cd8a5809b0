// Cuts a plan into parts, one for each device.

#include <algorithm>
#include <queue>
#include <set>

#include "runtime/plan_builder.h"

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

int Plan::Builder::part_of(int step) const {
  for (size_t p = 0; p < plan_.parts_.size(); ++p) {
    if (step < plan_.parts_[p].end) return static_cast<int>(p);
  }
  return -1;
}

// The devices that have steps or memory in this plan become its parts, the home device's first; steps are put into the
// order of their parts, and learn what they have to wait for.
void Plan::Builder::form_parts() {
  std::vector<Step>& steps = plan_.steps_;
  const PlanEnvironment& environment = plan_.environment_;
  std::vector<int> number(static_cast<size_t>(environment.devices.size()), -1);  // device -> part
  std::set<int> used;
  for (const Step& step : steps) used.insert({step.device, step.to});
  std::vector<int> devices(used.begin(), used.end());
  if (devices.empty()) devices.push_back(environment.home);
  auto home = std::find(devices.begin(), devices.end(), environment.home);
  if (home != devices.end()) std::rotate(devices.begin(), home, home + 1);
  for (size_t p = 0; p < devices.size(); ++p) {
    number[static_cast<size_t>(devices[p])] = static_cast<int>(p);
    plan_.parts_.push_back({.device = devices[p]});
  }
  incoming_.resize(devices.size());
  for (const Step& step : steps) {
    const int part = number[static_cast<size_t>(step.to)];
    for (int o = 0; o < step.view.output_count; ++o) {
      memory(step.view.outputs[o]).part = part;
      if (step.to != step.device) incoming_[static_cast<size_t>(part)].push_back(step.view.outputs[o]);
    }
  }
  if (devices.size() == 1) {
    plan_.parts_[0].end = static_cast<int>(steps.size());
    plan_.active_parts_ = {0};
    return;
  }

  const std::vector<StepFacts> facts = step_facts();
  std::vector<int> parts;
  std::vector<bool> copies;
  for (const Step& step : steps) {
    parts.push_back(number[static_cast<size_t>(step.device)]);
    copies.push_back(step.to != step.device);
  }
  const std::vector<std::vector<int>> order = Rehearsal(facts, parts, copies, devices.size()).run();

  std::vector<Step> sorted;
  std::vector<int> nodes, place(steps.size());  // place: old number -> new number
  for (size_t p = 0; p < order.size(); ++p) {
    Part& part = plan_.parts_[p];
    part.begin = static_cast<int>(sorted.size());
    for (int old : order[p]) {
      place[static_cast<size_t>(old)] = static_cast<int>(sorted.size());
      sorted.push_back(std::move(steps[static_cast<size_t>(old)]));
      nodes.push_back(step_nodes_[static_cast<size_t>(old)]);
    }
    part.end = static_cast<int>(sorted.size());
    if (part.begin < part.end) plan_.active_parts_.push_back(static_cast<int>(p));
  }
  steps = std::move(sorted);
  step_nodes_ = std::move(nodes);

  for (size_t p = 0; p < order.size(); ++p) {
    std::vector<int> known(order.size(), 0);  // steps of each part that this one has waited for
    for (int old : order[p]) {
      Step& step = steps[static_cast<size_t>(place[static_cast<size_t>(old)])];
      std::vector<int> wanted = known;
      for (int before : facts[static_cast<size_t>(old)].before) {
        const auto other = static_cast<size_t>(parts[static_cast<size_t>(before)]);
        const int at = place[static_cast<size_t>(before)];
        if (other != p) wanted[other] = std::max(wanted[other], at + 1 - plan_.parts_[other].begin);
      }
      for (size_t other = 0; other < order.size(); ++other) {
        if (wanted[other] == known[other]) continue;
        step.waits.push_back({static_cast<int>(other), wanted[other]});
        steps[static_cast<size_t>(plan_.parts_[other].begin + wanted[other] - 1)].awaited = true;
      }
      known = std::move(wanted);
    }
  }
}

// Lets a held value go when the last part that reads it has done so.
void Plan::Builder::release(int s) {
  std::vector<int> last(plan_.parts_.size(), -1);  // the step of each part that uses it last
  for (size_t p = 0; p < plan_.parts_.size(); ++p) {
    for (int i = plan_.parts_[p].begin; i < plan_.parts_[p].end; ++i) {
      const std::vector<int>& slots = plan_.steps_[static_cast<size_t>(i)].slots;
      if (std::find(slots.begin(), slots.end(), s) != slots.end()) last[p] = i;
    }
  }
  const auto users = static_cast<int>(std::count_if(last.begin(), last.end(), [](int step) { return step >= 0; }));
  if (users > 1) plan_.shared_held_.push_back({s, users});
  for (int step : last) {
    if (step < 0) continue;
    Step& reader = plan_.steps_[static_cast<size_t>(step)];
    if (users > 1) {
      reader.shared_releases.push_back(static_cast<int>(plan_.shared_held_.size()) - 1);
    } else {
      reader.releases.push_back(s);
    }
  }
}

}  // namespace weir
