#include <any>

#include "base/errors.h"
#include "weir/global_step.h"
#include "weir/monitored_session.h"
#include "weir/summary.h"

namespace weir::train {
namespace {

// What the program gave, what the collection has, or a new one, which goes there.
template <class T, class Make>
void complete(Graph& graph, T& given, const char* argument, std::string_view key, const Make& make) {
  if (given) return;
  const std::vector<std::any>& found = graph.collection(key);
  if (found.size() > 1) {
    throw invalid_argument(
        "More than one item in the collection \"{}\". Please indicate which one to use by passing it as .scaffold = "
        "{{.{} = ...}}",
        key, argument);
  }
  if (found.size() == 1) {
    if (const auto* item = std::any_cast<T>(&found[0])) given = *item;
    if constexpr (std::is_same_v<T, Operation>) {
      if (const auto* output = std::any_cast<Output>(&found[0])) given = output->op();
    }
  }
  if (given) return;
  given = make();
  if (given) graph.add_to_collection(key, given);
}

}  // namespace

void Scaffold::finalize() {
  Graph& g = *graph_;
  if (finalized_) return;  // the session is made again
  complete(g, options_.init_op, "init_op", "init_op",
           [&] { return g.group(std::vector<Operation>{g.global_variables_initializer()}); });
  complete(g, options_.ready_op, "ready_op", "ready_op", [&] { return report_uninitialized_variables(g); });
  complete(g, options_.ready_for_local_init_op, "ready_for_local_init_op", "ready_for_local_init_op",
           [&] { return report_uninitialized_variables(g, g.global_variables()); });
  complete(g, options_.local_init_op, "local_init_op", "local_init_op", [&] {
    return g.group(std::vector<Operation>{local_variables_initializer(g), tables_initializer(g)});
  });
  complete(g, options_.summary_op, "summary_op", "summary_op", [&] { return summary::merge_all(g); });
  complete(g, options_.saver, "saver", "savers",
           [&] { return std::make_shared<Saver>(g, SaverOptions{.sharded = true, .allow_empty = true}); });
  g.finalize();
  finalized_ = true;
}

}  // namespace weir::train
