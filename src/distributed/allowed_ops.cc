#include <set>

#include "base/errors.h"
#include "distributed/worker.h"
#include "graph/op.h"

namespace weir::distributed {
namespace {

// Operations that look at or change what is outside of the graph: files, the host's programs, the network. What is not
// here and yet does not say in its row that it only reads, writes variables or computes is looked at by name below.
const std::set<std::string>& forbidden() {
  static const std::set<std::string> names = {
      // Files.
      "ReadFile", "WriteFile", "MatchingFiles", "RecordInput", "Save", "SaveV2", "SaveSlices", "Restore", "RestoreV2", "RestoreSlice",
      "MergeV2Checkpoints", "ShardedFilename", "ShardedFilespec", "WholeFileReader", "WholeFileReaderV2", "TextLineReader",
      "TextLineReaderV2", "TFRecordReader", "TFRecordReaderV2", "FixedLengthRecordReader", "FixedLengthRecordReaderV2",
      "LMDBReader", "InitializeTableFromTextFile", "InitializeTableFromTextFileV2", "TextLineDataset", "TFRecordDataset",
      "FixedLengthRecordDataset", "FixedLengthRecordDatasetV2", "MatchingFilesDataset", "CacheDataset", "CacheDatasetV2",
      "SqlDataset", "ExperimentalSqlDataset", "CSVDataset", "ExperimentalCSVDataset", "ExperimentalMatchingFilesDataset",
      "LMDBDataset", "ExperimentalLMDBDataset", "DatasetToTFRecord", "ExperimentalDatasetToTFRecord",
      "SummaryWriter", "CreateSummaryFileWriter", "CreateSummaryDbWriter", "ImportEvent",
      "FlushSummaryWriter", "WriteSummary", "WriteGraphSummary", "Bucketize_", "FixedUnigramCandidateSampler",
      "DebugIdentity", "DebugIdentityV2", "DebugNanCount", "DebugNumericSummary", "PrintV2", "Print", "LogicalPrint",
      // The host's functions and programs.
      "PyFunc", "PyFuncStateless", "EagerPyFunc", "GeneratorDataset", "RemoteCall", "RpcOp", "TryRpc", "Rpc"};
  return names;
}

void check_nodes(const google::protobuf::RepeatedPtrField<proto::NodeDef>& nodes) {
  for (const proto::NodeDef& node : nodes) {
    if (!forbidden().contains(node.op())) continue;
    throw error(Code::PermissionDenied,
                "{} '{}': this server takes no operations on files or of the host from its clients (it was started for untrusted "
                "ones)",
                node.op(), node.name());
  }
}

}  // namespace

void check_graph_allowed(const proto::GraphDef& graph, const WorkerOptions& options) {
  size_t nodes = static_cast<size_t>(graph.node_size());
  for (const auto& function : graph.library().function()) nodes += static_cast<size_t>(function.node_def_size());
  if (options.max_graph_nodes > 0 && nodes > options.max_graph_nodes) {
    throw error(Code::ResourceExhausted, "a graph of {} nodes; this server takes at most {}", nodes, options.max_graph_nodes);
  }
  if (!options.untrusted_clients) return;
  check_nodes(graph.node());
  for (const auto& function : graph.library().function()) check_nodes(function.node_def());
}

}  // namespace weir::distributed
