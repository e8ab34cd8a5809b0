#include "runtime/remote_trace.h"

#include <gtest/gtest.h>

#include "proto/step_stats.pb.h"

namespace weir {
namespace {

void add(proto::StepStats& stats, const std::string& device, const std::string& node, int64_t start, int64_t length) {
  auto& of_device = *stats.add_dev_stats();
  of_device.set_device(device);
  auto& of_node = *of_device.add_node_stats();
  of_node.set_node_name(node);
  of_node.set_timeline_label(node + " = MatMul(a, b)");
  of_node.set_all_start_micros(start);
  of_node.set_all_end_rel_micros(length);
  of_node.add_memory()->set_total_bytes(40);
}

TEST(RemoteTrace, ShowsTheNodesOfAllTasksInOneTimeline) {
  proto::StepStats stats;
  add(stats, "/job:worker/replica:0/task:0/device:CPU:0", "late", 1'000'500, 20);
  add(stats, "/job:ps/replica:0/task:0/device:CPU:0", "early", 1'000'000, 300);
  RunTrace remote;
  remote.remote_stats = stats.SerializeAsString();
  const std::string json = remote.chrome_trace();
  EXPECT_NE(json.find(R"("args":{"name":"/job:ps/replica:0/task:0/device:CPU:0"})"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("name":"MatMul","pid":0,"tid":0,"ts":1000500.000,"dur":20.000,"args":{"name":"late")"),
            std::string::npos)
      << json;
  EXPECT_NE(json.find(R"("tid":1,"ts":1000000.000,"dur":300.000,"args":{"name":"early")"), std::string::npos) << json;
  EXPECT_NE(remote.table().find("early"), std::string::npos) << remote.table();
  const RunTrace trace = trace_from_stats(remote.remote_stats);
  ASSERT_EQ(trace.events.size(), 2);
  EXPECT_EQ(trace.events[0].start_ns, 500'000);
  EXPECT_EQ(trace.events[1].output_bytes, 40);
  EXPECT_EQ(trace_from_stats("\xff\xff").events.size(), 0);
}

}  // namespace
}  // namespace weir
