#include "ops/image/decode_image.h"
#include "ops/types.h"
#include "weir/image_ops.h"

namespace weir::ops {
namespace {

DecodeState prepare(PrepareContext& c) { return decode_state(c.node().attrs(), Decoding::Png); }

}  // namespace

OpDef decode_png_op() {
  return {.name = "DecodePng",
          .inputs = "contents:string",
          .outputs = "image:dtype",
          .attrs = "channels:int=0; dtype:type{uint8,uint16}=uint8",
          .infer = infer_decoded,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<decode_image>, .prepare = prepared<prepare>},
          .host_only = true};
}

}  // namespace weir::ops

namespace weir::image {

Output decode_png(const In& contents, const DecodePngOptions& options, std::string_view name) {
  return NodeBuilder("DecodePng", name)
      .input(contents)
      .attr("channels", options.channels)
      .attr("dtype", options.dtype)
      .output();
}

}  // namespace weir::image
