#include "base/errors.h"
#include "ops/array/array_util.h"
#include "ops/array/element_type.h"
#include "ops/array/nd_update.h"

// Rows of a tensor set, or added to. TensorFlow changes the tensor itself; here a value is nobody else's to change, so
// that happens in place only when it is the last use.
namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const Shape &x = c.input(0), &rows = c.input(1), &v = c.input(2);
  if (rows.has_rank() && rows.rank() > 1) throw invalid_argument("i must be a vector. {}", rows.str());
  if (x.has_rank() && x.rank() < 1) throw invalid_argument("x must have at least one dimension");
  c.set_output(0, x);
  if (!x.has_rank() || !v.has_rank() || !rows.has_rank()) return;
  if (rows.rank() != 1) throw invalid_argument("i must be a vector. {}", rows.str());
  if (x.rank() != v.rank()) {
    throw invalid_argument("x and v shape doesn't match (ranks differ): {} vs. {}", x.str(), v.str());
  }
  for (int i = 1; i < x.rank(); ++i) {
    if (x[i] != kUnknown && v[i] != kUnknown && x[i] != v[i]) {
      throw invalid_argument("x and v shape doesn't match at index {} : {} vs. {}", i, x[i], v[i]);
    }
  }
  if (rows[0] != kUnknown && v[0] != kUnknown && rows[0] != v[0]) {
    throw invalid_argument("i and x shape doesn't match at index 0: {} vs. {}", rows[0], v[0]);
  }
}

// Calls body(row of x, row of v, elements). Rows count from either end and around, as in TensorFlow.
template <class T, class Body>
void for_each_row(KernelContext& c, const Body& body) {
  const int64_t rows = c.shape(0)[0];
  if (c.raw_output() != c.raw_input(0)) std::copy_n(c.input<T>(0), c.elements(0), c.output<T>());
  if (rows == 0 || c.elements(2) == 0) return;
  const int64_t width = c.elements(0) / rows;
  for (int64_t i = 0; i < c.elements(1); ++i) {
    const int64_t row = (c.input<int32_t>(1)[i] % rows + rows) % rows;
    body(c.output<T>() + row * width, c.input<T>(2) + i * width, width);
  }
}

void set_cpu(KernelContext& c) {
  with_element_type(c.dtype(0), [&]<class T>(T) {
    for_each_row<T>(c, [](T* to, const T* from, int64_t n) { std::copy_n(from, n, to); });
  });
}

template <bool kSubtract>
struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    for_each_row<T>(c, [](T* to, const T* from, int64_t n) {
      for (int64_t i = 0; i < n; ++i) {
        const Wide<T> a = static_cast<Wide<T>>(to[i]), b = static_cast<Wide<T>>(from[i]);
        to[i] = static_cast<T>(kSubtract ? wrapping_sub(a, b) : wrapping_add(a, b));
      }
    });
  }
};

OpDef row(std::string_view name, ComputeFn (*select)(const NodeView&)) {
  return {.name = name,
          .inputs = "x:T; i:int32; v:T",
          .outputs = "y:T",
          .attrs = "T:type",
          .infer = infer,
          .cpu = {.select = select, .in_place = 0b1}};
}

}  // namespace

OpDef inplace_update_op() { return row("InplaceUpdate", kernel_moving<set_cpu>); }
OpDef inplace_add_op() { return row("InplaceAdd", kernel_for<NumberTypes, Cpu<false>>); }
OpDef inplace_sub_op() { return row("InplaceSub", kernel_for<NumberTypes, Cpu<true>>); }

}  // namespace weir::ops
