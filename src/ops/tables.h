#pragma once

#include <vector>

#include "graph/op_def.h"

namespace weir::ops {

// One table an area, in src/ops/<area>/table.cc. Adding an operation adds one row there.
const std::vector<OpDef>& array_ops();
const std::vector<OpDef>& math_ops();
const std::vector<OpDef>& linalg_ops();
const std::vector<OpDef>& nn_ops();
const std::vector<OpDef>& state_ops();
const std::vector<OpDef>& random_ops();
const std::vector<OpDef>& control_ops();
const std::vector<OpDef>& list_ops();
const std::vector<OpDef>& queue_ops();
const std::vector<OpDef>& data_ops();
const std::vector<OpDef>& experimental_data_ops();  // second names
const std::vector<OpDef>& io_ops();
const std::vector<OpDef>& string_ops();
const std::vector<OpDef>& sparse_ops();
const std::vector<OpDef>& lookup_ops();
const std::vector<OpDef>& summary_ops();
const std::vector<OpDef>& image_ops();
const std::vector<OpDef>& sequence_ops();
const std::vector<OpDef>& set_ops();
const std::vector<OpDef>& net_ops();
const std::vector<OpDef>& signal_ops();
const std::vector<OpDef>& quantized_ops();
const std::vector<OpDef>& collective_ops();

inline std::vector<const std::vector<OpDef>*> tables() {
  return {&array_ops(),
          &math_ops(),
          &linalg_ops(),
          &nn_ops(),
          &state_ops(),
          &random_ops(),
          &control_ops(),
          &list_ops(),
          &queue_ops(),
          &data_ops(),
          &io_ops(),
          &string_ops(),
          &summary_ops(),
          &image_ops(),
          &sequence_ops(),
          &set_ops(),
          &sparse_ops(),
          &lookup_ops(),
          &net_ops(),
          &signal_ops(),
          &quantized_ops(),
          &collective_ops(),
          &experimental_data_ops()};
}

}  // namespace weir::ops
