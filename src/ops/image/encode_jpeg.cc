#include "base/errors.h"
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

void infer_variable(InferContext& c) {
  c.require_scalar(1);
  infer(c);
}

struct State {
  int64_t channels;  // 0: 1 or 3, as the picture has
  JpegEncodeOptions options;
};

State prepare(PrepareContext& c) {
  const auto& format = c.attr<std::string>("format");
  return {.channels = format.empty()          ? 0
                      : format == "grayscale" ? 1
                                              : 3,
          .options = {.quality = c.attr<int64_t>("quality"),
                      .progressive = c.attr<bool>("progressive"),
                      .optimize_size = c.attr<bool>("optimize_size"),
                      .chroma_downsampling = c.attr<bool>("chroma_downsampling"),
                      .density_in_centimetres = c.attr<std::string>("density_unit") == "cm",
                      .x_density = c.attr<int64_t>("x_density"),
                      .y_density = c.attr<int64_t>("y_density"),
                      .xmp_metadata = c.attr<std::string>("xmp_metadata")}};
}

void cpu(KernelContext& c) {
  const auto& state = c.state<State>();
  if (state.channels != 0 && state.channels != c.shape(0)[2]) {
    throw invalid_argument("format {} expects {} channels, got {}", c.node().attr<std::string>("format"),
                           state.channels, c.shape(0).str());
  }
  *c.output<std::string>() = encode_jpeg(c.input_view(0), state.options);
}

void cpu_variable(KernelContext& c) {
  *c.output<std::string>() = encode_jpeg(c.input_view(0), {.quality = c.scalar<int32_t>(1)});
}

}  // namespace

OpDef encode_jpeg_op() {
  return {.name = "EncodeJpeg",
          .inputs = "image:uint8",
          .outputs = "contents:string",
          .attrs =
              "format:string{,grayscale,rgb}=''; quality:int=95; progressive:bool=False; optimize_size:bool=False; "
              "chroma_downsampling:bool=True; density_unit:string{in,cm}='in'; x_density:int=300; y_density:int=300; "
              "xmp_metadata:string=''",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .prepare = prepared<prepare>},
          .host_only = true};
}

OpDef encode_jpeg_variable_quality_op() {
  return {.name = "EncodeJpegVariableQuality",
          .inputs = "images:uint8; quality:int32",
          .outputs = "contents:string",
          .infer = infer_variable,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu_variable>},
          .host_only = true};
}

}  // namespace weir::ops

namespace weir::image {

Output encode_jpeg(const In& image, const EncodeJpegOptions& options, std::string_view name) {
  return NodeBuilder("EncodeJpeg", name)
      .input(image)
      .attr("format", options.format)
      .attr("quality", options.quality)
      .attr("progressive", options.progressive)
      .attr("optimize_size", options.optimize_size)
      .attr("chroma_downsampling", options.chroma_downsampling)
      .attr("density_unit", options.density_unit)
      .attr("x_density", options.x_density)
      .attr("y_density", options.y_density)
      .attr("xmp_metadata", options.xmp_metadata)
      .output();
}

Output encode_jpeg_variable_quality(const In& image, const In& quality, std::string_view name) {
  return NodeBuilder("EncodeJpegVariableQuality", name).input(image).input(quality).output();
}

}  // namespace weir::image
