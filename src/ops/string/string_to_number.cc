#include <charconv>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/types.h"
#include "weir/string_ops.h"

namespace weir::ops {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  const size_t begin = text.find_first_not_of(kSpace);
  return begin == std::string_view::npos ? std::string_view()
                                         : text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    for (int64_t i = 0; i < c.elements(0); ++i) {
      const std::string& text = c.input<std::string>(0)[i];
      std::string_view digits = trimmed(text);
      if (digits.starts_with('+') && !digits.starts_with("+-")) digits.remove_prefix(1);
      auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), c.output<T>()[i]);
      if (failure != std::errc() || end != digits.data() + digits.size()) {
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
