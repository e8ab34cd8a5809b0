#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/embedding.h"
#include "weir/index_ops.h"
#include "weir/losses.h"
#include "weir/nn_functions.h"
#include "weir/ops.h"

// Composed functions make the same nodes, by name, type and order, as TensorFlow 1.15's Python does.
namespace weir::nn {
namespace {

struct Fixture {
  Graph g;
  Output at(const Shape& shape, DType dtype = float32) { return g.placeholder(dtype, shape, "in"); }
  Output x = at({2, 3}), w = at({3, 4}), b = at({4}), y = at({3, 4}), unknown = at({kUnknown, 3});
  Output v2 = at({2}), v3 = at({3}), v4 = at({4}), count = at({}), row_weights = at({2, 1}), w31 = at({3, 1});
  Output image3 = at({2, 8, 8, 3}), image4 = at({2, 3, 3, 4}), taps54 = at({3, 3, 5, 4});
  Output depthwise = at({3, 3, 3, 2}), pointwise = at({1, 1, 6, 5});
  Output table = at({10, 3}), part5 = at({5, 3}), part5b = at({5, 3}), part4 = at({4, 3});
  Output ids = at({4}, int32), classes = at({3}, int64), x42 = at({4, 2}), mask = at({4}, boolean);
  Output weights = at({20, 4}), biases = at({20}), labels = at({3, 1}, int64), inputs = at({3, 4});

  std::string nodes() const {
    std::string text;
    for (const Operation& op : g.operations()) {
      if (op.type() != "Placeholder") text += (text.empty() ? "" : " ") + op.name() + ":" + op.type();
    }
    return text;
  }
};

struct Case {
  const char* name;
  void (*make)(Fixture& f);
  const char* nodes;
};

const Case kCases[] = {
    {"xw", [](Fixture& f) { xw_plus_b(f.x, f.w, f.b); }, "xw_plus_b/MatMul:MatMul xw_plus_b:BiasAdd"},
    {"relu_layer", [](Fixture& f) { relu_layer(f.x, f.w, f.b); },
     "relu_layer/MatMul:MatMul relu_layer/BiasAdd:BiasAdd relu_layer:Relu"},
    {"l2n", [](Fixture& f) { l2_normalize(f.x, {1}); },
     "l2_normalize/Square:Square l2_normalize/Sum/reduction_indices:Const l2_normalize/Sum:Sum "
     "l2_normalize/Maximum/y:Const l2_normalize/Maximum:Maximum l2_normalize/Rsqrt:Rsqrt l2_normalize:Mul"},
    {"convT",
     [](Fixture& f) {
       conv2d_transpose(f.image4, f.taps54, {2, 6, 6, 5}, {.strides = {1, 2, 2, 1}});
     },
     "conv2d_transpose/input_sizes:Const conv2d_transpose:Conv2DBackpropInput"},
    {"wmom", [](Fixture& f) { weighted_moments(f.x, {0}, f.row_weights); },
     "weighted_moments/mul:Mul weighted_moments/weighted_input_sum/reduction_indices:Const "
     "weighted_moments/weighted_input_sum:Sum weighted_moments/zeros_like:Const weighted_moments/add:AddV2 "
     "weighted_moments/sum_of_weights/reduction_indices:Const weighted_moments/sum_of_weights:Sum "
     "weighted_moments/inv_weight_sum:Reciprocal weighted_moments/Mul_1:Mul "
     "weighted_moments/SquaredDifference:SquaredDifference weighted_moments/mul_2:Mul "
     "weighted_moments/weighted_distsq/reduction_indices:Const weighted_moments/weighted_distsq:Sum "
     "weighted_moments/Mul_3:Mul weighted_moments/Squeeze:Squeeze weighted_moments/Squeeze_1:Squeeze"},
    {"suff", [](Fixture& f) { sufficient_statistics(f.x, {0}); },
     "sufficient_statistics/Const:Const sufficient_statistics/Square:Square "
     "sufficient_statistics/mean_ss/reduction_indices:Const sufficient_statistics/mean_ss:Sum "
     "sufficient_statistics/var_ss/reduction_indices:Const sufficient_statistics/var_ss:Sum"},
    {"suffshift", [](Fixture& f) { sufficient_statistics(f.unknown, {0}, {.shift = 1.0, .keep_dims = true}); },
     "sufficient_statistics/Shape:Shape sufficient_statistics/Cast:Cast "
     "sufficient_statistics/GatherV2/indices:Const sufficient_statistics/GatherV2/axis:Const "
     "sufficient_statistics/GatherV2:GatherV2 sufficient_statistics/Const:Const "
     "sufficient_statistics/count:Prod sufficient_statistics/shift:Const sufficient_statistics/Sub:Sub "
     "sufficient_statistics/SquaredDifference:SquaredDifference "
     "sufficient_statistics/mean_ss/reduction_indices:Const sufficient_statistics/mean_ss:Sum "
     "sufficient_statistics/var_ss/reduction_indices:Const sufficient_statistics/var_ss:Sum"},
    {"normm", [](Fixture& f) { normalize_moments(f.count, f.v3, f.v3); },
     "normalize/divisor:Reciprocal normalize/mean:Mul normalize/Mul:Mul normalize/Square:Square "
     "normalize/variance:Sub"},
    {"normms", [](Fixture& f) { normalize_moments(f.count, f.v3, f.v3, In(f.count)); },
     "normalize/divisor:Reciprocal normalize/shifted_mean:Mul normalize/mean:Add normalize/Mul:Mul "
     "normalize/Square:Square normalize/variance:Sub"},
    {"logp", [](Fixture& f) { log_poisson_loss(f.x, f.x); },
     "log_poisson_loss/Exp:Exp log_poisson_loss/mul:Mul log_poisson_loss/sub:Sub"},
    {"logpf", [](Fixture& f) { log_poisson_loss(f.x, f.x, true); },
     "log_poisson_loss/Exp:Exp log_poisson_loss/mul:Mul log_poisson_loss/sub:Sub log_poisson_loss/Const:Const "
     "log_poisson_loss/Const_1:Const log_poisson_loss/Log:Log log_poisson_loss/mul_1:Mul "
     "log_poisson_loss/sub_1:Sub log_poisson_loss/mul_2:Mul log_poisson_loss/Log_1:Log "
     "log_poisson_loss/mul_3:Mul log_poisson_loss/add:AddV2 log_poisson_loss/zeros_like:Const "
     "log_poisson_loss/ones_like/Shape:Const log_poisson_loss/ones_like/Const:Const "
     "log_poisson_loss/ones_like:Fill log_poisson_loss/GreaterEqual:GreaterEqual "
     "log_poisson_loss/LessEqual:LessEqual log_poisson_loss/LogicalAnd:LogicalAnd "
     "log_poisson_loss/Select:Select log_poisson_loss/add_1:AddV2"},
    {"wce", [](Fixture& f) { weighted_cross_entropy_with_logits(f.x, f.x, 2.0); },
     "logistic_loss/mul/x:Const logistic_loss/mul:Mul logistic_loss/add/x:Const logistic_loss/add:AddV2 "
     "logistic_loss/sub/x:Const logistic_loss/sub:Sub logistic_loss/mul_1:Mul logistic_loss/Abs:Abs "
     "logistic_loss/Neg:Neg logistic_loss/Exp:Exp logistic_loss/Log1p:Log1p logistic_loss/Neg_1:Neg "
     "logistic_loss/Relu:Relu logistic_loss/add_1:AddV2 logistic_loss/mul_2:Mul logistic_loss:Add"},
    {"fbn", [](Fixture& f) { fused_batch_norm(f.image4, f.v4, f.v4); },
     "Const:Const Const_1:Const FusedBatchNormV3:FusedBatchNormV3"},
    {"sep", [](Fixture& f) { separable_conv2d(f.image3, f.depthwise, f.pointwise); },
     "separable_conv2d/Shape:Const separable_conv2d/dilation_rate:Const "
     "separable_conv2d/depthwise:DepthwiseConv2dNative separable_conv2d:Conv2D"},
    {"dw", [](Fixture& f) { depthwise_conv2d(f.image3, f.depthwise); },
     "depthwise/Shape:Const depthwise/dilation_rate:Const depthwise:DepthwiseConv2dNative"},
    {"emb", [](Fixture& f) { embedding_lookup({f.table}, f.ids); },
     "embedding_lookup/axis:Const embedding_lookup:GatherV2 embedding_lookup/Identity:Identity"},
    {"emb2",
     [](Fixture& f) {
       embedding_lookup({f.part5, f.part5b}, f.ids);
     },
     "embedding_lookup/Reshape/shape:Const embedding_lookup/Reshape:Reshape embedding_lookup/Size:Const "
     "embedding_lookup/range/start:Const embedding_lookup/range/delta:Const embedding_lookup/range:Range "
     "embedding_lookup/mod/y:Const embedding_lookup/mod:FloorMod embedding_lookup/floordiv/y:Const "
     "embedding_lookup/floordiv:FloorDiv embedding_lookup/DynamicPartition:DynamicPartition "
     "embedding_lookup/DynamicPartition_1:DynamicPartition embedding_lookup/GatherV2/axis:Const "
     "embedding_lookup/GatherV2:GatherV2 embedding_lookup/GatherV2_1/axis:Const "
     "embedding_lookup/GatherV2_1:GatherV2 embedding_lookup:ParallelDynamicStitch "
     "embedding_lookup/Shape:Const embedding_lookup/concat/values_1:Const embedding_lookup/concat/axis:Const "
     "embedding_lookup/concat:ConcatV2 embedding_lookup/Reshape_1:Reshape"},
    {"emb2d",
     [](Fixture& f) {
       embedding_lookup({f.part5, f.part4}, f.ids, {.strategy = PartitionStrategy::Div});
     },
     "embedding_lookup/Reshape/shape:Const embedding_lookup/Reshape:Reshape embedding_lookup/Size:Const "
     "embedding_lookup/range/start:Const embedding_lookup/range/delta:Const embedding_lookup/range:Range "
     "embedding_lookup/Const:Const embedding_lookup/floordiv/y:Const embedding_lookup/floordiv:FloorDiv "
     "embedding_lookup/mod/y:Const embedding_lookup/mod:FloorMod embedding_lookup/add/y:Const "
     "embedding_lookup/add:AddV2 embedding_lookup/floordiv_1:FloorDiv embedding_lookup/sub:Sub "
     "embedding_lookup/floordiv_2:FloorDiv embedding_lookup/Maximum:Maximum embedding_lookup/Less:Less "
     "embedding_lookup/add_1/y:Const embedding_lookup/add_1:AddV2 embedding_lookup/mod_1:FloorMod "
     "embedding_lookup/sub_1:Sub embedding_lookup/mod_2:FloorMod embedding_lookup/Select:Select "
     "embedding_lookup/DynamicPartition:DynamicPartition embedding_lookup/DynamicPartition_1:DynamicPartition "
     "embedding_lookup/GatherV2/axis:Const embedding_lookup/GatherV2:GatherV2 "
     "embedding_lookup/GatherV2_1/axis:Const embedding_lookup/GatherV2_1:GatherV2 "
     "embedding_lookup:ParallelDynamicStitch embedding_lookup/Shape:Const "
     "embedding_lookup/concat/values_1:Const embedding_lookup/concat/axis:Const "
     "embedding_lookup/concat:ConcatV2 embedding_lookup/Reshape_1:Reshape"},
    {"embn", [](Fixture& f) { embedding_lookup({f.table}, f.ids, {.max_norm = 1.0}); },
     "embedding_lookup/axis:Const embedding_lookup:GatherV2 embedding_lookup/clip_by_norm/mul:Mul "
     "embedding_lookup/clip_by_norm/Sum/reduction_indices:Const embedding_lookup/clip_by_norm/Sum:Sum "
     "embedding_lookup/clip_by_norm/Greater/y:Const embedding_lookup/clip_by_norm/Greater:Greater "
     "embedding_lookup/clip_by_norm/ones_like/Shape:Const embedding_lookup/clip_by_norm/ones_like/Const:Const "
     "embedding_lookup/clip_by_norm/ones_like:Fill embedding_lookup/clip_by_norm/Select:Select "
     "embedding_lookup/clip_by_norm/Sqrt:Sqrt embedding_lookup/clip_by_norm/Select_1:Select "
     "embedding_lookup/clip_by_norm/mul_1/y:Const embedding_lookup/clip_by_norm/mul_1:Mul "
     "embedding_lookup/clip_by_norm/Maximum/y:Const embedding_lookup/clip_by_norm/Maximum:Maximum "
     "embedding_lookup/clip_by_norm/truediv:RealDiv embedding_lookup/clip_by_norm:Identity "
     "embedding_lookup/Identity:Identity"},
    {"nce",
     [](Fixture& f) { nce_loss({f.weights}, {f.biases}, f.labels, f.inputs, {.num_sampled = 5, .num_classes = 20}); },
     "nce_loss/Reshape/shape:Const nce_loss/Reshape:Reshape "
     "nce_loss/LogUniformCandidateSampler:LogUniformCandidateSampler nce_loss/StopGradient:StopGradient "
     "nce_loss/StopGradient_1:StopGradient nce_loss/StopGradient_2:StopGradient nce_loss/concat/axis:Const "
     "nce_loss/concat:ConcatV2 nce_loss/embedding_lookup/axis:Const nce_loss/embedding_lookup:GatherV2 "
     "nce_loss/embedding_lookup/Identity:Identity nce_loss/Shape:Const nce_loss/strided_slice/stack:Const "
     "nce_loss/strided_slice/stack_1:Const nce_loss/strided_slice/stack_2:Const "
     "nce_loss/strided_slice:StridedSlice nce_loss/stack/1:Const nce_loss/stack:Pack "
     "nce_loss/Slice/begin:Const nce_loss/Slice:Slice nce_loss/Shape_1:Const "
     "nce_loss/strided_slice_1/stack:Const nce_loss/strided_slice_1/stack_1:Const "
     "nce_loss/strided_slice_1/stack_2:Const nce_loss/strided_slice_1:StridedSlice nce_loss/stack_1/1:Const "
     "nce_loss/stack_1:Pack nce_loss/Slice_1/size:Const nce_loss/Slice_1:Slice nce_loss/MatMul:MatMul "
     "nce_loss/embedding_lookup_1/axis:Const nce_loss/embedding_lookup_1:GatherV2 "
     "nce_loss/embedding_lookup_1/Identity:Identity nce_loss/Shape_2:Const nce_loss/Slice_2/begin:Const "
     "nce_loss/Slice_2:Slice nce_loss/Shape_3:Const nce_loss/Slice_3/size:Const nce_loss/Slice_3:Slice "
     "nce_loss/Shape_4:Const nce_loss/strided_slice_2/stack:Const nce_loss/strided_slice_2/stack_1:Const "
     "nce_loss/strided_slice_2/stack_2:Const nce_loss/strided_slice_2:StridedSlice "
     "nce_loss/concat_1/values_0:Const nce_loss/concat_1/axis:Const nce_loss/concat_1:ConcatV2 "
     "nce_loss/ExpandDims/dim:Const nce_loss/ExpandDims:ExpandDims nce_loss/Reshape_1:Reshape "
     "nce_loss/Mul:Mul nce_loss/concat_2/values_0:Const nce_loss/concat_2/axis:Const "
     "nce_loss/concat_2:ConcatV2 nce_loss/Reshape_2:Reshape nce_loss/Shape_5:Const "
     "nce_loss/strided_slice_3/stack:Const nce_loss/strided_slice_3/stack_1:Const "
     "nce_loss/strided_slice_3/stack_2:Const nce_loss/strided_slice_3:StridedSlice nce_loss/stack_2/1:Const "
     "nce_loss/stack_2:Pack nce_loss/ones/Const:Const nce_loss/ones:Fill nce_loss/MatMul_1:MatMul "
     "nce_loss/Reshape_3/shape:Const nce_loss/Reshape_3:Reshape nce_loss/Reshape_4/shape:Const "
     "nce_loss/Reshape_4:Reshape nce_loss/Reshape_5/shape:Const nce_loss/Reshape_5:Reshape nce_loss/add:AddV2 "
     "nce_loss/add_1:AddV2 nce_loss/Log:Log nce_loss/sub:Sub nce_loss/Log_1:Log nce_loss/sub_1:Sub "
     "nce_loss/concat_3/axis:Const nce_loss/concat_3:ConcatV2 nce_loss/ones_like/Shape:Const "
     "nce_loss/ones_like/Const:Const nce_loss/ones_like:Fill nce_loss/truediv/y:Const "
     "nce_loss/truediv:RealDiv nce_loss/zeros_like:Const nce_loss/concat_4/axis:Const "
     "nce_loss/concat_4:ConcatV2 sampled_losses/zeros_like:Const sampled_losses/GreaterEqual:GreaterEqual "
     "sampled_losses/Select:Select sampled_losses/Neg:Neg sampled_losses/Select_1:Select "
     "sampled_losses/mul:Mul sampled_losses/sub:Sub sampled_losses/Exp:Exp sampled_losses/Log1p:Log1p "
     "sampled_losses:Add Shape:Const strided_slice/stack:Const strided_slice/stack_1:Const "
     "strided_slice/stack_2:Const strided_slice:StridedSlice stack/1:Const stack:Pack ones/Const:Const "
     "ones:Fill MatMul:MatMul Reshape/shape:Const Reshape:Reshape"},
    {"ssl",
     [](Fixture& f) {
       sampled_softmax_loss({f.weights}, {f.biases}, f.labels, f.inputs, {.num_sampled = 5, .num_classes = 20});
     },
     "sampled_softmax_loss/Reshape/shape:Const sampled_softmax_loss/Reshape:Reshape "
     "sampled_softmax_loss/LogUniformCandidateSampler:LogUniformCandidateSampler "
     "sampled_softmax_loss/StopGradient:StopGradient sampled_softmax_loss/StopGradient_1:StopGradient "
     "sampled_softmax_loss/StopGradient_2:StopGradient sampled_softmax_loss/concat/axis:Const "
     "sampled_softmax_loss/concat:ConcatV2 sampled_softmax_loss/embedding_lookup/axis:Const "
     "sampled_softmax_loss/embedding_lookup:GatherV2 sampled_softmax_loss/embedding_lookup/Identity:Identity "
     "sampled_softmax_loss/Shape:Const sampled_softmax_loss/strided_slice/stack:Const "
     "sampled_softmax_loss/strided_slice/stack_1:Const sampled_softmax_loss/strided_slice/stack_2:Const "
     "sampled_softmax_loss/strided_slice:StridedSlice sampled_softmax_loss/stack/1:Const "
     "sampled_softmax_loss/stack:Pack sampled_softmax_loss/Slice/begin:Const sampled_softmax_loss/Slice:Slice "
     "sampled_softmax_loss/Shape_1:Const sampled_softmax_loss/strided_slice_1/stack:Const "
     "sampled_softmax_loss/strided_slice_1/stack_1:Const sampled_softmax_loss/strided_slice_1/stack_2:Const "
     "sampled_softmax_loss/strided_slice_1:StridedSlice sampled_softmax_loss/stack_1/1:Const "
     "sampled_softmax_loss/stack_1:Pack sampled_softmax_loss/Slice_1/size:Const "
     "sampled_softmax_loss/Slice_1:Slice sampled_softmax_loss/MatMul:MatMul "
     "sampled_softmax_loss/embedding_lookup_1/axis:Const sampled_softmax_loss/embedding_lookup_1:GatherV2 "
     "sampled_softmax_loss/embedding_lookup_1/Identity:Identity sampled_softmax_loss/Shape_2:Const "
     "sampled_softmax_loss/Slice_2/begin:Const sampled_softmax_loss/Slice_2:Slice "
     "sampled_softmax_loss/Shape_3:Const sampled_softmax_loss/Slice_3/size:Const "
     "sampled_softmax_loss/Slice_3:Slice sampled_softmax_loss/Shape_4:Const "
     "sampled_softmax_loss/strided_slice_2/stack:Const sampled_softmax_loss/strided_slice_2/stack_1:Const "
     "sampled_softmax_loss/strided_slice_2/stack_2:Const sampled_softmax_loss/strided_slice_2:StridedSlice "
     "sampled_softmax_loss/concat_1/values_0:Const sampled_softmax_loss/concat_1/axis:Const "
     "sampled_softmax_loss/concat_1:ConcatV2 sampled_softmax_loss/ExpandDims/dim:Const "
     "sampled_softmax_loss/ExpandDims:ExpandDims sampled_softmax_loss/Reshape_1:Reshape "
     "sampled_softmax_loss/Mul:Mul sampled_softmax_loss/concat_2/values_0:Const "
     "sampled_softmax_loss/concat_2/axis:Const sampled_softmax_loss/concat_2:ConcatV2 "
     "sampled_softmax_loss/Reshape_2:Reshape sampled_softmax_loss/Shape_5:Const "
     "sampled_softmax_loss/strided_slice_3/stack:Const sampled_softmax_loss/strided_slice_3/stack_1:Const "
     "sampled_softmax_loss/strided_slice_3/stack_2:Const sampled_softmax_loss/strided_slice_3:StridedSlice "
     "sampled_softmax_loss/stack_2/1:Const sampled_softmax_loss/stack_2:Pack "
     "sampled_softmax_loss/ones/Const:Const sampled_softmax_loss/ones:Fill "
     "sampled_softmax_loss/MatMul_1:MatMul sampled_softmax_loss/Reshape_3/shape:Const "
     "sampled_softmax_loss/Reshape_3:Reshape sampled_softmax_loss/Reshape_4/shape:Const "
     "sampled_softmax_loss/Reshape_4:Reshape sampled_softmax_loss/Reshape_5/shape:Const "
     "sampled_softmax_loss/Reshape_5:Reshape sampled_softmax_loss/add:AddV2 sampled_softmax_loss/add_1:AddV2 "
     "sampled_softmax_loss/ComputeAccidentalHits:ComputeAccidentalHits "
     "sampled_softmax_loss/Reshape_6/shape:Const sampled_softmax_loss/Reshape_6:Reshape "
     "sampled_softmax_loss/Cast:Cast sampled_softmax_loss/Reshape_7/shape:Const "
     "sampled_softmax_loss/Reshape_7:Reshape sampled_softmax_loss/sparse_indices/axis:Const "
     "sampled_softmax_loss/sparse_indices:ConcatV2 sampled_softmax_loss/Shape_6:Const "
     "sampled_softmax_loss/strided_slice_4/stack:Const sampled_softmax_loss/strided_slice_4/stack_1:Const "
     "sampled_softmax_loss/strided_slice_4/stack_2:Const sampled_softmax_loss/strided_slice_4:StridedSlice "
     "sampled_softmax_loss/ExpandDims_1/input:Const sampled_softmax_loss/ExpandDims_1/dim:Const "
     "sampled_softmax_loss/ExpandDims_1:ExpandDims sampled_softmax_loss/concat_3/axis:Const "
     "sampled_softmax_loss/concat_3:ConcatV2 sampled_softmax_loss/SparseToDense/default_value:Const "
     "sampled_softmax_loss/SparseToDense:SparseToDense sampled_softmax_loss/add_2:AddV2 "
     "sampled_softmax_loss/Log:Log sampled_softmax_loss/sub:Sub sampled_softmax_loss/Log_1:Log "
     "sampled_softmax_loss/sub_1:Sub sampled_softmax_loss/concat_4/axis:Const "
     "sampled_softmax_loss/concat_4:ConcatV2 sampled_softmax_loss/ones_like/Shape:Const "
     "sampled_softmax_loss/ones_like/Const:Const sampled_softmax_loss/ones_like:Fill "
     "sampled_softmax_loss/truediv/y:Const sampled_softmax_loss/truediv:RealDiv "
     "sampled_softmax_loss/zeros_like:Const sampled_softmax_loss/concat_5/axis:Const "
     "sampled_softmax_loss/concat_5:ConcatV2 labels_stop_gradient:StopGradient "
     "softmax_cross_entropy_with_logits/Rank:Const softmax_cross_entropy_with_logits/Shape:Const "
     "softmax_cross_entropy_with_logits/Rank_1:Const softmax_cross_entropy_with_logits/Shape_1:Const "
     "softmax_cross_entropy_with_logits/Sub/y:Const softmax_cross_entropy_with_logits/Sub:Sub "
     "softmax_cross_entropy_with_logits/Slice/begin:Pack softmax_cross_entropy_with_logits/Slice/size:Const "
     "softmax_cross_entropy_with_logits/Slice:Slice softmax_cross_entropy_with_logits/concat/values_0:Const "
     "softmax_cross_entropy_with_logits/concat/axis:Const softmax_cross_entropy_with_logits/concat:ConcatV2 "
     "softmax_cross_entropy_with_logits/Reshape:Reshape softmax_cross_entropy_with_logits/Rank_2:Const "
     "softmax_cross_entropy_with_logits/Shape_2:Const softmax_cross_entropy_with_logits/Sub_1/y:Const "
     "softmax_cross_entropy_with_logits/Sub_1:Sub softmax_cross_entropy_with_logits/Slice_1/begin:Pack "
     "softmax_cross_entropy_with_logits/Slice_1/size:Const softmax_cross_entropy_with_logits/Slice_1:Slice "
     "softmax_cross_entropy_with_logits/concat_1/values_0:Const "
     "softmax_cross_entropy_with_logits/concat_1/axis:Const "
     "softmax_cross_entropy_with_logits/concat_1:ConcatV2 softmax_cross_entropy_with_logits/Reshape_1:Reshape "
     "softmax_cross_entropy_with_logits:SoftmaxCrossEntropyWithLogits "
     "softmax_cross_entropy_with_logits/Sub_2/y:Const softmax_cross_entropy_with_logits/Sub_2:Sub "
     "softmax_cross_entropy_with_logits/Slice_2/begin:Const "
     "softmax_cross_entropy_with_logits/Slice_2/size:Pack softmax_cross_entropy_with_logits/Slice_2:Slice "
     "softmax_cross_entropy_with_logits/Reshape_2:Reshape"},
    {"losses sce", [](Fixture& f) { losses::softmax_cross_entropy(f.y, f.y); },
     "softmax_cross_entropy_loss/labels_stop_gradient:StopGradient "
     "softmax_cross_entropy_loss/xentropy/Rank:Const softmax_cross_entropy_loss/xentropy/Shape:Const "
     "softmax_cross_entropy_loss/xentropy/Rank_1:Const softmax_cross_entropy_loss/xentropy/Shape_1:Const "
     "softmax_cross_entropy_loss/xentropy/Sub/y:Const softmax_cross_entropy_loss/xentropy/Sub:Sub "
     "softmax_cross_entropy_loss/xentropy/Slice/begin:Pack "
     "softmax_cross_entropy_loss/xentropy/Slice/size:Const softmax_cross_entropy_loss/xentropy/Slice:Slice "
     "softmax_cross_entropy_loss/xentropy/concat/values_0:Const "
     "softmax_cross_entropy_loss/xentropy/concat/axis:Const "
     "softmax_cross_entropy_loss/xentropy/concat:ConcatV2 softmax_cross_entropy_loss/xentropy/Reshape:Reshape "
     "softmax_cross_entropy_loss/xentropy/Rank_2:Const softmax_cross_entropy_loss/xentropy/Shape_2:Const "
     "softmax_cross_entropy_loss/xentropy/Sub_1/y:Const softmax_cross_entropy_loss/xentropy/Sub_1:Sub "
     "softmax_cross_entropy_loss/xentropy/Slice_1/begin:Pack "
     "softmax_cross_entropy_loss/xentropy/Slice_1/size:Const "
     "softmax_cross_entropy_loss/xentropy/Slice_1:Slice "
     "softmax_cross_entropy_loss/xentropy/concat_1/values_0:Const "
     "softmax_cross_entropy_loss/xentropy/concat_1/axis:Const "
     "softmax_cross_entropy_loss/xentropy/concat_1:ConcatV2 "
     "softmax_cross_entropy_loss/xentropy/Reshape_1:Reshape "
     "softmax_cross_entropy_loss/xentropy:SoftmaxCrossEntropyWithLogits "
     "softmax_cross_entropy_loss/xentropy/Sub_2/y:Const softmax_cross_entropy_loss/xentropy/Sub_2:Sub "
     "softmax_cross_entropy_loss/xentropy/Slice_2/begin:Const "
     "softmax_cross_entropy_loss/xentropy/Slice_2/size:Pack softmax_cross_entropy_loss/xentropy/Slice_2:Slice "
     "softmax_cross_entropy_loss/xentropy/Reshape_2:Reshape "
     "softmax_cross_entropy_loss/assert_broadcastable/weights:Const "
     "softmax_cross_entropy_loss/assert_broadcastable/weights/shape:Const "
     "softmax_cross_entropy_loss/assert_broadcastable/weights/rank:Const "
     "softmax_cross_entropy_loss/assert_broadcastable/values/shape:Const "
     "softmax_cross_entropy_loss/assert_broadcastable/values/rank:Const "
     "softmax_cross_entropy_loss/assert_broadcastable/static_scalar_check_success:NoOp "
     "softmax_cross_entropy_loss/Cast/x:Const softmax_cross_entropy_loss/Mul:Mul "
     "softmax_cross_entropy_loss/Const:Const softmax_cross_entropy_loss/Sum:Sum "
     "softmax_cross_entropy_loss/num_present/Equal/y:Const softmax_cross_entropy_loss/num_present/Equal:Equal "
     "softmax_cross_entropy_loss/num_present/zeros_like:Const "
     "softmax_cross_entropy_loss/num_present/ones_like/Shape:Const "
     "softmax_cross_entropy_loss/num_present/ones_like/Const:Const "
     "softmax_cross_entropy_loss/num_present/ones_like:Fill "
     "softmax_cross_entropy_loss/num_present/Select:Select "
     "softmax_cross_entropy_loss/num_present/broadcast_weights/assert_broadcastable/weights/shape:Const "
     "softmax_cross_entropy_loss/num_present/broadcast_weights/assert_broadcastable/weights/rank:Const "
     "softmax_cross_entropy_loss/num_present/broadcast_weights/assert_broadcastable/values/shape:Const "
     "softmax_cross_entropy_loss/num_present/broadcast_weights/assert_broadcastable/values/rank:Const "
     "softmax_cross_entropy_loss/num_present/broadcast_weights/assert_broadcastable/static_scalar_check_success:NoOp "
     "softmax_cross_entropy_loss/num_present/broadcast_weights/ones_like/Shape:Const "
     "softmax_cross_entropy_loss/num_present/broadcast_weights/ones_like/Const:Const "
     "softmax_cross_entropy_loss/num_present/broadcast_weights/ones_like:Fill "
     "softmax_cross_entropy_loss/num_present/broadcast_weights:Mul "
     "softmax_cross_entropy_loss/num_present/Const:Const softmax_cross_entropy_loss/num_present:Sum "
     "softmax_cross_entropy_loss/Const_1:Const softmax_cross_entropy_loss/Sum_1:Sum "
     "softmax_cross_entropy_loss/value:DivNoNan"},
    {"losses scels", [](Fixture& f) { losses::softmax_cross_entropy(f.y, f.y, 0.1f); },
     "softmax_cross_entropy_loss/Shape:Const softmax_cross_entropy_loss/strided_slice/stack:Const "
     "softmax_cross_entropy_loss/strided_slice/stack_1:Const "
     "softmax_cross_entropy_loss/strided_slice/stack_2:Const "
     "softmax_cross_entropy_loss/strided_slice:StridedSlice softmax_cross_entropy_loss/Cast:Cast "
     "softmax_cross_entropy_loss/truediv/x:Const softmax_cross_entropy_loss/truediv:RealDiv "
     "softmax_cross_entropy_loss/mul/y:Const softmax_cross_entropy_loss/mul:Mul "
     "softmax_cross_entropy_loss/add:AddV2 softmax_cross_entropy_loss/labels_stop_gradient:StopGradient "
     "softmax_cross_entropy_loss/xentropy/Rank:Const softmax_cross_entropy_loss/xentropy/Shape:Const "
     "softmax_cross_entropy_loss/xentropy/Rank_1:Const softmax_cross_entropy_loss/xentropy/Shape_1:Const "
     "softmax_cross_entropy_loss/xentropy/Sub/y:Const softmax_cross_entropy_loss/xentropy/Sub:Sub "
     "softmax_cross_entropy_loss/xentropy/Slice/begin:Pack "
     "softmax_cross_entropy_loss/xentropy/Slice/size:Const softmax_cross_entropy_loss/xentropy/Slice:Slice "
     "softmax_cross_entropy_loss/xentropy/concat/values_0:Const "
     "softmax_cross_entropy_loss/xentropy/concat/axis:Const "
     "softmax_cross_entropy_loss/xentropy/concat:ConcatV2 softmax_cross_entropy_loss/xentropy/Reshape:Reshape "
     "softmax_cross_entropy_loss/xentropy/Rank_2:Const softmax_cross_entropy_loss/xentropy/Shape_2:Const "
     "softmax_cross_entropy_loss/xentropy/Sub_1/y:Const softmax_cross_entropy_loss/xentropy/Sub_1:Sub "
     "softmax_cross_entropy_loss/xentropy/Slice_1/begin:Pack "
     "softmax_cross_entropy_loss/xentropy/Slice_1/size:Const "
     "softmax_cross_entropy_loss/xentropy/Slice_1:Slice "
     "softmax_cross_entropy_loss/xentropy/concat_1/values_0:Const "
     "softmax_cross_entropy_loss/xentropy/concat_1/axis:Const "
     "softmax_cross_entropy_loss/xentropy/concat_1:ConcatV2 "
     "softmax_cross_entropy_loss/xentropy/Reshape_1:Reshape "
     "softmax_cross_entropy_loss/xentropy:SoftmaxCrossEntropyWithLogits "
     "softmax_cross_entropy_loss/xentropy/Sub_2/y:Const softmax_cross_entropy_loss/xentropy/Sub_2:Sub "
     "softmax_cross_entropy_loss/xentropy/Slice_2/begin:Const "
     "softmax_cross_entropy_loss/xentropy/Slice_2/size:Pack softmax_cross_entropy_loss/xentropy/Slice_2:Slice "
     "softmax_cross_entropy_loss/xentropy/Reshape_2:Reshape "
     "softmax_cross_entropy_loss/assert_broadcastable/weights:Const "
     "softmax_cross_entropy_loss/assert_broadcastable/weights/shape:Const "
     "softmax_cross_entropy_loss/assert_broadcastable/weights/rank:Const "
     "softmax_cross_entropy_loss/assert_broadcastable/values/shape:Const "
     "softmax_cross_entropy_loss/assert_broadcastable/values/rank:Const "
     "softmax_cross_entropy_loss/assert_broadcastable/static_scalar_check_success:NoOp "
     "softmax_cross_entropy_loss/Cast_1/x:Const softmax_cross_entropy_loss/Mul_1:Mul "
     "softmax_cross_entropy_loss/Const:Const softmax_cross_entropy_loss/Sum:Sum "
     "softmax_cross_entropy_loss/num_present/Equal/y:Const softmax_cross_entropy_loss/num_present/Equal:Equal "
     "softmax_cross_entropy_loss/num_present/zeros_like:Const "
     "softmax_cross_entropy_loss/num_present/ones_like/Shape:Const "
     "softmax_cross_entropy_loss/num_present/ones_like/Const:Const "
     "softmax_cross_entropy_loss/num_present/ones_like:Fill "
     "softmax_cross_entropy_loss/num_present/Select:Select "
     "softmax_cross_entropy_loss/num_present/broadcast_weights/assert_broadcastable/weights/shape:Const "
     "softmax_cross_entropy_loss/num_present/broadcast_weights/assert_broadcastable/weights/rank:Const "
     "softmax_cross_entropy_loss/num_present/broadcast_weights/assert_broadcastable/values/shape:Const "
     "softmax_cross_entropy_loss/num_present/broadcast_weights/assert_broadcastable/values/rank:Const "
     "softmax_cross_entropy_loss/num_present/broadcast_weights/assert_broadcastable/static_scalar_check_success:NoOp "
     "softmax_cross_entropy_loss/num_present/broadcast_weights/ones_like/Shape:Const "
     "softmax_cross_entropy_loss/num_present/broadcast_weights/ones_like/Const:Const "
     "softmax_cross_entropy_loss/num_present/broadcast_weights/ones_like:Fill "
     "softmax_cross_entropy_loss/num_present/broadcast_weights:Mul "
     "softmax_cross_entropy_loss/num_present/Const:Const softmax_cross_entropy_loss/num_present:Sum "
     "softmax_cross_entropy_loss/Const_1:Const softmax_cross_entropy_loss/Sum_1:Sum "
     "softmax_cross_entropy_loss/value:DivNoNan"},
    {"losses ssce", [](Fixture& f) { losses::sparse_softmax_cross_entropy(f.classes, f.y); },
     "sparse_softmax_cross_entropy_loss/Const:Const sparse_softmax_cross_entropy_loss/xentropy/Shape:Const "
     "sparse_softmax_cross_entropy_loss/xentropy/xentropy:SparseSoftmaxCrossEntropyWithLogits "
     "sparse_softmax_cross_entropy_loss/assert_broadcastable/weights/shape:Const "
     "sparse_softmax_cross_entropy_loss/assert_broadcastable/weights/rank:Const "
     "sparse_softmax_cross_entropy_loss/assert_broadcastable/values/shape:Const "
     "sparse_softmax_cross_entropy_loss/assert_broadcastable/values/rank:Const "
     "sparse_softmax_cross_entropy_loss/assert_broadcastable/static_scalar_check_success:NoOp "
     "sparse_softmax_cross_entropy_loss/Mul:Mul sparse_softmax_cross_entropy_loss/Const_1:Const "
     "sparse_softmax_cross_entropy_loss/Sum:Sum sparse_softmax_cross_entropy_loss/num_present/Equal/y:Const "
     "sparse_softmax_cross_entropy_loss/num_present/Equal:Equal "
     "sparse_softmax_cross_entropy_loss/num_present/zeros_like:Const "
     "sparse_softmax_cross_entropy_loss/num_present/ones_like/Shape:Const "
     "sparse_softmax_cross_entropy_loss/num_present/ones_like/Const:Const "
     "sparse_softmax_cross_entropy_loss/num_present/ones_like:Fill "
     "sparse_softmax_cross_entropy_loss/num_present/Select:Select "
     "sparse_softmax_cross_entropy_loss/num_present/broadcast_weights/assert_broadcastable/weights/shape:Const "
     "sparse_softmax_cross_entropy_loss/num_present/broadcast_weights/assert_broadcastable/weights/rank:Const "
     "sparse_softmax_cross_entropy_loss/num_present/broadcast_weights/assert_broadcastable/values/shape:Const "
     "sparse_softmax_cross_entropy_loss/num_present/broadcast_weights/assert_broadcastable/values/rank:Const "
     "sparse_softmax_cross_entropy_loss/num_present/broadcast_weights/assert_broadcastable/"
     "static_scalar_check_success:NoOp "
     "sparse_softmax_cross_entropy_loss/num_present/broadcast_weights/ones_like/Shape:Const "
     "sparse_softmax_cross_entropy_loss/num_present/broadcast_weights/ones_like/Const:Const "
     "sparse_softmax_cross_entropy_loss/num_present/broadcast_weights/ones_like:Fill "
     "sparse_softmax_cross_entropy_loss/num_present/broadcast_weights:Mul "
     "sparse_softmax_cross_entropy_loss/num_present/Const:Const "
     "sparse_softmax_cross_entropy_loss/num_present:Sum sparse_softmax_cross_entropy_loss/Const_2:Const "
     "sparse_softmax_cross_entropy_loss/Sum_1:Sum sparse_softmax_cross_entropy_loss/value:DivNoNan"},
    {"losses mse", [](Fixture& f) { losses::mean_squared_error(f.y, f.y); },
     "mean_squared_error/SquaredDifference:SquaredDifference "
     "mean_squared_error/assert_broadcastable/weights:Const "
     "mean_squared_error/assert_broadcastable/weights/shape:Const "
     "mean_squared_error/assert_broadcastable/weights/rank:Const "
     "mean_squared_error/assert_broadcastable/values/shape:Const "
     "mean_squared_error/assert_broadcastable/values/rank:Const "
     "mean_squared_error/assert_broadcastable/static_scalar_check_success:NoOp "
     "mean_squared_error/Cast/x:Const mean_squared_error/Mul:Mul mean_squared_error/Const:Const "
     "mean_squared_error/Sum:Sum mean_squared_error/num_present/Equal/y:Const "
     "mean_squared_error/num_present/Equal:Equal mean_squared_error/num_present/zeros_like:Const "
     "mean_squared_error/num_present/ones_like/Shape:Const "
     "mean_squared_error/num_present/ones_like/Const:Const mean_squared_error/num_present/ones_like:Fill "
     "mean_squared_error/num_present/Select:Select "
     "mean_squared_error/num_present/broadcast_weights/assert_broadcastable/weights/shape:Const "
     "mean_squared_error/num_present/broadcast_weights/assert_broadcastable/weights/rank:Const "
     "mean_squared_error/num_present/broadcast_weights/assert_broadcastable/values/shape:Const "
     "mean_squared_error/num_present/broadcast_weights/assert_broadcastable/values/rank:Const "
     "mean_squared_error/num_present/broadcast_weights/assert_broadcastable/static_scalar_check_success:NoOp "
     "mean_squared_error/num_present/broadcast_weights/ones_like/Shape:Const "
     "mean_squared_error/num_present/broadcast_weights/ones_like/Const:Const "
     "mean_squared_error/num_present/broadcast_weights/ones_like:Fill "
     "mean_squared_error/num_present/broadcast_weights:Mul mean_squared_error/num_present/Const:Const "
     "mean_squared_error/num_present:Sum mean_squared_error/Const_1:Const mean_squared_error/Sum_1:Sum "
     "mean_squared_error/value:DivNoNan"},
    {"losses msew", [](Fixture& f) { losses::mean_squared_error(f.y, f.y, {.weights = f.w31}); },
     "mean_squared_error/SquaredDifference:SquaredDifference "
     "mean_squared_error/assert_broadcastable/weights/shape:Const "
     "mean_squared_error/assert_broadcastable/weights/rank:Const "
     "mean_squared_error/assert_broadcastable/values/shape:Const "
     "mean_squared_error/assert_broadcastable/values/rank:Const "
     "mean_squared_error/assert_broadcastable/static_dims_check_success:NoOp mean_squared_error/Mul:Mul "
     "mean_squared_error/Const:Const mean_squared_error/Sum:Sum mean_squared_error/num_present/Equal/y:Const "
     "mean_squared_error/num_present/Equal:Equal mean_squared_error/num_present/zeros_like:Const "
     "mean_squared_error/num_present/ones_like/Shape:Const "
     "mean_squared_error/num_present/ones_like/Const:Const mean_squared_error/num_present/ones_like:Fill "
     "mean_squared_error/num_present/Select:Select "
     "mean_squared_error/num_present/broadcast_weights/assert_broadcastable/weights/shape:Const "
     "mean_squared_error/num_present/broadcast_weights/assert_broadcastable/weights/rank:Const "
     "mean_squared_error/num_present/broadcast_weights/assert_broadcastable/values/shape:Const "
     "mean_squared_error/num_present/broadcast_weights/assert_broadcastable/values/rank:Const "
     "mean_squared_error/num_present/broadcast_weights/assert_broadcastable/static_dims_check_success:NoOp "
     "mean_squared_error/num_present/broadcast_weights/ones_like/Shape:Const "
     "mean_squared_error/num_present/broadcast_weights/ones_like/Const:Const "
     "mean_squared_error/num_present/broadcast_weights/ones_like:Fill "
     "mean_squared_error/num_present/broadcast_weights:Mul mean_squared_error/num_present/Const:Const "
     "mean_squared_error/num_present:Sum mean_squared_error/Const_1:Const mean_squared_error/Sum_1:Sum "
     "mean_squared_error/value:DivNoNan"},
    {"losses ad", [](Fixture& f) { losses::absolute_difference(f.y, f.y, {.weights = 0.5}); },
     "absolute_difference/Sub:Sub absolute_difference/Abs:Abs "
     "absolute_difference/assert_broadcastable/weights:Const "
     "absolute_difference/assert_broadcastable/weights/shape:Const "
     "absolute_difference/assert_broadcastable/weights/rank:Const "
     "absolute_difference/assert_broadcastable/values/shape:Const "
     "absolute_difference/assert_broadcastable/values/rank:Const "
     "absolute_difference/assert_broadcastable/static_scalar_check_success:NoOp "
     "absolute_difference/Cast/x:Const absolute_difference/Mul:Mul absolute_difference/Const:Const "
     "absolute_difference/Sum:Sum absolute_difference/num_present/Equal/y:Const "
     "absolute_difference/num_present/Equal:Equal absolute_difference/num_present/zeros_like:Const "
     "absolute_difference/num_present/ones_like/Shape:Const "
     "absolute_difference/num_present/ones_like/Const:Const absolute_difference/num_present/ones_like:Fill "
     "absolute_difference/num_present/Select:Select "
     "absolute_difference/num_present/broadcast_weights/assert_broadcastable/weights/shape:Const "
     "absolute_difference/num_present/broadcast_weights/assert_broadcastable/weights/rank:Const "
     "absolute_difference/num_present/broadcast_weights/assert_broadcastable/values/shape:Const "
     "absolute_difference/num_present/broadcast_weights/assert_broadcastable/values/rank:Const "
     "absolute_difference/num_present/broadcast_weights/assert_broadcastable/static_scalar_check_success:NoOp "
     "absolute_difference/num_present/broadcast_weights/ones_like/Shape:Const "
     "absolute_difference/num_present/broadcast_weights/ones_like/Const:Const "
     "absolute_difference/num_present/broadcast_weights/ones_like:Fill "
     "absolute_difference/num_present/broadcast_weights:Mul absolute_difference/num_present/Const:Const "
     "absolute_difference/num_present:Sum absolute_difference/Const_1:Const absolute_difference/Sum_1:Sum "
     "absolute_difference/value:DivNoNan"},
    {"losses log", [](Fixture& f) { losses::log_loss(f.y, f.y); },
     "log_loss/add/y:Const log_loss/add:AddV2 log_loss/Log:Log log_loss/Mul:Mul log_loss/Neg:Neg "
     "log_loss/sub/x:Const log_loss/sub:Sub log_loss/sub_1/x:Const log_loss/sub_1:Sub log_loss/add_1/y:Const "
     "log_loss/add_1:AddV2 log_loss/Log_1:Log log_loss/Mul_1:Mul log_loss/sub_2:Sub "
     "log_loss/assert_broadcastable/weights:Const log_loss/assert_broadcastable/weights/shape:Const "
     "log_loss/assert_broadcastable/weights/rank:Const log_loss/assert_broadcastable/values/shape:Const "
     "log_loss/assert_broadcastable/values/rank:Const "
     "log_loss/assert_broadcastable/static_scalar_check_success:NoOp log_loss/Cast/x:Const log_loss/Mul_2:Mul "
     "log_loss/Const:Const log_loss/Sum:Sum log_loss/num_present/Equal/y:Const "
     "log_loss/num_present/Equal:Equal log_loss/num_present/zeros_like:Const "
     "log_loss/num_present/ones_like/Shape:Const log_loss/num_present/ones_like/Const:Const "
     "log_loss/num_present/ones_like:Fill log_loss/num_present/Select:Select "
     "log_loss/num_present/broadcast_weights/assert_broadcastable/weights/shape:Const "
     "log_loss/num_present/broadcast_weights/assert_broadcastable/weights/rank:Const "
     "log_loss/num_present/broadcast_weights/assert_broadcastable/values/shape:Const "
     "log_loss/num_present/broadcast_weights/assert_broadcastable/values/rank:Const "
     "log_loss/num_present/broadcast_weights/assert_broadcastable/static_scalar_check_success:NoOp "
     "log_loss/num_present/broadcast_weights/ones_like/Shape:Const "
     "log_loss/num_present/broadcast_weights/ones_like/Const:Const "
     "log_loss/num_present/broadcast_weights/ones_like:Fill log_loss/num_present/broadcast_weights:Mul "
     "log_loss/num_present/Const:Const log_loss/num_present:Sum log_loss/Const_1:Const log_loss/Sum_1:Sum "
     "log_loss/value:DivNoNan"},
    {"losses hinge", [](Fixture& f) { losses::hinge_loss(f.y, f.y); },
     "hinge_loss/ones_like/Shape:Const hinge_loss/ones_like/Const:Const hinge_loss/ones_like:Fill "
     "hinge_loss/mul/x:Const hinge_loss/mul:Mul hinge_loss/Sub:Sub hinge_loss/Mul_1:Mul hinge_loss/Sub_1:Sub "
     "hinge_loss/Relu:Relu hinge_loss/assert_broadcastable/weights:Const "
     "hinge_loss/assert_broadcastable/weights/shape:Const hinge_loss/assert_broadcastable/weights/rank:Const "
     "hinge_loss/assert_broadcastable/values/shape:Const hinge_loss/assert_broadcastable/values/rank:Const "
     "hinge_loss/assert_broadcastable/static_scalar_check_success:NoOp hinge_loss/Cast/x:Const "
     "hinge_loss/Mul_2:Mul hinge_loss/Const:Const hinge_loss/Sum:Sum hinge_loss/num_present/Equal/y:Const "
     "hinge_loss/num_present/Equal:Equal hinge_loss/num_present/zeros_like:Const "
     "hinge_loss/num_present/ones_like/Shape:Const hinge_loss/num_present/ones_like/Const:Const "
     "hinge_loss/num_present/ones_like:Fill hinge_loss/num_present/Select:Select "
     "hinge_loss/num_present/broadcast_weights/assert_broadcastable/weights/shape:Const "
     "hinge_loss/num_present/broadcast_weights/assert_broadcastable/weights/rank:Const "
     "hinge_loss/num_present/broadcast_weights/assert_broadcastable/values/shape:Const "
     "hinge_loss/num_present/broadcast_weights/assert_broadcastable/values/rank:Const "
     "hinge_loss/num_present/broadcast_weights/assert_broadcastable/static_scalar_check_success:NoOp "
     "hinge_loss/num_present/broadcast_weights/ones_like/Shape:Const "
     "hinge_loss/num_present/broadcast_weights/ones_like/Const:Const "
     "hinge_loss/num_present/broadcast_weights/ones_like:Fill hinge_loss/num_present/broadcast_weights:Mul "
     "hinge_loss/num_present/Const:Const hinge_loss/num_present:Sum hinge_loss/Const_1:Const "
     "hinge_loss/Sum_1:Sum hinge_loss/value:DivNoNan"},
    {"losses huber", [](Fixture& f) { losses::huber_loss(f.y, f.y); },
     "huber_loss/Sub:Sub huber_loss/Abs:Abs huber_loss/Minimum/y:Const huber_loss/Minimum:Minimum "
     "huber_loss/Sub_1:Sub huber_loss/Const:Const huber_loss/Mul:Mul huber_loss/Mul_1:Mul "
     "huber_loss/Mul_2/x:Const huber_loss/Mul_2:Mul huber_loss/Add:Add "
     "huber_loss/assert_broadcastable/weights:Const huber_loss/assert_broadcastable/weights/shape:Const "
     "huber_loss/assert_broadcastable/weights/rank:Const huber_loss/assert_broadcastable/values/shape:Const "
     "huber_loss/assert_broadcastable/values/rank:Const "
     "huber_loss/assert_broadcastable/static_scalar_check_success:NoOp huber_loss/Cast/x:Const "
     "huber_loss/Mul_3:Mul huber_loss/Const_1:Const huber_loss/Sum:Sum huber_loss/num_present/Equal/y:Const "
     "huber_loss/num_present/Equal:Equal huber_loss/num_present/zeros_like:Const "
     "huber_loss/num_present/ones_like/Shape:Const huber_loss/num_present/ones_like/Const:Const "
     "huber_loss/num_present/ones_like:Fill huber_loss/num_present/Select:Select "
     "huber_loss/num_present/broadcast_weights/assert_broadcastable/weights/shape:Const "
     "huber_loss/num_present/broadcast_weights/assert_broadcastable/weights/rank:Const "
     "huber_loss/num_present/broadcast_weights/assert_broadcastable/values/shape:Const "
     "huber_loss/num_present/broadcast_weights/assert_broadcastable/values/rank:Const "
     "huber_loss/num_present/broadcast_weights/assert_broadcastable/static_scalar_check_success:NoOp "
     "huber_loss/num_present/broadcast_weights/ones_like/Shape:Const "
     "huber_loss/num_present/broadcast_weights/ones_like/Const:Const "
     "huber_loss/num_present/broadcast_weights/ones_like:Fill huber_loss/num_present/broadcast_weights:Mul "
     "huber_loss/num_present/Const:Const huber_loss/num_present:Sum huber_loss/Const_2:Const "
     "huber_loss/Sum_1:Sum huber_loss/value:DivNoNan"},
    {"losses sig", [](Fixture& f) { losses::sigmoid_cross_entropy(f.y, f.y); },
     "sigmoid_cross_entropy_loss/xentropy/zeros_like:Const "
     "sigmoid_cross_entropy_loss/xentropy/GreaterEqual:GreaterEqual "
     "sigmoid_cross_entropy_loss/xentropy/Select:Select sigmoid_cross_entropy_loss/xentropy/Neg:Neg "
     "sigmoid_cross_entropy_loss/xentropy/Select_1:Select sigmoid_cross_entropy_loss/xentropy/mul:Mul "
     "sigmoid_cross_entropy_loss/xentropy/sub:Sub sigmoid_cross_entropy_loss/xentropy/Exp:Exp "
     "sigmoid_cross_entropy_loss/xentropy/Log1p:Log1p sigmoid_cross_entropy_loss/xentropy:Add "
     "sigmoid_cross_entropy_loss/assert_broadcastable/weights:Const "
     "sigmoid_cross_entropy_loss/assert_broadcastable/weights/shape:Const "
     "sigmoid_cross_entropy_loss/assert_broadcastable/weights/rank:Const "
     "sigmoid_cross_entropy_loss/assert_broadcastable/values/shape:Const "
     "sigmoid_cross_entropy_loss/assert_broadcastable/values/rank:Const "
     "sigmoid_cross_entropy_loss/assert_broadcastable/static_scalar_check_success:NoOp "
     "sigmoid_cross_entropy_loss/Cast/x:Const sigmoid_cross_entropy_loss/Mul:Mul "
     "sigmoid_cross_entropy_loss/Const:Const sigmoid_cross_entropy_loss/Sum:Sum "
     "sigmoid_cross_entropy_loss/num_present/Equal/y:Const sigmoid_cross_entropy_loss/num_present/Equal:Equal "
     "sigmoid_cross_entropy_loss/num_present/zeros_like:Const "
     "sigmoid_cross_entropy_loss/num_present/ones_like/Shape:Const "
     "sigmoid_cross_entropy_loss/num_present/ones_like/Const:Const "
     "sigmoid_cross_entropy_loss/num_present/ones_like:Fill "
     "sigmoid_cross_entropy_loss/num_present/Select:Select "
     "sigmoid_cross_entropy_loss/num_present/broadcast_weights/assert_broadcastable/weights/shape:Const "
     "sigmoid_cross_entropy_loss/num_present/broadcast_weights/assert_broadcastable/weights/rank:Const "
     "sigmoid_cross_entropy_loss/num_present/broadcast_weights/assert_broadcastable/values/shape:Const "
     "sigmoid_cross_entropy_loss/num_present/broadcast_weights/assert_broadcastable/values/rank:Const "
     "sigmoid_cross_entropy_loss/num_present/broadcast_weights/assert_broadcastable/static_scalar_check_success:NoOp "
     "sigmoid_cross_entropy_loss/num_present/broadcast_weights/ones_like/Shape:Const "
     "sigmoid_cross_entropy_loss/num_present/broadcast_weights/ones_like/Const:Const "
     "sigmoid_cross_entropy_loss/num_present/broadcast_weights/ones_like:Fill "
     "sigmoid_cross_entropy_loss/num_present/broadcast_weights:Mul "
     "sigmoid_cross_entropy_loss/num_present/Const:Const sigmoid_cross_entropy_loss/num_present:Sum "
     "sigmoid_cross_entropy_loss/Const_1:Const sigmoid_cross_entropy_loss/Sum_1:Sum "
     "sigmoid_cross_entropy_loss/value:DivNoNan"},
    {"losses cos", [](Fixture& f) { losses::cosine_distance(f.y, f.y, 1); },
     "cosine_distance_loss/Mul:Mul cosine_distance_loss/Sum/reduction_indices:Const "
     "cosine_distance_loss/Sum:Sum cosine_distance_loss/sub/x:Const cosine_distance_loss/sub:Sub "
     "cosine_distance_loss/assert_broadcastable/weights:Const "
     "cosine_distance_loss/assert_broadcastable/weights/shape:Const "
     "cosine_distance_loss/assert_broadcastable/weights/rank:Const "
     "cosine_distance_loss/assert_broadcastable/values/shape:Const "
     "cosine_distance_loss/assert_broadcastable/values/rank:Const "
     "cosine_distance_loss/assert_broadcastable/static_scalar_check_success:NoOp "
     "cosine_distance_loss/Cast/x:Const cosine_distance_loss/Mul_1:Mul cosine_distance_loss/Const:Const "
     "cosine_distance_loss/Sum_1:Sum cosine_distance_loss/num_present/Equal/y:Const "
     "cosine_distance_loss/num_present/Equal:Equal cosine_distance_loss/num_present/zeros_like:Const "
     "cosine_distance_loss/num_present/ones_like/Shape:Const "
     "cosine_distance_loss/num_present/ones_like/Const:Const cosine_distance_loss/num_present/ones_like:Fill "
     "cosine_distance_loss/num_present/Select:Select "
     "cosine_distance_loss/num_present/broadcast_weights/assert_broadcastable/weights/shape:Const "
     "cosine_distance_loss/num_present/broadcast_weights/assert_broadcastable/weights/rank:Const "
     "cosine_distance_loss/num_present/broadcast_weights/assert_broadcastable/values/shape:Const "
     "cosine_distance_loss/num_present/broadcast_weights/assert_broadcastable/values/rank:Const "
     "cosine_distance_loss/num_present/broadcast_weights/assert_broadcastable/static_scalar_check_success:NoOp "
     "cosine_distance_loss/num_present/broadcast_weights/ones_like/Shape:Const "
     "cosine_distance_loss/num_present/broadcast_weights/ones_like/Const:Const "
     "cosine_distance_loss/num_present/broadcast_weights/ones_like:Fill "
     "cosine_distance_loss/num_present/broadcast_weights:Mul cosine_distance_loss/num_present/Const:Const "
     "cosine_distance_loss/num_present:Sum cosine_distance_loss/Const_1:Const cosine_distance_loss/Sum_2:Sum "
     "cosine_distance_loss/value:DivNoNan"},
    {"losses mean", [](Fixture& f) { losses::mean_squared_error(f.y, f.y, {.reduction = losses::Reduction::Mean}); },
     "mean_squared_error/SquaredDifference:SquaredDifference "
     "mean_squared_error/assert_broadcastable/weights:Const "
     "mean_squared_error/assert_broadcastable/weights/shape:Const "
     "mean_squared_error/assert_broadcastable/weights/rank:Const "
     "mean_squared_error/assert_broadcastable/values/shape:Const "
     "mean_squared_error/assert_broadcastable/values/rank:Const "
     "mean_squared_error/assert_broadcastable/static_scalar_check_success:NoOp "
     "mean_squared_error/Cast/x:Const mean_squared_error/Mul:Mul mean_squared_error/Const:Const "
     "mean_squared_error/Sum:Sum mean_squared_error/ones_like/Shape:Const "
     "mean_squared_error/ones_like/Const:Const mean_squared_error/ones_like:Fill mean_squared_error/mul_1:Mul "
     "mean_squared_error/Const_1:Const mean_squared_error/Sum_1:Sum mean_squared_error/Const_2:Const "
     "mean_squared_error/Sum_2:Sum mean_squared_error/value:DivNoNan"},
    {"losses sum", [](Fixture& f) { losses::mean_squared_error(f.y, f.y, {.reduction = losses::Reduction::Sum}); },
     "mean_squared_error/SquaredDifference:SquaredDifference "
     "mean_squared_error/assert_broadcastable/weights:Const "
     "mean_squared_error/assert_broadcastable/weights/shape:Const "
     "mean_squared_error/assert_broadcastable/weights/rank:Const "
     "mean_squared_error/assert_broadcastable/values/shape:Const "
     "mean_squared_error/assert_broadcastable/values/rank:Const "
     "mean_squared_error/assert_broadcastable/static_scalar_check_success:NoOp "
     "mean_squared_error/Cast/x:Const mean_squared_error/Mul:Mul mean_squared_error/Const:Const "
     "mean_squared_error/Sum:Sum"},
    {"losses none", [](Fixture& f) { losses::mean_squared_error(f.y, f.y, {.reduction = losses::Reduction::None}); },
     "mean_squared_error/SquaredDifference:SquaredDifference "
     "mean_squared_error/assert_broadcastable/weights:Const "
     "mean_squared_error/assert_broadcastable/weights/shape:Const "
     "mean_squared_error/assert_broadcastable/weights/rank:Const "
     "mean_squared_error/assert_broadcastable/values/shape:Const "
     "mean_squared_error/assert_broadcastable/values/rank:Const "
     "mean_squared_error/assert_broadcastable/static_scalar_check_success:NoOp "
     "mean_squared_error/Cast/x:Const mean_squared_error/Mul:Mul"},
    {"losses sobs",
     [](Fixture& f) { losses::mean_squared_error(f.y, f.y, {.reduction = losses::Reduction::SumOverBatchSize}); },
     "mean_squared_error/SquaredDifference:SquaredDifference "
     "mean_squared_error/assert_broadcastable/weights:Const "
     "mean_squared_error/assert_broadcastable/weights/shape:Const "
     "mean_squared_error/assert_broadcastable/weights/rank:Const "
     "mean_squared_error/assert_broadcastable/values/shape:Const "
     "mean_squared_error/assert_broadcastable/values/rank:Const "
     "mean_squared_error/assert_broadcastable/static_scalar_check_success:NoOp "
     "mean_squared_error/Cast/x:Const mean_squared_error/Mul:Mul mean_squared_error/Const:Const "
     "mean_squared_error/Sum:Sum mean_squared_error/num_elements:Const "
     "mean_squared_error/num_elements/Cast:Cast mean_squared_error/Const_1:Const mean_squared_error/Sum_1:Sum "
     "mean_squared_error/value:DivNoNan"},
    {"mesh",
     [](Fixture& f) {
       meshgrid({f.v2, f.v3});
     },
     "meshgrid/Reshape/shape:Const meshgrid/Reshape:Reshape meshgrid/Reshape_1/shape:Const "
     "meshgrid/Reshape_1:Reshape meshgrid/Size:Const meshgrid/Size_1:Const meshgrid/Reshape_2/shape:Const "
     "meshgrid/Reshape_2:Reshape meshgrid/Reshape_3/shape:Const meshgrid/Reshape_3:Reshape "
     "meshgrid/ones/mul:Mul meshgrid/ones/Less/y:Const meshgrid/ones/Less:Less meshgrid/ones/packed:Pack "
     "meshgrid/ones/Const:Const meshgrid/ones:Fill meshgrid/mul:Mul meshgrid/mul_1:Mul"},
    {"meshij",
     [](Fixture& f) {
       meshgrid({f.v2, f.v3}, false);
     },
     "meshgrid/Reshape/shape:Const meshgrid/Reshape:Reshape meshgrid/Reshape_1/shape:Const "
     "meshgrid/Reshape_1:Reshape meshgrid/Size:Const meshgrid/Size_1:Const meshgrid/ones/mul:Mul "
     "meshgrid/ones/Less/y:Const meshgrid/ones/Less:Less meshgrid/ones/packed:Pack meshgrid/ones/Const:Const "
     "meshgrid/ones:Fill meshgrid/mul:Mul meshgrid/mul_1:Mul"},
    {"seqm", [](Fixture& f) { sequence_mask(f.ids, In(5)); },
     "SequenceMask/Const:Const SequenceMask/Const_1:Const SequenceMask/Const_2:Const SequenceMask/Range:Range "
     "SequenceMask/ExpandDims/dim:Const SequenceMask/ExpandDims:ExpandDims SequenceMask/Cast:Cast "
     "SequenceMask/Less:Less"},
    {"seqm0", [](Fixture& f) { sequence_mask(f.ids, {}, float32); },
     "SequenceMask/Const:Const SequenceMask/Max:Max SequenceMask/Const_1:Const SequenceMask/Maximum:Maximum "
     "SequenceMask/Const_2:Const SequenceMask/Const_3:Const SequenceMask/Range:Range "
     "SequenceMask/ExpandDims/dim:Const SequenceMask/ExpandDims:ExpandDims SequenceMask/Cast:Cast "
     "SequenceMask/Less:Less SequenceMask/Cast_1:Cast"},
    {"bm", [](Fixture& f) { boolean_mask(f.x42, f.mask); },
     "boolean_mask/Shape:Const boolean_mask/strided_slice/stack:Const "
     "boolean_mask/strided_slice/stack_1:Const boolean_mask/strided_slice/stack_2:Const "
     "boolean_mask/strided_slice:StridedSlice boolean_mask/Prod/reduction_indices:Const "
     "boolean_mask/Prod:Prod boolean_mask/Shape_1:Const boolean_mask/strided_slice_1/stack:Const "
     "boolean_mask/strided_slice_1/stack_1:Const boolean_mask/strided_slice_1/stack_2:Const "
     "boolean_mask/strided_slice_1:StridedSlice boolean_mask/Shape_2:Const "
     "boolean_mask/strided_slice_2/stack:Const boolean_mask/strided_slice_2/stack_1:Const "
     "boolean_mask/strided_slice_2/stack_2:Const boolean_mask/strided_slice_2:StridedSlice "
     "boolean_mask/concat/values_1:Pack boolean_mask/concat/axis:Const boolean_mask/concat:ConcatV2 "
     "boolean_mask/Reshape:Reshape boolean_mask/Reshape_1/shape:Const boolean_mask/Reshape_1:Reshape "
     "boolean_mask/Where:Where boolean_mask/Squeeze:Squeeze boolean_mask/GatherV2/axis:Const "
     "boolean_mask/GatherV2:GatherV2"},
};

TEST(ComposedFunctions, HaveTensorFlowsNodes) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    Fixture f;
    c.make(f);
    EXPECT_EQ(f.nodes(), c.nodes);
  }
}

}  // namespace
}  // namespace weir::nn
