#pragma once

#include <string_view>

#include "autodiff/grad_context.h"
#include "graph/infer_context.h"
#include "ops/kernel.h"
#include "ops/nn/window.h"
#include "weir/nn.h"

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

}  // namespace weir::ops
