#include <set>

#include "base/errors.h"
#include "distributed/worker.h"
#include "graph/op.h"

namespace weir::distributed {
namespace {

// What an operation may do beside computing and reading and writing what it is given: keep things in the task, draw
// random numbers, look at the time. One that does anything of that kind and is not here is refused.
bool is_allowed_effect(const std::string& op) {
  static const std::set<std::string> names = {
      // What a task keeps: variables, queues, tables, lists, iterators over what the graph has.
      "Variable", "VariableV2", "VarHandleOp", "TemporaryVariable", "FIFOQueue", "FIFOQueueV2", "PaddingFIFOQueue",
      "PaddingFIFOQueueV2", "PriorityQueue", "PriorityQueueV2", "RandomShuffleQueue", "RandomShuffleQueueV2",
      "FakeQueue", "Barrier", "ConditionalAccumulator", "SparseConditionalAccumulator",
      "ResourceConditionalAccumulator", "HashTable", "HashTableV2", "MutableHashTable", "MutableHashTableV2",
      "MutableHashTableOfTensors", "MutableHashTableOfTensorsV2", "MutableDenseHashTable", "MutableDenseHashTableV2",
      "MutexV2", "Stack", "StackV2", "TensorArray", "TensorArrayV2", "TensorArrayV3", "Stage", "StageClear",
      "StagePeek", "StageSize", "Unstage", "MapStage", "MapClear", "MapIncompleteSize", "MapPeek", "MapSize",
      "MapUnstage", "MapUnstageNoKey", "OrderedMapStage", "OrderedMapClear", "OrderedMapIncompleteSize",
      "OrderedMapPeek", "OrderedMapSize", "OrderedMapUnstage", "OrderedMapUnstageNoKey", "GetSessionHandle",
      "GetSessionHandleV2", "GetSessionTensor", "DeleteSessionTensor", "AddSparseToTensorsMap",
      "AddManySparseToTensorsMap", "TakeManySparseFromTensorsMap", "IdentityReader", "IdentityReaderV2", "Iterator",
      "IteratorV2", "OneShotIterator", "IteratorFromStringHandle", "IteratorFromStringHandleV2", "TensorDataset",
      "TensorSliceDataset", "SparseTensorSliceDataset", "RangeDataset", "RandomDataset", "GroupByReducerDataset",
      "ReduceDataset", "DatasetToSingleElement",
      // Random numbers and the time.
      "RandomUniform", "RandomUniformInt", "RandomStandardNormal", "TruncatedNormal", "ParameterizedTruncatedNormal",
      "RandomGamma", "RandomPoisson", "RandomPoissonV2", "RandomShuffle", "RandomCrop", "Multinomial",
      "NonDeterministicInts", "UniformCandidateSampler", "LogUniformCandidateSampler", "LearnedUnigramCandidateSampler",
      "ThreadUnsafeUnigramCandidateSampler", "AllCandidateSampler", "SampleDistortedBoundingBox",
      "SampleDistortedBoundingBoxV2", "Timestamp",
      // What only has to run in its turn.
      "Assert", "CheckNumerics", "DeepCopy", "Empty", "GuaranteeConst", "If", "While", "Case",
      "StatefulPartitionedCall", "TensorListResize"};
  return names.contains(op);
}

// Operations whose rows say that they only compute, or write what they are given, and that look at files or call the
// host's functions for that.
bool is_forbidden(const std::string& op) {
  static const std::set<std::string> names = {"ReadFile",
                                              "WriteFile",
                                              "MatchingFiles",
                                              "RecordInput",
                                              "InitializeTableFromTextFile",
                                              "InitializeTableFromTextFileV2",
                                              "CacheDataset",
                                              "CacheDatasetV2",
                                              "SqlDataset",
                                              "ExperimentalSqlDataset",
                                              "CSVDataset",
                                              "ExperimentalCSVDataset",
                                              "MatchingFilesDataset",
                                              "ExperimentalMatchingFilesDataset",
                                              "TextLineDataset",
                                              "TFRecordDataset",
                                              "FixedLengthRecordDataset",
                                              "FixedLengthRecordDatasetV2",
                                              "PyFuncStateless",
                                              "FixedUnigramCandidateSampler",
                                              "DebugIdentity",
                                              "DebugIdentityV2",
                                              "RemoteCall"};
  return names.contains(op);
}

void check_nodes(const google::protobuf::RepeatedPtrField<proto::NodeDef>& nodes) {
  for (const proto::NodeDef& node : nodes) {
    const Op* op = find_op(node.op());  // importing says what is wrong with one that there is not
    if (!op || (!is_forbidden(node.op()) && (op->effect != Effect::Other || is_allowed_effect(node.op())))) continue;
    throw error(Code::PermissionDenied,
                "{} '{}': this server takes no operations on files or of the host from its clients (it was started for "
                "untrusted "
                "ones)",
                node.op(), node.name());
  }
}

}  // namespace

void check_graph_allowed(const proto::GraphDef& graph, const WorkerOptions& options) {
  size_t nodes = static_cast<size_t>(graph.node_size());
  for (const auto& function : graph.library().function()) nodes += static_cast<size_t>(function.node_def_size());
  if (options.max_graph_nodes > 0 && nodes > options.max_graph_nodes) {
    throw error(Code::ResourceExhausted, "a graph of {} nodes; this server takes at most {}", nodes,
                options.max_graph_nodes);
  }
  if (!options.untrusted_clients) return;
  check_nodes(graph.node());
  for (const auto& function : graph.library().function()) check_nodes(function.node_def());
}

}  // namespace weir::distributed
