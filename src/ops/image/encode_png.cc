#include "graph/infer_context.h"
#include "ops/types.h"
#include "weir/image_codecs.h"
#include "weir/image_ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_rank(0, 3);
  c.set_output(0, Shape{});
}

void cpu(KernelContext& c) {
  *c.output<std::string>() = encode_png(c.input_view(0), c.node().attr<int64_t>("compression"));
}

}  // namespace

OpDef encode_png_op() {
  return {.name = "EncodePng",
          .inputs = "image:T",
          .outputs = "contents:string",
          .attrs = "compression:int=-1; T:type{uint8,uint16}=uint8",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>},
          .host_only = true};
}

}  // namespace weir::ops

namespace weir::image {

Output encode_png(const In& image, int64_t compression, std::string_view name) {
  return NodeBuilder("EncodePng", name).input(image).attr("compression", compression).output();
}

}  // namespace weir::image
