#include "ops/evaluate.h"

#include <algorithm>
#include <new>

#include "base/errors.h"
#include "graph/graph_impl.h"
#include "graph/infer_context.h"
#include "graph/node.h"
#include "ops/control/dataflow.h"
#include "tensor/elements.h"

namespace weir {
namespace {

constexpr int64_t kMaxElements = 4096;  // of anything computed while a graph is built
constexpr int kMaxSteps = 256;          // nodes looked at for one value: shared inputs would double them at every level

class TensorValues final : public InferContext::Values {
 public:
  explicit TensorValues(std::span<const Tensor> inputs) : inputs_(inputs) {}
  Tensor value(int input) override { return inputs_[static_cast<size_t>(input)]; }
  Shape value_as_shape(int input) override { return values_as_shape(inputs_[static_cast<size_t>(input)]); }
  Shape handle_shape(int) override { return Shape::unknown(); }

 private:
  std::span<const Tensor> inputs_;
};

// Owns the values of one kernel call.
class Values {
 public:
  explicit Values(size_t count) : values_(count) {}
  ~Values() {
    for (Value& v : values_) {
      if (v.owner) v.owner->release();
    }
  }
  Value& operator[](size_t i) { return values_[i]; }
  Value* data() { return values_.data(); }

 private:
  std::vector<Value> values_;
};

void hold(Value& v, const Tensor& t) {
  v.data = const_cast<void*>(t.raw());
  v.own_shape = t.shape();
  v.shape = &v.own_shape;
  v.dtype = t.dtype();
  v.owner = t.buffer();
  if (v.owner) v.owner->retain();
}

Tensor take(const Value& v) {
  v.owner->retain();
  return Tensor(v.dtype, *v.shape, v.owner, v.data);
}

ThreadPool& folding_pool() {
  static ThreadPool pool(1);
  return pool;
}

Tensor constant_value(const Output& output, int& steps) {
  const Node& node = *output.node();
  const Role role = node.op->role;
  if (role == Role::Constant) return node.attrs.get<Tensor>("value");
  if (++steps > kMaxSteps || !node.op->pure() || role == Role::Placeholder || role == Role::Default ||
      ops::dataflow_kind(*node.op) != ops::DataflowKind::None) {
    return {};
  }
  // Facts about shapes need the input's shape only.
  if (node.op->def->from_shape) {
    const auto index = static_cast<size_t>(output.index());
    Tensor fact = node.op->def->from_shape(node.inputs[index].shape(), node.output_types[index]);
    if (fact.valid()) return fact;
  }
  if (!are_small(node.output_shapes, kMaxElements)) return {};
  std::vector<Tensor> inputs;
  for (const Output& input : node.inputs) {
    if (input.shape().is_known() && input.shape().elements() > kMaxElements) return {};
    inputs.push_back(constant_value(input, steps));
    if (!inputs.back().valid()) return {};
  }
  std::vector<Tensor> values = small_values({.node = NodeView(*node.op, node.attrs, node.name),
                                             .inputs = inputs,
                                             .types = node.output_types,
                                             .shapes = node.output_shapes,
                                             .limit = kMaxElements},
                                            folding_pool());
  return values.empty() ? Tensor() : values[static_cast<size_t>(output.index())];
}

Tensor constant_value_within_limits(const Output& output) {
  int steps = 0;
  return constant_value(output, steps);
}

Shape constant_value_as_shape(const Output& output, int& steps);

// The values of a node's inputs as far as the graph tells them.
class PartialValues final : public InferContext::Values {
 public:
  PartialValues(const Node& node, int& steps) : node_(node), steps_(steps) {}
  Tensor value(int input) override { return constant_value_within_limits(node_.inputs[static_cast<size_t>(input)]); }
  Shape value_as_shape(int input) override {
    return constant_value_as_shape(node_.inputs[static_cast<size_t>(input)], steps_);
  }
  Shape handle_shape(int) override { return Shape::unknown(); }

 private:
  const Node& node_;
  int& steps_;
};

Shape constant_value_as_shape(const Output& output, int& steps) {
  bool is_shape = output.dtype() == DType::Int32 || output.dtype() == DType::Int64;
  if (++steps > kMaxSteps || !is_shape) return shape_of_length(output.shape());
  const Node& node = *output.node();
  if (Tensor value = constant_value_within_limits(output); value.valid()) {
    return values_as_shape(value);
  }
  if (node.op->def->as_shape) {
    std::vector<const Shape*> inputs;
    for (const Output& input : node.inputs) inputs.push_back(&input.shape());
    PartialValues values(node, steps);
    InferContext context(*node.op, node.attrs, inputs, 0, values);
    context.look_anywhere();
    if (Shape shape = node.op->def->as_shape(context); shape.has_rank()) return shape;
  }
  return shape_of_length(output.shape());
}

}  // namespace

bool computes_nothing(const Op& op, const Kernel& kernel, std::span<const Shape* const> outputs) {
  if (!op.pure() || kernel.gives_outputs || outputs.empty()) return false;
  return std::all_of(outputs.begin(), outputs.end(),
                     [](const Shape* s) { return s->is_known() && s->elements() == 0; });
}

const Kernel& cpu_kernel(const Op& op) { return op.def->cpu; }

ComputeFn select_kernel(const Kernel& kernel, const NodeView& node) {
  ComputeFn compute = kernel.select ? kernel.select(node) : nullptr;
  if (compute) return compute;
  std::string types;
  for (const AttrSpec& spec : node.op().attrs) {
    if (spec.kind != AttrKind::Type) continue;
    if (const AttrValue* value = node.attrs().find(spec.name)) {
      types += (types.empty() ? "" : ", ") + spec.name + "=" + attr_to_string(*value);
    }
  }
  throw error(Code::Unimplemented, "there is no CPU kernel for {}{}", node.op().name,
              types.empty() ? "" : " with " + types);
}

std::vector<Tensor> run_kernel(const NodeView& node, std::span<const Tensor> inputs,
                               std::span<const DType> output_types, ThreadPool& pool) {
  const Op& op = node.op();
  std::vector<const Shape*> input_shapes;
  for (const Tensor& input : inputs) input_shapes.push_back(&input.shape());
  TensorValues tensor_values(inputs);
  InferContext infer(op, node.attrs(), input_shapes, output_types.size(), tensor_values);
  if (op.def->infer) op.def->infer(infer);
  if (op.def->alias >= 0) {
    return {inputs[static_cast<size_t>(op.def->alias)].reshaped(infer.output(0))};
  }
  const Kernel& kernel = cpu_kernel(op);
  ComputeFn compute = select_kernel(kernel, node);

  Values values(inputs.size() + output_types.size());
  std::vector<int> slots;
  for (size_t i = 0; i < inputs.size() + output_types.size(); ++i) slots.push_back(static_cast<int>(i));
  for (size_t i = 0; i < inputs.size(); ++i) hold(values[i], inputs[i]);
  std::vector<const Shape*> output_shapes;
  std::vector<Shape> shapes = infer.take_outputs();
  for (size_t i = 0; i < output_types.size(); ++i) {
    if (shapes[i].is_known()) {
      hold(values[inputs.size() + i], Tensor(output_types[i], shapes[i]));
    } else {
      values[inputs.size() + i].dtype = output_types[i];
    }
    output_shapes.push_back(&shapes[i]);
  }

  if (!computes_nothing(op, kernel, output_shapes)) {
    KernelState state(nullptr, [](void*) {});
    PrepareContext prepare(node, input_shapes, output_shapes, pool, nullptr);
    if (kernel.prepare) state = kernel.prepare(prepare);
    Tensor scratch(DType::UInt8, Shape{static_cast<int64_t>(prepare.scratch_bytes())});

    StepView step{slots.data(),
                  slots.data() + inputs.size(),
                  static_cast<int>(inputs.size()),
                  static_cast<int>(output_types.size()),
                  state.get(),
                  &node};
    KernelContext context(step, values.data(), scratch.mutable_raw(), pool, nullptr);
    compute(context);
  }

  std::vector<Tensor> outputs;
  for (size_t i = 0; i < output_types.size(); ++i) {
    Value& v = values[inputs.size() + i];
    if (!v.owner) throw error(Code::Internal, "{} did not produce output {}", op.name, i);
    outputs.push_back(take(v));
  }
  return outputs;
}

bool are_small(std::span<const Shape> shapes, int64_t limit) {
  return std::all_of(shapes.begin(), shapes.end(),
                     [&](const Shape& shape) { return shape.is_known() && shape.elements() <= limit; });
}

std::vector<Tensor> small_values(const SmallNode& node, ThreadPool& pool) {
  if (!node.node.op().pure() || !are_small(node.shapes, node.limit)) return {};
  for (const Tensor& input : node.inputs) {
    if (!input.valid() || input.elements() > node.limit) return {};
  }
  try {
    return run_kernel(node.node, node.inputs, node.types, pool);
  } catch (const Error&) {
    return {};  // it will fail, with its name and line, when it is run
  }
}

Tensor constant_value(const Output& output) { return constant_value_within_limits(output); }

Shape constant_value_as_shape(const Output& output) {
  int steps = 0;
  return constant_value_as_shape(output, steps);
}

}  // namespace weir
