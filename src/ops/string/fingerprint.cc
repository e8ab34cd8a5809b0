#include <bit>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/array/array_util.h"
#include "ops/string/hash.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_min_rank(0, 1);
  c.require_scalar(1);
  c.set_output(0, Shape{c.input(0).has_rank() ? c.input(0)[0] : kUnknown, 8});
}

// Eight bytes for each row, lowest first. Strings of a row, when there are several, are hashed and their hashes once
// more.
void cpu(KernelContext& c) {
  const std::string& method = c.input<std::string>(1)[0];
  if (method != "farmhash64") throw invalid_argument("Unsupported fingerprint method: {}", method);
  const int64_t rows = c.shape(0)[0], width = rows ? c.elements(0) / rows : 0;
  for (int64_t row = 0; row < rows; ++row) {
    uint64_t hash = 0;
    if (c.dtype(0) == DType::String) {
      const std::string* texts = c.input<std::string>(0) + row * width;
      if (width == 1) {
        hash = fingerprint64(texts[0]);
      } else {
        std::vector<uint64_t> hashes;
        for (int64_t i = 0; i < width; ++i) hashes.push_back(fingerprint64(texts[i]));
        hash = fingerprint64({reinterpret_cast<const char*>(hashes.data()), hashes.size() * sizeof(uint64_t)});
      }
    } else {
      const size_t bytes = static_cast<size_t>(width) * dtype_size(c.dtype(0));
      hash = fingerprint64({static_cast<const char*>(c.raw_input(0)) + static_cast<size_t>(row) * bytes, bytes});
    }
    for (int i = 0; i < 8; ++i) c.output<uint8_t>()[row * 8 + i] = static_cast<uint8_t>(hash >> (8 * i));
  }
}

}  // namespace

OpDef fingerprint_op() {
  return {.name = "Fingerprint",
          .inputs = "data:T; method:string",
          .outputs = "fingerprint:uint8",
          .attrs = "T:type",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_moving<cpu>},
          .host_only = true};
}

}  // namespace weir::ops
