#include "devices/accelerator/table.h"

#include <gtest/gtest.h>

namespace weir::accelerator {
namespace {

TEST(Table, HasWhatNetworksAreMadeOf) {
  for (const char* op : {"MatMul",
                         "Conv2D",
                         "Conv2DBackpropInput",
                         "Conv2DBackpropFilter",
                         "DepthwiseConv2dNative",
                         "MaxPool",
                         "MaxPoolGrad",
                         "LRN",
                         "LRNGrad",
                         "FusedBatchNormV3",
                         "FusedBatchNormGradV3",
                         "BiasAdd",
                         "BiasAddGrad",
                         "Softmax",
                         "SparseSoftmaxCrossEntropyWithLogits",
                         "GatherV2",
                         "ScatterAdd",
                         "TopKV2",
                         "ArgMax",
                         "OneHot",
                         "AddN",
                         "L2Loss",
                         "TruncatedNormal",
                         "RandomUniform",
                         "ApplyAdam",
                         "SparseApplyAdagrad",
                         "ResourceApplyMomentum",
                         "ConcatV2",
                         "Transpose",
                         "UnsortedSegmentSum",
                         "Cast",
                         "SelectV2",
                         "TensorListStack"}) {
    EXPECT_TRUE(has_row(op)) << op;
  }
  for (const char* op : {"DecodeJpeg", "LogUniformCandidateSampler", "QueueDequeueV2", "NoSuchOperation"}) {
    EXPECT_FALSE(has_row(op)) << op;
  }
}

}  // namespace
}  // namespace weir::accelerator
