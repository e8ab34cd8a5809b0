#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "tests/support/check_op.h"

namespace weir::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kSeluScale = 1.0507009873554805, kSeluAlpha = 1.6732632423543772;

using Unary = std::function<double(double)>;
using Binary = std::function<double(double, double)>;

std::function<Tensors(const Tensors&)> each(const Unary& f) {
  return [f](const Tensors& in) {
    Tensor y = in[0].copy();
    for (int64_t i = 0; i < y.elements(); ++i) y.mutable_data<double>()[i] = f(in[0].data<double>()[i]);
    return Tensors{y};
  };
}

std::function<Tensors(const Tensors&)> each(const Binary& f) {
  return [f](const Tensors& in) {
    Tensor y = in[0].copy();
    for (int64_t i = 0; i < y.elements(); ++i) {
      y.mutable_data<double>()[i] = f(in[0].data<double>()[i], in[1].data<double>()[i]);
    }
    return Tensors{y};
  };
}

// Away from the kinks at 0 and 6.
Tensor points() { return Tensor(std::vector<double>{-7.5, -3, -1, -0.25, 0.25, 1, 2.5, 5, 7, 9.25}); }
Tensor slopes() { return Tensor(std::vector<double>{1, -2, 3, 0.5, -1, 2, 4, -0.25, 1, 0.75}); }

void check_activation(const std::string& op, const Unary& f, const AttrMap& attrs = {}) {
  check_op({.op = op, .inputs = {points()}, .attrs = attrs, .reference = each(f)});
  check_op(
      {.op = op, .inputs = {scattered({3, 1, 701}, -8, 8)}, .attrs = attrs, .reference = each(f), .gradient = false});
  check_op({.op = op, .inputs = {zeros({0, 3})}, .attrs = attrs, .outputs = {zeros({0, 3})}});
}

void check_backprop(const std::string& op, const Tensor& second, const Binary& f, const AttrMap& attrs = {}) {
  check_op({.op = op,
            .inputs = {slopes(), second},
            .attrs = attrs,
            .reference = each(f),
            .bad = {{.inputs = {{1, 2}, {1, 2, 3}}, .message = "[2]"}}});
}

TEST(Activations, MatchTheirFormulasInEveryType) {
  check_activation("Relu", [](double x) { return std::max(x, 0.0); });
  check_activation("Relu6", [](double x) { return std::clamp(x, 0.0, 6.0); });
  check_activation("Elu", [](double x) { return x < 0 ? std::expm1(x) : x; });
  check_activation("Selu", [](double x) { return kSeluScale * (x < 0 ? kSeluAlpha * std::expm1(x) : x); });
  check_activation("Softplus", [](double x) { return std::log1p(std::exp(x)); });
  check_activation("Softsign", [](double x) { return x / (1 + std::abs(x)); });
  check_activation("LeakyRelu", [](double x) { return x > 0 ? x : x * 0.3f; }, {{"alpha", 0.3f}});
}

TEST(ActivationGradients, MatchTheirFormulasInEveryType) {
  check_backprop("ReluGrad", points(), [](double dy, double x) { return x > 0 ? dy : 0; });
  check_backprop("Relu6Grad", points(), [](double dy, double x) { return x > 0 && x < 6 ? dy : 0; });
  check_backprop("EluGrad", points(), [](double dy, double y) { return y < 0 ? dy * (y + 1) : dy; });
  check_backprop("SeluGrad", points(),
                 [](double dy, double y) { return y < 0 ? dy * (y + kSeluScale * kSeluAlpha) : dy * kSeluScale; });
  check_backprop("SoftplusGrad", points(), [](double dy, double x) { return dy / (1 + std::exp(-x)); });
  check_backprop("SoftsignGrad", points(), [](double dy, double x) { return dy / std::pow(1 + std::abs(x), 2); });
  check_backprop("LeakyReluGrad", points(), [](double dy, double x) { return x > 0 ? dy : dy * 0.3f; },
                 {{"alpha", 0.3f}});
}

TEST(Relu, PassesNan) {
  check_op(
      {.op = "Relu", .inputs = {{kNan, -1, 1}}, .outputs = {{kNan, 0, 1}}, .types = kFloatingTypes, .gradient = false});
  check_op({.op = "Relu6",
            .inputs = {{kNan, -1, 7}},
            .outputs = {{kNan, 0, 6}},
            .types = kFloatingTypes,
            .gradient = false});
}

TEST(Softplus, NeitherOverflowsNorUnderflows) {
  check_op({.op = "Softplus",
            .inputs = {{1000, -1000, 0}},
            .outputs = {{1000, 0, std::log(2)}},
            .types = kFloatingTypes,
            .gradient = false});
}

}  // namespace
}  // namespace weir::testing
