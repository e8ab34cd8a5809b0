#include "ops/broadcast.h"

#include <algorithm>

#include "base/errors.h"

namespace weir {

BroadcastPlan::BroadcastPlan(std::span<const Shape* const> operands, const Shape& output)
    : operands_(static_cast<int>(operands.size())), elements_(output.elements()) {
  int64_t stride[kMaxOperands] = {1, 1, 1};
  uint32_t inner_moving = 0;                  // the operands that move through the dimension found last, a bit each
  for (int d = 1; d <= output.rank(); ++d) {  // from the innermost outwards
    int64_t size = output[-d];
    if (size == 1) continue;
    uint32_t moving = 0;
    for (int i = 0; i < operands_; ++i) {
      const Shape& shape = *operands[static_cast<size_t>(i)];
      if (d <= shape.rank() && shape[-d] != 1) moving |= 1u << i;
    }
    if (rank_ > 0 && moving == inner_moving) {
      dims_[rank_ - 1] *= size;
    } else {
      if (rank_ == kMaxDims) {
        throw error(Code::Unimplemented,
                    "broadcasting to {} is not supported: it alternates between more than {} groups "
                    "of dimensions",
                    output.str(), kMaxDims);
      }
      dims_[rank_] = size;
      for (int i = 0; i < operands_; ++i) strides_[i][rank_] = moving >> i & 1 ? stride[i] : 0;
      ++rank_;
      inner_moving = moving;
    }
    for (int i = 0; i < operands_; ++i) {
      if (moving >> i & 1) stride[i] *= size;
    }
  }
  if (rank_ == 0) {  // a single element
    rank_ = 1;
    dims_[0] = 1;
    for (int i = 0; i < operands_; ++i) strides_[i][0] = 1;
  }
  std::reverse(dims_, dims_ + rank_);
  for (int i = 0; i < operands_; ++i) std::reverse(strides_[i], strides_[i] + rank_);
}

BroadcastPlan::Repetition BroadcastPlan::repetition(int64_t most) const {
  Repetition found{elements_, elements_};
  int64_t period = 1;
  for (int d = rank_ - 1; d >= 0 && period <= most; --d) {
    bool rests = true;
    for (int i = 0; i < operands_; ++i) rests = rests && strides_[i][d] == 0;
    if (rests) found = {period, period * dims_[d]};
    period *= dims_[d];
  }
  return found;
}

// Cuts at the ends of blocks of the dimensions from `inner` on: body(offsets of the block, elements of it that come
// before the piece, place and size of the piece).
template <class Body>
void BroadcastPlan::walk(int inner, int64_t begin, int64_t end, const Body& body) const {
  if (begin >= end) return;
  int64_t block = 1;
  for (int d = inner; d < rank_; ++d) block *= dims_[d];
  // The position as a mixed-radix number, and what it means for each operand.
  int64_t at[kMaxDims];
  int64_t offsets[kMaxOperands] = {};
  int64_t skip = begin % block, rest = begin / block;
  for (int d = inner - 1; d >= 0; --d) {
    at[d] = rest % dims_[d];
    rest /= dims_[d];
    for (int i = 0; i < operands_; ++i) offsets[i] += at[d] * strides_[i][d];
  }
  while (true) {
    const int64_t n = std::min(block - skip, end - begin);
    body(offsets, skip, begin, n);
    begin += n;
    if (begin == end) return;
    skip = 0;  // the block is complete
    for (int d = inner - 1; d >= 0; --d) {
      const bool carry = ++at[d] == dims_[d];
      for (int i = 0; i < operands_; ++i) offsets[i] += carry ? (1 - dims_[d]) * strides_[i][d] : strides_[i][d];
      if (!carry) break;
      at[d] = 0;
    }
  }
}

void BroadcastPlan::for_each_piece(int64_t begin, int64_t end, Piece piece) const {
  const int inner = rank_ - 1;
  walk(inner, begin, end, [&](const int64_t* offsets, int64_t skip, int64_t at, int64_t n) {
    if (skip == 0) return piece(offsets, at, n);
    int64_t moved[kMaxOperands];
    for (int i = 0; i < kMaxOperands; ++i) moved[i] = i < operands_ ? offsets[i] + skip * strides_[i][inner] : 0;
    piece(moved, at, n);
  });
}

void BroadcastPlan::for_each_plane_piece(int64_t begin, int64_t end, PlanePiece piece) const {
  walk(std::max(rank_ - 2, 0), begin, end,
       [&](const int64_t* offsets, int64_t skip, int64_t at, int64_t n) { piece(offsets, skip, at, n); });
}

}  // namespace weir
