#include "ops/math/reduction.h"

namespace weir::ops {
namespace {

struct Prod {
  static constexpr auto kFn = ReduceFn::Prod;
  template <class T>
  static Accumulator<T> start() {
    return Accumulator<T>(1);
  }
  template <class A>
  static A step(A sum, A x) {
    return wrapping_mul(sum, x);
  }
  template <class T>
  static Accumulator<T> finish(Accumulator<T> sum, [[maybe_unused]] int64_t count) {
    return sum;
  }
};

void gradient(GradContext& c) {
  // The product of all but one element, without dividing by it since it may be zero: what stands before it times what
  // stands behind it, along one axis that packs all reduced ones.
  Output x = c.input(0), input_shape = shape(x);
  Output kept_dims = reduced_shape(input_shape, c.input(1));
  Output multiples = floordiv(input_shape, maximum(kept_dims, 1));
  Output grad = tile(reshape(c.output_grad(), kept_dims), multiples);

  Output rank_of_x = rank(x);
  Output reduced = floormod(cast(reshape(c.input(1), {-1}), int32) + rank_of_x, rank_of_x);
  Output all = range(0, rank_of_x);
  Output is_kept = dynamic_stitch({all, reduced}, {ones_like(all), zeros_like(reduced)});
  Output kept = reshape(cast(where(cast(is_kept, boolean)), int32), {-1});
  Output perm = concat({reduced, kept}, 0);
  Output reduced_size = reduce_prod(gather(input_shape, reduced)), kept_size = reduce_prod(gather(input_shape, kept));
  Output permuted = transpose(x, perm);
  Output packed = reshape(permuted, stack({reduced_size, kept_size}));
  Output before = cumprod(packed, 0, {.exclusive = true});
  Output behind = cumprod(packed, 0, {.exclusive = true, .reverse = true});
  Output others = reshape(conj(before) * conj(behind), shape(permuted));
  c.set_input_grad(0, reshape(grad * transpose(others, invert_permutation(perm)), input_shape));
}

}  // namespace

OpDef prod_op() { return reduction_op<Prod, NumberTypes>("Prod", gradient); }

}  // namespace weir::ops
