#include "runtime/describe_wait.h"

#include <algorithm>
#include <mutex>
#include <thread>

#include "base/errors.h"
#include "graph/graph_impl.h"

namespace weir {
namespace {

constexpr int kMaxNamed = 3;  // of those who could end a wait

const std::thread::id kMainThread = std::this_thread::get_id();  // which loads the library

std::string with_line(const Node& node) {
  std::string text = fmt::format("'{}'", node.name);
  if (!node.line.file.empty()) text += fmt::format(" ({}:{})", node.line.file, node.line.line);
  return text;
}

// Operations at a queue take from it, when they have outputs, or bring it something, when they have further inputs.
bool takes(const Node& node) { return !node.output_types.empty(); }
bool brings(const Node& node) { return node.output_types.empty() && node.inputs.size() > 1; }

// Those that wait at the same handle on the other side.
std::string counterparts(const Node& node) {
  if (node.inputs.empty()) return "";
  const Output handle = node.inputs[0];
  std::string names;
  int found = 0;
  const GraphStorage& storage = node.graph->impl().storage;
  std::lock_guard lock(storage.mutex);
  for (const auto& other : storage.nodes) {
    // A reader has its own handle before that of the queue that it takes names from.
    const bool beside = other->op->def->waits && std::ranges::find(other->inputs, handle) != other->inputs.end();
    if (!beside || (takes(node) ? !brings(*other) : !takes(*other))) continue;
    if (++found <= kMaxNamed) names += (names.empty() ? "" : ", ") + with_line(*other);
  }
  if (found > kMaxNamed) names += fmt::format(" and {} others", found - kMaxNamed);
  if (takes(node)) {
    return found ? fmt::format(", which is fed by {}: have its queue runners been started?", names)
                 : ", which nothing in this graph feeds";
  }
  return found ? fmt::format(", which is emptied by {}", names) : ", which nothing in this graph empties";
}

}  // namespace

std::string describe_wait(const Node& node, const Resource* resource) {
  std::string text = node.op->name + " " + with_line(node);
  if (resource) text += " on " + resource->describe() + counterparts(node);
  return text;
}

bool is_odd_wait(const Node& node) { return !brings(node) || std::this_thread::get_id() == kMainThread; }

}  // namespace weir
