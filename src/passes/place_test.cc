#include "passes/place.h"

#include <gtest/gtest.h>

#include "weir/weir.h"

namespace weir {
namespace {

// Places what `fetches` need and gives the device of a node by its name.
class Placed {
 public:
  Placed(const std::vector<Output>& fetches, const SessionOptions& session, std::vector<Operation> targets = {})
      : devices_(session), ir_(build_ir({.fetches = fetches, .feeds = {}, .feed_specs = {}, .targets = targets})) {
    ThreadPool pool(1);
    PassOptions passes;
    PassContext context{passes, pool};
    infer_ir(ir_, context);
    place(ir_, devices_, {.allow_soft_placement = session.allow_soft_placement});
  }
  std::string operator[](std::string_view name) const {
    for (const IrNode& node : ir_.nodes) {
      if (!node.dead && node.name == name) return devices_[node.device].short_name().substr(8);
    }
    return "absent";
  }

 private:
  DeviceSet devices_;
  Ir ir_;
};

SessionOptions with_gpus(int count) { return {.virtual_gpus = {.count = count}}; }

std::string placing_fails(const std::vector<Output>& fetches, const SessionOptions& session,
                          std::vector<Operation> targets = {}) {
  try {
    Placed placed(fetches, session, std::move(targets));
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::InvalidArgument);
    return e.what();
  }
  return "";
}

#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(Place, PutsEveryNodeWhereTheProgramSays) {
  Graph g;
  Output x = g.placeholder(float32, {2}, "x");
  struct Case {
    const char *device, *cpus, *gpus;  // with two logical CPUs, and with two virtual GPUs
  };
  const Case kCases[] = {
      {"", "CPU:0", "GPU:0"},       {"/cpu:0", "CPU:0", "CPU:0"},         {"/cpu:*", "CPU:0", "CPU:0"},
      {"/cpu", "CPU:0", "CPU:0"},   {"/job:localhost", "CPU:0", "GPU:0"}, {"/replica:0/task:0/cpu:0", "CPU:0", "CPU:0"},
      {"/cpu:1", "CPU:1", nullptr}, {"/gpu:1", nullptr, "GPU:1"},         {"/gpu:*", nullptr, "GPU:0"},
      {"/gpu:2", nullptr, nullptr}, {"/job:worker", nullptr, nullptr},    {"/task:1", nullptr, nullptr}};
  for (const Case& c : kCases) {
    Scope device = g.device(c.device);
    Output y = exp(x, "y");
    const std::string name = y.op().name();
    const SessionOptions cpus{.device_count = {{"CPU", 2}}};
    if (c.cpus) {
      EXPECT_EQ(Placed({y}, cpus)[name], c.cpus) << c.device;
    } else {
      EXPECT_SAYS(placing_fails({y}, cpus), "Cannot assign a device for operation " + name);
    }
    if (c.gpus) {
      EXPECT_EQ(Placed({y}, with_gpus(2))[name], c.gpus) << c.device;
    } else {
      EXPECT_SAYS(placing_fails({y}, with_gpus(2)), "Cannot assign a device for operation " + name);
    }
  }
}

TEST(Place, SaysWhatWasAskedForAndWhatThereIs) {
  Graph g;
  Output x = g.placeholder(float32, {2});
  Scope device = g.device("/gpu:1");
  Output y = exp(x, "y");
  std::string message = placing_fails({y}, with_gpus(1));
  EXPECT_SAYS(message, "Exp 'y'");
  EXPECT_SAYS(message, "place_test.cc:");
  EXPECT_SAYS(message,
              "Cannot assign a device for operation y: Operation was explicitly assigned to /device:GPU:1 but "
              "available devices are [ /job:localhost/replica:0/task:0/device:CPU:0, "
              "/job:localhost/replica:0/task:0/device:GPU:0 ]. Make sure the device specification refers to a valid "
              "device.");
  EXPECT_SAYS(message, "--virtual-gpus");
  EXPECT_SAYS(message, "allow_soft_placement");
}

TEST(Place, SoftPlacementGoesWhereItCan) {
  Graph g;
  Output x = g.placeholder(float32, {2});
  Output y, text;
  {
    Scope device = g.device("/gpu:7");
    y = exp(x, "y");
    text = as_string(x, {}, "text");
  }
  SessionOptions soft = with_gpus(2);
  soft.allow_soft_placement = true;
  Placed placed({y, text}, soft);
  EXPECT_EQ(placed["y"], "GPU:0");
  EXPECT_EQ(placed["text"], "CPU:0");
  soft.virtual_gpus.count = 0;
  EXPECT_EQ(Placed({y}, soft)["y"], "CPU:0");
}

TEST(Place, StringsStayOnTheHost) {
  Graph g;
  Output text = as_string(g.placeholder(float32, {2}), {}, "text");
  EXPECT_EQ(Placed({text}, with_gpus(1))["text"], "CPU:0");
  Scope device = g.device("/gpu:0");
  Output on_gpu = as_string(g.placeholder(float32, {2}), {}, "on_gpu");
  std::string message = placing_fails({on_gpu}, with_gpus(1));
  EXPECT_SAYS(message, "Could not satisfy explicit device specification '/device:GPU:0' because no supported kernel");
  EXPECT_SAYS(message, "AsString 'on_gpu' could go to [ /job:localhost/replica:0/task:0/device:CPU:0 ]");
}

TEST(Place, AVariableAndItsUpdatesStandTogether) {
  for (bool resource : {false, true}) {
    Graph g;
    Variable v;
    {
      Scope cpu = g.device("/cpu:0");
      v = g.variable("v", 1.f, {.use_resource = resource});
    }
    Output read, sum;
    Operation update;
    {
      Scope gpu = g.device("/gpu:1");
      sum = add(v, 2.f, "sum");
    }
    update = assign_add(v, 1.f).op();
    Placed placed({sum}, with_gpus(2), {update});
    EXPECT_EQ(placed["v"], "CPU:0");
    EXPECT_EQ(placed[v.value().op().name()], "CPU:0");
    EXPECT_EQ(placed[update.name()], "CPU:0");
    EXPECT_EQ(placed["sum"], "GPU:1");
  }
}

TEST(Place, AVariableWithoutADeviceTakesThatOfItsWriter) {
  Graph g;
  Variable v = g.variable("v", 1.f, {.use_resource = true});
  Operation update;
  {
    Scope gpu = g.device("/gpu:1");
    update = NodeBuilder("AssignAddVariableOp", "update").input(v.handle()).input(g.constant(1.f)).build();
  }
  Placed placed({}, with_gpus(2), {update});
  EXPECT_EQ(placed["v"], "GPU:1");
  EXPECT_EQ(placed["update"], "GPU:1");
}

TEST(Place, AConflictBetweenAVariableAndItsWriterIsAnError) {
  Graph g;
  Variable v;
  {
    Scope cpu = g.device("/cpu:0");
    v = g.variable("v", 1.f, {.use_resource = true});
  }
  Operation update;
  {
    Scope gpu = g.device("/gpu:0");
    update = NodeBuilder("AssignAddVariableOp", "update").input(v.handle()).input(g.constant(1.f)).build();
  }
  EXPECT_SAYS(placing_fails({}, with_gpus(1), {update}),
              "Cannot colocate nodes 'update' and 'v': Cannot merge devices");
  SessionOptions soft = with_gpus(1);
  soft.allow_soft_placement = true;
  EXPECT_EQ(Placed({}, soft, {update})["update"], "CPU:0");
}

TEST(Place, ColocationHoldsForNodesThatTheRunDoesNotNeed) {
  Graph g;
  Output a;
  {
    Scope gpu = g.device("/gpu:1");
    a = g.placeholder(float32, {2}, "a");
  }
  Output b = exp(g.placeholder(float32, {2}), "unplaced");
  AttrMap attrs;
  attrs.set("_class", std::vector<std::string>{"loc:@a"});
  Output beside = g.add({.op = "Exp", .name = "beside", .inputs = {b}, .attrs = attrs}).output();
  Placed placed({beside}, with_gpus(2));
  EXPECT_EQ(placed["beside"], "GPU:1");
  EXPECT_EQ(placed["unplaced"], "GPU:0");
}

TEST(Place, SourcesAndShapesGoWithTheirNeighbours) {
  Graph g;
  Output x = g.placeholder(float32, Shape::unknown(), "x");
  Output y;
  {
    Scope gpu = g.device("/gpu:1");
    y = exp(x, "y");
  }
  Output noise = random_uniform(g, {2}, {.seed = 1}, "noise");
  Output sum;
  {
    Scope gpu = g.device("/gpu:1");
    sum = add(y, noise, "sum");
  }
  Output size = shape(sum, int32, "size");
  Placed placed({sum, size}, with_gpus(2));
  EXPECT_EQ(placed["size"], "GPU:1");
  EXPECT_EQ(placed[noise.op().name()], "GPU:0");  // it has an input, the shape
}

}  // namespace
}  // namespace weir
