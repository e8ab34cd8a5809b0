#include "base/errors.h"
#include "base/parse_number.h"
#include "graph/infer_context.h"
#include "ops/types.h"
#include "weir/string_ops.h"

namespace weir::ops {
namespace {

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    for (int64_t i = 0; i < c.elements(0); ++i) {
      const std::string& text = c.input<std::string>(0)[i];
      if (!parse_number(text, c.output<T>()[i])) {
        throw invalid_argument("StringToNumberOp could not correctly convert string: {}", text);
      }
    }
  }
};

struct AttrOutType {
  static constexpr std::string_view name = "out_type";
};

}  // namespace

OpDef string_to_number_op() {
  return {.name = "StringToNumber",
          .inputs = "string_tensor:string",
          .outputs = "output:out_type",
          .attrs = "out_type:type{float,double,int32,int64}=float",
          .infer = infer::unchanged,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<Types<float, double, int32_t, int64_t>, Cpu, AttrOutType>},
          .host_only = true};
}

}  // namespace weir::ops

namespace weir {

Output string_join(const InList& inputs, const std::string& separator, std::string_view name) {
  return NodeBuilder("StringJoin", name).input(inputs).attr("separator", separator).output();
}

Output string_to_number(const In& text, DType out_type, std::string_view name) {
  return NodeBuilder("StringToNumber", name).input(text).attr("out_type", out_type).output();
}

}  // namespace weir
