#include "graph/infer_context.h"
#include "ops/types.h"
#include "weir/image_codecs.h"
#include "weir/image_ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  c.require_scalar(0);
  c.set_output(0, Shape{3});
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const JpegShape shape = jpeg_shape(c.input<std::string>(0)[0]);
    T* out = c.output<T>();
    out[0] = static_cast<T>(shape.height);
    out[1] = static_cast<T>(shape.width);
    out[2] = static_cast<T>(shape.channels);
  }
};

struct AttrOutputType {
  static constexpr std::string_view name = "output_type";
};

}  // namespace

OpDef extract_jpeg_shape_op() {
  return {.name = "ExtractJpegShape",
          .inputs = "contents:string",
          .outputs = "image_shape:output_type",
          .attrs = "output_type:type{int32,int64}=int32",
          .host = "image_shape",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<Types<int32_t, int64_t>, Cpu, AttrOutputType>},
          .host_only = true};
}

}  // namespace weir::ops

namespace weir::image {

Output extract_jpeg_shape(const In& contents, DType output_type, std::string_view name) {
  return NodeBuilder("ExtractJpegShape", name).input(contents).attr("output_type", output_type).output();
}

}  // namespace weir::image
