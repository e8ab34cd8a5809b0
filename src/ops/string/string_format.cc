#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/control/summarize.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

int64_t occurrences(const std::string& text, const std::string& part) {
  int64_t count = 0;
  for (size_t at = 0; !part.empty() && (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

void infer(InferContext& c) {
  const std::string &text = c.attr<std::string>("template"), &placeholder = c.attr<std::string>("placeholder");
  const int64_t wanted = occurrences(text, placeholder);
  if (wanted != c.inputs()) {
    throw invalid_argument("num placeholders in template and num inputs must match: {} vs. {}", wanted, c.inputs());
  }
  c.set_output(0, Shape{});
}

void cpu(KernelContext& c) {
  const std::string &text = c.node().attr<std::string>("template"),
                    &placeholder = c.node().attr<std::string>("placeholder");
  const int64_t limit = c.node().attr<int64_t>("summarize");
  std::string result;
  size_t begin = 0;
  for (int i = 0; i < c.inputs(); ++i) {
    const size_t at = text.find(placeholder, begin);
    result.append(text, begin, at - begin);
    result += summarize_nested(c, i, limit);
    begin = at + placeholder.size();
  }
  c.output<std::string>()[0] = result + text.substr(begin);
}

}  // namespace

OpDef string_format_op() {
  return {.name = "StringFormat",
          .inputs = "inputs:T",
          .outputs = "output:string",
          .attrs = "T:list(type)>=0; template:string='%s'; placeholder:string='%s'; summarize:int=3",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>},
          .host_only = true};
}

}  // namespace weir::ops
