#include <algorithm>
#include <type_traits>

#include "base/errors.h"
#include "devices/cpu/tile.h"
#include "graph/grad_context.h"
#include "ops/array/array_util.h"
#include "ops/array/strided_copy.h"
#include "ops/math/functors.h"
#include "weir/ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const Shape &data = c.input(0), &ids = c.input(1);
  if (c.input(2).has_rank() && c.input(2).rank() != 0) {
    throw invalid_argument("Shape must be rank 0 but is rank {}: num_segments should be a scalar, not shape {}",
                           c.input(2).rank(), c.input(2).str());
  }
  std::optional<int64_t> segments = scalar_argument(c, 2);
  if (segments && *segments < 0) throw invalid_argument("num_segments is {}", *segments);
  if (!data.has_rank() || !ids.has_rank()) return;
  bool fits = ids.rank() <= data.rank();
  for (int i = 0; fits && i < ids.rank(); ++i) fits = data[i] == ids[i] || data[i] == kUnknown || ids[i] == kUnknown;
  if (!fits) {
    throw invalid_argument("the shape of data, {}, must begin with that of segment_ids, {}", data.str(), ids.str());
  }
  Shape to{segments.value_or(kUnknown)};
  for (int i = ids.rank(); i < data.rank(); ++i) to.append(data[i]);
  c.set_output(0, to);
}

// Rows whose id is negative were dropped and get zeros.
void gradient(GradContext& c) {
  Output grad = c.output_grad(), ids = c.input(1);
  Output gathered = gather(grad, maximum(ids, zeros_like(ids)));
  Output kept = greater_equal(ids, 0);
  if (!gathered.shape().has_rank() || !kept.shape().has_rank()) {
    // Ranks are known to the run alone: ones stand for the dimensions of a row.
    Output row_ones = ones_like(subscript(shape(gathered), {from(rank(ids))}));
    kept = reshape(kept, concat({shape(ids), row_ones}, 0));
  } else {
    for (int i = kept.shape().rank(); i < gathered.shape().rank(); ++i) kept = expand_dims(kept, -1);
  }
  kept = logical_and(kept, ones_like(gathered, boolean));
  c.set_input_grad(0, where(kept, gathered, zeros_like(gathered)));
}

// A block of segments is one thread's, which looks through all ids for them: so every sum is made in order, whatever
// the number of blocks.
struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    c.dtype(1) == int32 ? sum<T>(c, c.input<int32_t>(1)) : sum<T>(c, c.input<int64_t>(1));
  }

 private:
  template <class T, class Index>
  static void sum(KernelContext& c, const Index* ids) {
    const int64_t rows = c.elements(1), segments = int_at(c, 2), width = rows ? c.elements(0) / rows : 0;
    for (int64_t i = 0; i < rows; ++i) {
      if (ids[i] >= segments) {
        throw invalid_argument("segment_ids{} = {} is out of range [0, {})", subscript_of(c.shape(1), i), ids[i],
                               segments);
      }
    }
    zero_elements(dtype_of<T>, c.raw_output(), c.output_elements(), c.pool());
    if (c.elements(0) == 0) return;
    const T* data = c.input<T>(0);
    T* out = c.output<T>();
    constexpr int64_t kWorth = 32768;
    const int64_t blocks = rows * width < kWorth || width < 16 ? 1 : std::min(2 * c.pool().threads() - 1, 8);
    const int64_t grain = std::max<int64_t>((segments + blocks - 1) / blocks, 1);
    c.pool().parallel_for(segments, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = 0; i < rows; ++i) {
        const int64_t id = ids[i];
        if (id >= begin && id < end) add_row(data + i * width, width, out + id * width);
      }
    });
  }

  template <class T>
  static void add_row(const T* row, int64_t width, T* sum) {
    if constexpr (std::is_same_v<T, float>) {
      static const cpu::BinaryTile add = cpu::binary_tile(cpu::BinaryFn::Add, cpu::Operands::VV);
      if (width >= 8) return add(sum, row, sum, width);
    }
    for (int64_t k = 0; k < width; ++k) sum[k] = static_cast<T>(wrapping_add(Wide<T>(sum[k]), Wide<T>(row[k])));
  }
};

}  // namespace

OpDef unsorted_segment_sum_op() {
  return {.name = "UnsortedSegmentSum",
          .inputs = "data:T; segment_ids:Tindices; num_segments:Tnumsegments",
          .outputs = "output:T",
          .attrs = "T:numbertype; Tindices:type{int32,int64}; Tnumsegments:type{int32,int64}=int32",
          .host = "num_segments",
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = kernel_for<NumberTypes, Cpu>}};
}

}  // namespace weir::ops

namespace weir {

Output unsorted_segment_sum(const In& data, const In& segment_ids, const In& num_segments, std::string_view name) {
  return NodeBuilder("UnsortedSegmentSum", name).input(data).input(segment_ids).input(num_segments).output();
}

}  // namespace weir
