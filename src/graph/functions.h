#pragma once

#include <any>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "graph/graph_impl.h"

namespace weir {

// A function: a body that operations call by its name, again and again and from any thread. The caller makes one
// placeholder for each argument in it, as its parameters, and sets its results.
Body& add_function(Graph& graph, std::string_view name);
// What a finished function reads from around it, which became its last parameters: the caller passes it with every
// call. `waits` is what must have run before.
struct FunctionCaptures {
  std::vector<Output> tensors;
  std::vector<Operation> waits;
};
FunctionCaptures finish_function(Graph& graph, Body& body);

// Puts new nodes into a function. Names begin anew in it, the scopes around it do not reach inside, and of collections
// only those of variables are the graph's own.
class FunctionScope {
 public:
  FunctionScope(Graph& graph, Body& body);
  ~FunctionScope();
  FunctionScope(const FunctionScope&) = delete;
  FunctionScope& operator=(const FunctionScope&) = delete;

 private:
  Graph::Impl& impl_;
  NameTable names_;
  BuildingScopes scopes_;
  std::map<std::string, std::vector<std::any>, std::less<>> collections_;
};

// A function that is made by calling `make` with placeholders for its arguments; what it gives are the results. All of
// its operations with effects run with every call.
struct FunctionArgument {
  DType dtype;
  Shape shape;
};
struct TracedFunction {
  std::string name;  // unique in the graph
  FunctionCaptures captures;
  std::vector<Output> results;
};
TracedFunction trace_function(Graph& graph, std::string_view name, std::span<const FunctionArgument> arguments,
                              FunctionRef<std::vector<Output>(const std::vector<Output>&)> make);

// A function without arguments that gives what `finish` makes of a copy of `result` and of all nodes that this depends
// on. Throws InvalidArgument, in TensorFlow's words, when one of them is a placeholder or has state.
std::string copy_into_function(const Output& result, std::string_view name, FunctionRef<Output(const Output&)> finish);

}  // namespace weir
