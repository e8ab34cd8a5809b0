#include "weir/summary.h"

#include <gtest/gtest.h>

#include "weir/ops.h"

namespace weir {
namespace {

std::vector<std::string> nodes(const Graph& g) {
  std::vector<std::string> names;
  for (Operation op : g.operations()) names.push_back(op.name() + ":" + op.type());
  return names;
}
std::string tag_of(const Output& summary) {
  return summary.op().input(0).op().attrs().get<Tensor>("value").scalar<std::string>();
}

// Names and tags recorded with TensorFlow 1.15.
TEST(Summary, NamesNodesAndTagsAsTensorFlowDoes) {
  Graph g;
  Output x = g.constant(1, float32, "x");
  {
    Scope scope = g.name_scope("s");
    EXPECT_EQ(tag_of(summary::scalar("loss", x)), "s/loss");
    EXPECT_EQ(tag_of(summary::scalar("loss", x)), "s/loss_1");
    EXPECT_EQ(tag_of(summary::scalar("/lo ss/a", x)), "s/lo_ss/a");
    EXPECT_EQ(tag_of(summary::scalar("l", x, {.family = "fam"})), "fam/s/fam/l");
  }
  EXPECT_EQ(nodes(g),
            (std::vector<std::string>{"x:Const", "s/loss/tags:Const", "s/loss:ScalarSummary", "s/loss_1/tags:Const",
                                      "s/loss_1:ScalarSummary", "s/lo_ss/a/tags:Const", "s/lo_ss/a:ScalarSummary",
                                      "s/fam/l/tags:Const", "s/fam/l:ScalarSummary"}));
  EXPECT_EQ(g.collection("summaries").size(), 4u);
}

TEST(Summary, MergesWhatTheGraphHasCollected) {
  Graph g;
  Output x = g.placeholder(float32, {2, 3, 3, 1}, "x");
  EXPECT_FALSE(summary::merge_all(g));
  summary::histogram("h", x);
  Output image = summary::image("im", x, {.max_outputs = 2});
  EXPECT_EQ(image.op().attrs().get<Tensor>("bad_color").data<uint8_t>()[0], 255);
  summary::audio("au", reshape(x, {2, 9, 1}), 16000);
  summary::scalar("elsewhere", reduce_sum(x), {.collections = {"other"}});
  Output all = summary::merge_all(g);
  EXPECT_EQ(all.name(), "Merge/MergeSummary:0");
  ASSERT_EQ(all.op().inputs(), 3);
  EXPECT_EQ(all.op().input(2).name(), "au:0");
  EXPECT_EQ(g.operation("au").input(0).name(), "au/tag:0");
  EXPECT_EQ(g.operation("au").input(2).name(), "au/sample_rate:0");
  EXPECT_EQ(all.shape(), Shape());
  Scope scope = g.name_scope("q");
  EXPECT_EQ(summary::merge({image, image}, {.name = "mm", .collections = {"merged"}}).name(), "q/mm/mm:0");
  EXPECT_EQ(g.collection("merged").size(), 1u);
  EXPECT_EQ(summary::merge({image}).name(), "q/Merge/MergeSummary:0");
}

TEST(Summary, KeepsTheFunctionsOfTheFirstTensorFlow) {
  Graph g;
  Output x = g.placeholder(float32, {2}, "x");
  Output scalars = summary::v0::scalar_summary({"a", "b c"}, x);
  EXPECT_EQ(scalars.name(), "ScalarSummary:0");
  EXPECT_EQ(scalars.op().input(0).name(), "ScalarSummary/tags:0");
  EXPECT_EQ(summary::v0::histogram_summary("h", x, {.name = "mine"}).name(), "mine:0");
  EXPECT_EQ(g.operation("mine").input(0).name(), "mine/tag:0");
  EXPECT_EQ(summary::v0::audio_summary("s", reshape(x, {1, 2}), 8000).op().type(), "AudioSummaryV2");
  EXPECT_EQ(summary::v0::merge_all_summaries(g).name(), "MergeSummary/MergeSummary:0");
}

TEST(Summary, BlamesTheLineOfTheProgram) {
  Graph g;
  Output x = g.constant(1, float32);
  const uint32_t line = __LINE__ + 1;
  Output loss = summary::scalar("loss", x);
  EXPECT_EQ(loss.op().line().line, line);
  EXPECT_EQ(loss.op().input(0).op().line().line, line);
  EXPECT_THROW(summary::scalar("loss", 1), Error);
}

}  // namespace
}  // namespace weir
