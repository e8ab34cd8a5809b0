// What the rows of the operation tables say for passes, placement and planning (graph/op_def.h) is true of them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "graph/op.h"
#include "ops/elementwise.h"
#include "ops/evaluate.h"
#include "tests/support/check_op.h"

namespace weir {
namespace {

// Calls `check` with every operation, under its name.
template <class Check>
void for_each_op(const Check& check) {
  for (const OpDef* def : all_op_defs()) {
    SCOPED_TRACE(std::string(def->name));
    check(*find_op(def->name));
  }
}

bool takes_handle(const Op& op) {
  return op.has_ref_input() || (!op.inputs.empty() && op.inputs[0].type == DType::Resource);
}

TEST(OpFacts, EffectsFitTheSignature) {
  for_each_op([](const Op& op) {
    switch (op.effect) {
      case Effect::FromSignature:
        ADD_FAILURE() << "the effect was not worked out";
        break;
      case Effect::None:  // handles and references come and go without anything happening to what they refer to
        EXPECT_TRUE(op.pure() || op.role == Role::Variable || op.outputs[0].is_ref);
        break;
      case Effect::Reads:
        EXPECT_TRUE(takes_handle(op));
        EXPECT_TRUE(std::none_of(op.outputs.begin(), op.outputs.end(), [](const ArgSpec& a) { return a.is_ref; }));
        break;
      case Effect::Writes:
        EXPECT_TRUE(takes_handle(op));
        break;
      case Effect::Checks:
        EXPECT_FALSE(takes_handle(op));
        break;
      case Effect::Other:
        EXPECT_TRUE(op.stateful);
        break;
    }
  });
  EXPECT_EQ(find_op("AssignAdd")->effect, Effect::Writes);
  EXPECT_EQ(find_op("ResourceScatterAdd")->effect, Effect::Writes);
  EXPECT_EQ(find_op("ResourceGather")->effect, Effect::Reads);
  EXPECT_EQ(find_op("RandomUniform")->effect, Effect::Other);
  EXPECT_EQ(find_op("MatMul")->effect, Effect::None);
}

TEST(OpFacts, RolesFitTheSignature) {
  for_each_op([](const Op& op) {
    const AttrSpec* shape = op.attr("shape");
    switch (op.role) {
      case Role::None:
        break;
      case Role::Placeholder:
        EXPECT_TRUE(op.inputs.empty() && op.pure());
        break;
      case Role::Constant:
        EXPECT_TRUE(op.inputs.empty() && op.attr("value") && op.attr("value")->kind == AttrKind::Tensor);
        break;
      case Role::Variable:
        EXPECT_TRUE(op.inputs.empty() && shape && shape->kind == AttrKind::Shape);
        EXPECT_TRUE(op.outputs[0].is_ref || op.outputs[0].type == DType::Resource);
        break;
      case Role::Read:
        EXPECT_EQ(op.effect, Effect::Reads);
        EXPECT_TRUE(cpu_kernel(op).gives_outputs);
        break;
      case Role::Default:
      case Role::Identity:
      case Role::Copy:
        EXPECT_TRUE(op.pure() && op.inputs.size() == 1 && op.outputs.size() == 1);
        break;
      case Role::Nothing:
        EXPECT_TRUE(op.inputs.empty() && op.outputs.empty() && op.pure());
        break;
      case Role::Branch:
      case Role::Loop:
        EXPECT_FALSE(cpu_kernel(op).select);
        break;
      case Role::BiasAdd:
        EXPECT_EQ(op.inputs.size(), 2u);
        break;
    }
  });
}

TEST(OpFacts, HostArgumentsAreNumbersOrText) {
  for_each_op([](const Op& op) {
    for (const std::vector<ArgSpec>* args : {&op.inputs, &op.outputs}) {
      for (const ArgSpec& arg : *args) {
        if (!arg.on_host) continue;
        EXPECT_FALSE(arg.is_ref) << arg.name;
        // But for what only the host has: data sets are descriptions of pipelines, and iterators its threads.
        if (op.def->host_only) continue;
        EXPECT_NE(arg.type, DType::Resource) << arg.name;
        EXPECT_NE(arg.type, DType::Variant) << arg.name;
      }
    }
  });
  EXPECT_TRUE(find_op("ConcatV2")->input_arg(2, {{"N", int64_t{2}}}).on_host);
  EXPECT_FALSE(find_op("ConcatV2")->input_arg(1, {{"N", int64_t{2}}}).on_host);
  EXPECT_THROW(parse_op({.name = "Bad", .inputs = "x:float", .host = "y"}), Error);
}

// Awkward numbers of both signs, in a shape that stays the same.
Tensor numbers(DType dtype, int seed) {
  Tensor t(dtype, Shape{4, 37});
  for (int64_t i = 0; i < t.elements(); ++i) {
    const double value = static_cast<double>((i * 7919 + seed * 104729) % 397 - 198) / 50;
    if (dtype == DType::Bool) {
      t.mutable_data<bool>()[i] = value > 0;
    } else {
      t.mutable_data<float>()[i] = static_cast<float>(value);
    }
  }
  return t;
}

// The kernel's result, truth values as 1 and 0.
std::vector<float> compute(const Op& op, const std::vector<Tensor>& inputs) {
  AttrMap attrs;
  for (const AttrSpec& spec : op.attrs) {
    if (spec.default_value) attrs.set(spec.name, *spec.default_value);
    if (spec.kind == AttrKind::Type) attrs.set(spec.name, DType::Float32);
    if (spec.kind == AttrKind::Int) attrs.set(spec.name, static_cast<int64_t>(inputs.size()));
  }
  if (op.attr("SrcT")) attrs.set("SrcT", inputs[0].dtype());
  if (op.attr("Tidx")) attrs.set("Tidx", inputs[1].dtype());
  const DType result = op.outputs[0].type == DType::Bool ? DType::Bool : DType::Float32;
  ThreadPool pool(1);
  const Tensor y = run_kernel(NodeView(op, attrs, "node"), inputs, std::vector{result}, pool)[0];
  std::vector<float> values;
  for (int64_t i = 0; i < y.elements(); ++i) {
    values.push_back(result == DType::Bool ? static_cast<float>(y.data<bool>()[i]) : y.data<float>()[i]);
  }
  return values;
}

std::vector<float> run_body(const ElementwiseBody& body, const std::vector<Tensor>& inputs) {
  ElementwiseProgram program{.inputs = static_cast<int>(inputs.size())};
  int value = 0;
  if (body.kind == ElementwiseBody::Kind::Unary) value = program.add(body.unary, 0);
  if (body.kind == ElementwiseBody::Kind::Binary) value = program.add(body.binary, 0, 1);
  if (body.kind == ElementwiseBody::Kind::Select) value = program.add_select(0, 1, 2);
  if (body.kind == ElementwiseBody::Kind::Cast) value = program.add(UnaryFn::Identity, 0);
  if (body.kind == ElementwiseBody::Kind::Sum) value = program.add(BinaryFn::Add, program.add(BinaryFn::Add, 0, 1), 2);
  program.outputs = {value};
  std::vector<Tensor> floats;
  std::vector<const float*> data;
  std::vector<const Shape*> shapes;
  for (const Tensor& input : inputs) {
    Tensor as_float(DType::Float32, input.shape());
    for (int64_t i = 0; i < input.elements(); ++i) {
      as_float.mutable_data<float>()[i] =
          input.dtype() == DType::Bool ? static_cast<float>(input.data<bool>()[i]) : input.data<float>()[i];
    }
    floats.push_back(as_float);
  }
  for (const Tensor& t : floats) {
    data.push_back(t.data<float>().data());
    shapes.push_back(&t.shape());
  }
  ElementwiseKernel kernel(program, shapes, inputs[0].shape());
  Tensor scratch(DType::UInt8, Shape{static_cast<int64_t>(kernel.scratch_bytes(1)) + 64});
  std::vector<float> result(static_cast<size_t>(inputs[0].elements()));
  float* out = result.data();
  ThreadPool pool(1);
  auto at = reinterpret_cast<uintptr_t>(scratch.mutable_raw());
  kernel.run(data, {&out, 1}, reinterpret_cast<void*>((at + 63) / 64 * 64), pool);
  return result;
}

TEST(OpFacts, ElementwiseBodiesComputeWhatTheKernelsDo) {
  int bodies = 0;
  for_each_op([&](const Op& op) {
    const ElementwiseBody& body = op.def->elementwise;
    if (body.kind == ElementwiseBody::Kind::None) return;
    ++bodies;
    EXPECT_TRUE(op.pure() && op.effect == Effect::None && op.outputs.size() == 1);
    std::vector<Tensor> inputs;
    const size_t count = op.inputs[0].is_list() ? 3 : op.inputs.size();
    for (size_t i = 0; i < count; ++i) {
      const bool truth =
          op.inputs[std::min(i, op.inputs.size() - 1)].type == DType::Bool || body.kind == ElementwiseBody::Kind::Cast;
      inputs.push_back(numbers(truth ? DType::Bool : DType::Float32, static_cast<int>(i)));
    }
    const size_t operands = body.kind == ElementwiseBody::Kind::Unary || body.kind == ElementwiseBody::Kind::Cast ? 1
                            : body.kind == ElementwiseBody::Kind::Binary                                          ? 2
                                                                                                                  : 3;
    ASSERT_EQ(inputs.size(), operands);
    const std::vector<float> theirs = compute(op, inputs), ours = run_body(body, inputs);
    ASSERT_EQ(theirs.size(), ours.size());
    EXPECT_EQ(std::memcmp(theirs.data(), ours.data(), ours.size() * sizeof(float)), 0);
  });
  EXPECT_EQ(bodies, 70);
}

// What a reduction of a row says that it makes of `values`.
double reduce(const LoopPart& part, std::span<const float> values) {
  double sum = 0, squares = 0, product = 1;
  for (const float x : values) sum += x, squares += double{x} * x, product *= x;
  switch (part.fn) {
    case ReduceFn::Sum:
      return sum;
    case ReduceFn::Mean:
      return sum / static_cast<double>(values.size());
    case ReduceFn::Max:
      return *std::max_element(values.begin(), values.end());
    case ReduceFn::Min:
      return *std::min_element(values.begin(), values.end());
    case ReduceFn::Prod:
      return product;
    case ReduceFn::SumSquares:
      return squares;
  }
  return 0;
}

TEST(OpFacts, ReductionsOfLoopsComputeWhatTheKernelsDo) {
  constexpr size_t kRows = 4, kColumns = 37;
  const Tensor x = numbers(DType::Float32, 0);
  int reductions = 0;
  for_each_op([&](const Op& op) {
    const LoopPart& part = op.def->loop;
    const bool along_rows = part.kind == LoopPart::Kind::Reduce, whole = part.kind == LoopPart::Kind::ReduceAll;
    if (!along_rows && !whole && part.kind != LoopPart::Kind::ReduceRows) return;
    ++reductions;
    EXPECT_TRUE(op.pure() && op.effect == Effect::None && op.outputs.size() == 1);
    std::vector<Tensor> inputs = {x};
    if (along_rows) inputs.push_back(Tensor::from({1}, Shape{1}));
    const std::vector<float> theirs = compute(op, inputs);
    ASSERT_EQ(theirs.size(), along_rows ? kRows : whole ? 1 : kColumns);
    const std::span<const float> all = x.data<float>();
    for (size_t i = 0; i < theirs.size(); ++i) {
      std::vector<float> reduced(all.begin(), all.end());
      if (along_rows)
        reduced.assign(all.begin() + static_cast<long>(i * kColumns),
                       all.begin() + static_cast<long>((i + 1) * kColumns));
      if (part.kind == LoopPart::Kind::ReduceRows) {
        reduced.clear();
        for (size_t row = 0; row < kRows; ++row) reduced.push_back(all[row * kColumns + i]);
      }
      const double wanted = part.scale * reduce(part, reduced);
      EXPECT_NEAR(theirs[i], wanted, 1e-5 * std::max(1.0, std::abs(wanted)));
    }
  });
  EXPECT_EQ(reductions, 7);
}

TEST(OpFacts, SourcesFitTheSignature) {
  for_each_op([](const Op& op) {
    const Source source = op.def->source;
    if (source == Source::Other) return;
    EXPECT_TRUE(op.pure() && op.outputs.size() == 1);
    EXPECT_EQ(op.inputs.size(), source == Source::Slice ? 4u : source == Source::Unslice ? 5u : 2u);
    for (size_t i = 1; i < op.inputs.size(); ++i) {  // numbers that tell the places, but for the values themselves
      EXPECT_EQ(op.inputs[i].on_host, source != Source::Product && !(source == Source::Unslice && i == 4));
    }
  });
  EXPECT_EQ(find_op("BatchMatMulV2")->def->source, Source::Product);
  EXPECT_EQ(find_op("ConjugateTranspose")->def->source, Source::Other);
}

TEST(OpFacts, WhatFollowsFromShapesIsWhatTheKernelsGive) {
  int rows = 0;
  for_each_op([&](const Op& op) {
    if (!op.def->from_shape) return;
    ++rows;
    EXPECT_TRUE(op.outputs.size() == 1 && op.outputs[0].on_host);
    const Tensor x(DType::Float32, Shape{4, 37});
    AttrMap attrs{{"T", DType::Float32}, {"N", int64_t{1}}};
    for (DType type : {DType::Int32, DType::Int64}) {
      attrs.set("out_type", type);
      const DType out = op.attr("out_type") ? type : DType::Int32;
      ThreadPool pool(1);
      const Tensor wanted = run_kernel(NodeView(op, attrs, "node"), std::vector{x}, std::vector{out}, pool)[0];
      testing::expect_same(op.def->from_shape(x.shape(), out), wanted);
    }
    EXPECT_FALSE(op.def->from_shape(Shape::unknown(), DType::Int32).valid());
  });
  EXPECT_EQ(rows, 4);
}

TEST(OpFacts, FusedFormsTakeTheSameInputs) {
  for_each_op([](const Op& op) {
    if (op.def->fused.empty()) return;
    const Op* fused = find_op(op.def->fused);
    ASSERT_TRUE(fused);
    ASSERT_EQ(fused->inputs.size(), op.inputs.size() + 1);  // and the bias
    for (size_t i = 0; i < op.inputs.size(); ++i) EXPECT_EQ(fused->inputs[i].name, op.inputs[i].name);
    for (const AttrSpec& attr : op.attrs) EXPECT_TRUE(fused->attr(attr.name)) << attr.name;
    EXPECT_EQ(fused->def->flops, op.def->flops);
    EXPECT_EQ(fused->def->winograd, op.def->winograd);
  });
}

TEST(OpFacts, RowsOfTablesAreNamedByIndices) {
  for_each_op([](const Op& op) {
    if (op.def->rows == Rows::All) return;
    EXPECT_TRUE(std::any_of(op.inputs.begin(), op.inputs.end(), [](const ArgSpec& a) { return a.name == "indices"; }));
    EXPECT_EQ(op.def->rows == Rows::Written, op.effect == Effect::Writes);
  });
}

TEST(OpFacts, WhatIsOnTheHostAloneIsNoArithmetic) {
  for_each_op([](const Op& op) {
    if (!op.def->host_only) return;
    EXPECT_EQ(op.def->elementwise.kind, ElementwiseBody::Kind::None);
    EXPECT_FALSE(takes_handle(op) && !op.inputs[0].on_host);  // a variable may be elsewhere
  });
}

// A pass that knows an operation by its name is wrong about the next one like it.
TEST(OpFacts, NobodyComparesNames) {
  const std::regex comparison(
      R"re((op|op\(\)|op->name|op\.name|def->name|type\(\)) *[=!]= *"[A-Z_]|(is|starts_with)\("[A-Z_][A-Za-z0-9]*"\))re");
  for (const char* folder : {"passes", "runtime", "devices", "autodiff"}) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(std::string(WEIR_SOURCE_DIR "/src/") + folder)) {
      const std::string path = entry.path().string();
      if (!entry.is_regular_file() || path.ends_with("_test.cc")) continue;
      std::ifstream file(path);
      int number = 0;
      for (std::string line; std::getline(file, line);) {
        ++number;
        EXPECT_FALSE(std::regex_search(line, comparison)) << path << ":" << number << ": " << line;
      }
    }
  }
}

}  // namespace
}  // namespace weir
