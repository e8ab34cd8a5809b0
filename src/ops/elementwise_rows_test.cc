#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "ops/elementwise.h"
#include "weir/error.h"

// Loops with reductions of rows, row values and folds, against the same computed element by element in double
// precision.

namespace weir {
namespace {

using cpu::BinaryFn;
using cpu::UnaryFn;
using Fold = ElementwiseProgram::Fold;
using Kind = ElementwiseInstruction::Kind;
using Doubles = std::vector<double>;

float number(int64_t i, int salt) { return static_cast<float>((i * 37 + salt * 101) % 97) / 23.0f - 2.0f; }

double unary(UnaryFn fn, double x) {
  switch (fn) {
    case UnaryFn::Square:
      return x * x;
    case UnaryFn::Exp:
      return std::exp(x);
    case UnaryFn::Rsqrt:
      return 1 / std::sqrt(x);
    case UnaryFn::Reciprocal:
      return 1 / x;
    default:
      ADD_FAILURE() << "the reference has no such function";
      return x;
  }
}
double binary(BinaryFn fn, double a, double b) {
  switch (fn) {
    case BinaryFn::Add:
      return a + b;
    case BinaryFn::Sub:
      return a - b;
    case BinaryFn::Mul:
      return a * b;
    case BinaryFn::Greater:
      return a > b;
    default:
      ADD_FAILURE() << "the reference has no such function";
      return a;
  }
}
double reduce(ReduceFn fn, const Doubles& x, int64_t first, int64_t n) {
  double y = fn == ReduceFn::Max ? -std::numeric_limits<double>::infinity() : 0;
  for (int64_t i = first; i < first + n; ++i) {
    const double v = x[static_cast<size_t>(i)];
    y = fn == ReduceFn::Max ? std::max(y, v) : y + (fn == ReduceFn::SumSquares ? v * v : v);
  }
  return fn == ReduceFn::Mean ? y / static_cast<double>(n) : y;
}

// Every value as an array of the loop's size, row values repeated.
std::vector<Doubles> reference(const ElementwiseProgram& program, const std::vector<std::vector<float>>& inputs,
                               int64_t rows, int64_t columns) {
  const int64_t n = rows * columns;
  std::vector<Doubles> values;
  for (size_t k = 0; k < inputs.size(); ++k) {
    Doubles all;
    const auto count = static_cast<int64_t>(inputs[k].size());
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = program.is_row_input(static_cast<int>(k)) ? i / columns : i % count;
      all.push_back(static_cast<double>(inputs[k][static_cast<size_t>(at)]));
    }
    values.push_back(std::move(all));
  }
  for (const ElementwiseInstruction& s : program.instructions) {
    Doubles all, reduced;
    for (int64_t r = 0; r < rows && s.kind == Kind::Reduce; ++r) {
      reduced.push_back(reduce(ReduceFn(s.fn), values[static_cast<size_t>(s.a)], r * columns, columns));
    }
    for (int64_t i = 0; i < n; ++i) {
      auto of = [&](int value) { return values[static_cast<size_t>(value)][static_cast<size_t>(i)]; };
      all.push_back(s.kind == Kind::Unary      ? unary(UnaryFn(s.fn), of(s.a))
                    : s.kind == Kind::Binary   ? binary(BinaryFn(s.fn), of(s.a), of(s.b))
                    : s.kind == Kind::Select   ? (of(s.a) != 0 ? of(s.b) : of(s.c))
                    : s.kind == Kind::Constant ? static_cast<double>(s.number)
                                               : reduced[static_cast<size_t>(i / columns)]);
    }
    values.push_back(std::move(all));
  }
  return values;
}

enum class Of { Full, Row, Columns, All };

struct Case {
  ElementwiseProgram program;
  std::vector<Of> inputs;   // All: a single element
  std::vector<Of> outputs;  // Row, or what the fold says
};

int64_t size_of(Of of, int64_t rows, int64_t columns) {
  return of == Of::Full ? rows * columns : of == Of::Row ? rows : of == Of::Columns ? columns : 1;
}

Doubles expected_output(const Case& c, size_t o, const Doubles& value, int64_t rows, int64_t columns) {
  const Fold fold = c.program.fold(o);
  const bool mean = fold == Fold::Mean || fold == Fold::ColumnMeans;
  if (fold == Fold::None && c.outputs[o] == Of::Full) return value;
  Doubles y(static_cast<size_t>(size_of(c.outputs[o], rows, columns)), 0.0);
  for (int64_t i = 0; i < rows * columns; ++i) {
    const double v = value[static_cast<size_t>(i)];
    if (fold == Fold::None) {
      y[static_cast<size_t>(i / columns)] = v;
    } else if (c.outputs[o] == Of::Columns) {
      y[static_cast<size_t>(i % columns)] += mean ? v / static_cast<double>(rows) : v;
    } else {
      y[0] += mean ? v / static_cast<double>(rows * columns) : v;
    }
  }
  return y;
}

void expect_near(const std::vector<float>& y, const Doubles& expected) {
  ASSERT_EQ(y.size(), expected.size());
  double scale = 1e-3;
  for (double e : expected) scale = std::max(scale, std::abs(e));
  for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(static_cast<double>(y[i]), expected[i], 1e-5 * scale) << i;
}

void check(const Case& c, int64_t rows, int64_t columns) {
  SCOPED_TRACE(c.program.encode() + "\non " + std::to_string(rows) + " x " + std::to_string(columns));
  const ElementwiseProgram program = ElementwiseProgram::decode(c.program.encode(), c.program.inputs);
  std::vector<std::vector<float>> inputs;
  std::vector<Shape> shapes;
  for (size_t k = 0; k < c.inputs.size(); ++k) {
    inputs.emplace_back();
    for (int64_t i = 0; i < size_of(c.inputs[k], rows, columns); ++i)
      inputs[k].push_back(number(i, static_cast<int>(k)));
    shapes.push_back(c.inputs[k] == Of::Full      ? Shape{rows, columns}
                     : c.inputs[k] == Of::Row     ? Shape{rows, 1}
                     : c.inputs[k] == Of::Columns ? Shape{columns}
                                                  : Shape{});
  }
  std::vector<const Shape*> pointers;
  for (const Shape& shape : shapes) pointers.push_back(&shape);
  const std::vector<Doubles> values = reference(program, inputs, rows, columns);
  const ElementwiseKernel kernel(program, pointers, Shape{rows, columns});

  std::vector<std::vector<float>> first;
  for (int threads : {1, 3}) {
    for (bool in_place : {false, true}) {
      if (in_place && (c.outputs[0] != Of::Full || c.inputs[0] != Of::Full)) continue;
      ThreadPool pool(threads);
      std::vector<double> scratch(kernel.scratch_bytes(threads) / sizeof(double) + 8);
      std::vector<std::vector<float>> results, sources = inputs;
      std::vector<float*> to;
      std::vector<const float*> from;
      for (Of of : c.outputs) results.emplace_back(static_cast<size_t>(size_of(of, rows, columns)), 77.0f);
      for (auto& r : results) to.push_back(r.data());
      for (auto& s : sources) from.push_back(s.data());
      if (in_place) to[0] = sources[0].data();
      kernel.run(from, to, scratch.data(), pool);
      if (in_place) results[0] = sources[0];
      for (size_t o = 0; o < results.size(); ++o) {
        SCOPED_TRACE(o);
        const Doubles& value = values[static_cast<size_t>(program.outputs[o])];
        expect_near(results[o], expected_output(c, o, value, rows, columns));
      }
      if (first.empty()) first = results;
      EXPECT_EQ(results, first) << "threads " << threads << (in_place ? ", in place" : "");
    }
  }
}

void check_sizes(const Case& c) {
  for (auto [rows, columns] : std::vector<std::pair<int64_t, int64_t>>{
           {1, 7}, {5, 3}, {37, 40}, {33, 64}, {300, 700}, {9, 1024}, {7, 1500}, {40, 5000}, {5000, 16}, {3, 1}}) {
    check(c, rows, columns);
  }
}

Case layer_norm() {
  Case c{.program = {.inputs = 3, .row_dims = 1},
         .inputs = {Of::Full, Of::Columns, Of::Columns},
         .outputs = {Of::Full, Of::Row, Of::Row}};
  ElementwiseProgram& p = c.program;
  const int mean = p.add_reduce(ReduceFn::Mean, 0), centred = p.add(BinaryFn::Sub, 0, mean);
  const int variance = p.add_reduce(ReduceFn::Mean, p.add(UnaryFn::Square, centred));
  const int scale = p.add(UnaryFn::Rsqrt, p.add(BinaryFn::Add, variance, p.add_constant(0.5f)));
  const int y = p.add(BinaryFn::Add, p.add(BinaryFn::Mul, p.add(BinaryFn::Mul, centred, scale), 1), 2);
  p.outputs = {y, mean, scale};
  return c;
}

TEST(ElementwiseRows, NormalisesRows) { check_sizes(layer_norm()); }

TEST(ElementwiseRows, GivesSoftmaxAndWhatItIsMultipliedWith) {
  Case c{.program = {.inputs = 2, .row_dims = 1}, .inputs = {Of::Full, Of::Full}, .outputs = {Of::Full, Of::Full}};
  ElementwiseProgram& p = c.program;
  const int e = p.add(UnaryFn::Exp, p.add(BinaryFn::Sub, 0, p.add_reduce(ReduceFn::Max, 0)));
  const int y = p.add(BinaryFn::Mul, e, p.add(UnaryFn::Reciprocal, p.add_reduce(ReduceFn::Sum, e)));
  p.outputs = {p.add(BinaryFn::Mul, y, 1), y};
  check_sizes(c);
}

// As in the gradient of a normalisation: sums of rows and of columns of the same values, some of them kept.
TEST(ElementwiseRows, SumsRowsAndColumnsAndEverything) {
  Case c{.program = {.inputs = 4, .row_dims = 1, .row_inputs = {2}},
         .inputs = {Of::Full, Of::Full, Of::Row, Of::All},
         .outputs = {Of::Full, Of::Columns, Of::Columns, Of::All, Of::All, Of::Row, Of::All, Of::Full}};
  ElementwiseProgram& p = c.program;
  const int product = p.add(BinaryFn::Mul, 0, 1), dot = p.add_reduce(ReduceFn::Sum, product);
  const int scaled = p.add(BinaryFn::Mul, p.add(BinaryFn::Mul, dot, 2), 3);
  const int dx = p.add(BinaryFn::Sub, p.add(BinaryFn::Mul, 2, 0), scaled);
  p.outputs = {dx, product, 0, product, dx, scaled, 1, product};
  p.folds = {Fold::None, Fold::Columns, Fold::ColumnMeans, Fold::All, Fold::Mean, Fold::None, Fold::All, Fold::None};
  check_sizes(c);
}

TEST(ElementwiseRows, SelectsByRows) {
  Case c{.program = {.inputs = 3, .row_dims = 1, .row_inputs = {1}},
         .inputs = {Of::Full, Of::Row, Of::Full},
         .outputs = {Of::Full, Of::Row}};
  ElementwiseProgram& p = c.program;
  const int positive = p.add(BinaryFn::Greater, 1, p.add_constant(0.0f));
  const int small = p.add_select(positive, 1, p.add_constant(-3.0f));
  p.outputs = {p.add_select(positive, 0, p.add(BinaryFn::Sub, small, 2)), small};
  check_sizes(c);
}

// Output 0 is read by others, in a later phase, and asked for twice.
TEST(ElementwiseRows, GivesWhatItComputesWithAgain) {
  Case c{.program = {.inputs = 1, .row_dims = 1},
         .inputs = {Of::Full},
         .outputs = {Of::Full, Of::Full, Of::Full, Of::Full}};
  ElementwiseProgram& p = c.program;
  const int square = p.add(UnaryFn::Square, 0);
  const int rest = p.add(BinaryFn::Sub, p.add(BinaryFn::Add, 0, square), p.add_reduce(ReduceFn::Mean, square));
  p.outputs = {square, rest, square, rest};
  check_sizes(c);
}

// The last dimensions of three make a row.
TEST(ElementwiseRows, TakesSeveralDimensionsAsOneRow) {
  ElementwiseProgram p{.inputs = 1, .row_dims = 2};
  p.outputs = {p.add_reduce(ReduceFn::Sum, 0)};
  const Shape shape{3, 4, 5};
  const Shape* shapes[] = {&shape};
  const ElementwiseKernel kernel(p, shapes, shape);
  ThreadPool pool(1);
  std::vector<double> scratch(kernel.scratch_bytes(1) / sizeof(double) + 8);
  std::vector<float> x(60), y(3);
  for (size_t i = 0; i < 60; ++i) x[i] = static_cast<float>(i);
  const float* from[] = {x.data()};
  float* to[] = {y.data()};
  kernel.run(from, to, scratch.data(), pool);
  EXPECT_EQ(y, (std::vector<float>{190, 590, 990}));
}

TEST(ElementwiseRows, RefusesTextWithRowsThatAreNone) {
  for (const char* text : {"RowSum 0\n-> 1", "rows 0 :\nRowSum 0\n-> 1", "rows 1 5 :\nRowSum 0\n-> 1",
                           "Exp 0\n-> 1:columns", "rows 1 :\nExp 0\n-> 1:other", "Constant x\n-> 1"}) {
    EXPECT_THROW(ElementwiseProgram::decode(text, 1), Error) << text;
  }
}

}  // namespace
}  // namespace weir
