#include <fmt/core.h>

#include <filesystem>

#include "command.h"
#include "weir/graph_html.h"

namespace weir::tool {
namespace {

int run(std::span<const std::string> words) {
  const Arguments arguments = parse_arguments(words, {"-o", "--title"});
  if (arguments.positional.size() != 1) throw UsageError("exactly one file is wanted");
  const auto output = arguments.value("-o");
  if (!output) throw UsageError("-o says where the page goes");
  const std::string& path = arguments.positional[0];
  const std::string title = arguments.value("--title").value_or(std::filesystem::path(path).filename().string());
  write_graph_html(*output, graph_html(read_graph_def(path), {.title = title}));
  return 0;
}

}  // namespace

const Command kGraph = {
    .name = "graph",
    .usage = "FILE -o PAGE [--title TITLE]",
    .summary = "Draws the graph of a file as an HTML page",
    .help =
        "FILE is a GraphDef or a MetaGraphDef (a checkpoint's .meta), binary or text, or an event file of "
        "TensorBoard.\n"
        "The page needs no network. Its scopes open by a click, or by its address: graph.html#open=layer1\n\n"
        "  -o PAGE         the file to write\n"
        "  --title TITLE   instead of the file's name\n\n"
        "  weir graph runs/mnist/model.ckpt-1000.meta -o graph.html\n"
        "  weir graph runs/linear/events.out.tfevents.1700000000.host -o graph.html\n",
    .run = run};

}  // namespace weir::tool
