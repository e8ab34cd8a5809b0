#pragma once

#include <optional>
#include <string_view>

#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/kernel.h"
#include "ops/nn/window.h"
#include "weir/nn.h"
#include "weir/ops.h"

namespace weir::ops {

inline NodeBuilder& with_pool_attrs(NodeBuilder& builder, const nn::PoolOptions& options) {
  return builder.attr("ksize", options.ksize)
      .attr("strides", options.strides)
      .attr("padding", options.padding)
      .attr("data_format", options.data_format);
}

// The attributes of the pool that is differentiated.
inline nn::PoolOptions pool_options(const GradContext& c) {
  return {.ksize = c.attr<std::vector<int64_t>>("ksize"),
          .strides = c.attr<std::vector<int64_t>>("strides"),
          .padding = c.attr<std::string>("padding"),
          .data_format = c.attr<std::string>("data_format")};
}

inline void infer_pool(InferContext& c) { c.set_output(0, pool_geometry(c.input(0), c.attrs()).output()); }
inline PoolGeometry prepare_pool(PrepareContext& c) { return pool_geometry(c.input(0), c.node().attrs()); }

// The V2 operations have their windows in inputs `first` (ksize) and `first` + 1 (strides), so that a run may choose
// them. Nothing while the values are not known.
inline std::optional<PoolWindows> windows_of_inputs(InferContext& c, int first) {
  c.require_rank(first, 1);
  c.require_rank(first + 1, 1);
  const auto sizes = c.value_as_ints(first), strides = c.value_as_ints(first + 1);
  if (!sizes || !strides) return std::nullopt;
  return PoolWindows{*sizes, *strides, c.attr<std::string>("padding"), c.attr<std::string>("data_format")};
}
inline PoolWindows windows_of_inputs(const KernelContext& c, int first) {
  auto list = [&](int index) {
    const auto* begin = c.input<int32_t>(index);
    return std::vector<int64_t>(begin, begin + c.elements(index));
  };
  return {list(first), list(first + 1), c.node().attr<std::string>("padding"),
          c.node().attr<std::string>("data_format")};
}

// The gradient of MaxPoolGradV2 by MaxPoolGradGradV2 (op) or the other way round: the original input and output only
// say which elements were largest.
inline void pass_on_to(GradContext& c, const char* op) {
  Output x = c.input(0), y = c.input(1);
  c.set_input_grad(0, zeros(c.graph(), shape(x), x.dtype()));
  c.set_input_grad(1, zeros(c.graph(), shape(y), y.dtype()));
  c.set_input_grad(2, NodeBuilder(op)
                          .input(x)
                          .input(y)
                          .input(c.output_grad())
                          .input(c.input(3))
                          .input(c.input(4))
                          .attr("padding", c.attr<std::string>("padding"))
                          .attr("data_format", c.attr<std::string>("data_format"))
                          .output());
}

}  // namespace weir::ops
