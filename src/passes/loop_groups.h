#pragma once

#include <optional>
#include <vector>

#include "passes/ir.h"

namespace weir {

// What a fused loop goes over: elements of a shape, whose last `row_dims` dimensions make a row where something is done
// with whole rows; 0: nothing is.
struct LoopSpace {
  Shape full;
  int row_dims = 0;

  int64_t row() const;                          // elements of one
  bool is_kept_row(const Shape& shape) const;   // one element a row, with ones for the row's dimensions
  bool is_plain_row(const Shape& shape) const;  // ... without these dimensions
  bool is_row(const Shape& shape) const { return is_kept_row(shape) || is_plain_row(shape); }
};

// How a node stands in a loop.
enum class LoopRole : uint8_t {
  None,
  Full,     // an element for each of the loop's
  Row,      // one a row: a reduction of rows, or what is computed from these
  Columns,  // the sum over the rows
  All,      // the sum of everything
};

// Nodes that become one loop. Nothing outside depends on one member and is needed by another.
struct LoopGroup {
  LoopSpace space;
  std::vector<int> members;  // producers first
  std::vector<int> sources;  // nodes outside that it reads or waits for
};

// What nodes compute, as far as loops can.
class LoopNodes {
 public:
  explicit LoopNodes(const Ir& ir);

  // A comparison, or truth values as numbers: every loop that reads them computes them for itself.
  bool is_truth(int id) const { return truths_[static_cast<size_t>(id)]; }
  // The values that a node reads, with those that its truth values are computed from in place of these.
  std::vector<IrEdge> values_read(int id) const;
  // How a node would stand in a loop over `space`, which may become more than it was: rows where there were none, or
  // what the whole was becomes the rows' single values.
  LoopRole role_in(int id, LoopSpace& space) const;
  // The space of a loop that begins with this node; none: it fits into no loop.
  std::optional<LoopSpace> space_of(int id) const;

 private:
  bool find_truth(int id) const;
  bool is_elementwise(int id) const;
  LoopRole role_of_reduction(const IrNode& node, LoopSpace& space) const;

  const Ir& ir_;
  std::vector<bool> truths_, elementwise_;
};

// Of each dimension of the input of a reduction (LoopPart), whether it is reduced; nothing when the plan does not know.
std::optional<std::vector<bool>> reduced_dims(const Ir& ir, const IrNode& node);

// Finds all groups of two or more. Each node is in one at most; truth values are in none.
std::vector<LoopGroup> find_loop_groups(const Ir& ir, const LoopNodes& nodes);

}  // namespace weir
