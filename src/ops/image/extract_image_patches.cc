#include <algorithm>
#include <array>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/array/array_util.h"
#include "ops/array/element_type.h"
#include "ops/nn/window.h"
#include "weir/image_ops.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

struct Patches {
  int64_t batch, depth;
  Window height, width;

  Shape output() const {
    const int64_t taps = checked_multiply(height.size, width.size);
    return {batch, height.out, width.out, depth == kUnknown ? kUnknown : checked_multiply(taps, depth)};
  }
};

std::array<int64_t, 2> across_space(const AttrMap& attrs, const char* name) {
  const auto& list = attrs.get<std::vector<int64_t>>(name);
  if (list.size() != 4) throw invalid_argument("{} must have 4 entries; it has {}", name, list.size());
  if (list[0] != 1 || list[3] != 1) throw error(Code::Unimplemented, "Only support {} across space.", name);
  if (list[1] < 1 || list[2] < 1) throw error(Code::OutOfRange, "{} is out of range.", name);
  return {list[1], list[2]};
}

Patches patches_of(const Shape& input, const AttrMap& attrs) {
  const Shape in = input.merged(Shape::unknown_dims(4));
  const auto sizes = across_space(attrs, "ksizes"), strides = across_space(attrs, "strides"),
             rates = across_space(attrs, "rates");
  const PaddingAttrs padding{attrs.get<std::string>("padding"), {}};
  auto window = [&](int i) {
    const auto at = static_cast<size_t>(i - 1);
    Window w{.in = in[i], .size = sizes[at], .stride = strides[at], .dilation = rates[at]};
    place_window(w, padding, i);
    return w;
  };
  return {in[0], in[3], window(1), window(2)};
}

void infer(InferContext& c) {
  c.require_rank(0, 4);
  c.set_output(0, patches_of(c.input(0), c.attrs()).output());
}

// The patches of a picture that holds the number of each pixel say where the gradients of patches belong; they are
// added up by that number. 0 is what lies outside.
void gradient(GradContext& c) {
  Output images = c.input(0), grad = c.output_grad();
  const auto& sizes = c.attr<std::vector<int64_t>>("ksizes");
  std::vector<Output> dims = unstack(shape(images), 4);
  Output pixels = dims[1] * dims[2], columns = dims[0] * dims[3];
  Output numbers = reshape(range(1, pixels + 1), stack({1, dims[1], dims[2], 1}));
  Output places = reshape(NodeBuilder("ExtractImagePatches")
                              .input(numbers)
                              .attr("ksizes", sizes)
                              .attr("strides", c.attr<std::vector<int64_t>>("strides"))
                              .attr("rates", c.attr<std::vector<int64_t>>("rates"))
                              .attr("padding", c.attr<std::string>("padding"))
                              .output(),
                          {-1});
  Output taps = reshape(transpose(reshape(grad, stack({dims[0], -1, dims[3]})), {1, 0, 2}), stack({-1, columns}));
  Output sums = unsorted_segment_sum(taps, places, pixels + 1);
  Output inside = reshape(slice(sums, {1, 0}, {-1, -1}), stack({dims[1], dims[2], dims[0], dims[3]}));
  c.set_input_grad(0, reshape(transpose(inside, {2, 0, 1, 3}), shape(images)));
}

Patches prepare(PrepareContext& c) { return patches_of(c.input(0), c.node().attrs()); }

template <class T>
void copy_patch(const Patches& p, const T* image, int64_t y, int64_t x, T* out) {
  const Taps rows(p.height, y), columns(p.width, x);
  const int64_t row = p.width.size * p.depth;
  const bool whole =
      rows.first == 0 && rows.last == p.height.size && columns.first == 0 && columns.last == p.width.size;
  if (!whole) std::fill_n(out, p.height.size * row, T());
  for (int64_t i = rows.first; i < rows.last; ++i) {
    const int64_t from_y = y * p.height.stride - p.height.pad_before + i * p.height.dilation;
    const int64_t left = x * p.width.stride - p.width.pad_before;
    const T* line = image + from_y * p.width.in * p.depth;
    if (p.width.dilation == 1) {
      std::copy_n(line + (left + columns.first) * p.depth, std::max<int64_t>(columns.last - columns.first, 0) * p.depth,
                  out + i * row + columns.first * p.depth);
      continue;
    }
    for (int64_t j = columns.first; j < columns.last; ++j) {
      std::copy_n(line + (left + j * p.width.dilation) * p.depth, p.depth, out + i * row + j * p.depth);
    }
  }
}

void cpu(KernelContext& c) {
  const auto& p = c.state<Patches>();
  const int64_t image = p.height.in * p.width.in * p.depth, patch = c.output_shape()[3];
  const int64_t places = p.height.out * p.width.out;
  with_element_type(c.dtype(0), [&]<class T>(T) {
    const T* in = c.input<T>(0);
    T* out = c.output<T>();
    c.pool().parallel_for(
        p.batch * places, std::max<int64_t>(1, 16384 / std::max<int64_t>(patch, 1)), [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            const int64_t place = i % places;
            copy_patch(p, in + i / places * image, place / p.width.out, place % p.width.out, out + i * patch);
          }
        });
  });
}

}  // namespace

OpDef extract_image_patches_op() {
  return {.name = "ExtractImagePatches",
          .inputs = "images:T",
          .outputs = "patches:T",
          .attrs =
              "ksizes:list(int)>=4; strides:list(int)>=4; rates:list(int)>=4; "
              "T:type{float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64}; "
              "padding:string{SAME,VALID}",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_moving<cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops

namespace weir::image {

Output extract_image_patches(const In& images, const PatchOptions& options, std::string_view name) {
  return NodeBuilder("ExtractImagePatches", name)
      .input(images)
      .attr("ksizes", options.ksizes)
      .attr("strides", options.strides)
      .attr("rates", options.rates)
      .attr("padding", options.padding)
      .output();
}

}  // namespace weir::image
