#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"
#include "weir/variable_scope.h"

namespace weir {

// Where a variable stands in a larger tensor: partitioned variables are saved as slices of one.
struct SaveSliceInfo {
  std::string full_name;
  Shape full_shape;
  std::vector<int64_t> var_offset, var_shape;
};
// Remembered by the variable's graph, used by savers and written to meta graphs.
WEIR_API void set_save_slice_info(const Variable& variable, const SaveSliceInfo& info);
WEIR_API std::optional<SaveSliceInfo> save_slice_info(const Variable& variable);

// The parts of one large variable, "name/part_0", "name/part_1", ... Where an argument is wanted it is their
// concatenation, made once.
class WEIR_API PartitionedVariable {
 public:
  PartitionedVariable(std::string name, Shape shape, std::vector<Variable> parts, std::vector<int64_t> partitions)
      : name_(std::move(name)),
        shape_(std::move(shape)),
        parts_(std::move(parts)),
        partitions_(std::move(partitions)) {}

  const std::string& name() const { return name_; }
  const Shape& shape() const { return shape_; }
  DType dtype() const { return parts_[0].dtype(); }
  const std::vector<Variable>& parts() const { return parts_; }
  const std::vector<int64_t>& partitions() const { return partitions_; }  // parts along each dimension
  int axis() const;                                                       // the one that is cut
  Output value() const;
  operator Output() const { return value(); }  // NOLINT

 private:
  std::string name_;
  Shape shape_;
  std::vector<Variable> parts_;
  std::vector<int64_t> partitions_;
  mutable Output value_;
};

// The variable of that name in the current scope, cut as `partitioner` says; where it is empty, as that of the scope
// does. Throws InvalidArgument as get_variable does, and for a cut along more than one dimension.
WEIR_API PartitionedVariable get_partitioned_variable(Graph& graph, std::string_view name, const Shape& shape,
                                                      const Partitioner& partitioner = {},
                                                      const GetVariableOptions& options = {},
                                                      Graph::Where where = Graph::Where::current());

}  // namespace weir
