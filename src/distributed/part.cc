#include "distributed/part.h"

#include <algorithm>
#include <set>

#include "base/errors.h"
#include "distributed/part_graph.h"
#include "graph/graph_def.h"

namespace weir::distributed {
namespace {

// What nobody of the part reads or waits for: running these runs everything.
std::vector<Operation> ends_of(const Graph& graph) {
  std::set<const Node*> read;
  std::vector<Operation> ends;
  for (const Operation& op : graph.operations()) {
    for (int i = 0; i < op.inputs(); ++i) read.insert(op.input(i).node());
    for (const Operation& control : op.control_inputs()) read.insert(control.node());
  }
  for (const Operation& op : graph.operations()) {
    if (!op.node()->body && !read.contains(op.node()) && op.node()->op->role != Role::Placeholder) ends.push_back(op);
  }
  return ends;
}

}  // namespace

Part::Part(const proto::GraphDef& graph, const SessionOptions& options) {
  PartGraph part(graph);
  import_graph(graph_, part.graph, {}, part.is_cut ? ControlFlow::Nodes : ControlFlow::Bodies);
  if (part.uses_step) step_ = graph_.output(PartGraph::kStep + ":0");
  feeds_ = std::move(part.feeds);
  fetches_ = std::move(part.fetches);
  for (const auto& [key, name] : fetches_) graph_.output(name);  // throws for what is not there
  targets_ = ends_of(graph_);
  session_ = std::make_unique<Session>(graph_, options);
}

std::shared_ptr<const Part::Variant> Part::variant(const std::vector<std::pair<std::string, Tensor>>& sends,
                                                   const std::vector<std::string>& receives) {
  auto same = [&](const std::shared_ptr<const Variant>& v) {
    return v->receives == receives && v->sends.size() == sends.size() &&
           std::equal(sends.begin(), sends.end(), v->sends.begin(),
                      [](const auto& send, const std::string& key) { return send.first == key; });
  };
  std::lock_guard lock(mutex_);
  auto known = std::find_if(variants_.begin(), variants_.end(), same);
  if (known != variants_.end()) return *known;
  CallableSpec spec{.targets = targets_};
  std::vector<std::string> send_keys;
  if (step_) spec.feeds.push_back(step_);
  for (const auto& [key, value] : sends) {
    auto feed = feeds_.find(key);
    if (feed == feeds_.end()) throw invalid_argument("the part receives nothing under the key '{}'", key);
    spec.feeds.push_back(graph_.output(feed->second));
    send_keys.push_back(key);
  }
  for (const std::string& key : receives) {
    auto fetch = fetches_.find(key);
    if (fetch == fetches_.end()) throw invalid_argument("the part sends nothing under the key '{}'", key);
    spec.fetches.push_back(graph_.output(fetch->second));
  }
  constexpr size_t kMostVariants = 64;
  if (variants_.size() >= kMostVariants) variants_.erase(variants_.begin());
  auto made = std::make_shared<const Variant>(Variant{send_keys, receives, session_->make_callable(spec)});
  variants_.push_back(made);
  return made;
}

std::vector<Tensor> Part::run(int64_t step, const std::vector<std::pair<std::string, Tensor>>& sends,
                              const std::vector<std::string>& receives, const RunOptions& options) {
  const std::shared_ptr<const Variant> chosen = variant(sends, receives);
  std::vector<Tensor> feeds, results(receives.size());
  feeds.reserve(sends.size() + 1);
  if (step_) feeds.emplace_back(step);
  for (const auto& [key, value] : sends) feeds.push_back(value);
  chosen->callable.call(feeds, results, options);
  return results;
}

}  // namespace weir::distributed
