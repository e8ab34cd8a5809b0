// Graphs with control flow that TensorFlow made give TensorFlow's results, before and after they are written again.

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <random>
#include <sstream>

#include "graph/graph_def.h"
#include "tests/support/check_op.h"
#include "weir/control_flow.h"
#include "weir/weir.h"

namespace weir {
namespace {

// Made by tests/conformance/control_flow_graphs.py; runs-0.tsv and its graph, a training loop, by TensorFlow 1.0.
const std::string kData = WEIR_SOURCE_DIR "/tests/data/control_flow/";

struct RecordedRun {
  std::string fetch;                                       // an operation when there is no value
  std::vector<std::pair<std::string, std::string>> feeds;  // "2|1 2"
  std::string value;
};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

std::vector<RecordedRun> recorded_runs(const std::string& graph) {
  std::vector<RecordedRun> runs;
  for (const char* table : {"runs-0.tsv", "runs-1.tsv", "runs-2.tsv"}) {
    std::ifstream file(kData + table);
    for (std::string line; std::getline(file, line);) {
      std::vector<std::string> fields = split(line, '\t');
      if (fields[0] != graph) continue;
      fields.resize(4);
      RecordedRun run{fields[1], {}, fields[3]};
      for (const std::string& feed : split(fields[2], ';')) {
        run.feeds.emplace_back(feed.substr(0, feed.find('=')), feed.substr(feed.find('=') + 1));
      }
      runs.push_back(std::move(run));
    }
  }
  EXPECT_FALSE(runs.empty()) << graph;
  return runs;
}

std::string graph_text(const std::string& name) {
  std::ifstream file(kData + name + ".pbtxt");
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

// "2,1|3 4" as a tensor of that type.
Tensor parsed(const std::string& text, DType dtype) {
  std::vector<int64_t> dims;
  for (const std::string& dim : split(text.substr(0, text.find('|')), ',')) dims.push_back(std::stoll(dim));
  Tensor numbers(float64, Shape(dims));
  std::stringstream stream(text.substr(text.find('|') + 1));
  for (int64_t i = 0; i < numbers.elements(); ++i) stream >> numbers.mutable_data<double>()[i];
  if (dtype != boolean) return testing::converted(numbers, dtype);
  return Tensor(numbers.data<double>()[0] != 0);
}

void run_all(Graph& g, const std::vector<RecordedRun>& runs) {
  Session session(g);
  for (const RecordedRun& run : runs) {
    std::string what = run.fetch;
    std::vector<Feed> feeds;
    for (const auto& [name, value] : run.feeds) {
      Output fed = g.output(name);
      feeds.push_back({fed, parsed(value, fed.dtype())});
      what += " " + name + "=" + value;
    }
    SCOPED_TRACE(what);
    if (run.value.empty()) {
      session.run(std::vector<Output>{}, feeds, {g.operation(run.fetch)});
    } else {
      Output fetch = g.output(run.fetch);
      testing::expect_near(session.run(fetch, feeds), parsed(run.value, fetch.dtype()), 1e-5);
    }
  }
}

// One random change of a node of the graph or of one of its functions.
template <class Below>
void damage(proto::GraphDef& message, const Below& below) {
  auto* nodes = message.mutable_node();
  if (message.library().function_size() > 0 && below(2) == 0) {
    proto::FunctionDef& function =
        *message.mutable_library()->mutable_function(below(message.library().function_size()));
    if (function.node_def_size() == 0 || below(8) == 0) {
      function.mutable_ret()->begin()->second = "gone";
      return;
    }
    nodes = function.mutable_node_def();
  }
  proto::NodeDef& node = *nodes->Mutable(below(nodes->size()));
  const proto::NodeDef& other = nodes->Get(below(nodes->size()));
  switch (below(6)) {
    case 0:
      nodes->DeleteSubrange(below(nodes->size()), 1);
      break;
    case 1:
      if (node.input_size() > 0) node.set_input(below(node.input_size()), other.name());
      break;
    case 2:
      if (node.input_size() > 0 && other.input_size() > 0) {
        node.mutable_input(below(node.input_size()))->swap(*nodes->Mutable(below(nodes->size()))->mutable_name());
      }
      break;
    case 3:
      if (node.input_size() > 0) node.mutable_input()->DeleteSubrange(below(node.input_size()), 1);
      break;
    case 4:
      node.set_op(other.op());
      break;
    default:
      node.add_input(other.name() + (below(2) ? ":1" : ""));
  }
}

// Whatever comes out, within a second.
void run_anyway(Graph& g, const std::vector<RecordedRun>& runs) {
  Session session(g, {.intra_op_parallelism_threads = 1});
  for (const RecordedRun& run : runs) {
    try {
      std::vector<Feed> feeds;
      for (const auto& [name, value] : run.feeds)
        feeds.push_back({g.output(name), parsed(value, g.output(name).dtype())});
      session.run(std::vector<Output>{}, feeds, {g.operation(run.fetch.substr(0, run.fetch.find(':')))},
                  {.timeout = std::chrono::milliseconds(200)});
    } catch (const Error&) {  // the graph means something else now
    }
  }
}

// A graph with its nodes and functions sorted by name.
std::string ordered(const std::string& text) {
  proto::GraphDef message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message));
  auto sort_nodes = [](auto& nodes) {
    std::sort(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) { return a.name() < b.name(); });
  };
  sort_nodes(*message.mutable_node());
  auto& functions = *message.mutable_library()->mutable_function();
  for (proto::FunctionDef& function : functions) sort_nodes(*function.mutable_node_def());
  std::sort(functions.begin(), functions.end(),
            [](const auto& a, const auto& b) { return a.signature().name() < b.signature().name(); });
  return message.DebugString();
}

class ControlFlowGraphs : public ::testing::TestWithParam<const char*> {};

TEST_P(ControlFlowGraphs, GiveTensorFlowsResults) {
  Graph g;
  g.import_graph_def_text(graph_text(GetParam()));
  run_all(g, recorded_runs(GetParam()));
}

TEST_P(ControlFlowGraphs, GiveTheSameWhenWrittenAndReadAgain) {
  Graph g, again;
  g.import_graph_def_text(graph_text(GetParam()));
  std::string text = g.to_graph_def_text();
  // For real TensorFlow to run: tests/conformance/control_flow_graphs.py check.
  auto directory = std::filesystem::temp_directory_path() / "weir_control_flow";
  std::filesystem::create_directories(directory);
  std::ofstream(directory / (std::string(GetParam()) + ".pbtxt")) << text;

  again.import_graph_def_text(text);
  run_all(again, recorded_runs(GetParam()));
  // Names and structure settle: what was read from Weir's own file is written as it was.
  EXPECT_TRUE(ordered(again.to_graph_def_text()) == ordered(text));
}

TEST_P(ControlFlowGraphs, DoNotDependOnTheOrderOfNodes) {
  proto::GraphDef message;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(graph_text(GetParam()), &message));
  std::shuffle(message.mutable_node()->pointer_begin(), message.mutable_node()->pointer_end(), std::mt19937(1));
  Graph g;
  g.import_graph_def(message.SerializeAsString());
  run_all(g, recorded_runs(GetParam()));
}

// Damaged graphs are refused whole, or are graphs of another meaning that can be written and run.
TEST_P(ControlFlowGraphs, SurviveDamage) {
  proto::GraphDef original;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(graph_text(GetParam()), &original));
  std::mt19937 random(7);
  auto below = [&](int n) { return static_cast<int>(random() % static_cast<uint32_t>(std::max(n, 1))); };
  int refused = 0;
  for (int i = 0; i < 400; ++i) {
    proto::GraphDef message = original;
    for (int changes = 1 + below(3); changes > 0; --changes) damage(message, below);
    Graph g;
    g.constant(Tensor(1.f), "kept");
    const std::string before = g.to_graph_def();
    try {
      g.import_graph_def(message.SerializeAsString());
    } catch (const Error&) {
      ++refused;
      EXPECT_EQ(g.to_graph_def(), before);
      continue;
    }
    g.to_graph_def();
    if (i % 8 == 0) run_anyway(g, recorded_runs(GetParam()));
  }
  EXPECT_GT(refused, 20);
}

INSTANTIATE_TEST_SUITE_P(, ControlFlowGraphs,
                         ::testing::Values("asserted", "case_of_many", "cond_assign", "cond_nested", "cond_outputs",
                                           "cond_training", "functional_loops", "functional_nested", "functions",
                                           "tf2_functions", "while_assign", "while_nested", "while_of_tensorflow_1_0",
                                           "while_simple", "while_training"),
                         [](const auto& graph) { return std::string(graph.param); });

// Branches, a loop, effects and gradients, as a program here makes them.
void build_here(Graph& g) {
  Output p = g.placeholder(boolean, {}, "p"), x = g.placeholder(float32, {2}, "x"), n = g.placeholder(int32, {}, "n");
  Variable v = g.variable("v", Tensor(std::vector<float>{0.5f, -0.25f}));
  Variable seen = g.variable("seen", 0.f, {.trainable = false});
  Output chosen = cond(
      p,
      [&] {
        Scope after = g.control_dependencies({assign_add(seen, 1.f).op()});
        return tanh(x * v);
      },
      [&] {
        return cond(
            reduce_sum(x) > 0.f, [&] { return x * v; }, [&] { return x - v; });
      });
  std::vector<Output> loop = while_loop([&](const std::vector<Output>& state) { return state[0] < n; },
                                        [&](const std::vector<Output>& state) {
                                          return std::vector<Output>{state[0] + 1, sigmoid(state[1] * v) + chosen};
                                        },
                                        {0, chosen});
  Output loss = reduce_sum(square(loop[1]));
  identity(loss, "loss");
  Output grad = gradients({loss}, {v})[0].dense();
  identity(grad, "grad");
  assign_sub(v, grad * 0.1f, "train");
  g.global_variables_initializer("init");
}

const RecordedRun kRunsHere[] = {{"init", {}, ""},
                                 {"loss:0", {{"p:0", "|1"}, {"x:0", "2|1 2"}, {"n:0", "|3"}}, "?"},
                                 {"grad:0", {{"p:0", "|1"}, {"x:0", "2|1 2"}, {"n:0", "|3"}}, "?"},
                                 {"train", {{"p:0", "|0"}, {"x:0", "2|1 2"}, {"n:0", "|2"}}, ""},
                                 {"v/read:0", {}, "?"},
                                 {"seen/read:0", {}, "?"},
                                 {"grad:0", {{"p:0", "|0"}, {"x:0", "2|-1 -2"}, {"n:0", "|0"}}, "?"}};

// With the values that this graph gives.
std::vector<RecordedRun> runs_of(Graph& g) {
  std::vector<RecordedRun> runs(std::begin(kRunsHere), std::end(kRunsHere));
  Session session(g);
  for (RecordedRun& run : runs) {
    std::vector<Feed> feeds;
    for (const auto& [name, value] : run.feeds)
      feeds.push_back({g.output(name), parsed(value, g.output(name).dtype())});
    if (run.value.empty()) {
      session.run(std::vector<Output>{}, feeds, {g.operation(run.fetch)});
      continue;
    }
    Tensor value = session.run(g.output(run.fetch), feeds);
    std::stringstream text;
    for (int64_t dim : value.shape().dims()) text << dim;
    text << '|' << std::setprecision(9);
    for (float number : value.data<float>()) text << number << ' ';
    run.value = text.str();
  }
  return runs;
}

TEST(ControlFlowGraphsMadeHere, GiveTheSameWhenWrittenAndReadAgain) {
  Graph g, again;
  build_here(g);
  std::vector<RecordedRun> runs = runs_of(g);
  std::string text = g.to_graph_def_text();
  again.import_graph_def_text(text);
  run_all(again, runs);
  EXPECT_TRUE(ordered(again.to_graph_def_text()) == ordered(text));

  // For real TensorFlow, with what it should find.
  auto directory = std::filesystem::temp_directory_path() / "weir_control_flow";
  std::filesystem::create_directories(directory);
  std::ofstream(directory / "made_here.pbtxt") << text;
  std::ofstream table(directory / "runs-here.tsv");
  for (const RecordedRun& run : runs) {
    table << "made_here\t" << run.fetch << '\t';
    for (const auto& [name, value] : run.feeds) table << name << '=' << value << ';';
    table << '\t' << run.value << '\n';
  }
}

TEST(ControlFlowGraphsMadeHere, TravelInMetaGraphsAndCheckpoints) {
  auto directory = std::filesystem::temp_directory_path() / "weir_control_flow_checkpoint";
  std::filesystem::create_directories(directory);
  const std::string path = (directory / "model").string();
  Tensor trained;
  {
    Graph g;
    build_here(g);
    Session session(g);
    session.run(g.operation("init"));
    session.run(std::vector<Output>{},
                {{g.output("p:0"), true}, {g.output("x:0"), std::vector<float>{1, 2}}, {g.output("n:0"), 2}},
                {g.operation("train")});
    trained = session.run(g.output("v/read:0"));
    train::Saver saver(g);
    saver.save(session, path);
  }
  Graph g;
  auto saver = train::import_meta_graph(g, train::read_meta_graph(path + ".meta"), {.clear_devices = true});
  ASSERT_TRUE(saver);
  Session session(g);
  saver->restore(session, path);
  testing::expect_same(session.run(g.output("v/read:0")), trained);
  Tensor loss = session.run(
      g.output("loss:0"), {{g.output("p:0"), true}, {g.output("x:0"), std::vector<float>{1, 2}}, {g.output("n:0"), 2}});
  EXPECT_GT(loss.scalar<float>(), 0.f);
}

}  // namespace
}  // namespace weir
