#include "nn/space_to_batch.h"

#include <algorithm>

#include "base/errors.h"
#include "weir/ops.h"
#include "weir/space_ops.h"

namespace weir::nn {
namespace {

Tensor pairs(const std::vector<int32_t>& first, const std::vector<int32_t>& second) {
  std::vector<int32_t> all;
  for (size_t i = 0; i < first.size(); ++i) {
    all.push_back(first[i]);
    all.push_back(second[i]);
  }
  return Tensor::from<int32_t>(all, {static_cast<int64_t>(first.size()), 2});
}

struct Paddings {
  std::vector<int32_t> before, after;
};

// What makes a computation without padding give the sizes of "SAME".
Paddings base_paddings(const Dilated& d) {
  const size_t dims = d.rates.size();
  Paddings base{std::vector<int32_t>(dims, 0), std::vector<int32_t>(dims, 0)};
  if (d.padding == "VALID") return base;
  for (size_t i = 0; i < dims; ++i) {
    const int64_t size = d.filter[static_cast<int>(i)];
    if (size == kUnknown) throw invalid_argument("filter_shape must be specified for SAME padding");
    const int64_t extra = (size - 1) * d.rates[i];
    base.before[i] = static_cast<int32_t>(extra / 2);
    base.after[i] = static_cast<int32_t>(extra - extra / 2);
  }
  return base;
}

// The paddings and crops with which the sizes are multiples of the rates, as constants: sizes are known.
std::pair<Tensor, Tensor> known_paddings(Graph& g, const Dilated& d, const std::vector<int32_t>& sizes, Paddings base) {
  Scope scope = g.name_scope("required_space_to_batch_paddings");
  g.constant(Tensor(sizes), "input_shape");
  if (d.padding == "VALID") g.constant(pairs(base.before, base.after), "base_paddings");
  std::vector<int32_t> none(sizes.size(), 0), crops(sizes.size(), 0);
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto rate = static_cast<int32_t>(d.rates[i]);
    const int32_t full = sizes[i] + base.before[i] + base.after[i];
    crops[i] = (rate - full % rate) % rate;
    base.after[i] += crops[i];
  }
  std::pair<Tensor, Tensor> result(pairs(base.before, base.after), pairs(none, crops));
  g.constant(result.first, "paddings");
  g.constant(result.second, "crops");
  return result;
}

// A dimension of blocks of one for the channels, where they stand first.
Tensor with_channels(const Tensor& rows, bool channels_first, int32_t fill) {
  if (!channels_first) return rows;
  const int64_t width = rows.shape().rank() == 1 ? 1 : rows.shape()[1];
  std::vector<int32_t> all(static_cast<size_t>(width), fill);
  const auto data = rows.data<int32_t>();
  all.insert(all.end(), data.begin(), data.end());
  Shape shape = rows.shape();
  shape.set_dim(0, shape[0] + 1);
  return Tensor::from<int32_t>(all, shape);
}

Output dynamic_paddings(const Output& input, const Dilated& d, const Paddings& base, Output* crops) {
  Graph& g = input.graph();
  Output sizes = shape(input);
  std::vector<Output> spatial;
  const int first = d.channels_first ? 2 : 1;
  for (size_t i = 0; i < d.rates.size(); ++i) spatial.push_back(subscript(sizes, {first + static_cast<int>(i)}));
  Output spatial_shape = stack(spatial);
  Scope scope = g.name_scope("required_space_to_batch_paddings");
  Output before = g.constant(Tensor(base.before), "pad_start"), after = g.constant(Tensor(base.after), "orig_pad_end");
  Output extra = floormod(d.rate_node - floormod(spatial_shape + before + after, d.rate_node), d.rate_node);
  Output none = zeros_like(extra);
  std::vector<In> paddings = {before, after + extra}, cropped = {none, extra};
  Output result = stack(InList(paddings), 1, "paddings");
  *crops = stack(InList(cropped), 1, "crops");
  if (!d.channels_first) return result;
  const Tensor zero = Tensor::from<int32_t>({0, 0}, {1, 2});
  *crops = concat({zero, *crops}, 0);
  return concat({zero, result}, 0);
}

}  // namespace

Output with_space_to_batch(const Output& input, const Dilated& d, const WithPadding& compute) {
  Graph& g = input.graph();
  if (d.padding != "SAME" && d.padding != "VALID") throw invalid_argument("Invalid padding method '{}'", d.padding);
  if (std::any_of(d.rates.begin(), d.rates.end(), [](int64_t rate) { return rate < 1; })) {
    throw invalid_argument("dilation_rate must be positive");
  }
  if (std::all_of(d.rates.begin(), d.rates.end(), [](int64_t rate) { return rate == 1; })) {
    return compute(input, d.padding);
  }
  const Paddings base = base_paddings(d);
  if (d.padding == "SAME") {
    if (d.filter_node) {
      std::vector<int32_t> sizes(d.filter.dims().begin(), d.filter.dims().end());
      g.constant(Tensor(sizes), "filter_shape");
    }
    g.constant(pairs(base.before, base.after), "stack");
  }
  const int first = d.channels_first ? 2 : 1;
  std::vector<int32_t> sizes;
  for (size_t i = 0; i < d.rates.size() && input.shape().has_rank(); ++i) {
    const int64_t size = input.shape()[first + static_cast<int>(i)];
    if (size != kUnknown) sizes.push_back(static_cast<int32_t>(size));
  }
  const Tensor blocks =
      with_channels(Tensor(std::vector<int32_t>(d.rates.begin(), d.rates.end())), d.channels_first, 1);
  Output result;
  if (sizes.size() == d.rates.size()) {
    auto [paddings, crops] = known_paddings(g, d, sizes, base);
    Output batches = space_to_batch_nd(input, blocks, with_channels(paddings, d.channels_first, 0));
    result = batch_to_space_nd(compute(batches, "VALID"), blocks, with_channels(crops, d.channels_first, 0));
  } else {
    Output crops;
    Output paddings = dynamic_paddings(input, d, base, &crops);
    result = batch_to_space_nd(compute(space_to_batch_nd(input, blocks, paddings), "VALID"), blocks, crops);
  }
  return result;
}

}  // namespace weir::nn
