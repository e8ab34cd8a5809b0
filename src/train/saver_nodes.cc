#include "train/saver_nodes.h"

#include <algorithm>
#include <random>

#include "base/errors.h"
#include "io/tensor_slice.h"
#include "weir/array_ops.h"

namespace weir::train {
namespace {

// One tensor to save: a variable, or the part of a larger one that it is.
struct Saveable {
  std::string name, shape_and_slice;
  Variable variable;
};

std::string slice_text(const SaveSliceInfo& info) {
  std::vector<io::TensorSlice::Extent> extents;
  for (size_t i = 0; i < info.var_offset.size(); ++i) extents.push_back({info.var_offset[i], info.var_shape[i]});
  return io::shape_and_slice_to_string(info.full_shape, io::TensorSlice(std::move(extents)));
}

// By name, as TensorFlow orders them; the parts of a variable stay in the order they came in.
std::vector<Saveable> saveables_of(const std::vector<SaveItem>& items) {
  std::vector<Saveable> saveables;
  for (const SaveItem& item : items) {
    const std::optional<SaveSliceInfo> info = save_slice_info(item.variable);
    const std::string& own_name = info ? info->full_name : item.variable.name();
    saveables.push_back({item.name.empty() ? own_name : item.name, info ? slice_text(*info) : "", item.variable});
  }
  std::stable_sort(saveables.begin(), saveables.end(),
                   [](const Saveable& a, const Saveable& b) { return a.name < b.name; });
  for (size_t i = 1; i < saveables.size(); ++i) {
    const Saveable &a = saveables[i - 1], &b = saveables[i];
    if (a.name == b.name && (a.shape_and_slice.empty() || a.shape_and_slice == b.shape_and_slice)) {
      throw invalid_argument("At least two variables have the same name: {}", a.name);
    }
  }
  return saveables;
}

class Builder {
 public:
  Builder(Graph& graph, const SaverOptions& options) : graph_(graph), options_(options) {}

  SaverDef build(const std::vector<Saveable>& saveables) {
    Scope scope = graph_.name_scope(options_.name.empty() ? "save" : options_.name);
    Output filename =
        with_default(In(options_.filename.empty() ? std::string("model") : options_.filename), "filename");
    filename_ = with_default(filename, "Const");  // the name is old; programs feed it
    Output save = options_.sharded ? sharded_save(saveables) : save_shard(filename_, saveables);
    Operation restore = options_.sharded ? sharded_restore(saveables) : restore_shard(saveables, "restore_all");
    return {.filename_tensor_name = filename_.name(),
            .save_tensor_name = save.name(),
            .restore_op_name = restore.name(),
            .max_to_keep = options_.max_to_keep,
            .sharded = options_.sharded,
            .keep_checkpoint_every_n_hours = static_cast<float>(options_.keep_checkpoint_every_n_hours),
            .version = options_.write_version};
  }

 private:
  static constexpr const char* kCpu = "/device:CPU:0";

  Output with_default(const In& value, std::string_view name) {
    return NodeBuilder("PlaceholderWithDefault", name).graph(graph_).input(value).attr("shape", Shape{}).output();
  }

  // `filename` itself, once everything is saved.
  Output save_shard(const Output& filename, const std::vector<Saveable>& saveables) {
    std::vector<std::string> names, slices;
    std::vector<Output> tensors;
    for (const Saveable& s : saveables) {
      names.push_back(s.name);
      slices.push_back(s.shape_and_slice);
      const bool whole_ref = !s.variable.is_resource() && s.shape_and_slice.empty();
      tensors.push_back(whole_ref ? s.variable.handle() : s.variable.value());
    }
    const char* op = options_.write_version == SaverDef::Version::V2 ? "SaveV2" : "SaveSlices";
    Operation save =
        NodeBuilder(op).input(filename).input(Tensor(names)).input(Tensor(slices)).input(InList(tensors)).build();
    Scope after = graph_.control_dependencies({save});
    Scope beside = graph_.colocate_with(filename.op());
    return identity(filename, "control_dependency");
  }

  Operation restore_shard(const std::vector<Saveable>& saveables, std::string_view name) {
    std::vector<std::string> names, slices;
    std::vector<DType> dtypes;
    for (const Saveable& s : saveables) {
      names.push_back(s.name);
      slices.push_back(s.shape_and_slice);
      dtypes.push_back(s.variable.dtype());
    }
    Operation values;
    {
      Scope cpu = graph_.device(kCpu);
      values = NodeBuilder("RestoreV2")
                   .input(filename_)
                   .input(Tensor(names))
                   .input(Tensor(slices))
                   .attr("dtypes", dtypes)
                   .build();
    }
    std::vector<Operation> writes;
    for (size_t i = 0; i < saveables.size(); ++i) {
      writes.push_back(write(saveables[i].variable, values.output(static_cast<int>(i))));
    }
    return graph_.group(writes, name);
  }

  Operation write(const Variable& variable, Output value) {
    const bool known = variable.shape().is_known();
    if (options_.reshape) {
      if (!known) {
        throw invalid_argument("variable '{}' has shape {}; to be restored with reshape it must be known",
                               variable.name(), variable.shape().str());
      }
      value = reshape(value, variable.shape());
    }
    if (!variable.is_resource()) {
      return NodeBuilder("Assign")
          .input(variable.handle())
          .input(value)
          .attr("validate_shape", !options_.reshape && known)
          .build();
    }
    Scope device = graph_.device(variable.handle().op().device());
    return NodeBuilder("AssignVariableOp")
        .input(variable.handle())
        .input(identity(value))
        .attr("dtype", variable.dtype())
        .build();
  }

  // Variables by the device that they ask for, in order of the devices' names.
  static std::map<std::string, std::vector<Saveable>> by_device(const std::vector<Saveable>& saveables) {
    std::map<std::string, std::vector<Saveable>> groups;
    for (const Saveable& s : saveables) groups[s.variable.handle().op().device()].push_back(s);
    return groups;
  }

  // The CPU that stands beside a device.
  static std::string cpu_of(const std::string& device) {
    const size_t kind = device.find("/device:");
    return device.substr(0, kind) + kCpu;
  }

  Output sharded_save(const std::vector<Saveable>& saveables) {
    const auto groups = by_device(saveables);
    const bool v2 = options_.write_version == SaverDef::Version::V2;
    // Every device saves a checkpoint of its own into a directory that nobody else uses; then they are merged.
    Output base = v2 ? NodeBuilder("StringJoin").input(InList{filename_, In(temporary_suffix())}).output() : filename_;
    Output count = graph_.constant(static_cast<int32_t>(groups.size()), int32, "num_shards");
    std::vector<Output> names;
    std::vector<Operation> saves;
    std::string last_device;
    int32_t shard = 0;
    for (const auto& [device, members] : groups) {
      last_device = v2 ? cpu_of(device) : device;
      Scope on = graph_.device(last_device);
      names.push_back(NodeBuilder("ShardedFilename").input(base).input(Tensor(shard++)).input(count).output());
      saves.push_back(save_shard(names.back(), members).op());
    }
    Scope after = graph_.control_dependencies(saves);
    if (!v2) return NodeBuilder("ShardedFilespec").input(filename_).input(count).output();
    Scope on = graph_.device(last_device);
    Output prefixes = stack(names, 0, "MergeV2Checkpoints/checkpoint_prefixes");
    Operation merge = NodeBuilder("MergeV2Checkpoints").input(prefixes).input(filename_).build();
    Scope merged = graph_.control_dependencies({merge});
    return identity(filename_);
  }

  Operation sharded_restore(const std::vector<Saveable>& saveables) {
    std::vector<Operation> restores;
    for (const auto& [device, members] : by_device(saveables)) {
      Scope on = graph_.device(device);
      restores.push_back(restore_shard(members, "restore_shard"));
    }
    return graph_.group(restores, "restore_all");
  }

  static std::string temporary_suffix() {
    std::random_device random;
    std::string suffix = "_temp_";
    for (int i = 0; i < 4; ++i) suffix += fmt::format("{:08x}", random());
    return suffix + "/part";
  }

  Graph& graph_;
  const SaverOptions& options_;
  Output filename_;
};

}  // namespace

SaverDef build_saver_nodes(Graph& graph, const std::vector<SaveItem>& items, const SaverOptions& options) {
  return Builder(graph, options).build(saveables_of(items));
}

}  // namespace weir::train
