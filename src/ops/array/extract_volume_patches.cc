#include <algorithm>
#include <array>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/array/array_util.h"
#include "ops/array/element_type.h"
#include "ops/nn/window.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

struct Patches {
  int64_t batch, depth;
  Window windows[3];
};

std::array<int64_t, 3> across_space(const AttrMap& attrs, const char* name) {
  const auto& list = attrs.get<std::vector<int64_t>>(name);
  if (list.size() != 5) throw invalid_argument("{} must have 5 entries; it has {}", name, list.size());
  if (list[0] != 1 || list[4] != 1) throw error(Code::Unimplemented, "Only support {} across space.", name);
  if (list[1] < 1 || list[2] < 1 || list[3] < 1) throw error(Code::OutOfRange, "{} is out of range.", name);
  return {list[1], list[2], list[3]};
}

Patches patches_of(const Shape& input, const AttrMap& attrs) {
  const Shape in = input.merged(Shape::unknown_dims(5));
  const auto sizes = across_space(attrs, "ksizes"), strides = across_space(attrs, "strides");
  const PaddingAttrs padding{attrs.get<std::string>("padding"), {}};
  Patches p{in[0], in[4], {}};
  for (int i = 0; i < 3; ++i) {
    const auto at = static_cast<size_t>(i);
    p.windows[i] = Window{.in = in[i + 1], .size = sizes[at], .stride = strides[at], .dilation = 1};
    place_window(p.windows[i], padding, i + 1);
  }
  return p;
}

void infer(InferContext& c) {
  c.require_rank(0, 5);
  const Patches p = patches_of(c.input(0), c.attrs());
  int64_t taps = checked_multiply(checked_multiply(p.windows[0].size, p.windows[1].size), p.windows[2].size);
  c.set_output(0, Shape{p.batch, p.windows[0].out, p.windows[1].out, p.windows[2].out,
                        p.depth == kUnknown ? kUnknown : checked_multiply(taps, p.depth)});
}

// As for pictures: a volume of numbers of voxels says where the gradients of patches belong. 0 lies outside.
void gradient(GradContext& c) {
  Output volumes = c.input(0), grad = c.output_grad();
  std::vector<Output> dims = unstack(shape(volumes), 5);
  Output voxels = dims[1] * dims[2] * dims[3], columns = dims[0] * dims[4];
  Output numbers = reshape(range(1, voxels + 1), stack({1, dims[1], dims[2], dims[3], 1}));
  Output places = reshape(NodeBuilder("ExtractVolumePatches")
                              .input(numbers)
                              .attr("ksizes", c.attr<std::vector<int64_t>>("ksizes"))
                              .attr("strides", c.attr<std::vector<int64_t>>("strides"))
                              .attr("padding", c.attr<std::string>("padding"))
                              .output(),
                          {-1});
  Output taps = reshape(transpose(reshape(grad, stack({dims[0], -1, dims[4]})), {1, 0, 2}), stack({-1, columns}));
  Output sums = unsorted_segment_sum(taps, places, voxels + 1);
  Output inside = reshape(slice(sums, {1, 0}, {-1, -1}), stack({voxels, dims[0], dims[4]}));
  c.set_input_grad(0, reshape(transpose(inside, {1, 0, 2}), shape(volumes)));
}

Patches prepare(PrepareContext& c) { return patches_of(c.input(0), c.node().attrs()); }

void cpu(KernelContext& c) {
  const auto& p = c.state<Patches>();
  const Window &z = p.windows[0], &y = p.windows[1], &x = p.windows[2];
  const int64_t volume = z.in * y.in * x.in * p.depth, places = z.out * y.out * x.out, patch = c.output_shape()[4];
  with_element_type(c.dtype(0), [&]<class T>(T) {
    c.pool().parallel_for(
        p.batch * places, std::max<int64_t>(1, 16384 / std::max<int64_t>(patch, 1)), [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            const T* in = c.input<T>(0) + i / places * volume;
            T* out = c.output<T>() + i * patch;
            const int64_t place = i % places;
            const int64_t z0 = place / (y.out * x.out) * z.stride - z.pad_before;
            const int64_t y0 = place / x.out % y.out * y.stride - y.pad_before,
                          x0 = place % x.out * x.stride - x.pad_before;
            for (int64_t a = 0; a < z.size; ++a) {
              for (int64_t b = 0; b < y.size; ++b) {
                for (int64_t e = 0; e < x.size; ++e, out += p.depth) {
                  const int64_t pz = z0 + a, py = y0 + b, px = x0 + e;
                  const bool inside = pz >= 0 && pz < z.in && py >= 0 && py < y.in && px >= 0 && px < x.in;
                  if (inside) {
                    std::copy_n(in + ((pz * y.in + py) * x.in + px) * p.depth, p.depth, out);
                  } else {
                    std::fill_n(out, p.depth, T());
                  }
                }
              }
            }
          }
        });
  });
}

}  // namespace

OpDef extract_volume_patches_op() {
  return {.name = "ExtractVolumePatches",
          .inputs = "input:T",
          .outputs = "patches:T",
          .attrs =
              "ksizes:list(int)>=5; strides:list(int)>=5; "
              "T:type{float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64}; "
              "padding:string{SAME,VALID}",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_moving<cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops
