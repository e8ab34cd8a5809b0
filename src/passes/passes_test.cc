#include <gtest/gtest.h>

#include "passes/place.h"
#include "weir/weir.h"

namespace weir {
namespace {

// The nodes that are left for some fetches after inference and one pass.
class Passes : public ::testing::Test {
 protected:
  Ir ir_for(std::vector<Output> fetches, std::vector<Operation> targets = {}, std::vector<Output> feeds = {},
            std::vector<Tensor> values = {}) {
    std::vector<FeedSpec> specs;
    for (const Tensor& value : values) specs.push_back({value.dtype(), value.shape()});
    Ir ir = build_ir({fetches, feeds, specs, targets});
    infer_ir(ir, context_);
    return ir;
  }

  // Operations that would run, in the order in which they would.
  static std::vector<std::string> running(Ir& ir) {
    ir.sweep();
    std::vector<std::string> names;
    for (int id : schedule(ir)) {
      const IrNode& node = ir[id];
      if (!node.is_feed() && !node.is_constant()) names.push_back(node.op->name);
    }
    return names;
  }
  using Names = std::vector<std::string>;

  ThreadPool pool_{1};
  PassOptions options_;
  PassContext context_{options_, pool_};
  Graph g;
};

// A device that lacks some of the CPU's kernels.
class PartialDevice final : public Device {
 public:
  explicit PartialDevice(std::vector<std::string> lacks) : Device("GPU", 0), lacks_(std::move(lacks)) {}
  const Kernel* kernel(const NodeView& node, std::span<const DType>, std::span<const DType>) const override {
    for (const std::string& name : lacks_) {
      if (node.op().name == name) return nullptr;
      // With an activation: a kernel of its own.
      const AttrValue* fused = node.attrs().find("fused_ops");
      if (fused && std::get<std::vector<std::string>>(*fused).back() == name) return nullptr;
    }
    return &node.op().def->cpu;
  }
  ThreadPool& pool() const override { return pool_; }
  std::string description() const override { return "a device of the tests"; }

 private:
  const std::vector<std::string> lacks_;
  mutable ThreadPool pool_{1};
};

TEST_F(Passes, PruningKeepsOnlyWhatIsNeeded) {
  Output x = g.placeholder(float32, {2});
  Output used = tanh(x), unused = exp(x);
  (void)unused;
  Ir ir = ir_for({used}, {}, {x}, {Tensor::zeros(float32, {2})});
  EXPECT_EQ(running(ir), Names{"Tanh"});
}

TEST_F(Passes, PruningStopsAtFedTensors) {
  Output x = g.placeholder(float32, {2});
  Output middle = tanh(x), last = exp(middle);
  Ir ir = ir_for({last}, {}, {middle}, {Tensor::zeros(float32, {2})});
  EXPECT_EQ(running(ir), Names{"Exp"});
}

TEST_F(Passes, InferenceKnowsValuesThatFollowFromShapes) {
  Output x = g.placeholder(float32);
  Output rows = gather(shape(x), 0);
  Output flat = reshape(x, stack({rows, -1}, 0));
  Ir ir = ir_for({flat}, {}, {x}, {Tensor::zeros(float32, {4, 3, 2})});
  EXPECT_EQ(ir.shape(ir.fetches[0]), (Shape{4, 6}));
}

TEST_F(Passes, FoldConstantsComputesWhatDependsOnConstantsAlone) {
  Output x = g.placeholder(float32, {2});
  Output y = x * (g.constant(Tensor(2.f)) + 3.f);
  Ir ir = ir_for({y}, {}, {x}, {Tensor::zeros(float32, {2})});
  fold_constants(ir, context_);
  EXPECT_EQ(running(ir), Names{"Mul"});
}

TEST_F(Passes, FoldConstantsLeavesRandomNumbersAndLargeResultsAlone) {
  Output random = random_uniform(g, {2}, {.seed = 1});
  Output large = fill(g, {1 << 20}, 1.f);
  Ir ir = ir_for({random, large});
  fold_constants(ir, context_);
  Names names = running(ir);
  EXPECT_NE(std::find(names.begin(), names.end(), "RandomUniform"), names.end());
  EXPECT_NE(std::find(names.begin(), names.end(), "Fill"), names.end());
}

TEST_F(Passes, RemoveIdentitiesDropsThemAndNoOps) {
  Output x = g.placeholder(float32, {2});
  Output y = tanh(identity(stop_gradient(identity(x))));
  Operation all = g.group(std::vector<Operation>{y.op()});
  Ir ir = ir_for({identity(y)}, {all}, {x}, {Tensor::zeros(float32, {2})});
  remove_identities(ir, context_);
  EXPECT_EQ(running(ir), (Names{"Tanh", "NoOp"}));
}

TEST_F(Passes, RemoveIdentitiesDropsTransposesThatMoveNothing) {
  Output x = g.placeholder(float32, {2, 3, 4});
  Output same = tanh(transpose(x, {0, 1, 2})), other = exp(transpose(x, {0, 2, 1}));
  Ir ir = ir_for({same, other}, {}, {x}, {Tensor::zeros(float32, {2, 3, 4})});
  remove_identities(ir, context_);
  Names names = running(ir);
  EXPECT_EQ(std::count(names.begin(), names.end(), "Transpose"), 1);
  Output turned = tanh(conj(transpose(cast(x, DType::Complex64), {0, 1, 2})));
  Ir complex = ir_for({turned}, {}, {x}, {Tensor::zeros(float32, {2, 3, 4})});
  remove_identities(complex, context_);
  names = running(complex);
  EXPECT_EQ(std::count(names.begin(), names.end(), "Transpose"), 1);
}

TEST_F(Passes, RemoveIdentitiesKeepsThoseThatWaitForSomething) {
  Variable v = g.variable("v", 1.f);
  Output x = g.placeholder(float32, {});
  Operation write = assign(v, 2.f).op();
  Output late;
  {
    auto scope = g.control_dependencies({write});
    late = identity(x);
  }
  Ir ir = ir_for({late}, {}, {x}, {Tensor(1.f)});
  remove_identities(ir, context_);
  EXPECT_EQ(running(ir), (Names{"VariableV2", "Assign", "Identity"}));
}

TEST_F(Passes, RemoveIdentitiesDropsGatesThatWaitForValuesAlone) {
  Output x = g.placeholder(float32, {2});
  std::vector<Gradient> gated = tuple({tanh(x), Gradient(), sigmoid(x)});
  EXPECT_TRUE(gated[1].none());
  Ir ir = ir_for({gated[0].dense() + gated[2].dense()}, {}, {x}, {Tensor::zeros(float32, {2})});
  remove_identities(ir, context_);
  EXPECT_EQ(running(ir), (Names{"Tanh", "Sigmoid", "AddV2"}));
}

TEST_F(Passes, RemoveIdentitiesKeepsThoseThatWaitForACheck) {
  Output x = g.placeholder(float32, {2});
  Operation check = check_numerics(x, "bad").op();
  Output late;
  {
    auto scope = g.control_dependencies({check});
    late = identity(x);
  }
  Ir ir = ir_for({late}, {}, {x}, {Tensor::zeros(float32, {2})});
  remove_identities(ir, context_);
  EXPECT_EQ(running(ir), (Names{"CheckNumerics", "Identity"}));
}

TEST_F(Passes, RemoveIdentitiesKeepsThoseThatWaitForAnEffectBehindValues) {
  Variable v = g.variable("v", 1.f);
  Output x = g.placeholder(float32, {});
  Output after = assign(v, 2.f) * x;
  Output late;
  {
    auto scope = g.control_dependencies({after.op()});
    late = identity(x);
  }
  Ir ir = ir_for({late}, {}, {x}, {Tensor(1.f)});
  remove_identities(ir, context_);
  EXPECT_EQ(running(ir), (Names{"VariableV2", "Assign", "_Read", "Mul", "Identity"}));
}

TEST_F(Passes, RemoveIdentitiesDropsGatesWhoseEffectsComeBeforeAnyway) {
  Variable v = g.variable("v", {1.f, 2.f});
  Output x = assign(v, {2.f, 3.f});
  std::vector<Gradient> gated = tuple({tanh(x), sigmoid(x)});
  Ir ir = ir_for({gated[0].dense() + gated[1].dense()});
  remove_identities(ir, context_);
  EXPECT_EQ(running(ir), (Names{"VariableV2", "Assign", "_Read", "Tanh", "_Read", "Sigmoid", "AddV2"}));
}

TEST_F(Passes, ConstantsWaitForWhatTheirControlInputsWaitFor) {
  Variable v = g.variable("v", 1.f);
  Output first, second;
  {
    auto scope = g.control_dependencies({v.initializer()});
    first = identity(g.constant(10.f));
  }
  {
    auto scope = g.control_dependencies({first.op()});
    second = identity(g.constant(20.f));
  }
  Ir ir = ir_for({second});
  fold_constants(ir, context_);
  remove_identities(ir, context_);
  EXPECT_EQ(running(ir), (Names{"VariableV2", "Assign"}));
}

TEST_F(Passes, WhoWaitsForAFedPlaceholderWaitsForNothing) {
  Output x = g.placeholder(float32, {}), gate = g.placeholder(DType::Bool, {});
  Output late;
  {
    auto scope = g.control_dependencies({gate.op()});
    late = tanh(x);
  }
  Ir ir = ir_for({late}, {}, {x, gate}, {Tensor(1.f), Tensor(true)});
  EXPECT_EQ(running(ir), Names{"Tanh"});
}

TEST_F(Passes, ShareCommonSubexpressionsComputesEqualNodesOnce) {
  Output x = g.placeholder(float32, {2});
  Output y = tanh(x * 2.f) + tanh(x * 2.f);
  Ir ir = ir_for({y}, {}, {x}, {Tensor::zeros(float32, {2})});
  share_common_subexpressions(ir, context_);
  EXPECT_EQ(running(ir), (Names{"Mul", "Tanh", "AddV2"}));
}

TEST_F(Passes, ShareCommonSubexpressionsKeepsRandomNumbersApart) {
  Output y = random_uniform(g, {2}) + random_uniform(g, {2});
  Ir ir = ir_for({y});
  share_common_subexpressions(ir, context_);
  Names names = running(ir);
  EXPECT_EQ(std::count(names.begin(), names.end(), "RandomUniform"), 2);
}

TEST_F(Passes, FuseBiasActivationMakesOneKernelOfThree) {
  Output x = g.placeholder(float32, {4, 3});
  Output y = nn::relu(matmul(x, Tensor::zeros(float32, {3, 5})) + Tensor::zeros(float32, {5}));
  Ir ir = ir_for({y}, {}, {x}, {Tensor::zeros(float32, {4, 3})});
  fuse_bias_activation(ir, context_);
  EXPECT_EQ(running(ir), Names{"_FusedMatMul"});
}

TEST_F(Passes, FuseBiasActivationKeepsWhatIsReadElsewhere) {
  Output x = g.placeholder(float32, {4, 3});
  Output product = matmul(x, Tensor::zeros(float32, {3, 5}));
  Output y = nn::relu(product + Tensor::zeros(float32, {5}));
  Ir ir = ir_for({y, product}, {}, {x}, {Tensor::zeros(float32, {4, 3})});
  fuse_bias_activation(ir, context_);
  Names names = running(ir);
  EXPECT_NE(std::find(names.begin(), names.end(), "MatMul"), names.end());
}

TEST_F(Passes, FuseElementwiseMakesOneLoopOfAChain) {
  Output x = g.placeholder(float32, {100});
  Output mask = cast(x > 0.5f, float32);
  Output y = tanh(x * 2.f + 1.f) * mask;
  Ir ir = ir_for({y}, {}, {x}, {Tensor::zeros(float32, {100})});
  fuse_elementwise(ir, context_);
  EXPECT_EQ(running(ir), Names{"_FusedElementwise"});
}

TEST_F(Passes, FuseElementwiseKeepsFetchedAndSharedValues) {
  Output x = g.placeholder(float32, {100});
  Output middle = x * 2.f;
  Output a = tanh(middle + 1.f), b = exp(middle - 1.f);
  Ir ir = ir_for({a, b}, {}, {x}, {Tensor::zeros(float32, {100})});
  fuse_elementwise(ir, context_);
  EXPECT_EQ(running(ir), (Names{"Mul", "_FusedElementwise", "_FusedElementwise"}));
}

TEST_F(Passes, ScheduleWritesAfterIndependentReads) {
  Variable v = g.variable("v", 1.f);
  Output a = v * 2.f, b = v * 3.f;
  Operation write = assign_add(v, 1.f).op();
  Ir ir = ir_for({a, b}, {write});
  Names names = running(ir);
  EXPECT_EQ(names.back(), "AssignAdd");
}

TEST_F(Passes, NothingIsFusedThatTheDeviceHasNoKernelFor) {
  Output x = g.placeholder(float32, {4, 3}), w = g.placeholder(float32, {3, 5}), b = g.placeholder(float32, {5});
  Output y = nn::relu(matmul(x, w) + b), z = tanh(exp(x) + x);
  auto left = [&](std::vector<std::string> lacks) {
    const MoreDevices more({std::make_shared<PartialDevice>(std::move(lacks))});
    const DeviceSet devices(SessionOptions{.virtual_gpus = {.count = 0}});
    Ir ir = ir_for({y, z}, {}, {x, w, b},
                   {Tensor::zeros(float32, {4, 3}), Tensor::zeros(float32, {3, 5}), Tensor::zeros(float32, {5})});
    place(ir, devices, {});
    PassContext context{options_, pool_, &devices};
    fuse_bias_activation(ir, context);
    fuse_elementwise(ir, context);
    return running(ir);
  };
  EXPECT_EQ(left({}), (Names{"_FusedMatMul", "_FusedElementwise"}));
  EXPECT_EQ(left({"_FusedMatMul"}), (Names{"MatMul", "_FusedElementwise", "_FusedElementwise"}));
  EXPECT_EQ(left({"Relu"}), (Names{"_FusedMatMul", "Relu", "_FusedElementwise"}));
  EXPECT_EQ(left({"_FusedElementwise"}), (Names{"_FusedMatMul", "Exp", "AddV2", "Tanh"}));
}

// In the body of a loop: what follows from invariants alone is one, but for what leaves the body, views and feeds.
TEST_F(Passes, InvariantsOfALoopAreFound) {
  Output x = g.placeholder(float32, {4}), w = g.placeholder(float32, {4});
  Output scale = exp(w), result = scale * x, view = reshape(tanh(w), {2, 2}), leaves = sin(w);
  const Tensor four = Tensor::zeros(float32, {4});
  Ir ir = ir_for({result, view, leaves}, {}, {x, w}, {four, four});
  for (IrNode& node : ir.nodes) node.invariant = node.feed == 1;
  hoist_invariants(ir, context_);
  Names found;
  for (const IrNode& node : ir.nodes) {
    if (node.invariant && !node.is_feed()) found.push_back(node.op->name);
  }
  EXPECT_EQ(found, Names{"Exp"});
}

TEST_F(Passes, MatricesThatALoopMultipliesWithArePackedOnce) {
  Output x = g.placeholder(float32, {8, 400}), w = g.placeholder(float32, {400, 400}),
         b = g.placeholder(float32, {400});
  Output y = nn::relu(matmul(x, w) + b), z = matmul(matmul(y, w), w, {.transpose_b = true});
  auto packed = [&](int64_t rows, const Shape& matrix) {
    Ir ir =
        ir_for({z}, {}, {x, w, b},
               {Tensor::zeros(float32, {rows, 400}), Tensor::zeros(float32, matrix), Tensor::zeros(float32, {400})});
    for (IrNode& node : ir.nodes) node.invariant = node.feed >= 1;
    fuse_bias_activation(ir, context_);
    hoist_invariants(ir, context_);
    return running(ir);
  };
  EXPECT_EQ(packed(8, {400, 400}),
            (Names{"_PackMatrix", "_FusedMatMul", "_FusedMatMul", "_PackMatrix", "_FusedMatMul"}));
}

// The gradient of a leaky rectifier: two selections by one comparison, whose truth values never reach memory.
TEST_F(Passes, FuseElementwiseComputesSharedComparisonsInEachGroup) {
  Output x = g.placeholder(float32, {50, 30}), dy = g.placeholder(float32, {50, 30});
  Output large = greater_equal(x, x * 0.2f), zero = g.constant(Tensor::zeros(float32, {50, 30}));
  Output grad = where(large, dy, zero) + where(large, zero, dy) * 0.2f;
  std::vector<Output> feeds = {x, dy};
  std::vector<Tensor> values = {Tensor::zeros(float32, {50, 30}), Tensor::zeros(float32, {50, 30})};
  Ir ir = ir_for({grad}, {}, feeds, values);
  fuse_elementwise(ir, context_);
  Names names = running(ir);
  EXPECT_EQ(std::count(names.begin(), names.end(), "_FusedElementwise"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), "Select") + std::count(names.begin(), names.end(), "GreaterEqual"),
            0);

  Ir fetched = ir_for({grad, large}, {}, feeds, values);
  fuse_elementwise(fetched, context_);
  names = running(fetched);
  EXPECT_EQ(std::count(names.begin(), names.end(), "_FusedElementwise"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), "GreaterEqual"), 1);

  Tensor some = Tensor::from<float>(std::vector<float>(1500, -1.5f), {50, 30});
  for (PassOptions passes : {PassOptions(), PassOptions::none()}) {
    Session session(g, {.passes = passes});
    auto y = session.run({grad, large}, {{x, some}, {dy, some}});
    EXPECT_EQ(y[0].data<float>()[1499], -1.5f * 0.2f + 0.0f + (-1.5f >= -0.3f ? 1.0f : 0.0f));
    EXPECT_FALSE(y[1].data<bool>()[7]);
  }
}

// The conjunction is computed twice, so both comparisons stay for the one that is read elsewhere.
TEST_F(Passes, FuseElementwiseKeepsWhatACopiedComparisonReads) {
  Output x = g.placeholder(float32, {50}), y = g.placeholder(float32, {50});
  Output both = logical_and(greater(x, 0.0f), less(y, 1.0f));
  Output number = cast(both, float32), any = reduce_any(both);
  std::vector<Tensor> values = {Tensor::zeros(float32, {50}), Tensor::zeros(float32, {50})};
  Ir ir = ir_for({number, any}, {}, {x, y}, values);
  fuse_elementwise(ir, context_);
  Names names = running(ir);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (Names{"Any", "Greater", "Less", "LogicalAnd", "_FusedElementwise"}));

  Session session(g);
  auto found =
      session.run({number, any}, {{x, Tensor::from<float>(std::vector<float>(50, 2.0f), {50})}, {y, values[1]}});
  EXPECT_EQ(found[0].data<float>()[49], 1.0f);
  EXPECT_TRUE(found[1].scalar<bool>());
}

}  // namespace
}  // namespace weir
