#include "base/errors.h"
#include "graph/grad_context.h"
#include "ops/array/array_util.h"
#include "ops/array/strided_copy.h"
#include "ops/nn/window.h"
#include "weir/space_ops.h"

namespace weir::ops {
namespace {

constexpr std::string_view kAttrs = "T:type; block_size:int>=2; data_format:string{NHWC,NCHW,NCHW_VECT_C}='NHWC'";

ImageLayout layout_of(const AttrMap& attrs) {
  const auto& format = attrs.get<std::string>("data_format");
  if (format == "NCHW_VECT_C") throw error(Code::Unimplemented, "data_format NCHW_VECT_C");
  return image_layout(format);
}

void infer(InferContext& c, bool to_depth) {
  c.require_rank(0, 4);
  Shape x = c.input(0).merged(Shape::unknown_dims(4));
  const ImageLayout at = layout_of(c.attrs());
  const int64_t block = c.attr<int64_t>("block_size"), square = checked_multiply(block, block);
  auto scale = [&](int dimension, int64_t by, bool up) {
    const int64_t size = x[dimension];
    if (size == kUnknown) return;
    if (!up && size % by != 0) throw invalid_argument("size {} of {} is not divisible by {}", size, x.str(), by);
    x.set_dim(dimension, up ? checked_multiply(size, by) : size / by);
  };
  scale(at.height, block, !to_depth);
  scale(at.width, block, !to_depth);
  scale(at.channels, square, to_depth);
  c.set_output(0, x);
}
void infer_to_depth(InferContext& c) { infer(c, true); }
void infer_to_space(InferContext& c) { infer(c, false); }

struct State {
  ImageLayout layout;
  int64_t block;
};

State prepare(PrepareContext& c) { return {layout_of(c.node().attrs()), c.attr<int64_t>("block_size")}; }

// Channel (i * block + j) * channels + k of the deep image is channel k of pixel (i, j) of a block of the wide one.
void move(KernelContext& c, bool to_depth) {
  const auto& [at, block] = c.state<State>();
  const Shape& wide = to_depth ? c.shape(0) : c.output_shape();
  const Shape& deep = to_depth ? c.output_shape() : c.shape(0);
  if (c.output_elements() == 0) return;
  const ImageStrides w = image_strides(at, wide[at.height], wide[at.width], wide[at.channels]);
  const ImageStrides d = image_strides(at, deep[at.height], deep[at.width], deep[at.channels]);
  const int64_t channels = wide[at.channels];
  StridedBox box;
  auto add = [&](int64_t size, int64_t in_wide, int64_t in_deep) {
    box.add(size, to_depth ? in_deep : in_wide, to_depth ? in_wide : in_deep);
  };
  add(wide[at.batch], w.batch, d.batch);
  add(deep[at.height], w.height * block, d.height);
  add(block, w.height, d.channels * block * channels);
  add(deep[at.width], w.width * block, d.width);
  add(block, w.width, d.channels * channels);
  add(channels, w.channels, d.channels);
  copy_box(c.dtype(0), box, c.raw_output(), c.raw_input(0), c.pool());
}
void to_depth_cpu(KernelContext& c) { move(c, true); }
void to_space_cpu(KernelContext& c) { move(c, false); }

void to_depth_gradient(GradContext& c) {
  c.set_input_grad(0,
                   depth_to_space(c.output_grad(), c.attr<int64_t>("block_size"), c.attr<std::string>("data_format")));
}
void to_space_gradient(GradContext& c) {
  c.set_input_grad(0,
                   space_to_depth(c.output_grad(), c.attr<int64_t>("block_size"), c.attr<std::string>("data_format")));
}

}  // namespace

OpDef space_to_depth_op() {
  return {.name = "SpaceToDepth",
          .inputs = "input:T",
          .outputs = "output:T",
          .attrs = kAttrs,
          .infer = infer_to_depth,
          .gradient = to_depth_gradient,
          .cpu = {.select = kernel_moving<to_depth_cpu>, .prepare = prepared<prepare>}};
}

OpDef depth_to_space_op() {
  return {.name = "DepthToSpace",
          .inputs = "input:T",
          .outputs = "output:T",
          .attrs = kAttrs,
          .infer = infer_to_space,
          .gradient = to_space_gradient,
          .cpu = {.select = kernel_moving<to_space_cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops

namespace weir {

Output space_to_depth(const In& input, int64_t block_size, const std::string& data_format, std::string_view name) {
  return NodeBuilder("SpaceToDepth", name)
      .input(input)
      .attr("block_size", block_size)
      .attr("data_format", data_format)
      .output();
}
Output depth_to_space(const In& input, int64_t block_size, const std::string& data_format, std::string_view name) {
  return NodeBuilder("DepthToSpace", name)
      .input(input)
      .attr("block_size", block_size)
      .attr("data_format", data_format)
      .output();
}

}  // namespace weir
