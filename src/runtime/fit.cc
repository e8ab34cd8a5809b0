// Plans for feeds of other shapes than those that they were made for.

#include <algorithm>

#include "ops/evaluate.h"
#include "runtime/layout.h"

namespace weir {
namespace {

// How much larger or smaller feeds may be before the plan's overlapping regions, which were chosen by the times that
// steps take, are chosen anew.
constexpr int64_t kNear = 4;

int64_t elements_of(std::span<const Shape* const> shapes) {
  int64_t sum = 0;
  for (const Shape* shape : shapes) sum = checked_add(sum, std::max<int64_t>(shape->elements(), 0));
  return sum;
}

}  // namespace

size_t bytes_of(const Slot& slot) {
  return static_cast<size_t>(checked_multiply(slot.shape.elements(), static_cast<int64_t>(dtype_size(slot.dtype))));
}

bool Fit::accepts(std::span<const Tensor* const> feed_values) const {
  for (size_t i = 0; i < feed_values.size(); ++i) {
    if (feed_values[i]->shape() != feeds[i]) return false;
  }
  return true;
}

size_t Fit::bytes() const {
  constexpr size_t kState = 300;
  return slots.size() * sizeof(Slot) + constants.size() * sizeof(Tensor) + steps.size() * (sizeof(FittedStep) + kState);
}

uint64_t Plan::next_fit() {
  static std::atomic<uint64_t> number{0};
  return ++number;
}

void Plan::prepare(size_t index, Fit& fit) const {
  const Step& step = steps_[index];
  FittedStep& fitted = fit.steps[index];
  fitted = {};
  fitted.compute = step.compute;
  fitted.view = step.view;
  if (step.kind != Step::Kind::Static && step.kind != Step::Kind::Waiting) return;
  const Shape* on_stack[8];
  std::vector<const Shape*> on_heap;
  if (step.slots.size() > std::size(on_stack)) on_heap.resize(step.slots.size());
  const Shape** shapes = on_heap.empty() ? on_stack : on_heap.data();
  for (size_t i = 0; i < step.slots.size(); ++i) shapes[i] = &fit.slots[static_cast<size_t>(step.slots[i])].shape;
  const std::span<const Shape* const> all(shapes, step.slots.size());
  const auto inputs = static_cast<size_t>(step.view.input_count);
  if (step.kind == Step::Kind::Static && computes_nothing(*step.op, *step.kernel, all.subspan(inputs))) {
    fitted.compute = [](KernelContext&) {};
    return;
  }
  if (!step.kernel->prepare) return;
  PrepareContext c(*step.node, all.first(inputs), all.subspan(inputs), *step.pool, &environment_.resources);
  fitted.state = step.kernel->prepare(c);
  fitted.view.state = fitted.state.get();
  fitted.scratch_bytes = c.scratch_bytes();
}

std::shared_ptr<const Fit> Plan::fit(const std::shared_ptr<Plan>& plan, std::span<const Shape* const> feeds,
                                     bool any_size) {
  const Fit& first = plan->first_;
  if (!plan->refit_) return nullptr;
  try {
    std::vector<const Shape*> before;
    for (const Shape& shape : first.feeds) before.push_back(&shape);
    const int64_t now = elements_of(feeds), then = elements_of(before);
    if (!any_size && (now / kNear > then || then / kNear > now)) return nullptr;
    const std::unique_ptr<Refit::Facts> facts = plan->refit_->run(feeds, plan->pool_);
    if (!facts) return nullptr;

    auto fit = std::make_shared<Fit>(first);
    fit->owner = plan;
    fit->number = next_fit();
    for (size_t i = 0; i < feeds.size(); ++i) fit->feeds[i] = *feeds[i];
    std::vector<char> differs(fit->slots.size(), false);
    for (size_t s = 0; s < fit->slots.size(); ++s) {
      const IrEdge& edge = plan->slot_edges_[s];
      if (!facts->differs(edge)) continue;
      differs[s] = true;
      Slot& slot = fit->slots[s];
      slot.shape = facts->shape(edge);
      if (slot.constant >= 0) {
        const Tensor& value = facts->value(edge);
        fit->constants[static_cast<size_t>(slot.constant)] =
            slot.upload >= 0 ? plan->upload(value, slot.upload) : value;
      }
      const bool has_place = slot.place == Place::Arena || slot.place == Place::Fetch;
      if (has_place && plan->layout_->lives[s].root == static_cast<int>(s)) slot.bytes = bytes_of(slot);
    }
    for (size_t i = 0; i < plan->steps_.size(); ++i) {
      const std::vector<int>& slots = plan->steps_[i].slots;
      const bool changed =
          std::any_of(slots.begin(), slots.end(), [&](int s) { return differs[static_cast<size_t>(s)]; });
      if (changed) plan->prepare(i, *fit);
    }
    plan->layout_->lay_out(*plan, *fit);
    return fit;
  } catch (const Error&) {
    return nullptr;  // a new plan says what is wrong, and with which node
  }
}

}  // namespace weir
