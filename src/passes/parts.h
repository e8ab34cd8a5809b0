#pragma once

#include <compare>
#include <optional>
#include <vector>

#include "passes/ir.h"

namespace weir {

// Some places along one dimension of a value, and all of the others: begin, begin + stride, ..., `count` of them.
struct Part {
  int axis = 0;
  int64_t begin = 0, stride = 1, count = 0;
  auto operator<=>(const Part&) const = default;

  // The shape of a value that has nothing but this part.
  Shape shape(Shape whole) const {
    whole.set_dim(axis, count);
    return whole;
  }
};

// The part that a node of Source::Slice takes of input 0, or that one of Source::Unslice fills; nothing: it is not
// known, or not of this simple kind, or everything. The value of the node may have fewer or more dimensions of size 1.
std::optional<Part> part_of_slice(const Ir& ir, const IrNode& node);

// The same elements where they stand when the value has another shape; nothing: they are no part then.
std::optional<Part> reshaped_part(const Shape& from, const Part& part, const Shape& to);

// How parts of a node's only output follow from parts of its inputs.
class PartsOfNode {
 public:
  PartsOfNode(const Ir& ir, const IrNode& node) : ir_(ir), node_(node) {}

  // What has to be known of each input for a part of the output; nothing in the list: all of it. Nothing at all: such a
  // part cannot be computed by itself.
  std::optional<std::vector<std::optional<Part>>> needed_for(const Part& output) const;

  // Where a part of an input ends up.
  struct Reached {
    std::optional<Part> part = {};  // of the output
    bool is_summed = false;         // or else: the output is a sum over the places along that dimension
  };
  std::optional<Reached> reached_from(int input, const Part& part) const;

  // Whether the output is zero where these inputs are.
  bool stays_zero(const std::vector<bool>& zero_inputs) const;

 private:
  std::optional<Part> broadcast_part(const IrEdge& input, const Part& output, bool& fits) const;
  std::optional<std::vector<std::optional<Part>>> needed_for_product(const Part& output) const;
  std::optional<Reached> reached_by_product(int input, const Part& part) const;
  bool transposes(int input) const;

  const Ir& ir_;
  const IrNode& node_;
};

}  // namespace weir
