#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

#include "command.h"
#include "weir/error.h"
#include "weir/graph_html.h"
#include "weir/saver.h"
#include "weir/session.h"

namespace weir::tool {
namespace {

int number(std::string_view text, const char* what, int least) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least) {
    throw UsageError(fmt::format("{} is '{}'; a number of at least {} is wanted", what, text, least));
  }
  return value;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// "x=100x784,y=100": the shapes of what is fed.
std::map<std::string, Shape> parse_shapes(const std::string& text) {
  std::map<std::string, Shape> shapes;
  for (const std::string& part : split(text, ',')) {
    const size_t equals = part.find('=');
    if (equals == std::string::npos) throw UsageError(fmt::format("'{}' in --shapes is not NAME=SIZExSIZE", part));
    std::vector<int64_t> dims;
    for (const std::string& size : split(part.substr(equals + 1), 'x')) dims.push_back(number(size, "a size", 0));
    shapes[part.substr(0, equals)] = Shape(dims);
  }
  return shapes;
}

// Floating point numbers below 1, and zeros of every other type, which any label or index may be.
Tensor some_value(DType dtype, const Shape& shape) {
  Tensor t = Tensor::zeros(dtype, shape);
  if (dtype == float32) {
    uint32_t state = 1;
    for (int64_t i = 0; i < t.elements(); ++i) {
      t.mutable_data<float>()[i] = static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) * 0x1p-24f;
    }
  }
  return t;
}

// A value for every placeholder. Sizes that the graph leaves open are `batch`.
std::vector<Feed> feeds_of(const Graph& graph, std::map<std::string, Shape> shapes, int64_t batch) {
  std::vector<Feed> feeds;
  for (const Operation& operation : graph.operations()) {
    if (operation.type() != "Placeholder") continue;
    const Output output = operation.output(0);
    Shape shape = output.shape();
    if (auto given = shapes.extract(std::string(operation.name()))) {
      shape = given.mapped();
    } else if (!shape.has_rank()) {
      throw UsageError(fmt::format("--shapes must say the shape of '{}'", operation.name()));
    }
    for (int i = 0; i < shape.rank(); ++i) {
      if (shape[i] == kUnknown) shape.set_dim(i, batch);
    }
    feeds.push_back({output, some_value(output.dtype(), shape)});
  }
  if (!shapes.empty()) throw Error(Code::NotFound, fmt::format("there is no placeholder '{}'", shapes.begin()->first));
  return feeds;
}

// The nodes to run: those that are named, or the training step of a meta graph.
std::vector<Operation> targets_of(const Graph& graph, const std::optional<std::string>& names) {
  std::vector<Operation> targets;
  if (names) {
    for (const std::string& name : split(*names, ',')) {
      targets.push_back(graph.operation(name.substr(0, name.find(':'))));
    }
  } else {
    for (const std::any& value : graph.collection("train_op")) {
      if (const auto* operation = std::any_cast<Operation>(&value)) targets.push_back(*operation);
    }
  }
  if (targets.empty()) throw UsageError("--run must name the nodes to run: the graph has no collection train_op");
  return targets;
}

// A graph with the way to give its variables values.
struct Model {
  Graph graph;
  std::optional<train::Saver> saver;
  std::string path;

  explicit Model(const std::string& file) : path(file) {
    if (file.ends_with(".meta")) {
      saver = train::import_meta_graph(graph, train::read_meta_graph(file));
    } else {
      graph.import_graph_def(read_graph_def(file));
    }
  }

  // From the checkpoint that the meta graph belongs to, or else by their initializers.
  void initialize(Session& session) {
    const std::string checkpoint = path.substr(0, path.rfind('.'));
    if (saver && std::filesystem::exists(checkpoint + ".index")) return saver->restore(session, checkpoint);
    if (!graph.global_variables().empty()) return session.run(graph.global_variables_initializer("profile_init"));
    if (const Operation init = graph.find("init")) session.run(init);
  }
};

int run(std::span<const std::string> words) {
  const Arguments arguments = parse_arguments(
      words, {"--run", "--shapes", "--batch", "--steps", "--threads", "--cpus", "--virtual-gpus", "--timeline"},
      {"--direct-convolutions"});
  if (arguments.positional.size() != 1) throw UsageError("exactly one file is wanted");
  const int batch = number(arguments.value("--batch").value_or("64"), "--batch", 0);
  const int steps = number(arguments.value("--steps").value_or("5"), "--steps", 1);

  SessionOptions options{.allow_soft_placement = true, .direct_convolutions = arguments.has("--direct-convolutions")};
  if (const auto n = arguments.value("--threads")) options.intra_op_parallelism_threads = number(*n, "--threads", 0);
  if (const auto n = arguments.value("--cpus")) options.device_count["CPU"] = number(*n, "--cpus", 1);
  if (const auto n = arguments.value("--virtual-gpus")) options.virtual_gpus.count = number(*n, "--virtual-gpus", 0);

  Model model(arguments.positional[0]);
  const std::vector<Operation> targets = targets_of(model.graph, arguments.value("--run"));
  const std::vector<Feed> feeds = feeds_of(model.graph, parse_shapes(arguments.value("--shapes").value_or("")), batch);
  Session session(model.graph, options);
  model.initialize(session);

  // The first run makes the plan; of the others, the quickest was disturbed least.
  RunTrace best;
  auto length = [](const RunTrace& trace) {
    int64_t end = 0;
    for (const RunTrace::Event& event : trace.events) end = std::max(end, event.end_ns);
    return end;
  };
  for (int i = 0; i <= steps; ++i) {
    RunTrace trace;
    session.run(std::vector<Output>{}, feeds, targets, {.trace = &trace});
    if (i == 1 || (i > 1 && length(trace) < length(best))) best = std::move(trace);
  }
  fmt::print("{}", best.table());
  if (const auto timeline = arguments.value("--timeline")) {
    std::ofstream out(*timeline);
    out << best.chrome_trace();
    if (!out.flush()) throw Error(Code::Unknown, fmt::format("cannot write '{}'", *timeline));
  }
  return 0;
}

}  // namespace

const Command kProfile = {
    .name = "profile",
    .usage = "FILE [--run NODE,...] [--shapes NAME=SIZExSIZE,...] [--batch N] [--steps N] [flags]",
    .summary = "Runs the graph of a file and prints which kernel takes how long",
    .help =
        "FILE is a MetaGraphDef (a checkpoint's .meta, whose variables are restored if the checkpoint stands beside "
        "it),\n"
        "a GraphDef, binary or text, or an event file of TensorBoard. Placeholders are fed random numbers, zeros "
        "where\n"
        "they take integers. The table shows the quickest of the steps: each node's time, its share, its kernel, and\n"
        "GFLOP/s for products and convolutions (by the arithmetic of the direct method) or else GB/s. With several "
        "devices\n"
        "the last lines say how much of the step each of them computed, copied to others and waited.\n\n"
        "  --run NODE,...          what a step runs; without it the collection train_op\n"
        "  --shapes x=100x784,...  shapes of placeholders\n"
        "  --batch N               for sizes that the graph leaves open (64)\n"
        "  --steps N               how many to measure (5)\n"
        "  --threads N             of one kernel; one a core without it\n"
        "  --cpus N                logical CPUs to share the cores (1)\n"
        "  --virtual-gpus N        GPUs to make out of CPU cores (0)\n"
        "  --direct-convolutions   without Winograd's method\n"
        "  --timeline FILE         write the step for chrome://tracing too\n\n"
        "  weir profile runs/mnist/model.ckpt-1000.meta --batch 50\n"
        "  weir profile graph.pbtxt --run train --shapes images=128x24x24x3,labels=128\n",
    .run = run};

}  // namespace weir::tool
