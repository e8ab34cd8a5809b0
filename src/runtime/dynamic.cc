#include "runtime/dynamic.h"

#include <algorithm>
#include <cstring>

#include "base/errors.h"
#include "ops/evaluate.h"
#include "ops/state/variable_state.h"
#include "runtime/plan.h"
#include "runtime/values.h"
#include "tensor/elements.h"

namespace weir {
namespace {

constexpr size_t kMaxSeen = 4096;  // bytes of a value that are compared from run to run

// What nothing says the shape of is a handle, a scalar, or a reference to a variable of no known shape: that of its
// value.
Shape shape_of(const Value& v) {
  if (v.shape) return *v.shape;
  if (v.dtype == DType::Resource) return {};
  const VariableState* variable = variable_behind(v);
  if (!variable) return {};
  return variable->initialized() ? variable->read_live().shape() : variable->shape();
}

Shape handle_of(const Value& v) {
  const VariableState* variable = variable_behind(v);
  return variable ? variable->shape() : Shape::unknown();
}

size_t bytes_of(const Value& v) { return static_cast<size_t>(v.shape->elements()) * dtype_size(v.dtype); }

// Makes a value that `out`, which holds nothing then, can be written to.
void allocate(Value& out, const Shape& shape, FetchPool& pool) {
  if (!is_plain(out.dtype)) {
    hold(out, Tensor(out.dtype, shape));
    return;
  }
  const int64_t bytes = checked_multiply(shape.elements(), static_cast<int64_t>(dtype_size(out.dtype)));
  out.owner = pool.acquire(static_cast<size_t>(bytes));
  out.data = out.owner->data();
}

}  // namespace

// Values of a running step's inputs, for its shape function; notes what it asks for.
class DynamicStep::Asked final : public InferContext::Values {
 public:
  Asked(const StepView& step, const Value* slots, std::vector<Seen>& seen, bool& valid)
      : step_(step), slots_(slots), seen_(seen), valid_(valid) {}

  Tensor value(int input) override {
    const Value& v = slots_[step_.inputs[input]];
    if (!v.data || v.resource) return {};
    if (!is_plain(v.dtype) || bytes_of(v) > kMaxSeen) {
      valid_ = false;
    } else {
      const char* data = static_cast<const char*>(v.data);
      seen_.push_back({input, {data, data + bytes_of(v)}, {}, false});
    }
    // A view that nobody owns: it lives no longer than the call.
    Buffer* borrowed = Buffer::borrow(v.data, 0, nullptr);
    return Tensor(v.dtype, *v.shape, borrowed, v.data);
  }
  Shape value_as_shape(int input) override {
    Tensor t = value(input);
    return t.valid() ? values_as_shape(t) : Shape::unknown();
  }
  Shape handle_shape(int input) override {
    seen_.push_back({input, {}, handle_of(slots_[step_.inputs[input]]), true});
    return seen_.back().handle;
  }

 private:
  const StepView& step_;
  const Value* slots_;
  std::vector<Seen>& seen_;
  bool& valid_;
};

bool DynamicStep::matches(const StepView& step, const Value* slots) const {
  if (!valid_) return false;
  for (int i = 0; i < step.input_count; ++i) {
    if (shape_of(slots[step.inputs[i]]) != inputs_[static_cast<size_t>(i)]) return false;
  }
  return std::all_of(seen_.begin(), seen_.end(), [&](const Seen& seen) {
    const Value& v = slots[step.inputs[seen.input]];
    if (seen.is_handle) return handle_of(v) == seen.handle;
    return v.data && (seen.elements.empty() || std::memcmp(v.data, seen.elements.data(), seen.elements.size()) == 0);
  });
}

void DynamicStep::infer(const Op& op, const AttrMap& attrs, const StepView& step, const Value* slots) {
  valid_ = false;
  seen_.clear();
  inputs_.clear();
  std::vector<const Shape*> shapes;
  for (int i = 0; i < step.input_count; ++i) inputs_.push_back(shape_of(slots[step.inputs[i]]));
  for (const Shape& shape : inputs_) shapes.push_back(&shape);
  bool repeatable = true;
  Asked values(step, slots, seen_, repeatable);
  InferContext c(op, attrs, shapes, static_cast<size_t>(step.output_count), values);
  if (op.def->infer) op.def->infer(c);
  outputs_ = c.take_outputs();
  valid_ = repeatable;
}

void DynamicStep::prepare(const NodeView& node, const Kernel& kernel, ThreadPool& pool, SessionResources& resources) {
  std::vector<const Shape*> inputs, outputs;
  for (const Shape& shape : inputs_) inputs.push_back(&shape);
  for (const Shape& shape : outputs_) outputs.push_back(&shape);
  nothing_ = weir::computes_nothing(node.op(), kernel, outputs);
  scratch_bytes_ = 0;
  if (nothing_ || !kernel.prepare) return;
  const bool valid = std::exchange(valid_, false);
  PrepareContext c(node, inputs, outputs, pool, &resources);
  state_ = kernel.prepare(c);
  scratch_bytes_ = c.scratch_bytes();
  valid_ = valid;
}

Frame::Frame() = default;
Frame::~Frame() = default;

// Makes output 0 another view of its input's elements.
void Plan::view_dynamic(const Step& step, const Shape& shape, Value* slots) const {
  const Value& in = slots[step.view.inputs[step.op->def->alias]];
  if (!shape.is_known() || shape.elements() != in.shape->elements()) {
    throw invalid_argument("a tensor of shape {} cannot become {}", in.shape->str(), shape.str());
  }
  Value& out = slots[step.view.outputs[0]];
  out.own_shape = shape;
  out.shape = &out.own_shape;
  if (in.owner) {
    out.data = in.data;
    out.owner = in.owner;
    out.owner->retain();
  } else {  // a place in the arena, which may be used again before the view's last reader
    const int slot = step.view.outputs[0];
    allocate(out, shape, values_for(slot));
    if (on_host(memory_of_slot(slot)) || !is_plain(out.dtype)) {
      copy_elements(out.dtype, in.data, out.data, shape.elements());
    } else {
      memory_of_slot(slot)->copy(out.data, in.data, bytes_of(in), DeviceMemory::Way::Within);
    }
  }
}

// A step whose shapes only the run knows: what a plan does ahead happens here, when they are not those of the last run.
void Plan::run_dynamic(const Step& step, Frame& frame, const RunControl& control) const {
  Value* slots = frame.slots.data();
  // Of an output of an If that the branch which ran does not give there is nothing to copy: it has no shape either.
  if (step.op->role == Role::Copy && !slots[step.view.inputs[0]].data) return;
  DynamicStep& dynamic = frame.dynamic[static_cast<size_t>(&step - steps_.data())];
  const bool same = dynamic.matches(step.view, slots);
  if (!same) dynamic.infer(*step.op, step.attrs, step.view, slots);
  if (step.op->def->alias >= 0) {
    view_dynamic(step, dynamic.outputs()[0], slots);
    return;
  }
  for (int o = 0; o < step.view.output_count; ++o) {
    Value& out = slots[step.view.outputs[o]];
    const Shape& shape = dynamic.outputs()[static_cast<size_t>(o)];
    const bool has_elements =
        first_.slots[static_cast<size_t>(step.view.outputs[o])].place != Place::Nowhere && out.dtype != DType::Resource;
    if (!has_elements) continue;
    let_go(out);
    if (!shape.is_known()) {
      // Only the kernel knows it, and sets the output. Until then nobody can ask for a size, nor see those of the last
      // run.
      if (!out.shape) out.shape = &out.own_shape;
      if (out.shape == &out.own_shape) out.own_shape = Shape::unknown();
      continue;
    }
    if (out.shape != nullptr && out.shape != &out.own_shape && *out.shape != shape) {
      throw invalid_argument("a value of shape {} came where the graph says {}", shape.str(), out.shape->str());
    }
    out.own_shape = shape;
    if (!out.shape) out.shape = &out.own_shape;
    allocate(out, shape, values_for(step.view.outputs[o]));
  }
  if (!same) dynamic.prepare(*step.node, *step.kernel, *step.pool, environment_.resources);
  if (dynamic.computes_nothing()) return;
  struct Scratch {
    Buffer* buffer = nullptr;
    ~Scratch() {
      if (buffer) buffer->release();
    }
  } scratch;
  if (dynamic.scratch_bytes() > 0) {
    scratch.buffer = values_[static_cast<size_t>(step.own_memory)]->acquire(dynamic.scratch_bytes());
  }
  StepView view = step.view;
  view.state = dynamic.state();
  KernelContext c(view, slots, scratch.buffer ? scratch.buffer->data() : nullptr, *step.pool, &control);
  launch(step, step.compute, c);
}

}  // namespace weir
