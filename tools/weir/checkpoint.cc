#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "command.h"
#include "weir/checkpoint.h"
#include "weir/error.h"

namespace weir::tool {
namespace {

// People complete file names: a file of a checkpoint, or its directory, stands for the checkpoint.
std::string checkpoint_path(std::string path) {
  if (std::filesystem::is_directory(path)) {
    auto latest = train::latest_checkpoint(path);
    if (!latest) throw Error(Code::NotFound, fmt::format("there is no checkpoint in '{}'", path));
    return *latest;
  }
  for (const char* ending : {".index", ".meta"}) {
    if (path.ends_with(ending)) return path.substr(0, path.size() - std::string_view(ending).size());
  }
  if (const size_t data = path.rfind(".data-"); data != std::string::npos) return path.substr(0, data);
  return path;
}

// V1 files do not say how many bytes a tensor takes; its elements do, unless they are strings.
int64_t bytes_of(const train::CheckpointTensor& tensor) {
  if (tensor.bytes > 0 || tensor.dtype == string) return tensor.bytes;
  return tensor.shape.elements() * static_cast<int64_t>(dtype_size(tensor.dtype));
}

void print_table(const std::string& path, const train::CheckpointReader& reader) {
  size_t name_width = 4, shape_width = 5;
  int64_t elements = 0, bytes = 0;
  for (const auto& tensor : reader.tensors()) {
    name_width = std::max(name_width, tensor.name.size());
    shape_width = std::max(shape_width, tensor.shape.str().size());
    elements += tensor.shape.elements();
    bytes += bytes_of(tensor);
  }
  fmt::print("{} (V{})\n", path, reader.version());
  fmt::print("{:<{}}  {:<10}  {:<{}}  {:>12}\n", "name", name_width, "type", "shape", shape_width, "bytes");
  for (const auto& tensor : reader.tensors()) {
    fmt::print("{:<{}}  {:<10}  {:<{}}  {:>12}\n", tensor.name, name_width, dtype_name(tensor.dtype),
               tensor.shape.str(), shape_width, bytes_of(tensor));
  }
  fmt::print("{} tensors, {} elements, {} bytes\n", reader.tensors().size(), elements, bytes);
}

int run(std::span<const std::string> words) {
  const Arguments arguments = parse_arguments(words, {"--tensor"});
  if (arguments.positional.size() != 1) throw UsageError("exactly one checkpoint is wanted");
  const std::string path = checkpoint_path(arguments.positional[0]);
  const train::CheckpointReader reader(path);
  if (const auto name = arguments.value("--tensor")) {
    const Tensor tensor = reader.get_tensor(*name);
    fmt::print("{} {}\n", *name, tensor.str(tensor.elements()));
  } else {
    print_table(path, reader);
  }
  return 0;
}

}  // namespace

const Command kCheckpoint = {
    .name = "checkpoint",
    .usage = "FILE [--tensor NAME]",
    .summary = "Lists the tensors of a checkpoint, or prints one",
    .help =
        "FILE is a checkpoint (model.ckpt-1000), one of its files, or a directory, of which the newest is taken.\n"
        "Checkpoints of Weir and TensorFlow are read, V2 and V1.\n\n"
        "  --tensor NAME   print all values of this tensor\n\n"
        "  weir checkpoint runs/mnist\n"
        "  weir checkpoint runs/mnist/model.ckpt-1000 --tensor layer1/biases\n",
    .run = run};

}  // namespace weir::tool
