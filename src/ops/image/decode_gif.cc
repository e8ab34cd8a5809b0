#include "ops/image/decode_image.h"
#include "ops/types.h"
#include "weir/image_ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_scalar(0);
  c.set_output(0, Shape{kUnknown, kUnknown, kUnknown, 3});
}

DecodeState prepare(PrepareContext& c) { return decode_state(c.node().attrs(), Decoding::Gif); }

}  // namespace

OpDef decode_gif_op() {
  return {.name = "DecodeGif",
          .inputs = "contents:string",
          .outputs = "image:uint8",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<decode_image>, .prepare = prepared<prepare>},
          .host_only = true};
}

}  // namespace weir::ops

namespace weir::image {

Output decode_gif(const In& contents, std::string_view name) {
  return NodeBuilder("DecodeGif", name).input(contents).output();
}

}  // namespace weir::image
