#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ops/math/test_reference.h"

namespace weir::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

struct UnaryCase {
  const char* op;
  double (*f)(double);
  double low, high;  // where it is defined and smooth
};
const UnaryCase kCases[] = {
    {"Neg", [](double x) { return -x; }, -3, 3},
    {"Abs", [](double x) { return std::abs(x); }, 0.5, 3},
    {"Sign", [](double x) { return x > 0   ? 1.0
                                   : x < 0 ? -1.0
                                           : 0.0; }, 0.5, 3},
    {"Square", [](double x) { return x * x; }, -3, 3},
    {"Sqrt", [](double x) { return std::sqrt(x); }, 0.1, 4},
    {"Rsqrt", [](double x) { return 1 / std::sqrt(x); }, 0.1, 4},
    {"Reciprocal", [](double x) { return 1 / x; }, 0.3, 4},
    {"Inv", [](double x) { return 1 / x; }, 0.3, 4},
    {"Exp", [](double x) { return std::exp(x); }, -4, 4},
    {"Expm1", [](double x) { return std::expm1(x); }, -2, 2},
    {"Log", [](double x) { return std::log(x); }, 0.1, 9},
    {"Log1p", [](double x) { return std::log1p(x); }, -0.8, 3},
    {"Tanh", [](double x) { return std::tanh(x); }, -3, 3},
    {"Sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }, -6, 6},
    {"Sin", [](double x) { return std::sin(x); }, -4, 4},
    {"Cos", [](double x) { return std::cos(x); }, -4, 4},
    {"Tan", [](double x) { return std::tan(x); }, -1, 1},
    {"Asin", [](double x) { return std::asin(x); }, -0.9, 0.9},
    {"Acos", [](double x) { return std::acos(x); }, -0.9, 0.9},
    {"Atan", [](double x) { return std::atan(x); }, -3, 3},
    {"Sinh", [](double x) { return std::sinh(x); }, -2, 2},
    {"Cosh", [](double x) { return std::cosh(x); }, -2, 2},
    {"Asinh", [](double x) { return std::asinh(x); }, -2, 2},
    {"Acosh", [](double x) { return std::acosh(x); }, 1.2, 4},
    {"Atanh", [](double x) { return std::atanh(x); }, -0.8, 0.8},
    {"Floor", [](double x) { return std::floor(x); }, -3, 3},
    {"Ceil", [](double x) { return std::ceil(x); }, -3, 3},
    {"Round", [](double x) { return std::nearbyint(x); }, -3, 3},
    {"Rint", [](double x) { return std::nearbyint(x); }, -3, 3},
    {"Erf", [](double x) { return std::erf(x); }, -2, 2},
    {"Erfc", [](double x) { return std::erfc(x); }, -2, 2},
    {"Lgamma", [](double x) { return std::lgamma(x); }, 0.2, 6},
};

TEST(Unary, MatchesItsReferenceInEveryTypeAndItsSlope) {
  for (const UnaryCase& c : kCases) {
    check_op({.op = c.op, .inputs = {scattered({2, 7}, c.low, c.high)}, .reference = mapped(c.f)});
  }
}

TEST(Unary, WorksOnNothingAndOnManyTiles) {
  for (const UnaryCase& c : kCases) {
    check_op({.op = c.op, .inputs = {zeros({0, 3})}, .reference = mapped(c.f)});
    check_op({.op = c.op,
              .inputs = {scattered({3, 1051}, c.low, c.high)},
              .reference = mapped(c.f),
              .gradient = false,
              .unknown_shapes = false});
  }
}

TEST(Unary, IntegersStayIntegers) {
  check_op({.op = "Neg", .inputs = {{-3, 0, 5}}, .outputs = {{3, 0, -5}}});
  check_op({.op = "Square", .inputs = {{-3, 0, 5}}, .outputs = {{9, 0, 25}}});
  check_op({.op = "Abs", .inputs = {{-3, 1, 5}}, .outputs = {{3, 1, 5}}});
  check_op({.op = "Sign", .inputs = {{-3, 0, 5}}, .outputs = {{-1, 0, 1}}, .gradient = false});
  const int32_t least = std::numeric_limits<int32_t>::min();
  check_op({.op = "Abs", .inputs = {Tensor(least)}, .outputs = {Tensor(least)}, .types = {int32}, .gradient = false});
}

// As TensorFlow 1.15.5 answered.
TEST(Unary, SpecialValuesAreTensorFlows) {
  check_op({.op = "Round", .inputs = {{0.5, 1.5, 2.5, -1.5, 2.4}}, .outputs = {{0, 2, 2, -2, 2}}});
  check_op({.op = "Sign",
            .inputs = {{kNan, -3.0, 0.0, 2.0}},
            .outputs = {{0, -1, 0, 1}},
            .types = kFloatingTypes,
            .gradient = false});
  check_op({.op = "Digamma",
            .inputs = {{0.5, 1.0, -0.5, 0.0, -1.0, 30.0}},
            .outputs = {{-1.9635100260214227, -0.5772156649015323, 0.03648997397857645, kInf, kInf, 3.384438132685525}},
            .tolerance = 1e-6,
            .gradient = false});
  check_op(
      {.op = "Digamma", .inputs = {{-1e-30}}, .outputs = {{1e30}}, .types = {float32, float64}, .gradient = false});
  check_op({.op = "Digamma",
            .inputs = {{0.5, 1.0, -0.5, 30.0}},
            .outputs = {{-1.9635100260214227, -0.5772156649015323, 0.03648997397857645, 3.384438132685525}},
            .tolerance = 1e-6,
            .types = {float32, float64}});
  check_op({.op = "Lgamma",
            .inputs = {{0.5, -0.5, 0.0, 100.0}},
            .outputs = {{0.5723649429247001, 1.2655121234846454, kInf, 359.13420536957545}},
            .gradient = false});
}

TEST(Unary, QuestionsAboutNumbersAreAnswered) {
  check_op({.op = "IsNan", .inputs = {{1.0, kNan, kInf, -kInf}}, .outputs = {{false, true, false, false}}});
  check_op({.op = "IsInf", .inputs = {{1.0, kNan, kInf, -kInf}}, .outputs = {{false, false, true, true}}});
  check_op({.op = "IsFinite", .inputs = {{1.0, kNan, kInf, -kInf}}, .outputs = {{true, false, false, false}}});
  check_op({.op = "LogicalNot", .inputs = {{true, false}}, .outputs = {{false, true}}});
}

TEST(ActivationGrad, MatchesItsReferenceAndItsSlope) {
  struct Case {
    const char* op;
    double (*f)(double, double);
  };
  const Case cases[] = {
      {"TanhGrad", [](double y, double dy) { return dy * (1 - y * y); }},
      {"SigmoidGrad", [](double y, double dy) { return dy * y * (1 - y); }},
      {"SqrtGrad", [](double y, double dy) { return 0.5 * dy / y; }},
      {"RsqrtGrad", [](double y, double dy) { return -0.5 * dy * y * y * y; }},
      {"ReciprocalGrad", [](double y, double dy) { return -dy * y * y; }},
      {"InvGrad", [](double y, double dy) { return -dy * y * y; }},
  };
  for (const Case& c : cases) {
    check_op({.op = c.op,
              .inputs = {scattered({2, 5}, 0.3, 0.9), scattered({2, 5}, -1, 1, 2)},
              .reference = mapped(c.f),
              .bad = {{.inputs = {{1.0, 2.0}, {1.0, 2.0, 3.0}}, .message = "[3]"}}});
  }
}

TEST(Complex, PartsAndModulus) {
  using C = std::complex<float>;
  Tensor z = Tensor::from<C>({{3, 4}, {0, -2}, {0, 0}}, {3});
  check_op({.op = "Real", .inputs = {z}, .attrs = {{"T", complex64}}, .outputs = {{3, 0, 0}}});
  check_op({.op = "Imag", .inputs = {z}, .attrs = {{"T", complex64}}, .outputs = {{4, -2, 0}}});
  check_op({.op = "ComplexAbs", .inputs = {z}, .attrs = {{"T", complex64}}, .outputs = {{5, 2, 0}}});
  check_op({.op = "Conj",
            .inputs = {z},
            .outputs = {Tensor::from<C>({{3, -4}, {0, 2}, {0, 0}}, {3})},
            .types = {complex64}});
  check_op({.op = "Complex", .inputs = {{3, 0, 0}, {4, -2, 0}}, .attrs = {{"T", float32}}, .outputs = {z}});
  check_op({.op = "Sign",
            .inputs = {z},
            .outputs = {Tensor::from<C>({{0.6f, 0.8f}, {0, -1}, {0, 0}}, {3})},
            .types = {complex64}});
}

}  // namespace
}  // namespace weir::testing
