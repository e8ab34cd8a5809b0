#pragma once

#include <any>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/building_scopes.h"
#include "graph/gradient_state.h"
#include "graph/name_table.h"
#include "graph/storage.h"
#include "weir/graph.h"

namespace weir {

struct VariableStore;

// A graph, by subject. What only one part of Weir needs belongs to that part, not here.
struct Graph::Impl {
  GraphStorage storage;
  NameTable names;
  BuildingScopes scopes;
  GradientState gradients;
  std::map<std::string, std::vector<std::any>, std::less<>> collections;
  std::shared_ptr<VariableStore> variable_store;  // variables shared by name: nn/variable_scope.cc
  int64_t collection_changes = 0;                 // made so far, to any of the collections
  std::atomic<bool> finalized = false;
  // Throws FailedPrecondition when the graph is finalized.
  void check_not_finalized() const;
};

// Puts new nodes into a body (null: the top level). Control dependencies of the scopes outside do not reach inside:
// they belong to the If or While.
class BodyScope {
 public:
  BodyScope(Graph& graph, Body* body)
      : impl_(graph.impl()),
        body_(std::exchange(impl_.scopes.body, body)),
        control_(std::exchange(impl_.scopes.control, {})) {}
  ~BodyScope() {
    impl_.scopes.body = body_;
    impl_.scopes.control = std::move(control_);
  }
  BodyScope(const BodyScope&) = delete;
  BodyScope& operator=(const BodyScope&) = delete;

 private:
  Graph::Impl& impl_;
  Body* body_;
  std::vector<ControlScope> control_;
};

// Makes nodes of a composed function carry the caller's line.
class LineScope {
 public:
  LineScope(Graph& graph, SourceLine line);
  ~LineScope() { slot_ = std::move(saved_); }
  LineScope(const LineScope&) = delete;
  LineScope& operator=(const LineScope&) = delete;

 private:
  std::optional<SourceLine>& slot_;
  std::optional<SourceLine> saved_;
};

SourceLine source_line(const SourceLocation& where);

// A literal as a tensor of the given type; throws InvalidArgument when a number does not fit or is of another kind.
Tensor convert_literal(const Tensor& literal, DType dtype);
// The type that a literal takes when nothing else decides: int32, float, bool or string.
DType default_literal_type(const Tensor& literal);

// Infers the outputs' shapes of `node`, whose inputs, attributes and output types are set.
void infer_shapes(Node& node);

}  // namespace weir
