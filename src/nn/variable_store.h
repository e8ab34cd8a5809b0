#pragma once

#include <map>
#include <memory>
#include <string>

#include "weir/partitioned_variable.h"
#include "weir/variable_scope.h"

// The variables that get_variable knows, and the scopes they are made in.
namespace weir {

struct VariableScope::State {
  std::string name, original_name_scope;
  Reuse reuse = false;
  Initializer initializer;
  Regularizer regularizer;
  Constraint constraint;
  Partitioner partitioner;
  CustomGetter custom_getter;
  std::string caching_device;
  DType dtype = float32;
  bool use_resource = false;
};

// The variables of get_variable and the current scope of one graph.
struct VariableStore {
  struct Entry {
    Variable variable;
    SourceLine line;
  };
  std::map<std::string, Entry, std::less<>> variables;
  std::map<std::string, PartitionedVariable, std::less<>> partitioned;
  std::map<const Node*, Constraint> constraints;
  std::map<std::string, int, std::less<>> times_entered;  // scopes by name
  std::shared_ptr<VariableScope::State> current = std::make_shared<VariableScope::State>();

  bool entered(const std::string& name) const {
    auto it = times_entered.find(name);
    return it != times_entered.end() && it->second > 0;
  }
};
VariableStore& store_of(Graph& graph);

// "scope/name", or what is there of both.
std::string join_scope(const std::string& scope, std::string_view name);
// As Python writes shapes in messages: "(2, ?)", "(3,)".
std::string python_text(const Shape& shape);

// get_variable by full name, past scopes and their getters: `options` say everything. `part` is what the initializer is
// told; null for a whole variable.
Variable get_variable_of_name(Graph& graph, const std::string& full_name, const Shape& shape,
                              const GetVariableOptions& options, Reuse reuse, const PartitionInfo* part = nullptr);
PartitionedVariable get_partitioned_variable_of_name(Graph& graph, const std::string& full_name, const Shape& shape,
                                                     const Partitioner& partitioner, const GetVariableOptions& options,
                                                     Reuse reuse);
// `options`, completed by what the scope says.
GetVariableOptions completed(const GetVariableOptions& options, const VariableScope::State& scope);

}  // namespace weir
