#include <fmt/core.h>

#include "base/md5.h"
#include "graph/graph_impl.h"
#include "nn/rnn/cell_parts.h"

namespace weir::rnn {

std::optional<int64_t> dropout_seed(std::optional<int64_t> seed, std::string_view part, size_t index) {
  if (!seed) return std::nullopt;
  const auto digest = md5(fmt::format("{}{}_{}", *seed, part, index));
  return (digest[0] & 0x7f) << 24 | digest[1] << 16 | digest[2] << 8 | digest[3];
}

Output variational_noise(Graph& graph, const Shape& size, DType dtype, std::optional<int64_t> seed) {
  if (!size.is_known()) throw invalid_argument("the size {} of what is dropped must be known", size.str());
  BodyScope outside(graph, nullptr);
  std::vector<int32_t> sizes = {1};
  for (int64_t each : size.dims()) sizes.push_back(static_cast<int32_t>(each));
  return random_uniform(graph, graph.constant(Tensor(sizes)), {.dtype = dtype, .seed = seed});
}

Output variational_dropout(const Output& x, const Output& noise, const In& keep_prob) {
  const Output kept = floor(keep_prob + noise);
  Output result = x / keep_prob * kept;
  result.set_shape(x.shape());
  return result;
}

DropoutWrapper::DropoutWrapper(CellPtr cell, const DropoutOptions& options)
    : Wrapper("dropout_wrapper", std::move(cell)), options_(options) {
  for (const In* keep : {&options_.input_keep_prob, &options_.output_keep_prob, &options_.state_keep_prob}) {
    const std::optional<double> number = number_of(*keep);
    if (number && !(*number >= 0 && *number <= 1)) {
      throw invalid_argument("keep_prob must be between 0 and 1: {}", *number);
    }
  }
  if (options_.variational_recurrent && !options_.input_size && !keeps_all(options_.input_keep_prob)) {
    throw invalid_argument(
        "When variational_recurrent=True and input_keep_prob < 1.0 or is unknown, input_size must be provided");
  }
}

void DropoutWrapper::draw(Graph& graph) {
  auto drawn = [&](const char* part, const std::vector<Shape>& sizes) {
    for (size_t i = 0; i < sizes.size(); ++i) {
      noise_[part].push_back(variational_noise(graph, sizes[i], options_.dtype, dropout_seed(options_.seed, part, i)));
    }
  };
  if (options_.input_size) drawn("input", {*options_.input_size});
  drawn("state", state_size());
  drawn("output", {output_size()});
}

Output DropoutWrapper::dropped(const Output& x, const In& keep_prob, std::string_view part, size_t index) const {
  if (keeps_all(keep_prob)) return x;
  if (options_.variational_recurrent) return variational_dropout(x, noise_.find(part)->second[index], keep_prob);
  return nn::dropout(x, keep_prob, {.seed = dropout_seed(options_.seed, part, index)});
}

Step DropoutWrapper::call(const Output& inputs, const State& state) {
  if (options_.variational_recurrent && noise_.empty()) draw(inputs.graph());
  Step step = (*cell_)(dropped(inputs, options_.input_keep_prob, "input", 0), state);
  step.output = dropped(step.output, options_.output_keep_prob, "output", 0);
  const std::vector<bool> memory = memories();
  for (size_t i = 0; i < step.state.size(); ++i) {
    if (!memory[i]) step.state[i] = dropped(step.state[i], options_.state_keep_prob, "state", i);
  }
  return step;
}

}  // namespace weir::rnn
