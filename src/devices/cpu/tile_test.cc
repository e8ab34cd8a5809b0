#include "devices/cpu/tile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/denormals.h"
#include "devices/cpu/isa.h"
#include "devices/cpu/tile_table.h"

namespace weir::cpu {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kTiny = std::numeric_limits<float>::denorm_min();

struct Build {
  const char* name;
  const TileTable* table;
  UnaryTile unary(UnaryFn fn) const { return table->unary[static_cast<int>(fn)]; }
  BinaryTile binary(BinaryFn fn, Operands kind) const {
    return table->binary[static_cast<int>(fn)][static_cast<int>(kind)];
  }
};

// Every build that this machine can run.
std::vector<Build> builds() {
  std::vector<Build> all = {{"portable", &portable::kTileTable}};
#if defined(__x86_64__)
  if (isa() >= Isa::Avx2) all.push_back({"avx2", &avx2::kTileTable});
  if (isa() >= Isa::Avx512) all.push_back({"avx512", &avx512::kTileTable});
#endif
  return all;
}

uint32_t bits(float x) {
  uint32_t u;
  std::memcpy(&u, &x, sizeof u);
  return u;
}
float from_bits(uint32_t u) {
  float x;
  std::memcpy(&x, &u, sizeof x);
  return x;
}
bool same(float a, float b) { return bits(a) == bits(b) || (std::isnan(a) && std::isnan(b)); }

// Distance from the true value in units of the last place of the float nearest to it.
double ulps(float got, double want) {
  const float nearest = static_cast<float>(want);
  if (same(got, nearest)) return 0;
  if (!std::isfinite(nearest) || !std::isfinite(got)) return kInf;
  const float magnitude = std::fabs(nearest);
  return std::fabs(got - want) / (static_cast<double>(std::nextafter(magnitude, kInf)) - magnitude);
}

// Floats of every exponent and sign, NaN and infinities among them.
std::vector<float> samples(uint32_t step) {
  std::vector<float> x = {0.0f,   -0.0f,  1.0f,    -1.0f,   0.5f,  -0.5f,  1.5f,        2.5f,
                          -2.5f,  6.0f,   kInf,    -kInf,   kNan,  kTiny,  -kTiny,      88.72f,
                          88.73f, -87.4f, -103.9f, -104.1f, 1e-7f, -1e-7f, 3.14159274f, 8388607.5f};
  for (uint64_t u = 0; u < (uint64_t{1} << 32); u += step) x.push_back(from_bits(static_cast<uint32_t>(u)));
  return x;
}

struct UnaryCase {
  UnaryFn fn;
  double max_ulps;
  double (*want)(double);
};
const UnaryCase kUnaryCases[] = {
    {UnaryFn::Identity, 0, [](double x) { return x; }},
    {UnaryFn::Neg, 0, [](double x) { return -x; }},
    {UnaryFn::Abs, 0, [](double x) { return std::fabs(x); }},
    {UnaryFn::Sign, 0, [](double x) { return x > 0   ? 1.0
                                             : x < 0 ? -1.0
                                                     : 0.0; }},
    {UnaryFn::Square, 0.5, [](double x) { return x * x; }},
    {UnaryFn::Sqrt, 0.5, [](double x) { return std::sqrt(x); }},
    {UnaryFn::Rsqrt, 1.5, [](double x) { return 1 / std::sqrt(x); }},
    {UnaryFn::Reciprocal, 0.5, [](double x) { return 1 / x; }},
    {UnaryFn::Exp, 1.1, [](double x) { return std::exp(x); }},
    {UnaryFn::Expm1, 2, [](double x) { return std::expm1(x); }},
    {UnaryFn::Log, 1, [](double x) { return std::log(x); }},
    {UnaryFn::Log1p, 2, [](double x) { return std::log1p(x); }},
    {UnaryFn::Sin, 2, [](double x) { return std::sin(x); }},
    {UnaryFn::Cos, 2, [](double x) { return std::cos(x); }},
    {UnaryFn::Erf, 2, [](double x) { return std::erf(x); }},
    {UnaryFn::Tanh, 3, [](double x) { return std::tanh(x); }},
    {UnaryFn::Sigmoid, 3, [](double x) { return 1 / (1 + std::exp(-x)); }},
    {UnaryFn::Relu, 0, [](double x) { return x < 0 ? 0 : x; }},
    {UnaryFn::Relu6, 0, [](double x) { return x < 0   ? 0
                                              : x > 6 ? 6
                                                      : x; }},
    {UnaryFn::Elu, 2, [](double x) { return x < 0 ? std::expm1(x) : x; }},
    {UnaryFn::Selu, 3,
     [](double x) { return x < 0 ? 1.7580993408473768599 * std::expm1(x) : 1.0507009873554804934 * x; }},
    {UnaryFn::Softplus, 3, [](double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }},
    {UnaryFn::Softsign, 2, [](double x) { return x / (1 + std::fabs(x)); }},
    {UnaryFn::Floor, 0, [](double x) { return std::floor(x); }},
    {UnaryFn::Ceil, 0, [](double x) { return std::ceil(x); }},
    {UnaryFn::Round, 0, [](double x) { return std::nearbyint(x); }},
    {UnaryFn::LogicalNot, 0, [](double x) { return x == 0 ? 1.0 : 0.0; }},
    {UnaryFn::IsNan, 0, [](double x) { return std::isnan(x) ? 1.0 : 0.0; }},
    {UnaryFn::IsInf, 0, [](double x) { return std::isinf(x) ? 1.0 : 0.0; }},
    {UnaryFn::IsFinite, 0, [](double x) { return std::isfinite(x) ? 1.0 : 0.0; }},
};

TEST(UnaryTile, MatchesDoubleReferenceOverAllFloats) {
  ASSERT_EQ(std::size(kUnaryCases), static_cast<size_t>(kUnaryFns));
  const std::vector<float> x = samples(65521);
  std::vector<float> y(x.size());
  for (const Build& build : builds()) {
    for (const UnaryCase& c : kUnaryCases) {
      build.unary(c.fn)(x.data(), y.data(), static_cast<int64_t>(x.size()));
      double worst = 0;
      size_t at = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        // x * x of the largest floats leaves float's range in the reference, too: nearest float is inf.
        const double error = ulps(y[i], c.want(x[i]));
        if (error > worst) worst = error, at = i;
      }
      EXPECT_LE(worst, c.max_ulps) << build.name << " function " << static_cast<int>(c.fn) << " of " << x[at]
                                   << " gave " << y[at] << ", not " << c.want(x[at]);
    }
  }
}

TEST(UnaryTile, SpecialValuesAreTensorFlows) {
  for (const Build& build : builds()) {
    auto f = [&build](UnaryFn fn, float x) {
      float y;
      build.unary(fn)(&x, &y, 1);
      return y;
    };
    for (UnaryFn fn : {UnaryFn::Relu, UnaryFn::Relu6, UnaryFn::Elu, UnaryFn::Selu, UnaryFn::Tanh, UnaryFn::Sigmoid,
                       UnaryFn::Exp, UnaryFn::Log, UnaryFn::Sin, UnaryFn::Erf, UnaryFn::Softplus, UnaryFn::Round})
      EXPECT_TRUE(std::isnan(f(fn, kNan))) << static_cast<int>(fn);
    EXPECT_TRUE(same(f(UnaryFn::Relu, -0.0f), -0.0f));
    EXPECT_EQ(f(UnaryFn::Relu, -kInf), 0.0f);
    EXPECT_EQ(f(UnaryFn::Sign, kNan), 0.0f);
    EXPECT_EQ(f(UnaryFn::Exp, -kInf), 0.0f);
    EXPECT_EQ(f(UnaryFn::Exp, kInf), kInf);
    EXPECT_EQ(f(UnaryFn::Log, 0.0f), -kInf);
    EXPECT_TRUE(std::isnan(f(UnaryFn::Log, -1.0f)));
    EXPECT_EQ(f(UnaryFn::Log1p, -1.0f), -kInf);
    EXPECT_EQ(f(UnaryFn::Tanh, kInf), 1.0f);
    EXPECT_EQ(f(UnaryFn::Tanh, -kInf), -1.0f);
    EXPECT_EQ(f(UnaryFn::Sigmoid, -kInf), 0.0f);
    EXPECT_EQ(f(UnaryFn::Round, 2.5f), 2.0f);
    EXPECT_EQ(f(UnaryFn::Round, -1.5f), -2.0f);
    EXPECT_TRUE(std::isnan(f(UnaryFn::Softsign, kInf)));
    EXPECT_EQ(f(UnaryFn::Rsqrt, 0.0f), kInf);
  }
}

double floor_mod(double a, double b) {
  const double m = std::fmod(a, b);
  return m != 0 && (b < 0) != (m < 0) ? static_cast<float>(m) + b : m;
}
double truth(bool b) { return b ? 1 : 0; }
double selu_slope(double y) { return y < 0 ? y + 1.75809934084737686f : 1.05070098735548049f; }

struct BinaryCase {
  BinaryFn fn;
  double max_ulps;
  double (*want)(double, double);
};
const BinaryCase kBinaryCases[] = {
    {BinaryFn::Add, 0.5, [](double a, double b) { return a + b; }},
    {BinaryFn::Sub, 0.5, [](double a, double b) { return a - b; }},
    {BinaryFn::Mul, 0.5, [](double a, double b) { return a * b; }},
    {BinaryFn::Div, 0.5, [](double a, double b) { return a / b; }},
    {BinaryFn::DivNoNan, 0.5, [](double a, double b) { return b == 0 ? 0 : a / b; }},
    {BinaryFn::FloorDiv, 0, [](double a, double b) -> double { return std::floor(static_cast<float>(a / b)); }},
    {BinaryFn::FloorMod, 0.5, floor_mod},
    {BinaryFn::Maximum, 0, [](double a, double b) { return b > a ? b : a; }},
    {BinaryFn::Minimum, 0, [](double a, double b) { return b < a ? b : a; }},
    {BinaryFn::Pow, 0.51, [](double a, double b) { return std::pow(a, b); }},
    {BinaryFn::SquaredDifference, 2, [](double a, double b) { return (a - b) * (a - b); }},
    {BinaryFn::Atan2, 1, [](double a, double b) { return std::atan2(a, b); }},
    {BinaryFn::Equal, 0, [](double a, double b) { return truth(a == b); }},
    {BinaryFn::NotEqual, 0, [](double a, double b) { return truth(a != b); }},
    {BinaryFn::Less, 0, [](double a, double b) { return truth(a < b); }},
    {BinaryFn::LessEqual, 0, [](double a, double b) { return truth(a <= b); }},
    {BinaryFn::Greater, 0, [](double a, double b) { return truth(a > b); }},
    {BinaryFn::GreaterEqual, 0, [](double a, double b) { return truth(a >= b); }},
    {BinaryFn::LogicalAnd, 0, [](double a, double b) { return truth(a != 0 && b != 0); }},
    {BinaryFn::LogicalOr, 0, [](double a, double b) { return truth(a != 0 || b != 0); }},
    {BinaryFn::TanhGrad, 3, [](double y, double dy) { return dy * (1 - y * y); }},
    {BinaryFn::SigmoidGrad, 3, [](double y, double dy) { return dy * y * (1 - y); }},
    {BinaryFn::SqrtGrad, 2, [](double y, double dy) { return dy * 0.5 / y; }},
    {BinaryFn::RsqrtGrad, 3, [](double y, double dy) { return dy * -0.5 * y * y * y; }},
    {BinaryFn::ReciprocalGrad, 2, [](double y, double dy) { return -dy * y * y; }},
    {BinaryFn::ReluGrad, 0, [](double dy, double x) { return dy * truth(x > 0); }},
    {BinaryFn::Relu6Grad, 0, [](double dy, double x) { return dy * truth(x > 0 && x < 6); }},
    {BinaryFn::EluGrad, 2, [](double dy, double y) { return y < 0 ? (y + 1) * dy : dy; }},
    {BinaryFn::SeluGrad, 2, [](double dy, double y) { return dy * selu_slope(y); }},
    {BinaryFn::SoftplusGrad, 3, [](double dy, double x) { return dy / (std::exp(-x) + 1); }},
    {BinaryFn::SoftsignGrad, 3, [](double dy, double x) { return dy / ((1 + std::fabs(x)) * (1 + std::fabs(x))); }},
};

// Values between which gradient formulas neither cancel nor leave the range of floats, so that ulps measure rounding.
const float kPlain[] = {0.1f, -0.2f, 0.3f,   0.7f,  -0.9f,     2.0f,  -3.0f,
                        5.5f, 1.25f, -7.75f, 10.0f, 0.015625f, -0.5f, 3.0f};
const float kSpecial[] = {0.0f, -0.0f, 1.0f, -1.0f, 2.0f, -2.0f, 0.5f, 3.0f, kInf, -kInf, kNan, 1e30f, -1e30f, 1e-30f};

std::vector<std::pair<float, float>> pairs(bool special) {
  std::vector<std::pair<float, float>> all;
  for (float a : kPlain)
    for (float b : kPlain) all.emplace_back(a, b);
  if (special)
    for (float a : kSpecial)
      for (float b : kSpecial) all.emplace_back(a, b);
  return all;
}

TEST(BinaryTile, MatchesDoubleReferenceWithArraysAndScalars) {
  ASSERT_EQ(std::size(kBinaryCases), static_cast<size_t>(kBinaryFns));
  for (const Build& build : builds()) {
    for (const BinaryCase& c : kBinaryCases) {
      // Formulas of several roundings overflow earlier in float than in double.
      const bool special = c.fn <= BinaryFn::LogicalOr && c.fn != BinaryFn::SquaredDifference;
      std::vector<float> a, b;
      for (auto [x, y] : pairs(special)) a.push_back(x), b.push_back(y);
      std::vector<float> y(a.size());
      build.binary(c.fn, Operands::VV)(a.data(), b.data(), y.data(), static_cast<int64_t>(a.size()));
      for (size_t i = 0; i < a.size(); ++i) {
        const double want = c.want(a[i], b[i]);
        EXPECT_LE(ulps(y[i], want), c.max_ulps) << build.name << " function " << static_cast<int>(c.fn) << "(" << a[i]
                                                << ", " << b[i] << ") gave " << y[i] << ", not " << want;
        float vs[3], sv[3];
        const float a3[3] = {a[i], 1, a[i]}, b3[3] = {b[i], 1, b[i]};
        build.binary(c.fn, Operands::VS)(a3, &b[i], vs, 3);
        build.binary(c.fn, Operands::SV)(&a[i], b3, sv, 3);
        EXPECT_TRUE(same(vs[0], y[i]) && same(vs[2], y[i])) << "VS " << static_cast<int>(c.fn);
        EXPECT_TRUE(same(sv[0], y[i]) && same(sv[2], y[i])) << "SV " << static_cast<int>(c.fn);
      }
    }
  }
}

TEST(BinaryTile, SpecialValuesAreTensorFlows) {
  struct {
    BinaryFn fn;
    float a, b, want;
  } const cases[] = {
      {BinaryFn::Maximum, kNan, 1, kNan},    {BinaryFn::Maximum, 1, kNan, 1},      {BinaryFn::Minimum, kNan, 1, kNan},
      {BinaryFn::Minimum, 1, kNan, 1},       {BinaryFn::Maximum, -0.0f, 0, -0.0f}, {BinaryFn::FloorDiv, -5, 3, -2},
      {BinaryFn::FloorDiv, -5, kInf, -0.0f}, {BinaryFn::FloorMod, -5, 3, 1},       {BinaryFn::FloorMod, 5, -3, -1},
      {BinaryFn::FloorMod, -5, kInf, kInf},  {BinaryFn::FloorMod, -6, 3, -0.0f},   {BinaryFn::FloorMod, 1, 0, kNan},
      {BinaryFn::DivNoNan, 1, 0, 0},         {BinaryFn::DivNoNan, kNan, 0, 0},     {BinaryFn::Pow, 1, kNan, 1},
      {BinaryFn::Pow, kNan, 0, 1},           {BinaryFn::Pow, -2, 3, -8},           {BinaryFn::Pow, -2, 0.5f, kNan},
      {BinaryFn::Pow, 0, -1, kInf},          {BinaryFn::Pow, kTiny, 1, kTiny},     {BinaryFn::ReluGrad, kNan, -1, kNan},
      {BinaryFn::ReluGrad, 1, kNan, 0},      {BinaryFn::Relu6Grad, 1, 6, 0},       {BinaryFn::EluGrad, 2, -1, 0},
      {BinaryFn::SoftplusGrad, 1, -200, 0},
  };
  for (const Build& build : builds()) {
    for (const auto& c : cases) {
      float y;
      build.binary(c.fn, Operands::VV)(&c.a, &c.b, &y, 1);
      EXPECT_TRUE(same(y, c.want)) << build.name << " " << static_cast<int>(c.fn) << "(" << c.a << ", " << c.b
                                   << ") = " << y;
    }
  }
}

TEST(BinaryTile, PowIsNearlyCorrectlyRounded) {
  std::vector<float> a, b;
  for (float x = 1e-30f; x < 1e30f; x *= 1.37f)
    for (float p : {-3.3f, -0.75f, -0.5f, 0.1f, 0.3333f, 0.999f, 1.5f, 2.2f, 7.0f}) a.push_back(x), b.push_back(p);
  std::vector<float> y(a.size());
  for (const Build& build : builds()) {
    build.binary(BinaryFn::Pow, Operands::VV)(a.data(), b.data(), y.data(), static_cast<int64_t>(a.size()));
    for (size_t i = 0; i < a.size(); ++i) EXPECT_LE(ulps(y[i], std::pow(double{a[i]}, double{b[i]})), 0.501) << a[i];
  }
}

TEST(BinaryTile, FloorModIsExact) {
  std::vector<float> a, b;
  for (float x = 1e-3f; x < 1e12f; x *= 1.21f)
    for (float y : {0.1f, 0.3f, 1.0f, 7.0f, 1e-3f, 123.456f, 1e9f})
      for (float sign : {1.0f, -1.0f}) a.push_back(x), b.push_back(y * sign);
  std::vector<float> y(a.size());
  for (const Build& build : builds()) {
    build.binary(BinaryFn::FloorMod, Operands::VV)(a.data(), b.data(), y.data(), static_cast<int64_t>(a.size()));
    for (size_t i = 0; i < a.size(); ++i)
      EXPECT_EQ(y[i], static_cast<float>(floor_mod(a[i], b[i]))) << a[i] << " " << b[i];
  }
}

// Odd lengths and offsets, in place and not, give the bits of the element computed alone, and touch nothing else.
TEST(Tile, ResultDoesNotDependOnPlaceOrLength) {
  constexpr int kMost = 70;
  const std::vector<float> pool = samples(0x01234567u);
  std::vector<float> a(kMost), b(kMost);
  for (int i = 0; i < kMost; ++i) {
    a[i] = i % 3 ? 0.37f * static_cast<float>(i) - 9.0f : pool[i];
    b[i] = i % 5 ? 4.0f - 0.21f * static_cast<float>(i) : pool[pool.size() - 1 - i];
  }
  for (const Build& build : builds()) {
    for (int fn = 0; fn < kUnaryFns; ++fn) {
      std::vector<float> alone(kMost);
      for (int i = 0; i < kMost; ++i) build.table->unary[fn](&a[i], &alone[i], 1);
      for (int n = 0; n <= kMost; ++n) {
        std::vector<float> y(n + 1, 123.0f), in_place(a.begin(), a.begin() + n);
        build.table->unary[fn](a.data(), y.data(), n);
        build.table->unary[fn](in_place.data(), in_place.data(), n);
        EXPECT_EQ(y[n], 123.0f);
        for (int i = 0; i < n; ++i)
          ASSERT_TRUE(same(y[i], alone[i]) && same(in_place[i], alone[i])) << fn << " " << a[i];
      }
    }
    for (int fn = 0; fn < kBinaryFns; ++fn) {
      for (int kind = 0; kind < kOperandKinds; ++kind) {
        const BinaryTile f = build.table->binary[fn][kind];
        const int a_step = kind == static_cast<int>(Operands::SV) ? 0 : 1,
                  b_step = kind == static_cast<int>(Operands::VS) ? 0 : 1;
        std::vector<float> alone(kMost);
        for (int i = 0; i < kMost; ++i) f(&a[i * a_step], &b[i * b_step], &alone[i], 1);
        for (int n = 0; n <= kMost; n += 3) {
          std::vector<float> y(n + 1, 123.0f), a2(a), b2(b);
          f(a.data(), b.data(), y.data(), n);
          EXPECT_EQ(y[n], 123.0f);
          if (a_step) f(a2.data(), b.data(), a2.data(), n);
          if (b_step) f(a.data(), b2.data(), b2.data(), n);
          for (int i = 0; i < n; ++i) {
            ASSERT_TRUE(same(y[i], alone[i])) << fn << " " << kind;
            ASSERT_TRUE(!a_step || same(a2[i], alone[i])) << fn << " " << kind;
            ASSERT_TRUE(!b_step || same(b2[i], alone[i])) << fn << " " << kind;
          }
        }
      }
    }
  }
}

TEST(SelectTile, TakesTheFirstOperandWhereTrue) {
  for (const Build& build : builds()) {
    for (int n = 0; n <= 40; ++n) {
      std::vector<float> condition(n), a(n), b(n), y(n + 1, 7.0f);
      for (int i = 0; i < n; ++i)
        condition[i] = static_cast<float>(i % 3 == 1), a[i] = static_cast<float>(i), b[i] = kNan;
      const float scalar = -5;
      build.table->select[static_cast<int>(Operands::VV)](condition.data(), a.data(), b.data(), y.data(), n);
      for (int i = 0; i < n; ++i) EXPECT_TRUE(same(y[i], i % 3 == 1 ? a[i] : kNan));
      build.table->select[static_cast<int>(Operands::VS)](condition.data(), a.data(), &scalar, y.data(), n);
      for (int i = 0; i < n; ++i) EXPECT_EQ(y[i], i % 3 == 1 ? a[i] : scalar);
      build.table->select[static_cast<int>(Operands::SV)](condition.data(), &scalar, a.data(), y.data(), n);
      for (int i = 0; i < n; ++i) EXPECT_EQ(y[i], i % 3 == 1 ? scalar : a[i]);
      EXPECT_EQ(y[n], 7.0f);
    }
  }
}

template <class U>
void check_select_bytes(const TileTable& table, int by_size) {
  for (int n = 0; n <= 70; ++n) {
    std::vector<uint8_t> condition(static_cast<size_t>(n) + 1);
    std::vector<U> a(static_cast<size_t>(n) + 1), b(a), y(a);
    for (int i = 0; i <= n; ++i)
      condition[i] = i % 3 == 1, a[i] = static_cast<U>(i + 1), b[i] = static_cast<U>(200 - i);
    auto run = [&](Operands kind, const U* x, const U* z) {
      y.assign(y.size(), U(7));
      table.select_bytes[by_size][static_cast<int>(kind)](condition.data(), x, z, y.data(), n);
      EXPECT_EQ(y[n], U(7));
    };
    const U scalar = 99;
    run(Operands::VV, a.data(), b.data());
    for (int i = 0; i < n; ++i) EXPECT_EQ(y[i], i % 3 == 1 ? a[i] : b[i]);
    run(Operands::VS, a.data(), &scalar);
    for (int i = 0; i < n; ++i) EXPECT_EQ(y[i], i % 3 == 1 ? a[i] : scalar);
    run(Operands::SV, &scalar, b.data());
    for (int i = 0; i < n; ++i) EXPECT_EQ(y[i], i % 3 == 1 ? scalar : b[i]);
    std::vector<U> in_place = a;
    table.select_bytes[by_size][0](condition.data(), in_place.data(), b.data(), in_place.data(), n);
    for (int i = 0; i < n; ++i) EXPECT_EQ(in_place[i], i % 3 == 1 ? a[i] : b[i]);
  }
}
TEST(SelectBytes, TakesTheFirstOperandWhereTrueForEverySize) {
  for (const Build& build : builds()) {
    check_select_bytes<uint8_t>(*build.table, 0);
    check_select_bytes<uint16_t>(*build.table, 1);
    check_select_bytes<uint32_t>(*build.table, 2);
    check_select_bytes<uint64_t>(*build.table, 3);
  }
}

TEST(Tile, SpreadsAndRepeatsShortRunsFromAnyPlace) {
  std::vector<float> x(200);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  for (const Build& build : builds()) {
    const TileTable* table = build.table;
    for (int64_t run : {1, 2, 5, 7, 8, 15, 16, 17, 33}) {
      for (int64_t skip : {0, 1, 6, 40}) {
        for (int64_t n : {0, 1, 4, 16, 31, 90}) {
          std::vector<float> y(static_cast<size_t>(n) + 1, -1), z = y;
          table->spread_elements(x.data(), run, skip, n, y.data());
          table->repeat_run(x.data(), run, skip, n, z.data());
          for (int64_t i = 0; i < n; ++i) {
            ASSERT_EQ(y[static_cast<size_t>(i)], static_cast<float>((skip + i) / run)) << run << " " << skip;
            ASSERT_EQ(z[static_cast<size_t>(i)], static_cast<float>((skip + i) % run)) << run << " " << skip;
          }
          ASSERT_EQ(y.back(), -1) << "nothing is written behind the end";
          ASSERT_EQ(z.back(), -1) << "nothing is written behind the end";
        }
      }
    }
  }
}

TEST(Casts, HalfRoundTripsEveryValue) {
  for (const Build& build : builds()) {
    std::vector<uint16_t> h(65536), back(65536);
    for (uint32_t i = 0; i < 65536; ++i) h[i] = static_cast<uint16_t>(i);
    std::vector<float> f(65536);
    build.table->half_to_float(h.data(), f.data(), 65536);
    build.table->float_to_half(f.data(), back.data(), 65536);
    for (uint32_t i = 0; i < 65536; ++i) {
      const int exponent = (i >> 10) & 31, mantissa = i & 1023;
      const double magnitude = exponent ? std::ldexp(1024 + mantissa, exponent - 25) : std::ldexp(mantissa, -24);
      if (exponent == 31) {
        EXPECT_EQ(std::isnan(f[i]), mantissa != 0);
        EXPECT_EQ(std::isinf(f[i]), mantissa == 0);
        EXPECT_TRUE(mantissa != 0 || back[i] == i);
      } else {
        EXPECT_EQ(f[i], static_cast<float>(i & 0x8000 ? -magnitude : magnitude));
        EXPECT_EQ(back[i], i);
      }
      // Alone, an element goes through the scalar path.
      float one;
      build.table->half_to_float(&h[i], &one, 1);
      EXPECT_EQ(bits(one), bits(f[i]));
    }
  }
}

// Runs flush denormal floats to zero; the denormal halves are normal floats.
TEST(Casts, HalfKeepsItsDenormalsWhenFloatsLoseTheirs) {
  DenormalScope denormals(kFlushDenormals);
  for (const Build& build : builds()) {
    for (uint16_t h = 1; h < 1024; ++h) {
      const std::vector<uint16_t> many(9, h);  // eight at once, and one alone
      std::vector<float> f(many.size());
      std::vector<uint16_t> back(many.size());
      build.table->half_to_float(many.data(), f.data(), 9);
      build.table->float_to_half(f.data(), back.data(), 9);
      EXPECT_EQ(f, std::vector<float>(9, std::ldexp(static_cast<float>(h), -24)));
      EXPECT_EQ(back, many);
    }
  }
}

TEST(Casts, NarrowingRoundsHalvesToEven) {
  const float x[] = {65504, 65519,          65520,          1e-8f, 5.96e-8f, 2.98e-8f,
                     3e-8f, 1.00048828125f, 1.00146484375f, -kInf, 6.1e-5f,  -2.0f};
  const uint16_t half[] = {0x7bff, 0x7bff, 0x7c00, 0, 1, 0, 1, 0x3c00, 0x3c02, 0xfc00, 0x03ff, 0xc000};
  const float wide[] = {1.00390625f, 1.01171875f, 3.4e38f, kInf, -1.005859375f, kTiny};
  const uint16_t brain[] = {0x3f80, 0x3f82, 0x7f80, 0x7f80, 0xbf81, 0};
  for (const Build& build : builds()) {
    uint16_t y[12], one;
    build.table->float_to_half(x, y, 12);
    for (int i = 0; i < 12; ++i) {
      EXPECT_EQ(y[i], half[i]) << x[i];
      build.table->float_to_half(x + i, &one, 1);
      EXPECT_EQ(one, half[i]) << x[i];
    }
    build.table->float_to_bfloat16(wide, y, 6);
    for (int i = 0; i < 6; ++i) EXPECT_EQ(y[i], brain[i]) << wide[i];
    const float nans[] = {kNan, from_bits(0x7f800001u), from_bits(0xffffffffu)};
    float back[3];
    build.table->float_to_bfloat16(nans, y, 3);
    build.table->bfloat16_to_float(y, back, 3);
    for (float f : back) EXPECT_TRUE(std::isnan(f));
    build.table->float_to_half(nans, y, 3);
    build.table->half_to_float(y, back, 3);
    for (float f : back) EXPECT_TRUE(std::isnan(f));
  }
}

TEST(Casts, IntegersTruncateAsTensorFlowDoes) {
  const float x[] = {1.9f, -1.9f, 3e9f, -3e9f, kNan, kInf, 300.7f, -1.5f, 256.5f, 1e20f, -0.0f, kTiny};
  const int32_t as32[] = {1, -1, INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN, 300, -1, 256, INT32_MIN, 0, 0};
  const int64_t as64[] = {1, -1, 3000000000, -3000000000, INT64_MIN, INT64_MIN, 300, -1, 256, INT64_MIN, 0, 0};
  const uint8_t as8[] = {1, 255, 0, 0, 0, 0, 44, 255, 0, 0, 0, 0};
  const uint8_t as_bool[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1};
  for (const Build& build : builds()) {
    int32_t y32[12];
    int64_t y64[12];
    uint8_t y8[12], yb[12];
    build.table->float_to_int32(x, y32, 12);
    build.table->float_to_int64(x, y64, 12);
    build.table->float_to_uint8(x, y8, 12);
    build.table->float_to_bool(x, yb, 12);
    float f32[12], f64[12], f8[12], fb[12];
    build.table->int32_to_float(y32, f32, 12);
    build.table->int64_to_float(y64, f64, 12);
    build.table->uint8_to_float(y8, f8, 12);
    build.table->bool_to_float(yb, fb, 12);
    for (int i = 0; i < 12; ++i) {
      EXPECT_EQ(y32[i], as32[i]) << x[i];
      EXPECT_EQ(y64[i], as64[i]) << x[i];
      EXPECT_EQ(y8[i], as8[i]) << x[i];
      EXPECT_EQ(yb[i], as_bool[i]) << x[i];
      EXPECT_EQ(f32[i], static_cast<float>(as32[i]));
      EXPECT_EQ(f64[i], static_cast<float>(as64[i]));
      EXPECT_EQ(f8[i], static_cast<float>(as8[i]));
      EXPECT_EQ(fb[i], as_bool[i] ? 1.0f : 0.0f);
    }
  }
}

TEST(Tile, DispatchesToThisMachinesTable) {
  const float x[3] = {1, 2, 3};
  float y[3];
  unary_tile(UnaryFn::Square)(x, y, 3);
  EXPECT_EQ(y[2], 9.0f);
  binary_tile(BinaryFn::Sub, Operands::SV)(&x[2], x, y, 3);
  EXPECT_EQ(y[0], 2.0f);
  select_tile(Operands::VV)(y, x, y, y, 3);
  EXPECT_EQ(y[0], 1.0f);
}

}  // namespace
}  // namespace weir::cpu
