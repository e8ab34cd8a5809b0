#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "passes/ir.h"
#include "weir/weir.h"

namespace weir {
namespace {

// Programs whose values must be the same with and without the rewrite, and how many products are left of them.
class StackProducts : public ::testing::Test {
 protected:
  static Tensor numbers(const Shape& shape, int salt) {
    Tensor t(float32, shape);
    for (int64_t i = 0; i < t.elements(); ++i) {
      t.mutable_data<float>()[i] = static_cast<float>((i * 37 + salt * 101) % 97) / 48.0f - 1.0f;
    }
    return t;
  }

  Output input(const std::string& name, const Shape& shape) {
    feeds_[name] = numbers(shape, static_cast<int>(feeds_.size()));
    return g.placeholder(float32, shape, name);
  }

  Output product(const Output& a, const Output& b) { return matmul(a, b, {.transpose_a = true}); }

  std::map<std::string, int> kernels(const std::vector<Output>& fetches) {
    std::vector<Output> fed;
    std::vector<FeedSpec> specs;
    for (const auto& [name, value] : feeds_) {
      fed.push_back(g.output(name + ":0"));
      specs.push_back({value.dtype(), value.shape()});
    }
    ThreadPool pool(1);
    PassOptions options;
    PassContext context{options, pool};
    Ir ir = build_ir({fetches, fed, specs});
    infer_ir(ir, context);
    stack_products(ir, context);
    ir.sweep();
    std::map<std::string, int> counts;
    for (int id : ir.topological_order()) {
      if (!ir[id].is_feed() && !ir[id].is_constant()) ++counts[std::string(ir[id].op->name)];
    }
    return counts;
  }

  std::vector<Feed> fed() const {
    std::vector<Feed> fed;
    for (const auto& [name, value] : feeds_) fed.push_back({g.output(name + ":0"), value});
    return fed;
  }

  void expect_same(const Output& fetch) {
    Session plain(g, {.passes = PassOptions::none()}), session(g);
    const Tensor expected = plain.run(fetch, fed()), got = session.run(fetch, fed());
    ASSERT_EQ(got.shape(), expected.shape());
    for (size_t i = 0; i < static_cast<size_t>(got.elements()); ++i) {
      ASSERT_NEAR(got.data<float>()[i], expected.data<float>()[i], 1e-4) << i;
    }
  }

  std::map<std::string, Tensor> feeds_;
  Graph g;
};

TEST_F(StackProducts, MakesOneProductOfASum) {
  std::vector<In> terms;
  for (int i = 0; i < 3; ++i) {
    const std::string n = std::to_string(i);
    terms.push_back(product(input("a" + n, {2 + i, 20}), input("b" + n, {2 + i, 30})));
  }
  Output sum = add_n(InList(terms));
  EXPECT_EQ(kernels({sum}), (std::map<std::string, int>{{"ConcatV2", 2}, {"MatMul", 1}}));
  expect_same(sum);
}

TEST_F(StackProducts, KeepsWhatElseIsAdded) {
  Output a = input("a", {2, 20}), b = input("b", {2, 30}), c = input("c", {3, 20}), d = input("d", {3, 30});
  Output sum = add_n({product(a, b), input("other", {20, 30}), product(c, d)});
  EXPECT_EQ(kernels({sum}), (std::map<std::string, int>{{"AddN", 1}, {"ConcatV2", 2}, {"MatMul", 1}}));
  expect_same(sum);
}

TEST_F(StackProducts, StacksFactorsOnceForSeveralSums) {
  Output a = input("a", {2, 20}), b = input("b", {2, 30}), c = input("c", {3, 20}), d = input("d", {3, 30});
  Output e = input("e", {2, 15}), f = input("f", {3, 15});
  Output left = add_n({product(a, b), product(c, d)}), right = add_n({product(a, e), product(c, f)});
  EXPECT_EQ(kernels({left, right}), (std::map<std::string, int>{{"ConcatV2", 3}, {"MatMul", 2}}));
  expect_same(left);
  expect_same(right);
}

TEST_F(StackProducts, LeavesProductsWithManyRows) {
  Output sum =
      add_n({product(input("a", {40, 20}), input("b", {40, 30})), product(input("c", {40, 20}), input("d", {40, 30}))});
  EXPECT_EQ(kernels({sum}), (std::map<std::string, int>{{"AddN", 1}, {"MatMul", 2}}));
}

TEST_F(StackProducts, LeavesProductsThatOthersRead) {
  Output first = product(input("a", {2, 20}), input("b", {2, 30}));
  Output sum = add_n({first, product(input("c", {3, 20}), input("d", {3, 30}))});
  EXPECT_EQ(kernels({sum, first}), (std::map<std::string, int>{{"AddN", 1}, {"MatMul", 2}}));
}

TEST_F(StackProducts, LeavesProductsForOtherDevicesEvenIfTheseAreMissing) {
  std::vector<In> terms;
  for (const char* n : {"0", "1"}) {
    Output a = input(std::string("a") + n, {2, 20}), b = input(std::string("b") + n, {2, 30});
    auto scope = g.device(std::string("/gpu:") + n);
    terms.push_back(product(a, b));
  }
  EXPECT_EQ(kernels({add_n(InList(terms))}), (std::map<std::string, int>{{"AddN", 1}, {"MatMul", 2}}));
}

TEST_F(StackProducts, ServesBatchesOfOtherSizes) {
  std::vector<In> terms;
  for (const char* n : {"0", "1"}) {
    Output a = g.placeholder(float32, {kUnknown, 20}, std::string("a") + n);
    Output b = g.placeholder(float32, {kUnknown, 30}, std::string("b") + n);
    terms.push_back(product(a, b));
  }
  Output sum = add_n(InList(terms));
  Session plain(g, {.passes = PassOptions::none()}), session(g);
  for (int64_t rows : {2, 5, 3, 50}) {
    for (const char* n : {"a0", "b0", "a1", "b1"}) {
      feeds_[n] = numbers({rows, n[0] == 'a' ? 20 : 30}, n[1] + n[0]);
    }
    const Tensor expected = plain.run(sum, fed()), got = session.run(sum, fed());
    for (size_t i = 0; i < 600; ++i) ASSERT_NEAR(got.data<float>()[i], expected.data<float>()[i], 1e-4) << rows;
  }
}

}  // namespace
}  // namespace weir
