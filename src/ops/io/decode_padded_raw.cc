#include <algorithm>
#include <bit>
#include <cstring>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_scalar(1);
  if (!c.input(0).has_rank()) return;
  Shape to = c.input(0);
  const auto length = c.value_as_ints(1);
  if (length) {
    const auto width = static_cast<int64_t>(dtype_size(c.attr<DType>("out_type")));
    if ((*length)[0] <= 0) c.fail(fmt::format("fixed_length ({}) must be greater than zero.", (*length)[0]));
    if ((*length)[0] % width != 0) {
      c.fail(fmt::format("fixed_length ({}) must be a multiple of the size of out_type ({})", (*length)[0], width));
    }
    to.append((*length)[0] / width);
  } else {
    to.append(kUnknown);
  }
  c.set_output(0, to);
}

void cpu(KernelContext& c) {
  const DType dtype = c.node().attr<DType>("out_type");
  const bool turn = c.node().attr<bool>("little_endian") != (std::endian::native == std::endian::little);
  const size_t width = dtype_size(dtype);
  const int32_t length = c.scalar<int32_t>(1);
  if (length <= 0) throw invalid_argument("fixed_length ({}) must be greater than zero.", length);
  const auto row = static_cast<size_t>(length);
  if (row % width != 0) {
    throw invalid_argument("fixed_length ({}) must be a multiple of the size of out_type ({})", length, width);
  }
  Shape to = c.shape(0);
  to.append(static_cast<int64_t>(row / width));
  Tensor result = Tensor::zeros(dtype, to);
  auto* out = static_cast<char*>(result.mutable_raw());
  for (int64_t i = 0; i < c.elements(0); ++i, out += row) {
    const std::string& text = c.input<std::string>(0)[i];
    std::memcpy(out, text.data(), std::min(text.size(), row));
    for (size_t at = 0; turn && width > 1 && at < row; at += width) std::reverse(out + at, out + at + width);
  }
  c.set_output(0, std::move(result));
}

}  // namespace

OpDef decode_padded_raw_op() {
  return {.name = "DecodePaddedRaw",
          .inputs = "input_bytes:string; fixed_length:int32",
          .outputs = "output:out_type",
          .attrs = "out_type:type{half,float,double,int32,uint16,uint8,int16,int8,int64}; little_endian:bool=True",
          .host = "fixed_length",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
