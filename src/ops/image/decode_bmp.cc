#include "ops/image/decode_image.h"
#include "ops/types.h"
#include "weir/image_ops.h"

namespace weir::ops {
namespace {

void cpu(KernelContext& c) {
  c.set_output(0, decode_bmp(c.input<std::string>(0)[0], c.node().attr<int64_t>("channels")));
}

}  // namespace

OpDef decode_bmp_op() {
  return {.name = "DecodeBmp",
          .inputs = "contents:string",
          .outputs = "image:uint8",
          .attrs = "channels:int=0",
          .infer = infer_decoded,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>},
          .host_only = true};
}

}  // namespace weir::ops

namespace weir::image {

Output decode_bmp(const In& contents, int64_t channels, std::string_view name) {
  return NodeBuilder("DecodeBmp", name).input(contents).attr("channels", channels).output();
}

}  // namespace weir::image
