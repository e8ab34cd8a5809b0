#include "weir/server.h"

#include <gtest/gtest.h>

#include "weir/error.h"

namespace weir::train {
namespace {

TEST(Server, ClustersAreDescribedAsCommandLinesDo) {
  const ClusterSpec expected = {{"ps", {{0, "a:1"}, {1, "b:2"}}}, {"worker", {{0, "c:3"}}}};
  EXPECT_EQ(parse_cluster("ps=a:1,b:2,worker=c:3"), expected);
  EXPECT_EQ(parse_cluster("ps=a:1,b:2;worker=c:3"), expected);
  EXPECT_EQ(parse_cluster("ps|a:1;b:2,worker|c:3"), expected) << "as TensorFlow's own server takes it";
  for (const char* wrong : {"", "a:1", "ps=", "ps=a", "ps=a:x", "ps=a:1,"}) {
    EXPECT_THROW(parse_cluster(wrong), Error) << wrong;
  }
}

}  // namespace
}  // namespace weir::train
