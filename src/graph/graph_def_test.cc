#include "graph/graph_def.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "tensor/tensor_proto.h"
#include "tests/support/check_op.h"
#include "weir/ops.h"

namespace weir {
namespace {

using testing::expect_error;
using testing::expect_same;

// Made by TensorFlow 1.15.5: see tests/conformance/graph_exchange.py.
std::string tensorflow_graph(const std::string& name) {
  std::ifstream file(WEIR_SOURCE_DIR "/tests/data/graphs/" + name + ".pb", std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

proto::GraphDef parsed(const std::string& bytes) {
  proto::GraphDef message;
  EXPECT_TRUE(message.ParseFromString(bytes));
  return message;
}

// Nodes by name, as text, without the encoding of constants.
std::map<std::string, std::string> described(proto::GraphDef message) {
  std::map<std::string, std::string> nodes;
  for (proto::NodeDef& node : *message.mutable_node()) {
    for (auto& [name, value] : *node.mutable_attr()) {
      if (!value.has_tensor()) continue;
      ExpansionAllowance allowance;
      Tensor tensor = tensor_from_proto(value.tensor(), allowance);
      value.mutable_tensor()->Clear();
      tensor_to_proto(tensor, *value.mutable_tensor());
    }
    google::protobuf::TextFormat::PrintToString(node, &nodes[node.name()]);
  }
  return nodes;
}

class TensorFlowGraphs : public ::testing::TestWithParam<const char*> {};

TEST_P(TensorFlowGraphs, ComeBackNodeByNode) {
  std::string theirs = tensorflow_graph(GetParam());
  Graph g;
  g.import_graph_def(theirs);
  std::string ours = g.to_graph_def();
  EXPECT_EQ(described(parsed(ours)), described(parsed(theirs)));
  EXPECT_EQ(parsed(ours).versions().producer(), 134);

  // For real TensorFlow to read: tests/conformance/graph_exchange.py check.
  auto directory = std::filesystem::temp_directory_path() / "weir_exports";
  std::filesystem::create_directories(directory);
  std::ofstream(directory / (std::string(GetParam()) + ".pb"), std::ios::binary) << ours;
}

TEST_P(TensorFlowGraphs, DoNotDependOnTheOrderOfNodes) {
  proto::GraphDef message = parsed(tensorflow_graph(GetParam()));
  auto expected = described(message);
  std::shuffle(message.mutable_node()->pointer_begin(), message.mutable_node()->pointer_end(), std::mt19937(1));
  Graph g;
  g.import_graph_def(message.SerializeAsString());
  EXPECT_EQ(described(parsed(g.to_graph_def())), expected);
}

TEST_P(TensorFlowGraphs, SurviveTheTextForm) {
  Graph g, again;
  g.import_graph_def(tensorflow_graph(GetParam()));
  again.import_graph_def_text(g.to_graph_def_text());
  EXPECT_EQ(again.to_graph_def(), g.to_graph_def());
}

// A file that is cut short or damaged is refused, or is still a graph; it never changes the graph when refused.
TEST_P(TensorFlowGraphs, CutShortOrDamagedAreRefusedWhole) {
  std::string bytes = tensorflow_graph(GetParam());
  std::mt19937 random(2);
  int refused = 0;
  for (int i = 0; i < 300; ++i) {
    std::string damaged = bytes;
    if (i % 2) {
      damaged.resize(random() % bytes.size());
    } else {
      for (int k = 0; k < 3; ++k) damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    Graph fresh;
    fresh.constant(Tensor(1.f), "kept");
    std::string before = fresh.to_graph_def();
    try {
      fresh.import_graph_def(damaged);
    } catch (const Error&) {
      ++refused;
      EXPECT_EQ(fresh.to_graph_def(), before);
      EXPECT_EQ(fresh.unique_name("fresh"), "fresh");
    }
  }
  EXPECT_GT(refused, 100);
}

INSTANTIATE_TEST_SUITE_P(, TensorFlowGraphs, ::testing::Values("mlp", "convnet", "shapes", "constants"),
                         [](const auto& graph) { return std::string(graph.param); });

TEST(GraphDef, WritesWhatTheProgramBuilt) {
  Graph g;
  Output x = g.placeholder(float32, {kUnknown, 2}, "x");
  Output parts = NodeBuilder("Split", "s").input(1).input(x).attr("num_split", 2).output(1);
  {
    Scope after = g.control_dependencies({x.op()});
    Scope device = g.device("/cpu:0");
    g.no_op("n");
  }
  identity(parts, "i");
  const char* text = R"(
    node { name: "x" op: "Placeholder"
           attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "shape" value { shape { dim { size: -1 } dim { size: 2 } } } } }
    node { name: "s/split_dim" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
           attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape {} int_val: 1 } } } }
    node { name: "s" op: "Split" input: "s/split_dim" input: "x"
           attr { key: "T" value { type: DT_FLOAT } } attr { key: "num_split" value { i: 2 } } }
    node { name: "n" op: "NoOp" input: "^x" device: "DEVICE" }
    node { name: "i" op: "Identity" input: "s:1" attr { key: "T" value { type: DT_FLOAT } } }
    versions { producer: 134 })";
  proto::GraphDef expected;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &expected));
  expected.mutable_node(3)->set_device(g.operation("n").device());
  EXPECT_EQ(parsed(g.to_graph_def()).DebugString(), expected.DebugString());
}

TEST(GraphDef, APlaceholderOfAnOldProgramThatSaysScalarMayHaveAnyShape) {
  auto shape = [](int producer) {
    proto::GraphDef message;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
        R"(node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
                  attr { key: "shape" value { shape {} } } })",
        &message));
    message.mutable_versions()->set_producer(producer);
    Graph g;
    g.import_graph_def(message.SerializeAsString());
    return g.output("x:0").shape();
  };
  EXPECT_FALSE(shape(0).has_rank());
  EXPECT_FALSE(shape(21).has_rank());  // TensorFlow 1.0
  EXPECT_EQ(shape(22), Shape{});
}

TEST(GraphDef, ImportsBelowAPrefixThatIsMadeUnique) {
  std::string bytes;
  {
    Graph g;
    Output a = g.constant(Tensor(2.f), "a");
    Scope beside = g.colocate_with(a.op());
    identity(a, "b");
    bytes = g.to_graph_def();
  }
  Graph g;
  ImportResult one = g.import_graph_def(bytes, {.prefix = "part", .return_elements = {"b:0", "a"}});
  EXPECT_EQ(one.outputs[0].name(), "part/b:0");
  EXPECT_EQ(one.operations[1].name(), "part/a");
  EXPECT_EQ(one.operations[0].attrs().get<std::vector<std::string>>("_class"), std::vector<std::string>{"loc:@part/a"});
  EXPECT_EQ(g.import_graph_def(bytes, {.prefix = "part", .return_elements = {"b"}}).operations[0].name(), "part_1/b");
  Scope scope = g.name_scope("outer");
  EXPECT_EQ(g.import_graph_def(bytes, {.prefix = "part", .return_elements = {"b"}}).operations[0].name(),
            "outer/part/b");
  EXPECT_EQ(g.import_graph_def(bytes, {.return_elements = {"b"}}).operations[0].name(), "b");
  expect_error([&] { g.import_graph_def(bytes); }, Code::InvalidArgument, "Const 'a': the name is taken");
}

TEST(GraphDef, ImportedNamesAreTaken) {
  Graph g;
  g.import_graph_def_text(R"(node { name: "NoOp" op: "NoOp" })");
  EXPECT_EQ(g.no_op().name(), "NoOp_1");
}

TEST(GraphDef, InputsCanBeMappedToTensorsOfTheGraph) {
  const char* text = R"(
    node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
    node { name: "y" op: "Identity" input: "x" input: "^gone" attr { key: "T" value { type: DT_FLOAT } } })";
  Graph g;
  Output mine = g.constant(Tensor(3.f), "mine");
  ImportResult result = g.import_graph_def_text(
      text, {.prefix = "p", .input_map = {{"x:0", mine}, {"^gone", mine}}, .return_elements = {"y:0", "x:0"}});
  EXPECT_EQ(result.outputs[0].op().input(0), mine);
  EXPECT_EQ(result.outputs[0].op().control_inputs()[0], mine.op());
  EXPECT_EQ(result.outputs[1], mine);
  expect_error(
      [&] {
        g.import_graph_def_text(text, {.input_map = {{"^gone", mine}, {"nothing", mine}}});
      },
      Code::InvalidArgument, "nothing:0");
  Output wrong = g.constant(Tensor(3), "wrong");
  expect_error(
      [&] {
        g.import_graph_def_text(text, {.input_map = {{"x", wrong}, {"^gone", wrong}}});
      },
      Code::InvalidArgument, "Identity 'y': input 'input' must be float");
}

TEST(GraphDef, ScopesOfTheProgramDoNotReachIn) {
  Graph g;
  Output a = g.constant(Tensor(1.f), "a");
  Scope control = g.control_dependencies({a.op()});
  Scope beside = g.colocate_with(a.op());
  g.import_graph_def_text(R"(node { name: "n" op: "NoOp" })");
  EXPECT_TRUE(g.operation("n").control_inputs().empty());
  EXPECT_FALSE(g.operation("n").attrs().has("_class"));
  EXPECT_EQ(g.no_op("m").control_inputs().size(), 1u);
}

struct Refusal {
  const char* nodes;
  const char* message;
  Code code = Code::InvalidArgument;
};

TEST(GraphDef, RefusesBadGraphsNamingTheNode) {
  const Refusal refusals[] = {
      {R"(node { name: "a" op: "Foo" })", "Foo 'a': there is no operation", Code::NotFound},
      {R"(node { name: "a" op: "NoOp" } node { name: "a" op: "NoOp" })", "NoOp 'a': two nodes have this name"},
      {R"(node { name: "kept" op: "NoOp" })", "NoOp 'kept': the name is taken"},
      {R"(node { name: "" op: "NoOp" })", "not a valid operation name"},
      {R"(node { name: "a b" op: "NoOp" })", "NoOp 'a b': this is not a valid"},
      {R"(node { name: "a/" op: "NoOp" })", "NoOp 'a/': this is not a valid"},
      {R"(node { name: "a" op: "Identity" input: "b" })", "Identity 'a': Input tensor 'b:0' not found in graph_def."},
      {R"(node { name: "a" op: "NoOp" input: "^b" })", "NoOp 'a': Control input '^b' not found in graph_def."},
      {R"(node { name: "a" op: "NoOp" input: "^a" })", "NoOp 'a': the node depends on itself: a -> a"},
      {R"(node { name: "z" op: "NoOp" input: "^b" } node { name: "a" op: "NoOp" input: "^b" }
          node { name: "b" op: "NoOp" input: "^a" })",
       "the node depends on itself"},
      {R"(node { name: "a" op: "NoOp" input: "b:x" })", "NoOp 'a': Cannot convert 'b:x' to a tensor name."},
      {R"(node { name: "b" op: "NoOp" } node { name: "a" op: "Identity" input: "b" })",
       "Identity 'a': Input tensor 'b:0' not found"},
      {R"(node { name: "b" op: "NoOp" } node { name: "a" op: "Identity" input: "^b" input: "b" })",
       "Identity 'a': input 'b' follows a control input"},
      {R"(node { name: "a" op: "Identity" })", "Identity 'a': 0 inputs are given"},
      {R"(node { name: "p" op: "Placeholder" })", "Placeholder 'p': attribute 'dtype' is missing"},
      {R"(node { name: "p" op: "Placeholder" attr { key: "dtype" value { i: 3 } } })", "must be of kind type"},
      {R"(node { name: "p" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT_REF } } })", "is no type"},
      {R"(node { name: "p" op: "Placeholder" attr { key: "dtype" value {} } })",
       "attribute 'dtype': there is no value"},
      {R"(node { name: "p" op: "Placeholder" attr { key: "dtype" value { placeholder: "T" } } })", "left to a call"},
      {R"(node { name: "p" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
          attr { key: "shape" value { shape { dim { size: -7 } } } } })",
       "a dimension is -7"},
      {R"(node { name: "n" op: "NoOp" attr { key: "depth" value { i: 3 } } })", "there is no attribute 'depth'"},
      {R"(node { name: "p" op: "Placeholder" attr { key: "dtype" value { type: DT_INT32 } } }
          node { name: "i" op: "Identity" input: "p" attr { key: "T" value { type: DT_FLOAT } } })",
       "Identity 'i': input 'input' must be float; 'p:0' is int32"},
      {R"(node { name: "n" op: "NoOp" attr { key: "_class" value { list { s: "loc:@gone" } } } })",
       "'gone' does not exist during import"},
      {R"(node { name: "n" op: "NoOp" attr { key: "_x" value { list { s: "a" i: 1 } } } })", "values of 2 kinds"},
      {R"(versions { producer: 99999 min_consumer: 99999 })",
       "GraphDef min consumer version 99999 above current version 134"},
      {R"(nodes {})", "the text is no GraphDef: 1:"},
  };
  for (const Refusal& refusal : refusals) {
    SCOPED_TRACE(refusal.nodes);
    Graph g;
    g.constant(Tensor(1.f), "kept");
    std::string before = g.to_graph_def();
    std::string text = refusal.nodes;
    expect_error([&] { g.import_graph_def_text(R"(node { name: "first" op: "NoOp" } )" + text); }, refusal.code,
                 refusal.message);
    EXPECT_EQ(g.to_graph_def(), before);
    EXPECT_EQ(g.unique_name("first"), "first");
  }
}

TEST(GraphDef, DropsBlankAttributesOfNewerProducers) {
  std::string text =
      R"(node { name: "n" op: "NoOp" attr { key: "later" value { b: VALUE } } } versions { producer: P })";
  auto with = [&](const std::string& value, const std::string& producer) {
    std::string result = text;
    result.replace(result.find("VALUE"), 5, value);
    return result.replace(result.find(": P") + 2, 1, producer);
  };
  Graph g;
  g.import_graph_def_text(with("false", "1000"));
  EXPECT_FALSE(g.operation("n").attrs().has("later"));
  Graph other;
  expect_error([&] { other.import_graph_def_text(with("true", "1000")); }, Code::InvalidArgument, "later");
  expect_error([&] { other.import_graph_def_text(with("false", "134")); }, Code::InvalidArgument, "later");
}

TEST(GraphDef, KeepsInternalAttributesAndFunctions) {
  const char* text = R"(
    node { name: "n" op: "NoOp" attr { key: "_note" value { s: "kept" } }
           attr { key: "_f" value { func { name: "f" attr { key: "k" value { i: 3 } } } } } }
    library { function { signature { name: "f" } } }
    versions { producer: 134 })";
  Graph g;
  g.import_graph_def_text(text);
  EXPECT_EQ(g.operation("n").attrs().get<std::string>("_note"), "kept");
  proto::GraphDef expected;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &expected));
  EXPECT_EQ(parsed(g.to_graph_def()).DebugString(), expected.DebugString());
  g.import_graph_def_text(R"(library { function { signature { name: "f" } } })");
  EXPECT_EQ(parsed(g.to_graph_def()).library().function_size(), 1);
  expect_error(
      [&] { g.import_graph_def_text(R"(library { function { signature { name: "f" is_stateful: true } } })"); },
      Code::InvalidArgument, "function 'f' differs");
}

TEST(GraphDef, SaysWhichReturnElementIsMissing) {
  Graph g;
  const char* text = R"(node { name: "n" op: "NoOp" })";
  for (const char* bad : {"m", "m:0", "n:0", "^n", "n:x"}) {
    expect_error([&] { g.import_graph_def_text(text, {.return_elements = {bad}}); }, Code::InvalidArgument, bad);
  }
  EXPECT_TRUE(g.operations().empty());
  EXPECT_FALSE(g.import_graph_def_text(text, {.return_elements = {"n"}}).outputs[0]);
}

}  // namespace
}  // namespace weir
