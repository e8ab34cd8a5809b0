#include <google/protobuf/util/json_util.h>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/types.h"
#include "proto/example.pb.h"

namespace weir::ops {
namespace {

void cpu(KernelContext& c) {
  const auto* json = c.input<std::string>(0);
  for (int64_t i = 0; i < c.elements(0); ++i) {
    proto::Example example;
    const auto status = google::protobuf::util::JsonStringToMessage(json[i], &example);
    if (!status.ok()) throw invalid_argument("Error while parsing JSON: {}", std::string(status.message()));
    c.output<std::string>()[i] = example.SerializeAsString();
  }
}

}  // namespace

OpDef decode_json_example_op() {
  return {.name = "DecodeJSONExample",
          .inputs = "json_examples:string",
          .outputs = "binary_examples:string",
          .infer = infer::unchanged,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>},
          .host_only = true};
}

}  // namespace weir::ops
