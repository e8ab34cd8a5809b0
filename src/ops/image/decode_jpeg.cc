#include "ops/image/decode_image.h"
#include "ops/types.h"
#include "weir/image_ops.h"

namespace weir::ops {
namespace {

constexpr std::string_view kAttrs =
    "channels:int=0; ratio:int=1; fancy_upscaling:bool=True; try_recover_truncated:bool=False; "
    "acceptable_fraction:float=1.0; dct_method:string=''";

DecodeState prepare(PrepareContext& c) { return decode_state(c.node().attrs(), Decoding::Jpeg); }
DecodeState prepare_crop(PrepareContext& c) { return decode_state(c.node().attrs(), Decoding::JpegCrop); }

void infer_crop(InferContext& c) {
  c.require_rank(1, 1);
  if (c.input(1).has_rank() && c.input(1)[0] != kUnknown && c.input(1)[0] != 4) {
    c.fail("crop_window must have four elements, got shape " + c.input(1).str());
  }
  infer_decoded(c);
  const auto window = c.value_as_ints(1);
  if (!window) return;
  Shape shape = c.output(0);
  shape.set_dim(0, (*window)[2]);
  shape.set_dim(1, (*window)[3]);
  if ((*window)[2] <= 0 || (*window)[3] <= 0) c.fail("the crop window must have pixels");
  c.set_output(0, shape);
}

}  // namespace

OpDef decode_jpeg_op() {
  return {.name = "DecodeJpeg",
          .inputs = "contents:string",
          .outputs = "image:uint8",
          .attrs = kAttrs,
          .infer = infer_decoded,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<decode_image>, .prepare = prepared<prepare>},
          .host_only = true};
}

OpDef decode_and_crop_jpeg_op() {
  return {.name = "DecodeAndCropJpeg",
          .inputs = "contents:string; crop_window:int32",
          .outputs = "image:uint8",
          .attrs = kAttrs,
          .host = "crop_window",
          .infer = infer_crop,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<decode_image>, .prepare = prepared<prepare_crop>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops

namespace weir::image {
namespace {

NodeBuilder& with_options(NodeBuilder& node, const DecodeJpegOptions& options) {
  return node.attr("channels", options.channels)
      .attr("ratio", options.ratio)
      .attr("fancy_upscaling", options.fancy_upscaling)
      .attr("try_recover_truncated", options.try_recover_truncated)
      .attr("acceptable_fraction", options.acceptable_fraction)
      .attr("dct_method", options.dct_method);
}

}  // namespace

Output decode_jpeg(const In& contents, const DecodeJpegOptions& options, std::string_view name) {
  NodeBuilder node("DecodeJpeg", name);
  node.input(contents);
  return with_options(node, options).output();
}

Output decode_and_crop_jpeg(const In& contents, const In& crop_window, const DecodeJpegOptions& options,
                            std::string_view name) {
  NodeBuilder node("DecodeAndCropJpeg", name);
  node.input(contents).input(crop_window);
  return with_options(node, options).output();
}

}  // namespace weir::image
