#include "ops/array/space_batch.h"

#include <algorithm>

#include "base/errors.h"
#include "ops/array/array_util.h"
#include "ops/array/strided_copy.h"

namespace weir::ops {
namespace {

int64_t ceil_div(int64_t a, int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }

}  // namespace

namespace {

void infer_blocks(InferContext& c, const std::optional<std::vector<int64_t>>& blocks, int paddings, bool to_batch) {
  const Shape& x = c.input(0);
  c.require_rank(paddings, 2);
  Tensor pad_value = c.value(paddings);
  if (!x.has_rank()) return;
  if (!blocks) return c.set_output(0, Shape::unknown_dims(x.rank()));
  const auto m = static_cast<int>(blocks->size());
  if (x.rank() < m + 1) throw invalid_argument("{} blocks for an input of shape {}", m, x.str());
  (void)c.input(paddings).merged(Shape{m, 2});
  auto pad_at = [&](int i) {
    return pad_value.dtype() == DType::Int32 ? pad_value.data<int32_t>()[static_cast<size_t>(i)]
                                             : pad_value.data<int64_t>()[static_cast<size_t>(i)];
  };
  Shape to = x;
  int64_t product = 1;
  for (int i = 0; i < m; ++i) {
    const int64_t block = (*blocks)[static_cast<size_t>(i)];
    if (block < 1) throw invalid_argument("block_shape[{}] = {} is not positive", i, block);
    product = checked_multiply(product, block);
    if (!pad_value.valid() || x[i + 1] == kUnknown) {
      to.set_dim(i + 1, kUnknown);
      continue;
    }
    const int64_t before = pad_at(2 * i), after = pad_at(2 * i + 1);
    if (before < 0 || after < 0) throw invalid_argument("{} must not be negative", to_batch ? "paddings" : "crops");
    if (to_batch) {
      const int64_t padded = checked_add(checked_add(x[i + 1], before), after);
      if (padded % block != 0) throw invalid_argument("padded size {} is not divisible by block {}", padded, block);
      to.set_dim(i + 1, padded / block);
    } else {
      const int64_t size = checked_multiply(x[i + 1], block) - checked_add(before, after);
      if (size < 0) throw invalid_argument("crops {} + {} are larger than {} * {}", before, after, x[i + 1], block);
      to.set_dim(i + 1, size);
    }
  }
  if (x[0] != kUnknown) {
    if (!to_batch && x[0] % product != 0) {
      throw invalid_argument("the batch {} is not divisible by the product of the blocks {}", x[0], product);
    }
    to.set_dim(0, to_batch ? checked_multiply(x[0], product) : x[0] / product);
  }
  c.set_output(0, to);
}

}  // namespace

void infer_space_batch(InferContext& c, bool to_batch) {
  c.require_rank(1, 1);
  infer_blocks(c, c.value_as_ints(1), 2, to_batch);
}

void infer_square_blocks(InferContext& c, bool to_batch) {
  c.require_rank(0, 4);
  const auto block = c.attr<int64_t>("block_size");
  infer_blocks(c, std::vector<int64_t>{block, block}, 1, to_batch);
}

namespace {

// One copy for each place within a block: these elements are one batch of the blocked side.
void move(KernelContext& c, int m, FunctionRef<int64_t(int)> block_at, int paddings, bool to_batch) {
  const DType dtype = c.dtype(0);
  const Shape& space = to_batch ? c.shape(0) : c.output_shape();
  const Shape& batch = to_batch ? c.output_shape() : c.shape(0);
  if (c.output_elements() == 0) return;
  if (to_batch) zero_elements(dtype, c.raw_output(), c.output_elements(), c.pool());
  const Strides space_strides(space), batch_strides(batch);
  int64_t places = 1;
  for (int i = 0; i < m; ++i) places *= block_at(i);
  for (int64_t place = 0; place < places; ++place) {
    int64_t space_start = 0, batch_start = place * space[0] * batch_strides[0];
    int64_t rest = place;
    int64_t first[kMaxRank], count[kMaxRank];
    bool empty = false;
    for (int i = m - 1; i >= 0; --i) {
      const int64_t block = block_at(i), offset = rest % block - int_at(c, paddings, 2 * i);
      rest /= block;
      first[i] = std::max<int64_t>(0, ceil_div(-offset, block));
      const int64_t last = std::min(batch[i + 1], ceil_div(space[i + 1] - offset, block));
      count[i] = last - first[i];
      empty |= count[i] <= 0;
      space_start += (first[i] * block + offset) * space_strides[i + 1];
      batch_start += first[i] * batch_strides[i + 1];
    }
    if (empty) continue;
    StridedBox box;
    auto add = [&](int64_t size, int64_t in_space, int64_t in_batch) {
      box.add(size, to_batch ? in_batch : in_space, to_batch ? in_space : in_batch);
    };
    add(space[0], space_strides[0], batch_strides[0]);
    for (int i = 0; i < m; ++i) add(count[i], space_strides[i + 1] * block_at(i), batch_strides[i + 1]);
    for (int i = m + 1; i < space.rank(); ++i) add(space[i], space_strides[i], batch_strides[i]);
    copy_box(dtype, box, offset(dtype, c.raw_output(), to_batch ? batch_start : space_start),
             offset(dtype, c.raw_input(0), to_batch ? space_start : batch_start), c.pool());
  }
}

}  // namespace

void move_blocks(KernelContext& c, bool to_batch) {
  move(
      c, static_cast<int>(c.elements(1)), [&](int i) { return int_at(c, 1, i); }, 2, to_batch);
}

void move_square_blocks(KernelContext& c, int64_t block, bool to_batch) {
  move(
      c, 2, [&](int) { return block; }, 1, to_batch);
}

}  // namespace weir::ops
