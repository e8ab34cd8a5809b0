#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/nn/pool_attrs.h"
#include "ops/nn/pool_generic.h"
#include "ops/types.h"

// Pools that also tell where each maximum was: its place in its image seen as one vector, or in the whole batch.
namespace weir::ops {
namespace {

struct State {
  PoolGeometry geometry;
  int64_t image;  // what the places of an image are counted from: its elements in the batch, or 0
  bool wide;      // places are int64
};

State prepare(PrepareContext& c) {
  State s{pool_geometry(c.input(0), c.node().attrs()), 0, c.node().type("Targmax") == DType::Int64};
  if (c.attr<bool>("include_batch_in_index")) {
    s.image = s.geometry.height.in * s.geometry.width.in * s.geometry.channels;
  }
  return s;
}

void infer(InferContext& c) {
  const Shape pooled = pool_geometry(c.input(0), c.attrs()).output();
  c.set_output(0, pooled);
  c.set_output(1, pooled);
}

void infer_grad(InferContext& c) {
  (void)pool_geometry(c.input(0), c.attrs()).output().merged(c.input(1)).merged(c.input(2));
  c.set_output(0, c.input(0));
}

void infer_grad_grad(InferContext& c) {
  c.set_output(0, pool_geometry(c.input(0).merged(c.input(1)), c.attrs()).output().merged(c.input(2)));
}

Output with_attrs(const GradContext& c, NodeBuilder& builder) {
  for (const char* name : {"ksize", "strides", "padding", "include_batch_in_index"}) {
    builder.attr(name, *c.op().attrs().find(name));
  }
  return builder.output();
}

void gradient(GradContext& c) {
  if (!c.has_output_grad(0)) return;
  NodeBuilder builder("MaxPoolGradWithArgmax");
  c.set_input_grad(0, with_attrs(c, builder.input(c.input(0)).input(c.output_grad(0)).input(c.output(1))));
}

void gradient_of_grad(GradContext& c) {
  NodeBuilder builder("MaxPoolGradGradWithArgmax");
  c.set_input_grad(1, with_attrs(c, builder.input(c.input(0)).input(c.output_grad()).input(c.input(2))));
}

void gradient_of_grad_grad(GradContext& c) {
  NodeBuilder builder("MaxPoolGradWithArgmax");
  c.set_input_grad(1, with_attrs(c, builder.input(c.input(0)).input(c.output_grad()).input(c.input(2))));
}

struct Forward {
  template <class T>
  static void run(KernelContext& c) {
    const auto& s = c.state<State>();
    const PoolGeometry& g = s.geometry;
    const int64_t image = g.height.in * g.width.in * g.channels;
    const T* x = c.input<T>(0);
    T* y = c.output<T>(0);
    void* places = c.raw_output(1);
    c.pool().parallel_for(g.batch * pool_windows(g), pool_grain(g), [&](int64_t begin, int64_t end) {
      for_each_window(g, begin, end, [&](int64_t out, const auto& taps) {
        const int64_t i = largest_under(x, taps);
        y[out] = x[i];
        const int64_t place = s.image ? i : i % image;
        if (s.wide) {
          static_cast<int64_t*>(places)[out] = place;
        } else {
          static_cast<int32_t*>(places)[out] = static_cast<int32_t>(place);
        }
      });
    });
  }
};

// Calls body(output element, input element of its maximum) for the outputs of images [begin, end). Places come from the
// program, so each is checked.
template <class Body>
void for_each_place(const KernelContext& c, const State& s, int64_t begin, int64_t end, const Body& body) {
  const PoolGeometry& g = s.geometry;
  const int64_t image = g.height.in * g.width.in * g.channels, pooled = pool_windows(g) * g.channels;
  for (int64_t n = begin; n < end; ++n) {
    for (int64_t out = n * pooled; out < (n + 1) * pooled; ++out) {
      const int64_t place = s.wide ? c.input<int64_t>(2)[out] : c.input<int32_t>(2)[out];
      const int64_t i = s.image ? place : n * image + place;
      if (i < n * image || i >= (n + 1) * image) {
        throw invalid_argument("argmax {} of image {} is outside of it: it has {} elements", place, n, image);
      }
      body(out, i);
    }
  }
}

struct Grad {
  template <class T>
  static void run(KernelContext& c) {
    const auto& s = c.state<State>();
    const int64_t image = s.geometry.height.in * s.geometry.width.in * s.geometry.channels;
    const T* dy = c.input<T>(1);
    T* dx = c.output<T>();
    c.pool().parallel_for(s.geometry.batch, 1, [&](int64_t begin, int64_t end) {
      std::fill(dx + begin * image, dx + end * image, T());
      for_each_place(c, s, begin, end,
                     [&](int64_t out, int64_t i) { dx[i] = static_cast<T>(wrapping_add<Wide<T>>(dx[i], dy[out])); });
    });
  }
};

struct GradGrad {
  template <class T>
  static void run(KernelContext& c) {
    const auto& s = c.state<State>();
    const T* grad = c.input<T>(1);
    T* y = c.output<T>();
    c.pool().parallel_for(s.geometry.batch, 1, [&](int64_t begin, int64_t end) {
      for_each_place(c, s, begin, end, [&](int64_t out, int64_t i) { y[out] = grad[i]; });
    });
  }
};

constexpr std::string_view kGradAttrs =
    "ksize:list(int)>=4; strides:list(int)>=4; padding:string{SAME,VALID}; include_batch_in_index:bool=False; "
    "Targmax:type{int32,int64}; T:realnumbertype";

}  // namespace

OpDef max_pool_with_argmax_op() {
  return {.name = "MaxPoolWithArgmax",
          .inputs = "input:T",
          .outputs = "output:T; argmax:Targmax",
          .attrs =
              "ksize:list(int)>=4; strides:list(int)>=4; Targmax:type{int32,int64}=int64; padding:string{SAME,VALID}; "
              "include_batch_in_index:bool=False; T:realnumbertype",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<RealTypes, Forward>, .prepare = prepared<prepare>}};
}

OpDef max_pool_grad_with_argmax_op() {
  return {.name = "MaxPoolGradWithArgmax",
          .inputs = "input:T; grad:T; argmax:Targmax",
          .outputs = "output:T",
          .attrs = kGradAttrs,
          .infer = infer_grad,
          .gradient = gradient_of_grad,
          .cpu = {.select = kernel_for<RealTypes, Grad>, .prepare = prepared<prepare>}};
}

OpDef max_pool_grad_grad_with_argmax_op() {
  return {.name = "MaxPoolGradGradWithArgmax",
          .inputs = "input:T; grad:T; argmax:Targmax",
          .outputs = "output:T",
          .attrs = kGradAttrs,
          .infer = infer_grad_grad,
          .gradient = gradient_of_grad_grad,
          .cpu = {.select = kernel_for<RealTypes, GradGrad>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops
