#pragma once

#include <string>

#include "weir/error.h"
#include "weir/graph.h"

namespace weir::distributed {

// Errors on the wire: a code and a text. The node that is to blame stands at the end of the text as TensorFlow's
// clients look for it, "[[{{node layer1/MatMul}}]]".
std::string error_text(const Error& error);

// The error of such a text. The node's operation and line come from the graph, which may be null.
Error error_from_text(Code code, const std::string& text, const Graph* graph);

// Any exception as one of Weir's.
Error as_error(const std::exception_ptr& exception);

}  // namespace weir::distributed
