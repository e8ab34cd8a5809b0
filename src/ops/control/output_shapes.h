#pragma once

#include "base/errors.h"
#include "graph/infer_context.h"

namespace weir::ops {

// The shape function of control flow: what the graph itself knows. A plan infers the bodies (passes/infer_flow.cc).
inline void infer_declared_shapes(InferContext& c) {
  const auto& shapes = c.attr<std::vector<Shape>>("output_shapes");
  if (shapes.empty()) return;
  if (static_cast<int>(shapes.size()) != c.outputs()) {
    throw invalid_argument("{} output_shapes are given for {} outputs", shapes.size(), c.outputs());
  }
  for (int i = 0; i < c.outputs(); ++i) c.set_output(i, shapes[static_cast<size_t>(i)]);
}

}  // namespace weir::ops
