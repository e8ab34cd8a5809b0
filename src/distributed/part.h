#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "proto/graph.pb.h"
#include "weir/session.h"

namespace weir::distributed {

// A part of a graph as a master registers it: nodes _Send and _Recv stand where it was cut. Those that end at the
// master become what is fed and fetched; the others meet their like in other tasks, by the number of the step.
//
// Thread-safe.
class Part {
 public:
  // Throws InvalidArgument, naming the node.
  Part(const proto::GraphDef& graph, const SessionOptions& options);

  // Whether what the master sends and receives goes through the rendezvous, too, so that it may come in pieces.
  bool runs_in_pieces() const { return feeds_.empty() && fetches_.empty(); }

  std::vector<Tensor> run(int64_t step, const std::vector<std::pair<std::string, Tensor>>& sends,
                          const std::vector<std::string>& receives, const RunOptions& options);
  void close() { session_->close(); }

 private:
  // Feeds and fetches in one order, which steps repeat.
  struct Variant {
    std::vector<std::string> sends, receives;
    Session::Callable callable;
  };
  std::shared_ptr<const Variant> variant(const std::vector<std::pair<std::string, Tensor>>& sends,
                                         const std::vector<std::string>& receives);

  Graph graph_;
  Output step_;
  std::map<std::string, std::string> feeds_, fetches_;  // key -> "name:0"
  std::vector<Operation> targets_;
  std::unique_ptr<Session> session_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<const Variant>> variants_;  // guarded by mutex_
};

}  // namespace weir::distributed
