#pragma once

#include <string_view>

#include "weir/export.h"
#include "weir/graph.h"

namespace weir::train {

// The variable that counts training steps: an int64 scalar "global_step" in the collection of that name.
//
// The graph's: that of the collection, or else a global variable called "global_step"; empty when there is none. Throws
// InvalidArgument when the collection has more than one, or it is no integer scalar.
WEIR_API Variable get_global_step(const Graph& graph);
// Throws InvalidArgument when there is one already.
WEIR_API Variable create_global_step(Graph& graph, Graph::Where where = Graph::Where::current());
WEIR_API Variable get_or_create_global_step(Graph& graph, Graph::Where where = Graph::Where::current());

}  // namespace weir::train

namespace weir {

// Gives the variables of the collection "local_variables" their initial values: counters of epochs, metrics.
WEIR_API Operation local_variables_initializer(Graph& graph, std::string_view name = "init",
                                               Graph::Where where = Graph::Where::current());
// Fills the tables of the collection "table_initializer".
WEIR_API Operation tables_initializer(Graph& graph, std::string_view name = "init_all_tables",
                                      Graph::Where where = Graph::Where::current());
// A string vector with the names of the variables that have no value yet; by default all global and local ones.
WEIR_API Output report_uninitialized_variables(Graph& graph, std::string_view name = "report_uninitialized_variables",
                                               Graph::Where where = Graph::Where::current());
WEIR_API Output report_uninitialized_variables(Graph& graph, const std::vector<Variable>& variables,
                                               std::string_view name = "report_uninitialized_variables",
                                               Graph::Where where = Graph::Where::current());

}  // namespace weir
