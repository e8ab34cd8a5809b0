#pragma once

#include <string_view>

#include "weir/export.h"
#include "weir/graph.h"

namespace weir {

// The contents of a file, read anew in every run.
WEIR_API Output read_file(Graph& graph, const In& filename, std::string_view name = {});
// Replaces the contents of a file; makes its directory if need be.
WEIR_API Operation write_file(Graph& graph, const In& filename, const In& contents, std::string_view name = {});
// The paths that match a pattern of the shell, or several, sorted.
WEIR_API Output matching_files(Graph& graph, const In& pattern, std::string_view name = {});

}  // namespace weir
