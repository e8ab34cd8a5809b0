#pragma once

#include <optional>

#include "building.h"
#include "weir/rnn_cells.h"

// What the bindings of cells and of sequence models share.
namespace weir::python {

void bind_cells(nb::module_& m);
void bind_metrics(nb::module_& m);

using H = nb::handle;
using G = GraphObject&;

inline Output tensor_of(G graph, H value) { return to_output(graph, value, DType::Invalid, {}); }
inline Output optional_tensor(G graph, H value) { return value.is_none() ? Output() : tensor_of(graph, value); }

inline rnn::Activation activation_of(G graph, H function) {
  if (function.is_none()) return {};
  return [&graph, function](const Output& x) { return tensor_of(graph, nb::object(function(wrap(x)))); };
}

inline std::optional<float> optional_number(H value, const char* name) {
  if (value.is_none()) return std::nullopt;
  return static_cast<float>(to_double(value, name));
}

}  // namespace weir::python
