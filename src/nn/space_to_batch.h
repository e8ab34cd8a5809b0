#pragma once

#include <functional>
#include <string>
#include <vector>

#include "weir/graph.h"

namespace weir::nn {

// What a computation on neighbouring elements needs to run on every rate-th one instead, on all of them at once:
// elements at one place of blocks of the rates become a batch.
struct Dilated {
  std::vector<int64_t> rates;
  Output rate_node;          // the rates in the graph
  std::string padding;       // "SAME" is turned into paddings, and the computation runs without
  Shape filter = {};         // spatial sizes first; asked for with "SAME"
  bool filter_node = false;  // TensorFlow makes a constant of the filter's shape
  bool channels_first = false;
};
using WithPadding = std::function<Output(const Output& input, const std::string& padding)>;
Output with_space_to_batch(const Output& input, const Dilated& dilated, const WithPadding& compute);

}  // namespace weir::nn
