#include "base/errors.h"
#include "graph/grad_context.h"
#include "ops/array/array_util.h"
#include "ops/array/element_type.h"
#include "ops/array/strided_copy.h"
#include "ops/math/functors.h"
#include "weir/space_ops.h"

namespace weir::ops {
namespace {

constexpr std::string_view kAttrs = "T:type; Tpaddings:type{int32,int64}=int32; mode:string{REFLECT,SYMMETRIC}";

int64_t border(const AttrMap& attrs) { return attrs.get<std::string>("mode") == "SYMMETRIC" ? 0 : 1; }

// `grad`: the input is the padded tensor and the output the bare one.
void infer(InferContext& c, bool grad) {
  c.require_rank(1, 2);
  const Shape& x = c.input(0);
  if (!x.has_rank()) return;
  (void)c.input(1).merged(Shape{x.rank(), 2});
  Tensor paddings = c.value(1);
  if (!paddings.valid()) return c.set_output(0, Shape::unknown_dims(x.rank()));
  Shape to = x;
  for (int i = 0; i < x.rank(); ++i) {
    auto at = [&](int j) {
      const auto k = static_cast<size_t>(2 * i + j);
      return paddings.dtype() == DType::Int32 ? int64_t{paddings.data<int32_t>()[k]} : paddings.data<int64_t>()[k];
    };
    if (x[i] == kUnknown) continue;
    for (int j : {0, 1}) {
      if (at(j) < 0) throw invalid_argument("padding {} of dimension {} is negative", at(j), i);
    }
    const int64_t padding = checked_add(at(0), at(1)), bare = grad ? x[i] - padding : x[i];
    for (int j : {0, 1}) {
      if (at(j) > bare - border(c.attrs())) {
        throw invalid_argument("padding {} of dimension {}, which has {} elements, is not in [0, {}]", at(j), i, bare,
                               bare - border(c.attrs()));
      }
    }
    to.set_dim(i, grad ? bare : checked_add(x[i], padding));
  }
  c.set_output(0, to);
}
void infer_pad(InferContext& c) { infer(c, false); }
void infer_grad(InferContext& c) { infer(c, true); }

struct State {
  int64_t border;
};

State prepare(PrepareContext& c) { return {border(c.node().attrs())}; }

// Calls body(padded element, bare element) for every padded one.
template <class Body>
void for_each_mirrored(const KernelContext& c, const Shape& padded, const Shape& bare, int64_t border,
                       const Body& body) {
  const Strides strides(bare);
  const int rank = padded.rank();
  const int64_t n = padded.elements();
  int64_t at[kMaxRank] = {};
  for (int64_t i = 0; i < n; ++i) {
    int64_t from = 0;
    for (int d = 0; d < rank; ++d) {
      const int64_t size = bare[d];
      int64_t x = at[d] - int_at(c, 1, 2 * d);
      if (x < 0) x = -x - 1 + border;
      if (x >= size) x = 2 * size - 1 - border - x;
      from += x * strides[d];
    }
    body(i, from);
    for (int d = rank - 1; d >= 0 && ++at[d] == padded[d]; --d) at[d] = 0;
  }
}

void pad_cpu(KernelContext& c) {
  with_element_type(c.dtype(0), [&]<class T>(T) {
    for_each_mirrored(c, c.output_shape(), c.shape(0), c.state<State>().border,
                      [&](int64_t to, int64_t from) { c.output<T>()[to] = c.input<T>(0)[from]; });
  });
}

struct GradCpu {
  template <class T>
  static void run(KernelContext& c) {
    zero_elements(dtype_of<T>, c.raw_output(), c.output_elements(), c.pool());
    T* out = c.output<T>();
    for_each_mirrored(c, c.shape(0), c.output_shape(), c.state<State>().border, [&](int64_t from, int64_t to) {
      out[to] = static_cast<T>(wrapping_add(Wide<T>(out[to]), Wide<T>(c.input<T>(0)[from])));
    });
  }
};

Output with_mode(const GradContext& c, std::string_view op) {
  return NodeBuilder(op).input(c.output_grad()).input(c.input(1)).attr("mode", c.attr<std::string>("mode")).output();
}
void pad_gradient(GradContext& c) { c.set_input_grad(0, with_mode(c, "MirrorPadGrad")); }
void grad_gradient(GradContext& c) { c.set_input_grad(0, with_mode(c, "MirrorPad")); }

}  // namespace

OpDef mirror_pad_op() {
  return {.name = "MirrorPad",
          .inputs = "input:T; paddings:Tpaddings",
          .outputs = "output:T",
          .attrs = kAttrs,
          .host = "paddings",
          .infer = infer_pad,
          .gradient = pad_gradient,
          .cpu = {.select = kernel_moving<pad_cpu>, .prepare = prepared<prepare>}};
}

OpDef mirror_pad_grad_op() {
  return {.name = "MirrorPadGrad",
          .inputs = "input:T; paddings:Tpaddings",
          .outputs = "output:T",
          .attrs = kAttrs,
          .host = "paddings",
          .infer = infer_grad,
          .gradient = grad_gradient,
          .cpu = {.select = kernel_for<NumberTypes, GradCpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops

namespace weir {

Output mirror_pad(const In& tensor, const In& paddings, MirrorMode mode, std::string_view name) {
  return NodeBuilder("MirrorPad", name)
      .input(tensor)
      .input(paddings)
      .attr("mode", std::string(mode == MirrorMode::Reflect ? "REFLECT" : "SYMMETRIC"))
      .output();
}

}  // namespace weir
