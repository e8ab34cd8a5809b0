#include <cmath>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/graph_impl.h"
#include "ops/array/array_util.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

// How many numbers there are.
template <class T>
int64_t count(T start, T limit, T delta) {
  if (delta == T(0)) throw invalid_argument("Requires delta != 0: {}", static_cast<double>(delta));
  if (delta > T(0) ? start > limit : start < limit) {
    throw invalid_argument("Requires start {} limit when delta {} 0: {}/{}",
                           delta > T(0) ? "<=" : ">=", delta > T(0) ? ">" : "<", static_cast<double>(start),
                           static_cast<double>(limit));
  }
  if constexpr (std::is_integral_v<T>) {
    // Unsigned, since the distance of two numbers may be twice the largest.
    uint64_t distance = delta > 0 ? static_cast<uint64_t>(limit) - static_cast<uint64_t>(start)
                                  : static_cast<uint64_t>(start) - static_cast<uint64_t>(limit);
    uint64_t step = delta > 0 ? static_cast<uint64_t>(delta) : -static_cast<uint64_t>(delta);
    uint64_t size = distance / step + (distance % step != 0);
    if (size > INT64_MAX) throw invalid_argument("the range has {} elements", size);
    return static_cast<int64_t>(size);
  } else {
    double size = std::ceil(std::abs(static_cast<double>(T((limit - start) / delta))));
    if (!(size < 9e18)) throw invalid_argument("the range has {} elements", size);
    return static_cast<int64_t>(size);
  }
}

template <class T>
int64_t count_of(const Tensor& start, const Tensor& limit, const Tensor& delta) {
  return count<T>(start.scalar<T>(), limit.scalar<T>(), delta.scalar<T>());
}

void infer(InferContext& c) {
  for (int i = 0; i < 3; ++i) c.require_scalar(i);
  Tensor start = c.value(0), limit = c.value(1), delta = c.value(2);
  int64_t size = kUnknown;
  if (start.valid() && limit.valid() && delta.valid()) {
    switch (c.attr<DType>("Tidx")) {
      case DType::Int32:
        size = count_of<int32_t>(start, limit, delta);
        break;
      case DType::Int64:
        size = count_of<int64_t>(start, limit, delta);
        break;
      case DType::Float64:
        size = count_of<double>(start, limit, delta);
        break;
      case DType::Float32:
        size = count_of<float>(start, limit, delta);
        break;
      default:
        size = count<float>(start.scalar<BFloat16>(), limit.scalar<BFloat16>(), delta.scalar<BFloat16>());
    }
  }
  c.set_output(0, Shape{size});
}

struct Cpu {
  // Summed up step by step, rounding and all: TensorFlow's numbers.
  template <class T>
  static void run(KernelContext& c) {
    T value = c.scalar<T>(0), delta = c.scalar<T>(2);
    T* out = c.output<T>();
    int64_t n = c.output_elements();
    for (int64_t i = 0; i < n; ++i) {
      out[i] = value;
      if constexpr (std::is_integral_v<T>) {
        using U = std::make_unsigned_t<T>;  // the step past the last may wrap around
        value = static_cast<T>(static_cast<U>(value) + static_cast<U>(delta));
      } else {
        value = T(value + delta);
      }
    }
  }
};

struct AttrTidx {
  static constexpr std::string_view name = "Tidx";
};

}  // namespace

OpDef range_op() {
  return {.name = "Range",
          .inputs = "start:Tidx; limit:Tidx; delta:Tidx",
          .outputs = "output:Tidx",
          .attrs = "Tidx:type{bfloat16,float,double,int32,int64}=int32",
          .host = "start, limit, delta",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<Types<float, double, BFloat16, int32_t, int64_t>, Cpu, AttrTidx>}};
}

}  // namespace weir::ops

namespace weir {

Output range(Graph& graph, const In& start, const In& limit, const In& delta, std::string_view name) {
  LineScope line(graph, source_line(start.where()));
  Scope scope = graph.name_scope(ops::name_or(name, "range"));
  Output parts[] = {ops::to_output(graph, start, "start"), ops::to_output(graph, limit, "limit"),
                    ops::to_output(graph, delta, "delta")};
  // The widest type among them.
  DType dtype = int32;
  for (DType wider : {int64, float32, float64, bfloat16}) {
    for (const Output& part : parts) {
      if (part.dtype() == wider) dtype = wider;
    }
  }
  for (Output& part : parts) part = cast(part, dtype);
  return NodeBuilder("Range", scope.name()).input(parts[0]).input(parts[1]).input(parts[2]).output();
}

Output range(const In& start, const In& limit, const In& delta, std::string_view name) {
  return range(ops::graph_of({&start, &limit, &delta}), start, limit, delta, name);
}

}  // namespace weir
