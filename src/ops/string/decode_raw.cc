#include <algorithm>
#include <bit>
#include <cstring>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/types.h"
#include "weir/string_ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  if (!c.input(0).has_rank()) return;
  Shape to = c.input(0);
  to.append(kUnknown);
  c.set_output(0, to);
}

struct State {
  DType dtype;
  size_t swapped;  // bytes of a part to turn around; 0: none
};

State prepare(PrepareContext& c) {
  const DType dtype = c.attr<DType>("out_type");
  const bool turn = c.attr<bool>("little_endian") != (std::endian::native == std::endian::little);
  const size_t part = is_complex(dtype) ? dtype_size(dtype) / 2 : dtype_size(dtype);
  return {dtype, turn && part > 1 ? part : 0};
}

void cpu(KernelContext& c) {
  const auto& [dtype, swapped] = c.state<State>();
  const int64_t n = c.elements(0);
  const auto* texts = c.input<std::string>(0);
  const size_t bytes = n > 0 ? texts[0].size() : 0, width = dtype_size(dtype);
  if (bytes % width != 0) {
    throw invalid_argument("Input to DecodeRaw has length {} that is not a multiple of {}, the size of {}", bytes,
                           width, dtype_name(dtype));
  }
  Shape to = c.shape(0);
  to.append(static_cast<int64_t>(bytes / width));
  Tensor result(dtype, to);
  auto* out = static_cast<char*>(result.mutable_raw());
  for (int64_t i = 0; i < n; ++i, out += bytes) {
    if (texts[i].size() != bytes) {
      throw invalid_argument(
          "DecodeRaw requires input strings to all be the same size, but element {} has size {} != {}", i, bytes,
          texts[i].size());
    }
    std::memcpy(out, texts[i].data(), bytes);
    for (size_t at = 0; swapped > 0 && at < bytes; at += swapped) std::reverse(out + at, out + at + swapped);
  }
  c.set_output(0, std::move(result));
}

}  // namespace

OpDef decode_raw_op() {
  return {.name = "DecodeRaw",
          .inputs = "bytes:string",
          .outputs = "output:out_type",
          .attrs =
              "out_type:type{half,float,double,int32,uint16,uint8,int16,int8,int64,complex64,complex128,bool}; "
              "little_endian:bool=True",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .prepare = prepared<prepare>},
          .host_only = true};
}

}  // namespace weir::ops

namespace weir {

Output decode_raw(const In& bytes, DType out_type, bool little_endian, std::string_view name) {
  return NodeBuilder("DecodeRaw", name)
      .input(bytes)
      .attr("out_type", out_type)
      .attr("little_endian", little_endian)
      .output();
}

}  // namespace weir
