#include "base/resource_manager.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "weir/resources.h"

namespace weir {
namespace {

struct Counter final : Resource {
  explicit Counter(int* alive_count) : alive(alive_count) { ++*alive; }
  ~Counter() override { --*alive; }
  std::string describe() const override { return "counter"; }
  int* alive;
};
struct Other final : Resource {
  std::string describe() const override { return "other"; }
};

class ResourceManagerTest : public ::testing::Test {
 protected:
  ResourcePtr<Counter> counter(std::string_view container, std::string_view name) {
    return manager.find_or_make<Counter>(container, name, [&] { return make_resource<Counter>(&alive); });
  }
  int alive = 0;  // before the manager, whose end it sees
  ResourceManager manager;
};

TEST_F(ResourceManagerTest, FindsByContainerKindAndName) {
  ResourcePtr<Counter> a = counter("", "a");
  EXPECT_EQ(counter("", "a").get(), a.get());
  EXPECT_EQ(counter("localhost", "a").get(), a.get());
  EXPECT_NE(counter("", "b").get(), a.get());
  EXPECT_NE(counter("box", "a").get(), a.get());
  EXPECT_FALSE(manager.find<Other>("", "a"));
  EXPECT_EQ(manager.find<Counter>("", "a").get(), a.get());
  EXPECT_EQ(manager.size(), 3u);
}

TEST_F(ResourceManagerTest, LeavesNothingBehindWhenMakingFails) {
  auto fail = [&]() -> ResourcePtr<Counter> { throw std::runtime_error("no"); };
  EXPECT_THROW(manager.find_or_make<Counter>("", "a", fail), std::runtime_error);
  EXPECT_EQ(manager.size(), 0u);
  EXPECT_TRUE(counter("", "a"));
}

TEST_F(ResourceManagerTest, GivesANewOneAfterRemoval) {
  ResourcePtr<Counter> a = counter("", "a");
  const uint64_t before = manager.generation();
  EXPECT_TRUE(manager.remove(*a));
  EXPECT_FALSE(manager.remove(*a));
  EXPECT_GT(manager.generation(), before);
  EXPECT_NE(counter("", "a").get(), a.get());
  EXPECT_EQ(alive, 2);  // whoever holds the old one keeps it
  a = {};
  EXPECT_EQ(alive, 1);
}

TEST_F(ResourceManagerTest, ClearsOneContainer) {
  counter("", "a");
  counter("box", "a");
  manager.clear("box");
  EXPECT_EQ(alive, 1);
  manager.reset({});
  EXPECT_EQ(alive, 0);
  counter("box", "a");
  counter("crate", "a");
  const std::vector<std::string> names = {"box", "nowhere"};
  manager.reset(names);
  EXPECT_EQ(alive, 1);
  manager.clear_all();
  EXPECT_EQ(alive, 0);
}

TEST_F(ResourceManagerTest, MakesOneForManyThreads) {
  std::vector<std::thread> threads;
  std::vector<Counter*> seen(8);
  for (size_t t = 0; t < seen.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) seen[t] = counter("", "a").get();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(alive, 1);
  for (Counter* c : seen) EXPECT_EQ(c, seen[0]);
}

TEST(Resources, ResetsTheDefaultContainerUnlessTold) {
  Resources resources;
  int alive = 0;
  auto make = [&] { return make_resource<Counter>(&alive); };
  resources.manager()->find_or_make<Counter>("", "a", make);
  resources.manager()->find_or_make<Counter>("box", "a", make);
  resources.reset();
  EXPECT_EQ(alive, 1);
  resources.reset({"box"});
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace weir
