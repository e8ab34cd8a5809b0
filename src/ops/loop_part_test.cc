#include "ops/loop_part.h"

#include <gtest/gtest.h>

#include "graph/op.h"

namespace weir {
namespace {

TEST(LoopPart, IsKnownOfWhatLoopsCanComputeAlong) {
  using Kind = LoopPart::Kind;
  for (const char* name : {"Sum", "Mean", "Max", "Min", "Prod"}) {
    ASSERT_TRUE(find_op(name));
    EXPECT_EQ(loop_part(*find_op(name)).kind, Kind::Reduce) << name;
  }
  EXPECT_EQ(loop_part(*find_op("Mean")).fn, cpu::ReduceFn::Mean);
  EXPECT_EQ(loop_part(*find_op("L2Loss")).kind, Kind::ReduceAll);
  EXPECT_EQ(loop_part(*find_op("L2Loss")).scale, 0.5f);
  EXPECT_EQ(loop_part(*find_op("BiasAddGrad")).kind, Kind::ReduceRows);
  EXPECT_EQ(loop_part(*find_op("Softmax")).kind, Kind::Softmax);
  EXPECT_EQ(loop_part(*find_op("Tile")).kind, Kind::Spread);
  EXPECT_EQ(loop_part(*find_op("BroadcastTo")).kind, Kind::Spread);
  EXPECT_EQ(loop_part(*find_op("MatMul")).kind, Kind::None);
  EXPECT_EQ(loop_part(*find_op("Add")).kind, Kind::None);
}

TEST(LoopPart, KnowsWhereElementsComeFrom) {
  EXPECT_EQ(source_of(*find_op("StridedSlice")), Source::Slice);
  EXPECT_EQ(source_of(*find_op("StridedSliceGrad")), Source::Unslice);
  EXPECT_EQ(source_of(*find_op("Transpose")), Source::Permute);
  EXPECT_EQ(source_of(*find_op("BatchMatMulV2")), Source::Product);
  EXPECT_EQ(source_of(*find_op("Add")), Source::Other);
}

}  // namespace
}  // namespace weir
