#include "weir/partitioned_variable.h"

#include <fmt/format.h>

#include <algorithm>
#include <any>
#include <utility>

#include "base/errors.h"
#include "graph/graph_impl.h"
#include "nn/variable_store.h"
#include "weir/ops.h"

namespace weir {
namespace {

// Where a graph keeps the slice information of its variables: by the name of the variable's node.
constexpr std::string_view kSlices = "__save_slices";
using NamedSlice = std::pair<std::string, SaveSliceInfo>;

std::string list_text(const std::vector<int64_t>& numbers) { return fmt::format("[{}]", fmt::join(numbers, ", ")); }

std::vector<int64_t> partitions_of(const Partitioner& partitioner, const Shape& shape, DType dtype) {
  if (!shape.is_known()) {
    throw invalid_argument("Shape of a new partitioned variable must be fully defined, but instead was {}.",
                           python_text(shape));
  }
  if (shape.rank() < 1) {
    throw invalid_argument("A partitioned Variable must have rank at least 1, shape: {}", python_text(shape));
  }
  std::vector<int64_t> partitions = partitioner(shape, dtype);
  if (partitions.size() != static_cast<size_t>(shape.rank())) {
    throw invalid_argument("Partitioner returned a partition list that does not match the Variable's rank: {} vs. {}",
                           list_text(partitions), python_text(shape));
  }
  if (std::any_of(partitions.begin(), partitions.end(), [](int64_t p) { return p < 1; })) {
    throw invalid_argument("Partitioner returned zero partitions for some axes: {}", list_text(partitions));
  }
  if (std::count_if(partitions.begin(), partitions.end(), [](int64_t p) { return p > 1; }) > 1) {
    throw invalid_argument("Can only slice a variable along one dimension: shape: {}, partitioning: {}",
                           python_text(shape), list_text(partitions));
  }
  return partitions;
}

int cut_axis(const std::vector<int64_t>& partitions) {
  auto it = std::find_if(partitions.begin(), partitions.end(), [](int64_t p) { return p > 1; });
  return it == partitions.end() ? 0 : static_cast<int>(it - partitions.begin());
}

const PartitionedVariable& shared(const PartitionedVariable& found, const Shape& shape, DType dtype,
                                  const std::vector<int64_t>& partitions, Reuse reuse) {
  if (reuse.mode == Reuse::Mode::Make) {
    throw invalid_argument(
        "Partitioned variable with name {} already exists. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE in "
        "VarScope?",
        found.name());
  }
  if (!shape.compatible(found.shape())) {
    throw invalid_argument("Trying to reuse partitioned variable {}, but specified shape {} and found shape {}.",
                           found.name(), python_text(shape), python_text(found.shape()));
  }
  if (dtype != found.dtype()) {
    throw invalid_argument("Trying to reuse partitioned variable {}, but specified dtype {} and found dtype {}.",
                           found.name(), dtype_name(dtype), dtype_name(found.dtype()));
  }
  if (partitions != found.partitions()) {
    throw invalid_argument(
        "Trying to reuse partitioned variable {}, but specified partitions {} and found partitions {}.", found.name(),
        list_text(partitions), list_text(found.partitions()));
  }
  return found;
}

// The part of a given value that begins a part of the variable.
Initializer part_of(Graph& graph, const In& value, DType dtype, const PartitionInfo& part, const Shape& shape) {
  Output whole = value.output() ? value.output()
                                : graph.constant(value.weak() ? convert_literal(value.value(), dtype) : value.value());
  std::vector<int32_t> begin(part.offset.begin(), part.offset.end()), size(shape.dims().begin(), shape.dims().end());
  return In(slice(whole, Tensor(begin), Tensor(size)));
}

}  // namespace

void set_save_slice_info(const Variable& variable, const SaveSliceInfo& info) {
  variable.graph().add_to_collection(kSlices, NamedSlice(variable.name(), info));
}

std::optional<SaveSliceInfo> save_slice_info(const Variable& variable) {
  for (const std::any& item : variable.graph().collection(kSlices)) {
    const auto& [name, info] = std::any_cast<const NamedSlice&>(item);
    if (name == variable.name()) return info;
  }
  return std::nullopt;
}

int PartitionedVariable::axis() const { return cut_axis(partitions_); }

Output PartitionedVariable::value() const {
  if (value_) return value_;
  Graph& graph = parts_[0].graph();
  Scope no_control = graph.clear_control_dependencies();
  Output joined;
  {
    Scope scope = graph.name_scope(name_ + "/ConcatPartitions/");
    std::vector<Output> values;
    for (const Variable& part : parts_) values.push_back(part.value());
    joined = values.size() == 1 ? values[0] : concat(values, axis());
  }
  Scope root = graph.name_scope("");
  value_ = identity(joined, name_);
  return value_;
}

PartitionedVariable get_partitioned_variable_of_name(Graph& graph, const std::string& name, const Shape& shape,
                                                     const Partitioner& partitioner, const GetVariableOptions& options,
                                                     Reuse reuse) {
  VariableStore& store = store_of(graph);
  if (store.variables.contains(name)) {
    throw invalid_argument(
        "A partitioner was provided, but an unpartitioned version of the variable was found: {}.  Perhaps a variable "
        "of the same name was already created without partitioning?",
        name);
  }
  const DType dtype = options.dtype.value_or(float32);
  const std::vector<int64_t> partitions = partitions_of(partitioner, shape, dtype);
  if (auto it = store.partitioned.find(name); it != store.partitioned.end()) {
    return shared(it->second, shape, dtype, partitions, reuse);
  }
  if (reuse.mode == Reuse::Mode::Share) {
    throw invalid_argument(
        "PartitionedVariable {} does not exist, or was not created with tf.get_variable(). Did you mean to set "
        "reuse=False or reuse=tf.AUTO_REUSE in VarScope?",
        name);
  }
  const int axis = cut_axis(partitions);
  const int64_t count = partitions[static_cast<size_t>(axis)], each = shape[axis] / count, rest = shape[axis] % count;
  std::vector<Variable> parts;
  PartitionInfo part{shape, std::vector<int64_t>(static_cast<size_t>(shape.rank()), 0)};
  for (int64_t i = 0; i < count; ++i) {
    Shape size = shape;
    size.set_dim(axis, each + (i < rest));  // the first ones are larger where the division leaves a rest
    const std::string part_name = fmt::format("{}/part_{}", name, i);
    GetVariableOptions part_options = options;
    {
      Scope scope = graph.name_scope(part_name + "/PartitionedInitializer");
      if (options.initializer.value()) {
        part_options.initializer = part_of(graph, *options.initializer.value(), dtype, part, size);
      }
    }
    Variable made = get_variable_of_name(graph, part_name, size, part_options, reuse, &part);
    set_save_slice_info(made, {name, shape, part.offset, {size.dims().begin(), size.dims().end()}});
    parts.push_back(made);
    part.offset[static_cast<size_t>(axis)] += size[axis];
  }
  return store.partitioned.emplace(name, PartitionedVariable(name, shape, std::move(parts), partitions)).first->second;
}

PartitionedVariable get_partitioned_variable(Graph& graph, std::string_view name, const Shape& shape,
                                             const Partitioner& partitioner, const GetVariableOptions& given,
                                             Graph::Where where) {
  LineScope line(graph, source_line(where));
  const VariableScope::State& scope = *store_of(graph).current;
  const Partitioner& cut = partitioner ? partitioner : scope.partitioner;
  if (!cut) throw invalid_argument("No partitioner was specified");
  Scope root = graph.name_scope("");
  return get_partitioned_variable_of_name(graph, join_scope(scope.name, name), shape, cut, completed(given, scope),
                                          scope.reuse);
}

}  // namespace weir
