#pragma once

#include <string>
#include <string_view>

#include "weir/export.h"
#include "weir/graph.h"

namespace weir {

// A picture of a graph as one HTML page that needs no network and no other file. Scopes are boxes that open and close;
// the page's script lays out what is open, so that graphs of many thousand nodes show at once. Text from the graph is
// data on the page, never markup: graphs of unknown origin can be shown.

struct GraphHtmlOptions {
  std::string title = "Graph";
};

// Of a graph, with the shapes of its tensors.
WEIR_API std::string graph_html(const Graph& graph, const GraphHtmlOptions& options = {});
// Of a serialised GraphDef; shapes are shown where nodes have the attribute _output_shapes. Operations that Weir does
// not know are fine. Throws InvalidArgument when the bytes are no GraphDef.
WEIR_API std::string graph_html(std::string_view graph_def, const GraphHtmlOptions& options = {});

// The serialised GraphDef of a file: a GraphDef or a MetaGraphDef (a checkpoint's .meta), binary or text, or an event
// file, of which the last graph is taken. Throws NotFound when there is no file or no graph in an event file, DataLoss
// when it is none of these.
WEIR_API std::string read_graph_def(const std::string& path);

// Writes a page so that the file appears whole or not at all. Devices and pipes are written to as they are.
WEIR_API void write_graph_html(const std::string& path, std::string_view html);

}  // namespace weir
