#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ops/math/test_reference.h"

namespace weir::testing {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct BinaryCase {
  const char* op;
  double (*f)(double, double);
  bool order = false;  // gives bool
};
double floor_mod(double x, double y) {
  double rest = std::fmod(x, y);
  return (x < 0) == (y < 0) ? rest : std::fmod(rest + y, y);
}
const BinaryCase kCases[] = {
    {"Add", [](double x, double y) { return x + y; }},
    {"AddV2", [](double x, double y) { return x + y; }},
    {"Sub", [](double x, double y) { return x - y; }},
    {"Mul", [](double x, double y) { return x * y; }},
    {"Div", [](double x, double y) { return x / y; }},
    {"RealDiv", [](double x, double y) { return x / y; }},
    {"FloorDiv", [](double x, double y) { return std::floor(x / y); }},
    {"FloorMod", floor_mod},
    {"Mod", [](double x, double y) { return std::fmod(x, y); }},
    {"TruncateMod", [](double x, double y) { return std::fmod(x, y); }},
    {"Pow", [](double x, double y) { return std::pow(x, y); }},
    {"Maximum", [](double x, double y) { return std::max(x, y); }},
    {"Minimum", [](double x, double y) { return std::min(x, y); }},
    {"SquaredDifference", [](double x, double y) { return (x - y) * (x - y); }},
    {"DivNoNan", [](double x, double y) { return x / y; }},
    {"MulNoNan", [](double x, double y) { return x * y; }},
    {"Xlogy", [](double x, double y) { return x * std::log(y); }},
    {"Xdivy", [](double x, double y) { return x / y; }},
    {"Atan2", [](double y, double x) { return std::atan2(y, x); }},
    {"Less", [](double x, double y) { return double(x < y); }, true},
    {"LessEqual", [](double x, double y) { return double(x <= y); }, true},
    {"Greater", [](double x, double y) { return double(x > y); }, true},
    {"GreaterEqual", [](double x, double y) { return double(x >= y); }, true},
    {"Equal", [](double x, double y) { return double(x == y); }, true},
    {"NotEqual", [](double x, double y) { return double(x != y); }, true},
};

void check_shapes(const BinaryCase& c, const Shape& x, const Shape& y, bool thorough) {
  check_op({.op = c.op,
            .inputs = {scattered(x, 0.55, 2.5), scattered(y, 0.5, 2.5, 9)},
            .reference = mapped(c.f),
            .gradient = thorough,
            .unknown_shapes = thorough});
}

TEST(Binary, BroadcastsInEveryTypeAndHasTheRightSlope) {
  for (const BinaryCase& c : kCases) check_shapes(c, {2, 1, 3}, {4, 1}, true);
}

TEST(Binary, WorksForEveryWayOfBroadcasting) {
  const std::pair<Shape, Shape> shapes[] = {{{7}, {7}},
                                            {{}, {5}},
                                            {{5}, {}},
                                            {{}, {}},
                                            {{3, 1051}, {1051}},
                                            {{1, 5}, {4, 1}},
                                            {{0, 3}, {1, 3}},
                                            {{2, 1100}, {2, 1}},
                                            {{2, 1, 2, 1, 2}, {1, 3, 1, 3, 1}},
                                            {{1, 1}, {1, 1, 1}},
                                            {{0}, {}},
                                            {{1, 1030}, {1030}}};
  for (const BinaryCase& c : kCases) {
    for (const auto& [x, y] : shapes) check_shapes(c, x, y, false);
  }
}

TEST(Binary, RejectsShapesThatDoNotBroadcast) {
  for (const BinaryCase& c : kCases) {
    check_op({.op = c.op, .bad = {{.inputs = {zeros({2, 3}), zeros({2})}, .message = "[2,3]", .type = float32}}});
  }
}

// As TensorFlow 1.15.5 answered.
TEST(Binary, DivisionsOfNegativeNumbersAreTensorFlows) {
  In x = {7.0, -7.0, 7.0, -7.0, 5.5, -0.5, 6.0}, y = {3.0, 3.0, -3.0, -3.0, 2.0, 2.0, -2.0};
  check_op({.op = "FloorMod", .inputs = {x, y}, .outputs = {{1.0, 2.0, -2.0, -1.0, 1.5, 1.5, 0.0}}, .gradient = false});
  check_op({.op = "TruncateMod", .inputs = {x, y}, .outputs = {{1.0, -1.0, 1.0, -1.0, 1.5, -0.5, 0.0}}});
  check_op({.op = "FloorDiv", .inputs = {x, y}, .outputs = {{2, -3, -3, 2, 2, -1, -3}}});
  In i = {7, -7, 7, -7, 6, -6}, j = {3, 3, -3, -3, -3, 3};
  check_op({.op = "FloorMod", .inputs = {i, j}, .outputs = {{1, 2, -2, -1, 0, 0}}, .gradient = false});
  check_op({.op = "TruncateMod", .inputs = {i, j}, .outputs = {{1, -1, 1, -1, 0, 0}}});
  check_op({.op = "FloorDiv", .inputs = {i, j}, .outputs = {{2, -3, -3, 2, -2, -2}}});
  for (const char* op : {"Div", "RealDiv", "TruncateDiv"}) {
    check_op({.op = op,
              .inputs = {i, j},
              .outputs = {{2, -2, -2, 2, -2, -2}},
              .types = {int32, int64, int8},
              .gradient = false});
    check_op({.op = op, .inputs = {{7.0, -7.0}, {2.0, 4.0}}, .outputs = {{3.5, -1.75}}, .types = kFloatingTypes});
  }
}

TEST(Binary, IntegersThatCannotBeDividedAreReported) {
  for (const char* op : {"Div", "RealDiv", "TruncateDiv", "FloorDiv", "FloorMod", "Mod", "TruncateMod"}) {
    check_op({.op = op, .bad = {{.inputs = {{1, 2}, {1, 0}}, .message = "Integer division by zero", .type = int32}}});
    // Nothing is divided where nothing is stored.
    check_op({.op = op, .inputs = {zeros({0}), {0}}, .outputs = {zeros({0})}, .types = {int32}, .gradient = false});
  }
  check_op({.op = "Pow", .bad = {{.inputs = {{2}, {-1}}, .message = "negative integer powers", .type = int32}}});
}

TEST(Binary, TheLeastIntegerDividedByMinusOneWrapsAround) {
  Tensor least(std::numeric_limits<int32_t>::min()), minus_one(-1), zero(0);
  for (const char* op : {"Div", "TruncateDiv", "FloorDiv"}) {
    check_op({.op = op, .inputs = {least, minus_one}, .outputs = {least}, .types = {int32}, .gradient = false});
  }
  for (const char* op : {"FloorMod", "Mod", "TruncateMod"}) {
    check_op({.op = op, .inputs = {least, minus_one}, .outputs = {zero}, .types = {int32}, .gradient = false});
  }
  check_op({.op = "Add",
            .inputs = {least, minus_one},
            .outputs = {Tensor(2147483647)},
            .types = {int32},
            .gradient = false});
  check_op(
      {.op = "Mul", .inputs = {Tensor(65536), Tensor(65536)}, .outputs = {zero}, .types = {int32}, .gradient = false});
}

TEST(Binary, SpecialValuesAreTensorFlows) {
  check_op({.op = "Maximum",
            .inputs = {{kNan, 1.0, 2.0}, {1.0, kNan, 3.0}},
            .outputs = {{kNan, 1.0, 3.0}},
            .types = kFloatingTypes,
            .gradient = false});
  check_op({.op = "Minimum",
            .inputs = {{kNan, 1.0}, {1.0, kNan}},
            .outputs = {{kNan, 1.0}},
            .types = kFloatingTypes,
            .gradient = false});
  check_op({.op = "DivNoNan",
            .inputs = {{1.0, 0.0, kNan}, {0.0, 0.0, 0.0}},
            .outputs = {{0.0, 0.0, 0.0}},
            .types = {float32, float64, float16},
            .gradient = false});
  check_op({.op = "Xdivy", .inputs = {{0.0, 2.0}, {0.0, 4.0}}, .outputs = {{0.0, 0.5}}, .gradient = false});
  check_op({.op = "Xlogy", .inputs = {{0.0, 2.0}, {0.0, 1.0}}, .outputs = {{0.0, 0.0}}, .gradient = false});
  check_op({.op = "Pow", .inputs = {{2, 3, -2}, {10, 0, 3}}, .outputs = {{1024, 1, -8}}, .gradient = false});
  check_op({.op = "Pow",
            .inputs = {{-2.0, -8.0}, {2.0, 0.25}},
            .outputs = {{4.0, kNan}},
            .types = {float32, float64},
            .gradient = false});
}

TEST(Binary, TheSlopeOfAPowerOfZeroIsFinite) {
  check_op({.op = "Pow", .inputs = {{0.0, 1.0, 3.0}, Tensor(2.0)}, .outputs = {{0, 1, 9}}, .gradient_inputs = {0}});
}

TEST(Binary, StringsAreJoinedAndCompared) {
  check_op({.op = "Add", .inputs = {{"a", "b"}, "c"}, .outputs = {{"ac", "bc"}}, .types = {string}, .gradient = false});
  check_op({.op = "Equal", .inputs = {{"a", "b"}, "b"}, .outputs = {{false, true}}, .types = {string}});
  check_op({.op = "NotEqual", .inputs = {{"a", "b"}, "b"}, .outputs = {{true, false}}, .types = {string}});
}

TEST(Equality, ShapesThatDoNotFitAreUnequalWhenAskedFor) {
  AttrMap lenient = {{"incompatible_shape_error", false}};
  check_op({.op = "Equal", .inputs = {{1, 2}, {1, 2, 3}}, .attrs = lenient, .outputs = {false}});
  check_op({.op = "NotEqual", .inputs = {{1, 2}, {1, 2, 3}}, .attrs = lenient, .outputs = {true}});
  check_op({.op = "Equal", .inputs = {{1, 2}, {1, 3}}, .attrs = lenient, .outputs = {{true, false}}});
}

TEST(Logic, BroadcastsTruthValues) {
  check_op(
      {.op = "LogicalAnd", .inputs = {{{true}, {false}}, {true, false}}, .outputs = {{{true, false}, {false, false}}}});
  check_op(
      {.op = "LogicalOr", .inputs = {{{true}, {false}}, {true, false}}, .outputs = {{{true, true}, {true, false}}}});
}

// As TensorFlow 1.15.5 answered.
TEST(Binary, ZetaAndPolygammaAreTensorFlows) {
  check_op({.op = "Zeta",
            .inputs = {{2.0, 1.0, 0.5, 3.5, 4.0, 2.5, 2.0}, {1.0, 2.0, 2.0, 0.3, -1.5, -0.5, -2.0}},
            .outputs = {{1.6449340668482266, kInf, kNan, 68.10265605243227, 32.4323793698646, kNan, kInf}},
            .gradient = false});
  check_op({.op = "Polygamma",
            .inputs = {{0.0, 1.0, 1.0, 2.0, 3.0, 2.5, 1.0}, {2.0, 0.5, -1.5, 3.0, 0.25, 1.0, 30.0}},
            .outputs = {{0.42278433509846747, 4.93480220054468, 9.379246644989124, -0.15411380631918856,
                         1538.782144009189, kNan, 0.033895060357739946}},
            .gradient = false});
  check_op({.op = "Zeta",
            .inputs = {{2.0, 3.0}, {0.75, 2.0}},
            .outputs = {{2.541879647671607, 0.2020569031595942}},
            .gradient_inputs = {1}});
  check_op({.op = "Polygamma",
            .inputs = {{{1.0}, {2.0}}, {0.75, 2.0}},
            .outputs = {{{2.541879647671607, 0.6449340668482264}, {-5.302630616617466, -0.4041138063191885}}},
            .gradient_inputs = {1}});
}

}  // namespace
}  // namespace weir::testing
