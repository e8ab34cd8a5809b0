#include "runtime/plan_cache.h"

#include <gtest/gtest.h>

#include <thread>

#include "ops/run_control.h"
#include "weir/weir.h"

namespace weir {
namespace {

Tensor floats(const Shape& shape) {
  Tensor t(float32, shape);
  for (int64_t i = 0; i < t.elements(); ++i) t.mutable_data<float>()[i] = static_cast<float>(i % 13) * 0.25f - 1;
  return t;
}

class Plans : public ::testing::Test {
 protected:
  // A cache in a session's surroundings.
  PlanCache& cache(PlanCache::Limits limits) {
    return cache_.emplace(
        PlanEnvironment{
            .devices = devices_, .lanes = *lanes_, .resources = resources_, .arenas = arenas_, .options = {}},
        limits, users_);
  }

  Signature& signature(std::vector<Output> feeds, std::vector<Output> fetches) {
    auto s = std::make_unique<Signature>();
    s->feeds = std::move(feeds);
    s->fetches = std::move(fetches);
    return cache_->add(std::move(s));
  }

  std::shared_ptr<const Fit> plan(Signature& s, const std::vector<Tensor>& feeds) {
    std::vector<const Tensor*> list;
    for (const Tensor& feed : feeds) list.push_back(&feed);
    return cache_->plan(s, list);
  }

  std::vector<Tensor> run(Signature& s, const std::vector<Tensor>& feeds) {
    std::vector<const Tensor*> list;
    for (const Tensor& feed : feeds) list.push_back(&feed);
    std::shared_ptr<const Fit> fit = cache_->plan(s, list);
    std::vector<Tensor> results(s.fetches.size());
    fit->plan->run(*fit, list, results, {}, nullptr);
    return results;
  }

  Graph g;
  SessionOptions options_;
  DeviceSet devices_{options_};
  std::shared_ptr<LanePool> lanes_ = LanePool::shared();
  SessionResources resources_{std::make_shared<ResourceManager>()};
  ArenaPool arenas_{devices_, 1 << 30};
  RunCount users_;
  std::optional<PlanCache> cache_;
};

TEST_F(Plans, OneIsMadeAndFittedToOtherBatchSizes) {
  cache({});
  Output x = g.placeholder(float32, {kUnknown, 4});
  Signature& s = signature({x}, {reduce_sum(tanh(x) * 2.f)});
  std::shared_ptr<const Fit> first = plan(s, {floats({8, 4})}), second = plan(s, {floats({5, 4})});
  EXPECT_NE(first, second);
  EXPECT_EQ(first->plan, second->plan);
  EXPECT_EQ(plan(s, {floats({8, 4})}), first);
  EXPECT_EQ(plan(s, {floats({5, 4})}), second);
}

TEST_F(Plans, AnotherIsMadeForSizesOfAnotherOrder) {
  cache({});
  Output x = g.placeholder(float32, {kUnknown, 4});
  Signature& s = signature({x}, {reduce_sum(tanh(x))});
  EXPECT_NE(plan(s, {floats({1, 4})})->plan, plan(s, {floats({100, 4})})->plan);
}

TEST_F(Plans, WhatIsFittedComputesWhatAPlanOfItsOwnWould) {
  Output x = g.placeholder(float32, {kUnknown, 6}), y = g.placeholder(float32, {kUnknown, kUnknown});
  Output h = nn::relu(matmul(x, g.constant(floats({6, 5}))) + g.constant(floats({5})));
  Output rows = cast(gather(shape(x), 0), float32);
  Output joined = concat({h * 2.f - 1.f, y}, 1);
  std::vector<Output> fetches = {joined, reduce_mean(joined, {.axes = {0}}) / rows, reshape(h, {-1}),
                                 nn::softmax(matmul(h, h, {.transpose_b = true}))};
  fetches.push_back(gradients({reduce_sum(square(fetches[3])) + reduce_sum(fetches[1])}, {x})[0].dense());
  cache({});
  Signature& fitted = signature({x, y}, fetches);
  for (int64_t n : {7, 3, 1, 20, 7, 2}) {
    const std::vector<Tensor> feeds = {floats({n, 6}), floats({n, n % 4})};
    std::vector<Tensor> results = run(fitted, feeds);
    Session session(g);
    std::vector<Tensor> wanted = session.run(fetches, {{x, feeds[0]}, {y, feeds[1]}});
    for (size_t i = 0; i < wanted.size(); ++i) {
      ASSERT_EQ(results[i].shape(), wanted[i].shape());
      for (int64_t at = 0; at < wanted[i].elements(); ++at) {
        ASSERT_EQ(results[i].data<float>()[at], wanted[i].data<float>()[at]) << n << " " << i << " " << at;
      }
    }
  }
}

TEST_F(Plans, WrongShapesAreRefusedWithTheNodesName) {
  cache({});
  Output x = g.placeholder(float32, {kUnknown, 4}, "x"), y = g.placeholder(float32, Shape::unknown(), "y");
  Signature& s = signature({x, y}, {matmul(x, y, {}, "product")});
  run(s, {floats({2, 4}), floats({4, 3})});
  auto message = [&](const std::vector<Tensor>& feeds) -> std::string {
    try {
      plan(s, feeds);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(message({floats({2, 5}), floats({5, 3})}).find("has shape [?,4]"), std::string::npos);
  EXPECT_NE(message({floats({3, 4}), floats({5, 3})}).find("product"), std::string::npos);
  EXPECT_EQ(run(s, {floats({3, 4}), floats({4, 2})})[0].shape(), (Shape{3, 2}));
}

TEST_F(Plans, ShapesThatNeverRepeatGetOnePlanForAll) {
  cache({.plans = 3});
  Output x = g.placeholder(float32);  // of any rank: each needs a plan of its own
  Signature& s = signature({x}, {reduce_sum(tanh(x) + 1.f)});
  std::shared_ptr<const Fit> last;
  for (int rank = 1; rank < 9; ++rank) {
    std::vector<int64_t> dims(static_cast<size_t>(rank), 2);
    const Tensor value = floats(dims);
    Session session(g);
    EXPECT_EQ(run(s, {value})[0].scalar<float>(), session.run(s.fetches[0], {{x, value}}).scalar<float>());
    std::shared_ptr<const Fit> used = plan(s, {value});
    if (rank > 4) {
      EXPECT_EQ(used, last);
    }
    last = used;
  }
}

TEST_F(Plans, MemoryIsBoundedByDroppingWhatWasUsedLongestAgo) {
  PlanCache& plans = cache({.bytes = 100 << 10});
  Output x = g.placeholder(float32, {kUnknown});
  Signature& often = signature({x}, {exp(x)});
  for (int i = 0; i < 300; ++i) {
    Output y = tanh(x + static_cast<float>(i));
    run(often, {floats({3})});
    run(signature({x}, {y}), {floats({2 + i % 5})});
    ASSERT_LE(plans.bytes(), size_t{100 << 10});
  }
  EXPECT_LT(plans.signatures(), 100u);
  std::shared_ptr<const Fit> kept = plan(often, {floats({3})});
  EXPECT_EQ(plan(often, {floats({3})}), kept);
}

TEST_F(Plans, TheSameShapesInTurnStay) {
  cache({});
  Output x = g.placeholder(float32, {kUnknown, 4});
  Signature& s = signature({x}, {reduce_sum(tanh(x))});
  std::vector<std::shared_ptr<const Fit>> fits;
  for (int64_t n = 16; n < 216; ++n) fits.push_back(plan(s, {floats({n, 4})}));
  for (int64_t n = 16; n < 216; ++n) EXPECT_EQ(plan(s, {floats({n, 4})}), fits[static_cast<size_t>(n - 16)]);
}

TEST_F(Plans, ALoopThatMakesNodesIsToldOnce) {
  cache({.new_nodes = 10});
  Output x = g.placeholder(float32, {2});
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 50; ++i) signature({x}, {exp(x)});
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("plan_cache_test.cc"), std::string::npos) << said;
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
}

TEST_F(Plans, FetchingManyNodesOfAFinishedGraphIsNoReasonToWarn) {
  cache({.new_nodes = 10});
  Output x = g.placeholder(float32, {2});
  std::vector<Output> many;
  for (int i = 0; i < 50; ++i) many.push_back(exp(x));
  ::testing::internal::CaptureStderr();
  for (const Output& one : many) signature({x}, {one});
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(Plans, ThreadsThatFeedNewShapesShareWhatIsMade) {
  PlanCache& plans = cache({.bytes = 200 << 10});
  Output x = g.placeholder(float32, {kUnknown, 3});
  std::vector<std::unique_ptr<Signature>> owned;
  for (int i = 0; i < 4; ++i) {
    owned.push_back(std::make_unique<Signature>());
    owned.back()->feeds = {x};
    owned.back()->fetches = {reduce_sum(tanh(x) * static_cast<float>(i + 1), {.axes = {1}})};
    plans.enter(*owned.back());
  }
  for (int i = 0; i < 4; ++i) users_.enter();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const int64_t n = 1 + (i * 7 + t) % 40;
        Signature& s = *owned[static_cast<size_t>(i + t) % owned.size()];
        ASSERT_EQ(run(s, {floats({n, 3})})[0].shape(), Shape{n});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& s : owned) plans.leave(*s);
  EXPECT_EQ(plans.bytes(), 0u);
}

}  // namespace
}  // namespace weir
