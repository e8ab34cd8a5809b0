#include "base/errors.h"
#include "graph/infer_context.h"
#include "io/deflate.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

struct State {
  Compression compression;
};

State prepare(PrepareContext& c) {
  const auto& type = c.attr<std::string>("compression_type");
  if (type != "" && type != "ZLIB" && type != "GZIP") {
    throw invalid_argument("Only ZLIB, GZIP or NONE are supported compressions");
  }
  return {io::compression_from_name(type)};
}

void cpu(KernelContext& c) {
  const Compression compression = c.state<State>().compression;
  const auto* in = c.input<std::string>(0);
  auto* out = c.output<std::string>();
  c.pool().parallel_for(c.elements(0), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      out[i] = compression == Compression::None ? in[i] : io::inflate_all(in[i], compression);
    }
  });
}

}  // namespace

OpDef decode_compressed_op() {
  return {.name = "DecodeCompressed",
          .inputs = "bytes:string",
          .outputs = "output:string",
          .attrs = "compression_type:string=''",
          .infer = infer::unchanged,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .prepare = prepared<prepare>},
          .host_only = true};
}

}  // namespace weir::ops
