// Feeds arbitrary bytes to Graph::import_graph_def, and what is a graph to a session. Nothing may crash, leak, hang or
// end in any exception but weir::Error; a refused graph must leave nothing behind.

#include <google/protobuf/stubs/logging.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>

#include "graph/graph_def.h"
#include "weir/session.h"

namespace {

using namespace weir;

constexpr size_t kMaxNodes = 64;
constexpr int64_t kMaxElements = 1 << 16;

// Their outputs are as large as their inputs at most, though only a run can tell.
bool is_bounded(const std::string& op) { return op == "Where" || op == "DynamicPartition" || op == "Unique"; }

// Shapes that are known when the graph is built bound the work of a step.
bool is_small(const Operation& op) {
  if (is_bounded(op.type())) return true;
  for (int i = 0; i < op.outputs(); ++i) {
    const Shape& shape = op.output(i).shape();
    try {
      if (!shape.is_known() || shape.elements() > kMaxElements) return false;
    } catch (const Error&) {
      return false;  // sizes that overflow
    }
  }
  return true;
}

void import(Graph& graph, std::string_view bytes) {
  Operation kept = graph.no_op("kept");
  try {
    graph.import_graph_def(bytes);
  } catch (const Error&) {
    if (graph.operations().size() != 1 || graph.find("kept") != kept) std::abort();
  }
}

void run(Graph& graph) {
  std::vector<Operation> all = graph.operations();
  if (all.size() > kMaxNodes) return;
  for (const Operation& op : all) {
    if (!is_small(op)) return;
  }
  Session session(graph, {.intra_op_parallelism_threads = 1});
  for (const Operation& op : all) {
    try {
      std::vector<Output> fetches;
      for (int i = 0; i < op.outputs(); ++i) {
        if (op.output(i).dtype() != DType::Resource) fetches.push_back(op.output(i));
      }
      session.run(fetches, {}, {op}, {.timeout = std::chrono::seconds(5)});
    } catch (const Error&) {  // unfed placeholders, values out of range: the session must go on working
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  google::protobuf::SetLogHandler(nullptr);  // what it says about bad input is noise here
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Graph graph;
  import(graph, {reinterpret_cast<const char*>(data), size});
  try {
    graph.to_graph_def();
  } catch (const Error&) {
    std::abort();  // what was accepted can be written
  }
  run(graph);
  return 0;
}
