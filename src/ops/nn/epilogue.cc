#include "ops/nn/epilogue.h"

#include <cmath>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/kernel.h"

namespace weir::ops {

Epilogue parse_epilogue(const AttrMap& attrs) {
  Epilogue epilogue;
  const auto& fused_ops = attrs.get<std::vector<std::string>>("fused_ops");
  size_t at = 0;
  auto take = [&](std::string_view name) {
    const bool found = at < fused_ops.size() && fused_ops[at] == name;
    at += found;
    return found;
  };
  epilogue.norm = take("FusedBatchNorm");
  if (!epilogue.norm) {
    epilogue.scale = take("Mul");
    epilogue.bias = take("BiasAdd");
  }
  epilogue.side = take("Add");
  if (take("Relu")) {
    epilogue.activation = cpu::Activation::Relu;
  } else if (take("Relu6")) {
    epilogue.activation = cpu::Activation::Relu6;
  }
  if (at != fused_ops.size()) {
    throw error(Code::Unimplemented, "'{}' cannot be fused at place {}", fused_ops[at], at);
  }
  if (const int64_t args = attrs.get<int64_t>("num_args"); args != epilogue.args()) {
    throw invalid_argument("fused_ops want {} extra inputs; num_args is {}", epilogue.args(), args);
  }
  return epilogue;
}

void check_epilogue(const InferContext& c, const Epilogue& epilogue, int first, const Shape& result) {
  const int64_t channels = result.is_known() || result.rank() > 0 ? result[-1] : kUnknown;
  for (int i = 0; i < epilogue.side_arg(); ++i) {
    const Shape& vector = c.input(first + i);
    if (!vector.is_known() || channels == kUnknown) continue;
    if (vector.elements() != channels || vector.rank() == 0 || vector[-1] != channels) {
      const std::string_view what = epilogue.norm ? "normalisation's vectors" : epilogue.bias ? "bias" : "scale";
      throw invalid_argument("the {} must have {} entries; its shape is {}", what, channels, vector.str());
    }
  }
  if (epilogue.side && !result.compatible(c.input(first + epilogue.side_arg()))) {
    throw invalid_argument("what is added to {} must have its shape; it has {}", result.str(),
                           c.input(first + epilogue.side_arg()).str());
  }
}

template <class T>
cpu::Epilogue<T> bind_epilogue(const KernelContext& c, const Epilogue& epilogue, int first, int64_t channels,
                               float epsilon, T* scratch) {
  cpu::Epilogue<T> e{.activation = epilogue.activation};
  if (epilogue.scale) e.scale = c.input<T>(first);
  if (epilogue.bias) e.bias = c.input<T>(first + epilogue.bias_arg());
  if (epilogue.side) e.side = c.input<T>(first + epilogue.side_arg());
  if (epilogue.norm) {
    const T *scale = c.input<T>(first), *offset = c.input<T>(first + 1), *mean = c.input<T>(first + 2),
            *variance = c.input<T>(first + 3);
    T *factor = scratch, *shift = scratch + channels;
    for (int64_t i = 0; i < channels; ++i) {
      factor[i] = scale[i] / std::sqrt(variance[i] + static_cast<T>(epsilon));
      shift[i] = offset[i] - mean[i] * factor[i];
    }
    e.scale = factor;
    e.bias = shift;
  }
  return e;
}

template cpu::Epilogue<float> bind_epilogue(const KernelContext&, const Epilogue&, int, int64_t, float, float*);
template cpu::Epilogue<double> bind_epilogue(const KernelContext&, const Epilogue&, int, int64_t, float, double*);

}  // namespace weir::ops
