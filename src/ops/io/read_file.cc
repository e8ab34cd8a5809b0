#include "base/errors.h"
#include "graph/infer_context.h"
#include "io/file.h"
#include "ops/types.h"
#include "weir/io_ops.h"

namespace weir::ops {
namespace {

struct State {};

// Files change, so these operations run in a session only: constant folding, which has no resources, must not keep what
// it would read.
State prepare(PrepareContext& c) {
  (void)c.resources();
  return {};
}

void infer_contents(InferContext& c) {
  c.require_scalar(0);
  c.set_output(0, Shape{});
}

void read(KernelContext& c) { *c.output<std::string>() = io::read_file(c.scalar<std::string>(0)); }

void infer_write(InferContext& c) {
  c.require_scalar(0);
  c.require_scalar(1);
}

void write(KernelContext& c) {
  const auto& path = c.scalar<std::string>(0);
  io::create_directories(io::parent_directory(path));
  io::write_file(path, c.scalar<std::string>(1));
}

void infer_matching(InferContext& c) {
  if (c.input(0).rank() > 1)
    throw invalid_argument("patterns are a scalar or a vector; this has shape {}", c.input(0).str());
  c.set_output(0, Shape{kUnknown});
}

void match(KernelContext& c) {
  std::vector<std::string> paths;
  for (int64_t i = 0; i < c.elements(0); ++i) {
    for (std::string& path : io::match_files(c.input<std::string>(0)[i])) paths.push_back(std::move(path));
  }
  std::sort(paths.begin(), paths.end());
  c.set_output(0, Tensor(paths));
}

}  // namespace

OpDef read_file_op() {
  return {.name = "ReadFile",
          .inputs = "filename:string",
          .outputs = "contents:string",
          .infer = infer_contents,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<read>, .prepare = prepared<prepare>},
          .host_only = true};
}

OpDef write_file_op() {
  return {.name = "WriteFile",
          .inputs = "filename:string; contents:string",
          .flags = "stateful",
          .infer = infer_write,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<write>},
          .host_only = true};
}

OpDef matching_files_op() {
  return {.name = "MatchingFiles",
          .inputs = "pattern:string",
          .outputs = "filenames:string",
          .infer = infer_matching,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<match>, .prepare = prepared<prepare>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops

namespace weir {

Output read_file(Graph& graph, const In& filename, std::string_view name) {
  return NodeBuilder("ReadFile", name, filename.where()).graph(graph).input(filename).output();
}

Operation write_file(Graph& graph, const In& filename, const In& contents, std::string_view name) {
  return NodeBuilder("WriteFile", name, filename.where()).graph(graph).input(filename).input(contents).build();
}

Output matching_files(Graph& graph, const In& pattern, std::string_view name) {
  return NodeBuilder("MatchingFiles", name, pattern.where()).graph(graph).input(pattern).output();
}

}  // namespace weir
