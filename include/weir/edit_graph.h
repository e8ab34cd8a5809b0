#pragma once

#include "weir/export.h"
#include "weir/graph.h"

namespace weir {

// Changes of nodes that are there already. Runs that were made before a change may still do what was asked then, so
// change nodes before they are first run.

// Makes an input another tensor of the same type. So a loop's Merge gets the value that NextIteration passes on; any
// other cycle throws InvalidArgument, as do a tensor of another type or graph, and an index that there is not.
WEIR_API void update_input(const Operation& operation, int index, const Output& tensor);

// Makes an operation run after another one. Throws InvalidArgument when that already waits for it.
WEIR_API void add_control_input(const Operation& operation, const Operation& before);

// Makes an operation wait for another one no longer. Throws InvalidArgument when it did not.
WEIR_API void remove_control_input(const Operation& operation, const Operation& before);

}  // namespace weir
