#include <cstdio>
#include <fstream>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "graph/op_def.h"
#include "ops/types.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) { c.require_scalar(0); }

// One call, so that lines of several threads do not mix.
void cpu(KernelContext& c) {
  const std::string text = c.scalar<std::string>(0) + c.node().attr<std::string>("end");
  const auto& stream = c.node().attr<std::string>("output_stream");
  if (stream.starts_with("file://")) {
    const std::string path = stream.substr(7);
    std::ofstream file(path, std::ios::app | std::ios::binary);
    file << text << std::flush;
    if (!file) throw error(Code::NotFound, "'{}' cannot be written", path);
    return;
  }
  std::FILE* to = stream == "stdout" || stream == "log(info)" ? stdout : stderr;
  std::fwrite(text.data(), 1, text.size(), to);
  std::fflush(to);
}

KernelState prepare(PrepareContext& c) {
  const auto& stream = c.attr<std::string>("output_stream");
  for (std::string_view known : {"stderr", "stdout", "log(info)", "log(warning)", "log(error)"}) {
    if (stream == known) return {nullptr, [](void*) {}};
  }
  if (stream.starts_with("file://")) return {nullptr, [](void*) {}};
  throw invalid_argument(
      "Unknown output stream: {}, was expected to be one of [stderr, stdout, log(info), log(warning), "
      "log(error)], or a file:// path",
      stream);
}

}  // namespace

OpDef print_v2_op() {
  return {.name = "PrintV2",
          .inputs = "input:string",
          .attrs = "output_stream:string='stderr'; end:string='\\n'",
          .flags = "stateful",
          .host = "input",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .prepare = prepare},
          .host_only = true};
}

}  // namespace weir::ops
