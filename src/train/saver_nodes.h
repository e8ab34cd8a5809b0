#pragma once

#include <string>
#include <vector>

#include "weir/saver.h"

namespace weir::train {

// Adds the nodes that save and restore `items`, with TensorFlow's names. `items` is not empty.
SaverDef build_saver_nodes(Graph& graph, const std::vector<SaveItem>& items, const SaverOptions& options);

}  // namespace weir::train
