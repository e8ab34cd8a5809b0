#pragma once

#include <cstdint>
#include <span>

#include "base/thread_pool.h"
#include "weir/shape.h"

namespace weir {

// How operands of several shapes meet in one output, worked out once when a plan is made. Sizes of 1 are dropped and
// neighbouring dimensions merged where every operand either moves through both or rests in both: equal shapes become
// one long row, a bias under a matrix two dimensions. Along a row, the innermost dimension, an operand therefore moves
// element by element or rests.
class BroadcastPlan {
 public:
  static constexpr int kMaxOperands = 3;
  static constexpr int kMaxDims = 9;  // after merging; TensorFlow's own limit

  // Shapes are concrete and the operands broadcast to `output`. Throws Unimplemented beyond kMaxDims.
  BroadcastPlan(std::span<const Shape* const> operands, const Shape& output);

  int64_t elements() const { return elements_; }
  int64_t row() const { return dims_[rank_ - 1]; }
  bool moves(int operand) const { return strides_[operand][rank_ - 1] != 0; }

  // Within blocks of so many elements, one after the other, what lies a period apart meets the same elements of the
  // operands; both are elements() where nothing repeats. Of several such pairs the one with the largest blocks whose
  // period is at most `most`.
  struct Repetition {
    int64_t period, block;
  };
  Repetition repetition(int64_t most) const;

  // Cuts elements [begin, end) of the output at the ends of rows and calls piece(offsets, at, n) for each: `at` is the
  // piece's first element in the output, offsets[i] in operand i. Allocates nothing.
  using Piece = FunctionRef<void(const int64_t* offsets, int64_t at, int64_t n)>;
  void for_each_piece(int64_t begin, int64_t end, Piece piece) const;

  // The same where rows are short: cuts at the ends of planes, the two innermost dimensions. The offsets are those of the
  // beginning of the plane, of which the piece begins `skip` elements later.
  using PlanePiece = FunctionRef<void(const int64_t* offsets, int64_t skip, int64_t at, int64_t n)>;
  void for_each_plane_piece(int64_t begin, int64_t end, PlanePiece piece) const;

 private:
  template <class Body>
  void walk(int inner, int64_t begin, int64_t end, const Body& body) const;

  int operands_;
  int rank_ = 0;
  int64_t elements_;
  int64_t dims_[kMaxDims];
  int64_t strides_[kMaxOperands][kMaxDims];
};

}  // namespace weir
