#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/interpret.h"
#include "weir/graph.h"

// The one checker that every operation goes through. A usual test:
//
//   TEST(Sub, BroadcastsInEveryType) {
//     check_op({.op = "Sub", .inputs = {{{5, 6}, {7, 8}}, {1, 2}}, .outputs = {{{4, 4}, {6, 6}}}});
//     check_op({.op = "Sub", .inputs = {zeros({0, 3}), {1, 2, 3}}, .outputs = {zeros({0, 3})}});
//     check_op({.op = "Sub", .inputs = {ramp({2, 1, 3}), ramp({4, 1})},
//               .reference = [](const Tensors& in) { return Tensors{...double tensors...}; }});
//   }
//   TEST(MatMul, RejectsInnerDimensionsThatDiffer) {
//     check_op({.op = "MatMul", .inputs = {{{1, 2}}, {{3}, {4}}}, .outputs = {{{11}}},
//               .bad = {{.inputs = {{{1, 2}}, {{3, 4}}}, .message = "inner dimensions differ"},
//                       {.inputs = {{1, 2}, {{3, 4}}}, .message = "rank 2"}}});
//   }
//   TEST(GatherV2, ...) {
//     check_op({.op = "GatherV2", .inputs = {{{1, 2}, {3, 4}}, {1, 0, 1}, 0}, .attrs = {{"batch_dims", 0}},
//               .outputs = {{{3, 4}, {1, 2}, {3, 4}}}});
//   }
//
// One call does all of this:
//  - runs the operation on the inputs in every type that its row's T allows and that has a kernel, and compares with
//    `outputs` (or `reference`). A type that cannot hold the numbers (a fraction in int32, a negative in uint8, an
//    expected result out of range) still runs, on rounded numbers, and must give the right types and shapes;
//  - runs it in the interpreter and in sessions, with all passes and with none, twice: all must agree;
//  - runs it with every input a constant, a placeholder of known shape, of unknown sizes and of unknown rank: all must
//    give the same bits, and what shape inference said at build time must agree with what came out;
//  - compares gradients() with numeric differentiation in double, for known and for unknown shapes, when the row has a
//    gradient;
//  - runs every `bad` input, as constants and through placeholders, and expects that code and message.
namespace weir::testing {

using Tensors = std::vector<Tensor>;

struct BadInput {
  std::vector<In> inputs = {};
  AttrMap attrs = {};  // added to (or replacing) those of the check
  Code code = Code::InvalidArgument;
  std::string message = {};     // what() contains it
  DType type = DType::Invalid;  // of T; float, or the first that has a kernel, when not given
};

struct OpCheck {
  std::string op;
  // Flat, lists included. Numbers, nested lists and tensors; converted to the types that the signature wants.
  std::vector<In> inputs = {};
  AttrMap attrs = {};
  // What must come out, in numbers...
  std::vector<In> outputs = {};
  // ...or how to compute it: from the inputs as double (strings and booleans as they are), rounded to the checked type.
  std::function<Tensors(const Tensors&)> reference = {};
  // Relative above 1 and absolute below; types of low precision get at least a few of their own last places.
  double tolerance = 1e-5;

  std::string type_attr = {};     // the attribute that is swept; "T", or "dtype", unless it stands in `attrs`
  std::vector<DType> types = {};  // exactly these must have kernels; when empty: all that have
  bool gradient = true;           // numeric gradients (when the row has a gradient); off at kinks
  double gradient_tolerance = 1e-5;
  std::vector<int> gradient_inputs = {};  // the inputs that have gradients; when empty: all floating ones
  bool unknown_shapes = true;             // placeholders as inputs
  std::vector<int> constant_inputs = {};  // these stay constants even then
  std::vector<BadInput> bad = {};
};

void check_op(const OpCheck& check, SourceLocation where = SourceLocation::current());

// Double tensors for inputs: zeros; first, first + step, ...; and fixed pseudo-random numbers in [low, high).
Tensor zeros(const Shape& shape);
Tensor ramp(const Shape& shape, double first = 1, double step = 1);
Tensor scattered(const Shape& shape, double low = -1, double high = 1, uint32_t seed = 1);

// The tensor in another type. Throws InvalidArgument when the type cannot hold the numbers.
Tensor converted(const Tensor& value, DType dtype);

// Expects equal types and shapes, and elements that differ by at most tolerance * max(1, |expected|). NaN equals NaN.
void expect_near(const Tensor& actual, const Tensor& expected, double tolerance);
// Expects the same type, shape and bits.
void expect_same(const Tensor& actual, const Tensor& expected);
// Expects that `run` throws an Error with this code whose what() contains the text.
void expect_error(const std::function<void()>& run, Code code, const std::string& text);
// Expects that a run for which the time that it is called with is too short says so with this text. On a busy machine
// the time can be up before the run has come to the step in question, so it is tried with more and more.
void expect_late(const std::function<void(std::chrono::milliseconds)>& run, const std::string& text);

inline const std::vector<DType> kFloatingTypes = {float32, float64, float16, bfloat16};
inline const std::vector<DType> kComplexTypes = {complex64, complex128};

}  // namespace weir::testing
