#include "ops/sequence/ctc.h"

#include <algorithm>
#include <vector>

#include "base/errors.h"

namespace weir::ops {

Shape infer_ctc(InferContext& c, int lengths) {
  c.require_rank(0, 3);
  c.require_rank(lengths, 1);
  Shape inputs = c.input(0).merged(Shape::unknown_dims(3));
  const Shape batch = c.input(lengths).merged(Shape::unknown_dims(1));
  if (!Shape{inputs[1]}.compatible(batch)) {
    throw invalid_argument("len(sequence_length) != batch_size.  len(sequence_length):  {} batch_size: {}", batch[0],
                           inputs[1]);
  }
  if (inputs[2] == 0) throw invalid_argument("num_classes must not be 0: inputs have shape {}", inputs.str());
  inputs.set_dim(1, batch.merged(Shape{inputs[1]})[0]);
  return inputs;
}

CtcShape checked_ctc(const KernelContext& c, int lengths) {
  const CtcShape shape{c.shape(0)[0], c.shape(0)[1], c.shape(0)[2]};
  for (int64_t b = 0; b < shape.batch; ++b) {
    const int32_t length = c.input<int32_t>(lengths)[b];
    if (length < 0 || length > shape.time) {
      throw invalid_argument("sequence_length({}) <= {}: it is {}", b, shape.time, length);
    }
  }
  return shape;
}

void set_sparse_labels(KernelContext& c, int first, int stride, const std::vector<std::vector<int64_t>>& sequences) {
  int64_t count = 0, longest = 0;
  for (const auto& sequence : sequences) {
    count += static_cast<int64_t>(sequence.size());
    longest = std::max(longest, static_cast<int64_t>(sequence.size()));
  }
  Tensor indices(DType::Int64, {count, 2}), values(DType::Int64, {count}), shape(DType::Int64, {2});
  auto* index = indices.mutable_data<int64_t>();
  auto* value = values.mutable_data<int64_t>();
  for (size_t b = 0; b < sequences.size(); ++b) {
    for (size_t i = 0; i < sequences[b].size(); ++i) {
      *index++ = static_cast<int64_t>(b);
      *index++ = static_cast<int64_t>(i);
      *value++ = sequences[b][i];
    }
  }
  shape.mutable_data<int64_t>()[0] = static_cast<int64_t>(sequences.size());
  shape.mutable_data<int64_t>()[1] = longest;
  c.set_output(first, std::move(indices));
  c.set_output(first + stride, std::move(values));
  c.set_output(first + 2 * stride, std::move(shape));
}

}  // namespace weir::ops
