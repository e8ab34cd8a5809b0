#include <gtest/gtest.h>

#include <optional>

#include "weir/device.h"
#include "weir/weir.h"

namespace weir {
namespace {

TEST(DeviceSpec, ReadsEverySpelling) {
  const std::pair<const char*, const char*> kCases[] = {
      {"/gpu:1", "/device:GPU:1"},
      {"gpu:1", "/device:GPU:1"},
      {"/GPU:0", "/device:GPU:0"},
      {"/Cpu:0", "/device:CPU:0"},
      {"/device:GPU:1", "/device:GPU:1"},
      {"/device:gpu:0", "/device:GPU:0"},
      {"/job:worker/task:3/cpu:0", "/job:worker/task:3/device:CPU:0"},
      {"/job:worker/replica:2/task:3", "/job:worker/replica:2/task:3"},
      {"/task:3/job:worker", "/job:worker/task:3"},
      {"/gpu:*", "/device:GPU:*"},
      {"/device:GPU:*", "/device:GPU:*"},
      {"/cpu", "/device:CPU:*"},
      {"/device:FPGA:0", "/device:FPGA:0"},
      {"//cpu:0/", "/device:CPU:0"},
      {"/job:a/job:b", "/job:b"},
      {"/cpu:01", "/device:CPU:1"},
      {"", ""},
  };
  for (const auto& [text, canonical] : kCases) {
    EXPECT_EQ(DeviceSpec::parse(text).str(), canonical) << text;
    EXPECT_EQ(DeviceSpec::parse(canonical), DeviceSpec::parse(text)) << text;
  }
}

TEST(DeviceSpec, RefusesWhatIsNoName) {
  for (const char* text : {"/foo:1", "*", "/device:GPU", "/gpu:x", "/gpu:-1", "/gpu:99999999999", "/task:*", "/tpu:0",
                           "/cpu:0:1", "/cpu:0/gpu:1", "/device::0", "/job"}) {
    try {
      DeviceSpec::parse(text);
      ADD_FAILURE() << text;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::InvalidArgument) << text;
      EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
    }
  }
}

TEST(DeviceSpec, MatchesTheDevicesThatItNames) {
  const DeviceSpec gpu1 = DeviceSpec::parse("/job:localhost/replica:0/task:0/device:GPU:1");
  for (const char* text : {"", "/gpu:1", "/gpu:*", "/job:localhost", "/job:localhost/gpu:1"}) {
    EXPECT_TRUE(DeviceSpec::parse(text).matches(gpu1)) << text;
  }
  for (const char* text : {"/gpu:0", "/cpu:1", "/job:worker", "/task:1"}) {
    EXPECT_FALSE(DeviceSpec::parse(text).matches(gpu1)) << text;
  }
}

std::string device_of(Graph& g) { return g.no_op().device(); }

TEST(DeviceScopes, InnerOnesAddToOuterOnesAndWin) {
  Graph g;
  EXPECT_EQ(device_of(g), "");
  Scope worker = g.device("/job:worker/task:3");
  EXPECT_EQ(device_of(g), "/job:worker/task:3");
  {
    Scope gpu = g.device("/gpu:1");
    EXPECT_EQ(device_of(g), "/job:worker/task:3/device:GPU:1");
    Scope cpu = g.device("/cpu:0");
    EXPECT_EQ(device_of(g), "/job:worker/task:3/device:CPU:0");
  }
  {
    Scope ps = g.device("/job:ps");
    EXPECT_EQ(device_of(g), "/job:ps/task:3");
  }
  {
    Scope nowhere = g.device("");
    EXPECT_EQ(device_of(g), "");
    Scope any = g.device("/gpu:*");
    EXPECT_EQ(device_of(g), "/device:GPU:*");
  }
  EXPECT_EQ(device_of(g), "/job:worker/task:3");
  EXPECT_THROW(g.device("/moon:1"), Error);
  EXPECT_EQ(device_of(g), "/job:worker/task:3");
}

TEST(DeviceScopes, FunctionsDecideForEveryNode) {
  Graph g;
  std::vector<std::string> seen;
  Scope worker = g.device("/job:worker");
  Scope by_type = g.device([&](const NodeArgs& node) {
    seen.push_back(node.op + " " + node.name + " " + node.device);
    return node.op == "Const" ? "/cpu:0" : node.device + "/gpu:1";
  });
  Output a = g.constant(1.f, "a");
  Output b;
  {
    Scope task = g.device("/task:2");
    b = add(a, a, "b");
  }
  EXPECT_EQ(a.op().device(), "/job:worker/device:CPU:0");
  EXPECT_EQ(b.op().device(), "/job:worker/task:2/device:GPU:1");
  EXPECT_EQ(seen, (std::vector<std::string>{"Const a ", "Add b /task:2"}));
  {
    Scope nowhere = g.device("");
    EXPECT_EQ(device_of(g), "");
  }
}

TEST(DeviceScopes, WhatAFunctionGivesStandsAsItIsSpelled) {
  Graph g;
  Scope scope = g.device([](const NodeArgs&) { return "/gpu:3"; });
  EXPECT_EQ(device_of(g), "/gpu:3");
  Scope wrong = g.device([](const NodeArgs&) { return "/moon:0"; });
  EXPECT_THROW(g.no_op(), Error);
}

TEST(DeviceScopes, StandingBesideANodeIsStrongerThanAScope) {
  Graph g;
  std::optional<Scope> gpu(g.device("/gpu:0"));
  Output a = g.constant(1.f, "a");
  gpu.reset();
  Scope cpu = g.device("/cpu:0");
  Scope beside = g.colocate_with(a.op());
  EXPECT_EQ(device_of(g), "/device:GPU:0");
  Scope explicitly = g.device("/cpu:1");
  EXPECT_EQ(device_of(g), "/device:GPU:0");
}

TEST(DeviceScopes, AVariableStandsWithItsInitializerAndItsReads) {
  Graph g;
  Variable v;
  {
    Scope cpu = g.device("/cpu:0");
    v = g.variable("v", 1.f);
  }
  Scope gpu = g.device("/gpu:0");
  Operation update = assign_add(v, 1.f).op();
  EXPECT_EQ(v.initializer().device(), "/device:CPU:0");
  EXPECT_EQ(v.value().op().device(), "/device:CPU:0");
  EXPECT_EQ(update.device(), "/device:CPU:0");
}

}  // namespace
}  // namespace weir
