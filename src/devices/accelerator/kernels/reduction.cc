#include "devices/accelerator/kernels/reduction.h"

#include <algorithm>

#include "devices/accelerator/table.h"
#include "ops/array/strided_copy.h"
#include "ops/math/arg_extremum.h"

namespace weir::accelerator {
namespace {

constexpr const char* kSource = R"kernel(
#ifdef T_IS_FLOAT
#define A T
#define LEAST ((T)AS_FLOAT(0xff800000u))
#define LARGEST ((T)AS_FLOAT(0x7f800000u))
#else
#define A i64
#define LEAST (-2147483647 - 1)
#define LARGEST 2147483647
#endif
#define FOLD(NAME, IN, OUT, START, STEP, FINISH) \
KERNEL(NAME, BUFFER(IN, x), BUFFER(OUT, y), int n, int inner, int splits, int reduced, int count) { \
  OPEN(IN, x); OPEN(OUT, y); \
  FOR_EACH(i, n) { \
    int in = i % inner, rest = i / inner; \
    int s = rest % splits, o = rest / splits; \
    A a = START; \
    for (int k = s; k < reduced; k += splits) { \
      A v = (A)x[(o * reduced + k) * inner + in]; \
      a = STEP; \
    } \
    y[i] = (OUT)(FINISH); \
  } \
}
#define REDUCTION(F, START, STEP, JOIN, FINISH) \
  FOLD(F##_whole, T, T, START, STEP, FINISH) \
  FOLD(F##_part, T, A, START, STEP, a) \
  FOLD(F##_join, A, T, START, JOIN, FINISH)
REDUCTION(sum, 0, a + v, a + v, a)
REDUCTION(mean, 0, a + v, a + v, a / count)
REDUCTION(half_squares, 0, a + v * v, a + v, a / 2)
REDUCTION(prod, 1, a * v, a * v, a)
REDUCTION(maximum, LEAST, (v > a ? v : a), (v > a ? v : a), a)
REDUCTION(minimum, LARGEST, (v < a ? v : a), (v < a ? v : a), a)
REDUCTION(all, 1, (a != 0 && v != 0), (a != 0 && v != 0), a)
REDUCTION(any, 0, (a != 0 || v != 0), (a != 0 || v != 0), a)

KERNEL(arg_max, BUFFER(T, x), BUFFER(U, y), int n, int inner, int reduced) {
  OPEN(T, x); OPEN(U, y);
  FOR_EACH(i, n) {
    int base = i / inner * reduced * inner + i % inner, best = 0;
    for (int k = 1; k < reduced; ++k) {
      if (x[base + k * inner] > x[base + best * inner]) best = k;
    }
    y[i] = best;
  }
}
KERNEL(arg_min, BUFFER(T, x), BUFFER(U, y), int n, int inner, int reduced) {
  OPEN(T, x); OPEN(U, y);
  FOR_EACH(i, n) {
    int base = i / inner * reduced * inner + i % inner, best = 0;
    for (int k = 1; k < reduced; ++k) {
      if (x[base + k * inner] < x[base + best * inner]) best = k;
    }
    y[i] = best;
  }
}
)kernel";

#define WEIR_FOLD(name)                                                                               \
  const KernelDef k_##name##_whole(kSource, #name "_whole"), k_##name##_part(kSource, #name "_part"), \
      k_##name##_join(kSource, #name "_join")
WEIR_FOLD(sum);
WEIR_FOLD(mean);
WEIR_FOLD(half_squares);
WEIR_FOLD(prod);
WEIR_FOLD(maximum);
WEIR_FOLD(minimum);
WEIR_FOLD(all);
WEIR_FOLD(any);
#undef WEIR_FOLD
const KernelDef kArgMax(kSource, "arg_max"), kArgMin(kSource, "arg_min");

int64_t axis_at(const KernelContext& c, int64_t i) {
  return c.dtype(1) == DType::Int32 ? c.input<int32_t>(1)[i] : c.input<int64_t>(1)[i];
}

template <const Fold& kFold>
void reduce(KernelContext& c) {
  const Shape& x = c.shape(0);
  uint64_t reduced_dims = 0;
  for (int64_t i = 0; i < c.elements(1); ++i) {
    const int64_t axis = axis_at(c, i);
    reduced_dims |= uint64_t{1} << (axis < 0 ? axis + x.rank() : axis);
  }
  auto is_reduced = [&](int d) { return (reduced_dims >> d & 1) != 0; };
  int first = 0, last = x.rank();
  while (first < last && !is_reduced(first)) ++first;
  while (last > first && !is_reduced(last - 1)) --last;
  int64_t outer = 1, reduced = 1, inner = 1, kept_between = 1;
  for (int d = 0; d < x.rank(); ++d) {
    (d < first ? outer : d >= last ? inner : is_reduced(d) ? reduced : kept_between) *= x[d];
  }
  if (kept_between == 1) return fold(kFold, c.dtype(0), c.raw_input(0), c.raw_output(), outer, reduced, inner);
  // Kept dimensions stand between reduced ones: put the reduced ones last.
  const Tensor sorted = temporary(c.dtype(0), x);
  const ops::Strides strides(x);
  ops::StridedBox box;
  int64_t stride = x.elements();
  for (const bool wanted : {false, true}) {
    for (int d = 0; d < x.rank(); ++d) {
      if (is_reduced(d) != wanted) continue;
      stride /= std::max<int64_t>(1, x[d]);
      box.add(x[d], stride, strides[d]);
    }
  }
  ops::copy_box(c.dtype(0), box, const_cast<void*>(sorted.raw()), c.raw_input(0), c.pool());
  fold(kFold, c.dtype(0), sorted.raw(), c.raw_output(), c.output_elements(), reduced, 1);
}

void half_squares(KernelContext& c) {
  fold(kHalfSquaresFold, c.dtype(0), c.raw_input(0), c.raw_output(), 1, c.elements(0), 1);
}

template <const KernelDef& kKernel>
void arg_extremum(KernelContext& c) {
  const auto s = ops::arg_shape(c);
  const int64_t n = c.output_elements();
  const DType index = dtype_size(c.node().attr<DType>("output_type")) == 8 ? DType::Int64 : DType::Int32;
  Launch(kKernel.of(c.dtype(0), index))
      .buffer(c.raw_input(0))
      .buffer(c.raw_output())
      .count(n)
      .count(s.inner)
      .count(s.reduced)
      .items(n);
}

bool is_number(const NodeView&, std::span<const DType> inputs, std::span<const DType>) {
  return inputs[0] == DType::Float32 || inputs[0] == DType::Float64 || inputs[0] == DType::Int32;
}

}  // namespace

const Fold kSumFold{&k_sum_whole, &k_sum_part, &k_sum_join}, kMeanFold{&k_mean_whole, &k_mean_part, &k_mean_join},
    kMaxFold{&k_maximum_whole, &k_maximum_part, &k_maximum_join},
    kMinFold{&k_minimum_whole, &k_minimum_part, &k_minimum_join}, kProdFold{&k_prod_whole, &k_prod_part, &k_prod_join},
    kAllFold{&k_all_whole, &k_all_part, &k_all_join}, kAnyFold{&k_any_whole, &k_any_part, &k_any_join},
    kHalfSquaresFold{&k_half_squares_whole, &k_half_squares_part, &k_half_squares_join};

void fold(const Fold& how, DType type, const void* x, void* y, int64_t outer, int64_t reduced, int64_t inner) {
  constexpr int64_t kItems = 8192, kLeast = 16;  // of work items that keep a device busy; of elements worth an item
  const int64_t results = outer * inner;
  if (results == 0) return;
  const int64_t splits = std::max<int64_t>(1, std::min(kItems / results, reduced / kLeast));
  auto launch = [&](const KernelDef& kernel, const void* from, void* to, int64_t cuts, int64_t length) {
    const int64_t n = results * cuts;
    Launch(kernel.of(type))
        .buffer(from)
        .buffer(to)
        .count(n)
        .count(inner)
        .count(cuts)
        .count(length)
        .count(reduced)
        .items(n);
  };
  if (splits < 4) return launch(*how.whole, x, y, 1, reduced);
  const DType wide = is_floating(type) ? type : DType::Int64;
  Tensor parts = temporary(wide, {results * splits});
  launch(*how.part, x, parts.mutable_raw(), splits, reduced);
  launch(*how.join, parts.raw(), y, 1, splits);
}

std::span<const KernelRow> reduction_kernels() {
  static const KernelRow rows[] = {
      {"Sum", {.select = always<reduce<kSumFold>>}, is_number},
      {"Mean", {.select = always<reduce<kMeanFold>>}, is_number},
      {"Max", {.select = always<reduce<kMaxFold>>}, is_number},
      {"Min", {.select = always<reduce<kMinFold>>}, is_number},
      {"Prod", {.select = always<reduce<kProdFold>>}, is_number},
      {"All", {.select = always<reduce<kAllFold>>}},
      {"Any", {.select = always<reduce<kAnyFold>>}},
      {"L2Loss", {.select = always<half_squares>}, first_is_float},
      {"ArgMax", {.select = always<arg_extremum<kArgMax>>}, is_number},
      {"ArgMin", {.select = always<arg_extremum<kArgMin>>}, is_number},
  };
  return rows;
}

}  // namespace weir::accelerator
