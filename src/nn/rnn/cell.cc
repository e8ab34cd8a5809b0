#include "base/errors.h"
#include "nn/convert.h"
#include "weir/ops.h"
#include "weir/rnn.h"

namespace weir::rnn {

Step Cell::operator()(const Output& inputs, const State& state, In::Where where) {
  const size_t wanted = state_size().size();
  if (state.size() != wanted) {
    throw invalid_argument("cell {}: the state has {} tensors, but should have {}", name(), state.size(), wanted);
  }
  if (!has_scope()) return call(inputs, state);
  return within(std::span(&inputs, 1), where, [&] { return call(inputs, state); });
}

Output Cell::call(const Output&) { throw invalid_argument("cell {} is called without a state", name()); }

WeightSource Cell::own_weights() {
  return [this](const std::string& name, const Shape& shape, const layers::WeightOptions& options) -> Output {
    auto found = asked_.find(name);
    if (found == asked_.end()) found = asked_.emplace(name, add_weight(name, shape, options)).first;
    return found->second;
  };
}

std::vector<bool> Cell::memories() const {
  const size_t count = state_size().size();
  std::vector<bool> flags(count);
  if (count == 2) flags[0] = true;
  return flags;
}

State Cell::zero_state(Graph& graph, const In& batch_size, DType dtype) const {
  State state;
  for (const Shape& size : state_size()) state.push_back(zeros_for_batch(graph, batch_size, size, dtype));
  return state;
}

Output zeros_for_batch(Graph& graph, const In& batch_size, const Shape& size, DType dtype) {
  if (!size.is_known()) throw invalid_argument("the size {} of a state or an output must be known", size.str());
  if (!batch_size.output()) {
    std::vector<int64_t> sizes(size.dims().begin(), size.dims().end());
    const Tensor& batch = batch_size.value();
    sizes.insert(sizes.begin(), batch.dtype() == int32 ? batch.scalar<int32_t>() : batch.scalar<int64_t>());
    return zeros(graph, Shape(sizes), dtype);
  }
  std::vector<In> sizes{batch_size};
  for (int64_t each : size.dims()) sizes.emplace_back(each);
  Output result = zeros(graph, stack(sizes, 0), dtype);
  Shape shape{kUnknown};
  for (int64_t each : size.dims()) shape.append(each);
  result.set_shape(shape);
  return result;
}

}  // namespace weir::rnn
