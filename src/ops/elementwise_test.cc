#include "ops/elementwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "weir/error.h"

namespace weir {
namespace {

using cpu::BinaryFn;
using cpu::UnaryFn;

float number(int64_t i, int salt) { return static_cast<float>((i * 37 + salt * 101) % 97) / 23.0f - 2.0f; }

// The program, an element at a time with the same tile functions: results must agree to the bit.
std::vector<std::vector<float>> reference(const ElementwiseProgram& program,
                                          const std::vector<std::vector<float>>& inputs,
                                          const std::vector<Shape>& shapes, const Shape& to) {
  std::vector<std::vector<float>> outputs(program.outputs.size());
  for (int64_t i = 0; i < to.elements(); ++i) {
    std::vector<float> values;
    for (size_t k = 0; k < inputs.size(); ++k) {
      int64_t rest = i, at = 0, stride = 1;
      for (int d = 1; d <= shapes[k].rank(); ++d) {
        if (shapes[k][-d] != 1) at += rest % to[-d] * stride;
        rest /= to[-d];
        stride *= shapes[k][-d];
      }
      values.push_back(inputs[k][static_cast<size_t>(at)]);
    }
    for (const ElementwiseInstruction& s : program.instructions) {
      float a = values[static_cast<size_t>(s.a)], b = values[static_cast<size_t>(s.b)], y = 0;
      if (s.kind == ElementwiseInstruction::Kind::Unary) {
        cpu::unary_tile(UnaryFn(s.fn))(&a, &y, 1);
      } else if (s.kind == ElementwiseInstruction::Kind::Binary) {
        cpu::binary_tile(BinaryFn(s.fn), cpu::Operands::VV)(&a, &b, &y, 1);
      } else {
        y = a != 0 ? b : values[static_cast<size_t>(s.c)];
      }
      values.push_back(y);
    }
    for (size_t o = 0; o < outputs.size(); ++o) outputs[o].push_back(values[static_cast<size_t>(program.outputs[o])]);
  }
  return outputs;
}

void check(const ElementwiseProgram& written, const std::vector<Shape>& shapes, const Shape& to) {
  SCOPED_TRACE(written.encode() + " on " + to.str());
  ElementwiseProgram program = ElementwiseProgram::decode(written.encode(), written.inputs);
  std::vector<std::vector<float>> inputs;
  std::vector<const Shape*> pointers;
  for (size_t k = 0; k < shapes.size(); ++k) {
    inputs.emplace_back();
    for (int64_t i = 0; i < shapes[k].elements(); ++i) inputs[k].push_back(number(i, static_cast<int>(k)));
    pointers.push_back(&shapes[k]);
  }
  auto expected = reference(program, inputs, shapes, to);
  ElementwiseKernel kernel(program, pointers, to);
  for (int threads : {1, 3}) {
    ThreadPool pool(threads);
    std::vector<float> scratch(kernel.scratch_bytes(threads) / sizeof(float) + 1);
    std::vector<std::vector<float>> results(program.outputs.size(),
                                            std::vector<float>(static_cast<size_t>(to.elements())));
    std::vector<float*> outputs;
    std::vector<const float*> sources;
    for (auto& r : results) outputs.push_back(r.data());
    for (auto& in : inputs) sources.push_back(in.data());
    kernel.run(sources, outputs, scratch.data(), pool);
    EXPECT_EQ(results, expected);
  }
}

ElementwiseProgram chain() {  // tanh(a * b + c) * a
  ElementwiseProgram p{.inputs = 3};
  int t = p.add(UnaryFn::Tanh, p.add(BinaryFn::Add, p.add(BinaryFn::Mul, 0, 1), 2));
  p.outputs = {p.add(BinaryFn::Mul, t, 0)};
  return p;
}

TEST(Elementwise, GivesTheBitsOfSingleOperationsForEveryWayOfBroadcasting) {
  check(chain(), {{7}, {7}, {7}}, {7});
  check(chain(), {{3, 2049}, {3, 2049}, {}}, {3, 2049});
  check(chain(), {{40, 64}, {64}, {40, 1}}, {40, 64});
  check(chain(), {{5, 3000}, {3000}, {5, 1}}, {5, 3000});
  check(chain(), {{6, 5, 7}, {7}, {5, 7}}, {6, 5, 7});
  check(chain(), {{6, 1, 7}, {1, 5, 1}, {}}, {6, 5, 7});
  check(chain(), {{3, 50, 4, 5}, {3, 1, 4, 1}, {4, 5}}, {3, 50, 4, 5});  // groups of channels, beside tiles of 1024
  check(chain(), {{7, 9, 3, 2, 4}, {7, 1, 1, 2, 1}, {7, 1, 3, 1, 4}}, {7, 9, 3, 2, 4});
  check(chain(), {{2, 600, 30}, {2, 1, 30}, {2, 1, 1}}, {2, 600, 30});
  check(chain(), {{}, {}, {70, 70}}, {70, 70});
  check(chain(), {{}, {1}, {1, 1}}, {1, 1});
  check(chain(), {{0, 3}, {3}, {}}, {0, 3});
}

TEST(Elementwise, SelectsAndComputesSeveralOutputs) {
  ElementwiseProgram p{.inputs = 3};
  int less = p.add(BinaryFn::Less, 0, 1);
  int unused = p.add(UnaryFn::Exp, 0);
  int chosen = p.add_select(less, 2, 0);
  int scalars = p.add(BinaryFn::Mul, 2, 2);
  int constant_choice = p.add_select(2, 2, 1);
  p.outputs = {p.add(BinaryFn::Add, chosen, scalars), chosen, chosen, constant_choice};
  (void)unused;
  check(p, {{5, 1000}, {1000}, {}}, {5, 1000});
  check(p, {{5, 1000}, {5, 1000}, {5, 1000}}, {5, 1000});
}

TEST(Elementwise, TheOutputMayReplaceAnInput) {
  ElementwiseProgram program = chain();
  Shape shape{2500};
  const Shape* shapes[] = {&shape, &shape, &shape};
  std::vector<std::vector<float>> inputs(3);
  for (int k = 0; k < 3; ++k) {
    for (int64_t i = 0; i < 2500; ++i) inputs[static_cast<size_t>(k)].push_back(number(i, k));
  }
  auto expected = reference(program, inputs, {shape, shape, shape}, shape);
  ElementwiseKernel kernel(program, shapes, shape);
  ThreadPool pool(2);
  std::vector<float> scratch(kernel.scratch_bytes(2) / sizeof(float) + 1);
  const float* sources[] = {inputs[0].data(), inputs[1].data(), inputs[2].data()};
  float* outputs[] = {inputs[0].data()};
  kernel.run(sources, outputs, scratch.data(), pool);
  EXPECT_EQ(inputs[0], expected[0]);
}

TEST(Elementwise, KeepsFewRegisters) {
  ElementwiseProgram p{.inputs = 1};
  int v = 0;
  for (int i = 0; i < 50; ++i) v = p.add(UnaryFn::Sin, v);
  p.outputs = {v};
  Shape shape{5000};
  const Shape* shapes[] = {&shape};
  EXPECT_LE(ElementwiseKernel(p, shapes, shape).scratch_bytes(1), 2 * cpu::kTileFloats * sizeof(float));
}

TEST(Elementwise, RefusesTextThatIsNoProgram) {
  for (const char* text : {"", "Mul 0 1", "Mul 0 2\n-> 2", "MatMul 0 1\n-> 2", "Mul 0\n-> 2", "Mul 0 1\n-> 3",
                           "Mul 0 -1\n-> 2", "Mul 0 1\n-> 0", "Mul 0 1\n->"}) {
    EXPECT_THROW(ElementwiseProgram::decode(text, 2), Error) << text;
  }
}

}  // namespace
}  // namespace weir
