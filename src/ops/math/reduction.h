#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>

#include "devices/cpu/reduce.h"
#include "devices/cpu/tile.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/math/functors.h"
#include "ops/math/narrow.h"
#include "ops/types.h"
#include "weir/ops.h"

namespace weir::ops {

// Output: the input without the dimensions that input 1 lists, or with size 1 in their place.
void infer_reduction(InferContext& c);

// A reduction in its simplest form: neighbouring dimensions that are all kept or all reduced are merged, so that kept
// and reduced ones alternate. Made for every run, since the axes are an input; allocates nothing.
class ReductionPlan {
 public:
  static constexpr int kMaxDims = 16;
  // Reads the axes, which the shape function has checked.
  explicit ReductionPlan(const KernelContext& c);

  int64_t reduced() const { return reduced_; }      // elements that go into one result
  bool keeps_all() const { return reduced_ == 1; }  // nothing to do but copy
  // The form [outer, reduced, inner], when the reduced dimensions are neighbours.
  std::optional<cpu::ReduceShape> adjacent() const;
  // Two such forms, one after the other, when what is reduced is the innermost dimension and one farther out, as in
  // group normalisation: first the outer one, of kLeastOuter elements or more, so that what is between them is small.
  static constexpr int64_t kLeastOuter = 16;
  struct Stages {
    cpu::ReduceShape outer, inner;
    int64_t between() const { return outer.outer * outer.inner; }  // elements
  };
  std::optional<Stages> stages() const;

  // Visits the whole input in order, in rows of the innermost dimension: row(x, y, n) starts at element x of the input
  // and goes to element y of the output (if the innermost dimension is reduced) or to elements y .. y + n - 1.
  bool inner_is_reduced() const { return is_reduced_[rank_ - 1]; }
  using Row = FunctionRef<void(int64_t x, int64_t y, int64_t n)>;
  void for_each_row(Row row) const;

 private:
  int rank_ = 0;
  int64_t reduced_ = 1;
  int64_t dims_[kMaxDims];
  bool is_reduced_[kMaxDims];
};

// The sum of T is taken in this type: wide enough that rounding does not add up, and that small integers do not
// overflow on the way to a mean.
template <class T>
struct AccumulatorOf {
  using type = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
};
template <>
struct AccumulatorOf<bool> {
  using type = bool;
};
template <>
struct AccumulatorOf<uint64_t> {
  using type = uint64_t;
};
template <class T>
struct AccumulatorOf<std::complex<T>> {
  using type = std::complex<double>;
};
template <class T>
using Accumulator = typename AccumulatorOf<T>::type;

// A functor F of a reduction has, for every type, F::start<T>() of type Accumulator<T>, F::step(accumulator, element)
// and F::finish<T>(accumulator, count). F::kFn names the float32 function of reduce.h.
template <class F>
struct ReductionKernel {
  template <class T>
  static void run(KernelContext& c) {
    using A = Accumulator<T>;
    const ReductionPlan plan(c);
    const T* x = c.input<T>(0);
    T* y = c.output<T>();
    const int64_t results = c.output_elements();
    if (plan.keeps_all()) {
      std::memcpy(static_cast<void*>(y), x, static_cast<size_t>(results) * sizeof(T));
      return;
    }
    if constexpr (std::is_same_v<T, float>) {
      if (auto shape = plan.adjacent()) return cpu::reduce(F::kFn, x, *shape, y, c.scratch(), c.pool());
      if (auto stages = plan.stages()) {
        float* between = static_cast<float*>(c.scratch());
        float* rest = between + stages->between();
        cpu::reduce(F::kFn, x, stages->outer, between, rest, c.pool());
        return cpu::reduce(F::kFn, between, stages->inner, y, rest, c.pool());
      }
    }
    A* sums = static_cast<A*>(c.scratch());
    std::fill_n(sums, results, F::template start<T>());
    if (c.elements(0) > 0) {
      const bool into_one = plan.inner_is_reduced();
      plan.for_each_row([&](int64_t from, int64_t to, int64_t n) {
        if constexpr (kIsNarrowFloat<T>) {  // some of the row at a time as float, which vectors convert
          float wide[cpu::kTileFloats];
          for (int64_t i = 0; i < n; i += cpu::kTileFloats) {
            const int64_t some = std::min(cpu::kTileFloats, n - i);
            widen(x + from + i, wide, some);
            add_row<A>(wide, some, into_one, sums + (into_one ? to : to + i));
          }
        } else {
          add_row<A>(x + from, n, into_one, sums + to);
        }
      });
    }
    for (int64_t i = 0; i < results; ++i) y[i] = store<T>(F::template finish<T>(sums[i], plan.reduced()));
  }

 private:
  // Elements into one sum, or each into its own.
  template <class A, class T>
  static void add_row(const T* x, int64_t n, bool into_one, A* sums) {
    if (into_one) {
      A sum = *sums;
      for (int64_t i = 0; i < n; ++i) sum = F::step(sum, static_cast<A>(x[i]));
      *sums = sum;
    } else {
      for (int64_t i = 0; i < n; ++i) sums[i] = F::step(sums[i], static_cast<A>(x[i]));
    }
  }

  template <class T, class A>
  static T store(A value) {
    if constexpr (kIsNarrowFloat<T>) {
      return T(static_cast<float>(value));
    } else {
      return static_cast<T>(value);
    }
  }
};

struct NoState {};
NoState prepare_reduction(PrepareContext& c);

inline constexpr std::string_view kReductionAttrs = "keep_dims:bool=False; T:numbertype; Tidx:type{int32,int64}=int32";

// The row of a reduction over the axes that the second input lists.
template <class F, class List>
OpDef reduction_op(std::string_view name, void (*gradient)(GradContext&)) {
  return {.name = name,
          .inputs = "input:T; reduction_indices:Tidx",
          .outputs = "output:T",
          .attrs = kReductionAttrs,
          .host = "reduction_indices",
          .infer = infer_reduction,
          .gradient = gradient,
          .cpu = {.select = kernel_for<List, ReductionKernel<F>>, .prepare = prepared<prepare_reduction>},
          .loop = {LoopPart::Kind::Reduce, F::kFn}};
}

// The shape that the input of a reduction would have with keep_dims, for gradients.
Output reduced_shape(const Output& input_shape, const Output& axes);
// The gradient of Sum: repeats the output's gradient along the reduced axes.
Output spread_gradient(GradContext& c);
// The gradient of Max and Min: shared by the elements that are equal to the result.
void extremum_gradient(GradContext& c);

}  // namespace weir::ops
