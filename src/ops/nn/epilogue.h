#pragma once

#include "base/errors.h"
#include "devices/cpu/gemm.h"
#include "weir/attr.h"

namespace weir::ops {

// What a fused operation does to its result: the attribute fused_ops, such as ["BiasAdd", "Relu"].
struct Epilogue {
  bool bias = false;
  cpu::Activation activation = cpu::Activation::None;
};

inline Epilogue parse_epilogue(const AttrMap& attrs) {
  Epilogue epilogue;
  const auto& fused_ops = attrs.get<std::vector<std::string>>("fused_ops");
  size_t at = 0;
  if (at < fused_ops.size() && fused_ops[at] == "BiasAdd") {
    epilogue.bias = true;
    ++at;
  }
  if (at < fused_ops.size() && fused_ops[at] == "Relu") {
    epilogue.activation = cpu::Activation::Relu;
    ++at;
  } else if (at < fused_ops.size() && fused_ops[at] == "Relu6") {
    epilogue.activation = cpu::Activation::Relu6;
    ++at;
  }
  if (at != fused_ops.size()) {
    throw error(Code::Unimplemented, "'{}' cannot be fused at place {}", fused_ops[at], at);
  }
  if (const int64_t args = attrs.get<int64_t>("num_args"); args != (epilogue.bias ? 1 : 0)) {
    throw invalid_argument("fused_ops want {} extra inputs; num_args is {}", epilogue.bias ? 1 : 0, args);
  }
  return epilogue;
}

}  // namespace weir::ops
