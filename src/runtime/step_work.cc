#include "runtime/step_work.h"

#include "runtime/cost.h"
#include "runtime/values.h"

namespace weir {
namespace {

const Shape* shape_of(const Value& v) {
  const VariableState* variable = variable_behind(v);
  return variable ? &variable->shape() : v.shape;
}

// Also of inputs that nobody holds any more: their shapes stay.
int64_t bytes_of(const Value& v) {
  const Shape* shape = shape_of(v);
  if (!shape || !shape->is_known()) return 0;
  const VariableState* variable = variable_behind(v);
  const DType dtype = variable ? variable->dtype() : v.dtype;
  return dtype == DType::Resource ? 0 : shape->elements() * static_cast<int64_t>(dtype_size(dtype));
}

}  // namespace

void count_work(const Step& step, const Value* slots, RunTrace::Event& event) {
  static const Shape kUnknownShape = Shape::unknown();
  std::vector<const Shape*> inputs, outputs;
  std::vector<int64_t> bytes;
  auto shape = [&](const Value& v) { return shape_of(v) ? shape_of(v) : &kUnknownShape; };
  for (int i = 0; i < step.view.input_count; ++i) {
    const Value& v = slots[step.view.inputs[i]];
    inputs.push_back(shape(v));
    bytes.push_back(bytes_of(v));
  }
  for (int o = 0; o < step.view.output_count; ++o) {
    const Value& v = slots[step.view.outputs[o]];
    outputs.push_back(shape(v));
    if (v.data && v.shape) event.output_bytes += bytes_of(v);
  }
  if (step.kind == Step::Kind::Alias || step.op->role == Role::Read) return;
  int64_t rows = -1;  // bytes of the rows of a table that are used
  if (step.op->def->rows == Rows::Read) rows = event.output_bytes;
  if (step.op->def->rows == Rows::Written) rows = *std::max_element(bytes.begin() + 1, bytes.end());
  for (size_t i = 0; i < bytes.size(); ++i) {
    const bool is_table = rows >= 0 && (i == 0 || slots[step.view.inputs[i]].resource);
    event.input_bytes += is_table ? std::min(bytes[i], rows) : bytes[i];
  }
  event.flops = count_flops(*step.op, inputs, outputs);
}

}  // namespace weir
