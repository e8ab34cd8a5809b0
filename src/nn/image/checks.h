#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "nn/convert.h"
#include "weir/graph.h"
#include "weir/math_ops.h"

// What the functions of weir/image.h share: sizes that are numbers or tensors, and checks of shapes that are made when
// the graph is built where they can be, and by nodes where not.
namespace weir::image {

// The value of an argument that is no tensor of the graph. Throws InvalidArgument unless it is a number; for integers,
// a whole one.
double number_of(const In& in);
int64_t integer_of(const In& in);
// A number as a constant of this type.
inline Literal literal_of(double number, DType dtype) {
  return is_floating(dtype) ? Literal(number) : Literal(static_cast<int64_t>(number));
}

// A size: a number where it is known, else a scalar tensor. Arithmetic on numbers makes no nodes.
class Length {
 public:
  Length(int64_t number) : number_(number) {}        // NOLINT
  Length(const Output& tensor) : tensor_(tensor) {}  // NOLINT
  explicit Length(const In& in);

  bool known() const { return !tensor_; }
  int64_t number() const { return number_; }
  const Output& tensor() const { return tensor_; }
  In in() const { return known() ? In(number_) : In(tensor_); }
  int64_t dim() const { return known() ? number_ : kUnknown; }  // of a shape

  friend Length operator+(const Length& a, const Length& b) {
    if (a.known() && b.known()) return a.number() + b.number();
    return add(a.in(), b.in(), "add");
  }
  friend Length operator-(const Length& a, const Length& b) {
    if (a.known() && b.known()) return a.number() - b.number();
    return subtract(a.in(), b.in(), "sub");
  }
  friend Length operator-(const Length& a) {
    if (a.known()) return -a.number();
    return negative(a.tensor());
  }

 private:
  int64_t number_ = 0;
  Output tensor_;
};
Length floordiv(const Length& a, int64_t b);
Length max(const Length& a, const Length& b);
Length min(const Length& a, const Length& b);

// Operations that must have succeeded before a picture is used.
class Checks {
 public:
  explicit Checks(Graph& graph) : graph_(graph) {}

  // At least three dimensions, none of them empty.
  void at_least_3d(const Output& image);
  // Each throws InvalidArgument with the message now, or fails the run with it.
  void at_least(const Length& a, const Length& b, std::string_view message);
  void positive(const Length& a, std::string_view message);
  void equal(const Length& a, const Length& b, std::string_view message);
  void add(Operation check) { checks_.push_back(check); }

  // The tensor, after all checks so far.
  Output after(const Output& tensor) const;
  const std::vector<Operation>& operations() const { return checks_; }

 private:
  void require(const Output& condition, std::string_view message);
  Graph& graph_;
  std::vector<Operation> checks_;
};

// "control_dependency": the picture, once it is known to have three dimensions or more.
Output require_at_least_3d(const Output& image);

// The dimensions of a picture of this rank.
std::vector<Length> dimensions(const Output& image, int rank);

// A vector of sizes.
Output stack_lengths(Graph& graph, const std::vector<Length>& lengths, std::string_view name = "stack");

// A picture as a batch of one; `alone` says that it was none.
struct Batch {
  Output images;
  bool alone;
  Output undo(const Output& result) const;
};
Batch as_batch(const Output& image);

// Three dimensions, if nothing else is known.
Output with_flipped_shape(const Output& image, const Output& result);

}  // namespace weir::image
