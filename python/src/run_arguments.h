#pragma once

#include <string>
#include <vector>

#include "convert.h"
#include "weir/session.h"

// What a run is asked for and given, in Python's terms: nested structures of fetches (fetches.cc), feeds (feeds.cc).
namespace weir::python {

// The fetches of one run, flattened; build() gives the values in the same structure.
class Fetches {
 public:
  Fetches(GraphObject& graph, nb::handle fetches, nb::handle session);

  std::vector<Output> outputs;
  std::vector<Operation> targets;

  nb::object build(std::vector<Tensor>& values);
  int traverse(visitproc visitor, void* arg) const;  // for the garbage collector

 private:
  // What a class of its own stands for: its tensors, and the function that makes a value of theirs.
  struct Foreign {
    nb::object tensors, assemble;
  };

  void check_graph(const Graph& graph, nb::handle object) const;
  nb::object by_name(nb::handle object) const;
  void visit(nb::handle object);
  nb::object build(nb::handle object);

  GraphObject& graph_;
  nb::handle structure_, session_;
  std::vector<Foreign> foreign_;
  std::vector<Tensor>* values_ = nullptr;
  size_t next_ = 0, next_foreign_ = 0;
};

// The tensor that a key of a feed dictionary means; `by_name` holds it where the key is not a tensor itself.
const Output& feed_target(GraphObject& graph, nb::handle key, Output& by_name);
Feed make_feed(const Output& output, nb::handle value);
// A feed dictionary, or None.
std::vector<Feed> to_feeds(GraphObject& graph, nb::handle feed_dict);

}  // namespace weir::python
