#pragma once

#include <optional>
#include <string_view>

#include "weir/export.h"
#include "weir/graph.h"

namespace weir {

// Writes to variables. Each gives the variable after the write: its reference, or for a resource variable a new read.
struct AssignOptions {
  bool validate_shape = true;  // false: the variable takes the shape of the value
  bool use_locking = true;
};
WEIR_API Output assign(const Variable& variable, const In& value, const AssignOptions& options = {},
                       std::string_view name = {});
// `use_locking` excludes other updates that lock; none: as TensorFlow's operation has it (true of scatter_update
// alone). Resource variables always lock dense updates and never those of rows.
struct UpdateOptions {
  std::optional<bool> use_locking = {};
};
WEIR_API Output assign_add(const Variable& variable, const In& value, std::string_view name = {},
                           const UpdateOptions& options = {});
WEIR_API Output assign_sub(const Variable& variable, const In& value, std::string_view name = {},
                           const UpdateOptions& options = {});

// Writes to the rows `indices` of the first dimension; rows may repeat, and of an update any of them may win.
WEIR_API Output scatter_add(const Variable& variable, const In& indices, const In& updates, std::string_view name = {},
                            const UpdateOptions& options = {});
WEIR_API Output scatter_sub(const Variable& variable, const In& indices, const In& updates, std::string_view name = {},
                            const UpdateOptions& options = {});
WEIR_API Output scatter_update(const Variable& variable, const In& indices, const In& updates,
                               std::string_view name = {}, const UpdateOptions& options = {});

// Adds 1 and gives the value before; throws OutOfRange when it has reached the limit.
WEIR_API Output count_up_to(const Variable& variable, int64_t limit, std::string_view name = {});

WEIR_API Output is_variable_initialized(const Variable& variable, std::string_view name = {});
// A new read, made after what it depends on.
WEIR_API Output read_variable(const Variable& variable, std::string_view name = {});

}  // namespace weir
