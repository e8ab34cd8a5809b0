// What functions and TensorFlow 1's control flow become, and what is refused. tests/control_flow_graphs_test.cc runs
// them.

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <set>

#include "graph/bodies.h"
#include "graph/graph_def.h"
#include "tests/support/check_op.h"
#include "weir/ops.h"

namespace weir {
namespace {

using testing::expect_error;

// Nodes in a short form: "name = Op(input, input) attr=type" would need a parser; this fills in what is always the
// same.
std::string node(const std::string& name, const std::string& op, const std::vector<std::string>& inputs = {},
                 const std::string& attrs = "") {
  std::string text = "name: \"" + name + "\" op: \"" + op + "\" ";
  for (const std::string& input : inputs) text += "input: \"" + input + "\" ";
  return text + attrs;
}
std::string top(const std::string& text) { return "node { " + text + " } "; }
std::string attr(const std::string& key, const std::string& value) {
  return "attr { key: \"" + key + "\" value { " + value + " } } ";
}
const std::string kT = attr("T", "type: DT_FLOAT"), kBool = attr("T", "type: DT_BOOL");
std::string frame(const std::string& name, bool constant = false) {
  return kT + attr("frame_name", "s: \"" + name + "\"") + attr("is_constant", constant ? "b: true" : "b: false");
}
const std::string kInputs = top(node("p", "Placeholder", {}, attr("dtype", "type: DT_BOOL"))) +
                            top(node("x", "Placeholder", {}, attr("dtype", "type: DT_FLOAT")));

std::string types(int count) {
  std::string text = "list { ";
  for (int i = 0; i < count; ++i) text += "type: DT_FLOAT ";
  return text + "}";
}
std::string if_node(const std::string& then, const std::string& otherwise, int in = 1, int out = 1) {
  std::vector<std::string> inputs(static_cast<size_t>(in) + 1, "x");
  inputs[0] = "p";
  return top(node("c", "If", inputs,
                  attr("Tcond", "type: DT_BOOL") + attr("Tin", types(in)) + attr("Tout", types(out)) +
                      attr("then_branch", "func { name: \"" + then + "\" }") +
                      attr("else_branch", "func { name: \"" + otherwise + "\" }")));
}
std::string while_node(const std::string& condition, const std::string& body) {
  return top(node("w", "While", {"x"},
                  attr("T", types(1)) + attr("cond", "func { name: \"" + condition + "\" }") +
                      attr("body", "func { name: \"" + body + "\" }")));
}
// A function of `a` that gives `result`, to stand anywhere among the nodes that joined() gets.
std::string function(const std::string& name, const std::string& result, const std::vector<std::string>& nodes = {},
                     const std::string& type = "DT_FLOAT") {
  std::string text = "<function { signature { name: \"" + name + "\" input_arg { name: \"a\" type: DT_FLOAT } " +
                     "output_arg { name: \"r\" type: " + type + " } } ";
  for (const std::string& inner : nodes) text += "node_def { " + inner + " } ";
  return text + "ret { key: \"r\" value: \"" + result + "\" } }>";
}
std::string joined(const std::string& text) {
  std::string nodes, functions;
  bool in_function = false;
  for (char c : text) {
    if (c == '<' || c == '>') {
      in_function = c == '<';
    } else {
      (in_function ? functions : nodes) += c;
    }
  }
  return nodes + " library { " + functions + " }";
}
const std::string kSame = function("same", "a");
const std::string kTwice = function("twice", "n:y:0", {node("n", "Neg", {"a"}, kT)});

struct Refusal {
  std::string text, message;
  Code code = Code::InvalidArgument;
};

void expect_refused(const Refusal& refusal) {
  SCOPED_TRACE(refusal.text);
  Graph g;
  g.constant(Tensor(1.f), "kept");
  const std::string before = g.to_graph_def();
  expect_error([&] { g.import_graph_def_text(joined(refusal.text)); }, refusal.code, refusal.message);
  EXPECT_EQ(g.to_graph_def(), before);
  EXPECT_EQ(g.unique_name("c"), "c");
  EXPECT_TRUE(g.impl().storage.bodies.empty());
  EXPECT_TRUE(g.impl().storage.body_by_name.empty());
}

TEST(ImportFunctions, RefusesBadFunctionsNamingNodeAndFunction) {
  const std::string call =
      top(node("f", "PartitionedCall", {"x"},
               attr("Tin", types(1)) + attr("Tout", types(1)) + attr("f", "func { name: \"same\" }")));
  const Refusal refusals[] = {
      {kInputs + if_node("gone", "same") + kSame, "If 'c': the function 'gone' is not in the library"},
      {kInputs + if_node("same", "same", 2) + kSame, "If 'c': the function 'same' takes 1 arguments of other number"},
      {kInputs + if_node("same", "same", 1, 2) + kSame, "If 'c': the function 'same' gives 1 results"},
      {kInputs + if_node("same", "other") + kSame + function("other", "a", {}, "DT_INT32"),
       "the function 'other' gives"},
      {kInputs + if_node("f", "same") + kSame + function("f", "gone:y:0"),
       "'gone:y:0' is no tensor of the function 'f'"},
      {kInputs + if_node("f", "same") + kSame + function("f", "n:z:0", {node("n", "Neg", {"a"}, kT)}),
       "'n:z:0' is no tensor of the function 'f'"},
      {kInputs + if_node("f", "same") + kSame + function("f", "n:y:1", {node("n", "Neg", {"a"}, kT)}),
       "'n:y:1' is no tensor"},
      {kInputs + if_node("f", "same") + kSame + function("f", "a", {node("n", "Neg", {"b"}, kT)}),
       "Neg 'c/then/n': 'b' is no tensor of the function 'f'"},
      {kInputs + if_node("f", "same") + kSame + function("f", "a", {node("n", "Nog", {"a"}, kT)}),
       "Nog 'c/then/n': there is no operation of this type", Code::NotFound},
      {kInputs + if_node("f", "same") + kSame +
           function("f", "a", {node("n", "Neg", {"a"}, kT), node("n", "Neg", {"a"}, kT)}),
       "the function 'f' has two nodes 'n'"},
      {kInputs + if_node("f", "same") + kSame + function("f", "a", {node("a", "Neg", {"a"}, kT)}), "two nodes 'a'"},
      {kInputs + if_node("f", "same") + kSame +
           function("f", "n:y:0", {node("n", "Neg", {"m:y:0"}, kT), node("m", "Neg", {"n:y:0"}, kT)}),
       "the node depends on itself"},
      {kInputs + if_node("f", "same") + kSame +
           function("f", "n:y:0", {node("n", "Neg", {"a"}, attr("T", "placeholder: \"U\""))}),
       "does not give the attribute 'U'"},
      {kInputs + if_node("f", "same") + kSame + function("f", "g:r:0", {node("g", "f", {"a"})}),
       "the function 'f' calls itself"},
      {kInputs + if_node("f", "same") + kSame + function("f", "x:r:0", {node("x", "g", {"a"})}) +
           function("g", "x:r:0", {node("x", "f", {"a"})}),
       "the function 'f' calls itself"},
      {kInputs + kSame + kSame, "two functions are called 'same'"},
      {kInputs + while_node("same", "gone") + kSame, "While 'w': the function 'gone' is not in the library"},
      {kInputs + while_node("same", "f") + kSame + function("f", "a", {}, "DT_INT32"),
       "the function 'f' gives 1 results"},
      {kInputs + call + function("same", "n:y:0", {node("n", "Neg", {"a"}, attr("T", "type: DT_INT32"))}),
       "Neg 'f/n': input 'x' must be int32"},
      {kInputs + top(node("f", "PartitionedCall", {"x"}, attr("Tin", types(1)) + attr("Tout", types(1)))),
       "PartitionedCall 'f': attribute 'f' names no function"},
      {kInputs + top(node("f", "same", {"x", "x"})) + kSame,
       "same 'f': the function 'same' takes 1 arguments; 2 are given"},
  };
  for (const Refusal& refusal : refusals) expect_refused(refusal);
}

TEST(ImportFunctions, RefusesFunctionsThatMultiplyOrNestWithoutEnd) {
  std::string doubling = kSame, nesting = kSame;
  std::string previous = "same", nested = "same";
  for (int i = 0; i < 80; ++i) {
    const std::string name = "f" + std::to_string(i), deep = "n" + std::to_string(i);
    if (i < 40) {
      doubling += function(name, "y:r:0", {node("x", previous, {"a"}), node("y", previous, {"x:r:0"})});
      previous = name;
    }
    nesting += function(deep, "x:r:0", {node("x", nested, {"a"})});
    nested = deep;
  }
  expect_refused({kInputs + doubling + top(node("c", previous, {"x"})), "have more than"});
  expect_refused({kInputs + nesting + top(node("c", nested, {"x"})), "64 deep"});
}

TEST(ImportFunctions, GivesEveryUseNodesOfItsOwn) {
  Graph g;
  g.import_graph_def_text(joined(kInputs + if_node("twice", "twice") + top(node("d", "twice", {"c"})) + kTwice));
  const Node& branches = *g.operation("c").node();
  auto [then, otherwise] = bodies_of(branches);
  EXPECT_EQ(g.operation("c/then/n").node()->body, then);
  EXPECT_EQ(g.operation("c/else/n").node()->body, otherwise);
  EXPECT_EQ(then->parameters, std::vector<Output>{g.output("x:0")});
  EXPECT_EQ(g.operation("d/n").node()->body, nullptr);
  EXPECT_EQ(g.operation("d").input(0), g.output("d/n:0"));
}

TEST(ImportFunctions, KeepsOnlyFunctionsThatNobodyUses) {
  Graph g;
  g.import_graph_def_text(joined(kInputs + top(node("d", "twice", {"x"})) + kTwice + kSame +
                                 function("user", "n:r:0", {node("n", "same", {"a"})})));
  proto::GraphDef written;
  ASSERT_TRUE(written.ParseFromString(g.to_graph_def()));
  std::set<std::string> names;
  for (const auto& kept : written.library().function()) names.insert(kept.signature().name());
  EXPECT_EQ(names, (std::set<std::string>{"same", "user"}));
}

// while (a < limit) a = -a, with parts replaced.
std::string loop(const std::string& condition_input = "less", const std::string& next_input = "switch:1",
                 const std::string& exit_input = "switch") {
  return top(node("enter", "Enter", {"x"}, frame("f"))) + top(node("limit", "Enter", {"x"}, frame("f", true))) +
         top(node("merge", "Merge", {"enter", "next"}, kT + attr("N", "i: 2"))) +
         top(node("less", "Less", {"merge", "limit"}, kT)) + top(node("cond", "LoopCond", {condition_input})) +
         top(node("switch", "Switch", {"merge", "cond"}, kT)) + top(node("neg", "Neg", {next_input}, kT)) +
         top(node("next", "NextIteration", {"neg"}, kT)) + top(node("exit", "Exit", {exit_input}, kT));
}

std::string conditional(const std::string& merged = "then") {
  return top(node("sw", "Switch", {"x", "p"}, kT)) + top(node("then", "Neg", {"sw:1"}, kT)) +
         top(node("else", "Exp", {"sw"}, kT)) + top(node("m", "Merge", {"else", merged}, kT + attr("N", "i: 2")));
}

TEST(ImportControlFlow, RefusesWhatIsNoConditionalOrLoop) {
  const Refusal refusals[] = {
      {kInputs + top(node("n", "NextIteration", {"x"}, kT)), "NextIteration 'n': the node is not in a loop"},
      {kInputs + top(node("n", "Exit", {"x"}, kT)), "Exit 'n': the node is not in a loop"},
      {kInputs + top(node("n", "LoopCond", {"p"})), "LoopCond 'n': the node is not in a loop"},
      {kInputs + top(node("n", "RefExit", {"x"}, kT)), "RefExit 'n': input 'data' must be a reference"},
      {kInputs + top(node("n", "Enter", {"x"}, frame("f"))), "Enter 'n': the frame 'f' has no LoopCond"},
      {kInputs + top(node("n", "Enter", {}, frame("f"))), "Enter 'n': 0 inputs are given"},
      {kInputs + loop() + top(node("c2", "LoopCond", {"less"})), "LoopCond 'c2': the loop has a LoopCond already"},
      {kInputs + loop("gone"), "LoopCond 'cond': Input tensor 'gone:0' not found in graph_def."},
      {kInputs + loop("less", "x"), "NextIteration 'next': the node is not in a loop"},
      {kInputs + loop() + top(node("n", "Add", {"neg", "x"}, kT)),
       "Add 'n': the inputs 'neg' and 'x' are in different frames"},
      {kInputs + loop() + top(node("n", "NoOp", {"^neg", "^x"})), "are in different frames"},
      {kInputs + top(node("sw", "Switch", {"x"}, kT)) + top(node("m", "Merge", {"sw", "sw:1"}, kT)),
       "Switch 'sw': 1 inputs are given"},
      {kInputs + top(node("sw", "Switch", {"x", "p"}, kT)) + top(node("m", "Merge", {"sw", "sw:1", "sw"}, kT)),
       "Merge 'm': 3 inputs are given"},
      {kInputs + top(node("m", "Merge", {"next", "next"}, kT)) + top(node("next", "NextIteration", {"m"}, kT)),
       "NextIteration 'next': the node is not in a loop"},
  };
  for (const Refusal& refusal : refusals) expect_refused(refusal);
}

// No pattern of tf.cond and tf.while_loop.
TEST(ImportControlFlow, KeepsOtherGraphsAsTheyAre) {
  for (const std::string& text : {loop("less", "switch:0"), loop("less", "switch:1", "neg"), conditional("x"),
                                  conditional("else"), conditional() + top(node("n", "Add", {"then", "else"}, kT))}) {
    Graph g;
    g.import_graph_def_text(kInputs + text);
    for (const Operation& operation : g.operations()) EXPECT_NE(operation.type(), "If");
    const Operation merge = g.find("merge") ? g.operation("merge") : g.operation("m");
    EXPECT_EQ(merge.type(), "Merge");
    EXPECT_EQ(merge.inputs(), 2);
    // It leaves as it came.
    Graph again;
    again.import_graph_def(g.to_graph_def());
    EXPECT_EQ(again.operations().size(), g.operations().size());
  }
}

TEST(ImportControlFlow, MakesAnIfOfSwitchAndMerge) {
  Graph g;
  g.import_graph_def_text(kInputs + conditional() + top(node("y", "Identity", {"m"}, kT)));
  const Node& merged = *g.operation("m").node();
  EXPECT_EQ(merged.op->name, "Identity");
  const Node& branches = *merged.inputs[0].node();
  EXPECT_EQ(branches.op->name, "StatelessIf");
  EXPECT_EQ(branches.inputs, (std::vector<Output>{g.output("p:0"), g.output("x:0")}));
  auto [then, otherwise] = bodies_of(branches);
  EXPECT_EQ(then->results, std::vector<Output>{g.output("then:0")});
  EXPECT_EQ(otherwise->results, std::vector<Output>{g.output("else:0")});
  EXPECT_FALSE(g.find("sw"));
}

TEST(ImportControlFlow, TellsWhichInputOfAMergeCame) {
  Graph g;
  g.import_graph_def_text(kInputs + conditional() +
                          top(node("which", "Identity", {"m:1"}, attr("T", "type: DT_INT32"))));
  const Node& branches = *g.operation("which").input(0).node();
  auto [then, otherwise] = bodies_of(branches);
  EXPECT_EQ(constant_value(then->results[1]).scalar<int32_t>(), 1);
  EXPECT_EQ(constant_value(otherwise->results[1]).scalar<int32_t>(), 0);
}

TEST(ImportControlFlow, MakesAWhileOfAFrame) {
  Graph g;
  g.import_graph_def_text(kInputs + loop() + top(node("y", "Identity", {"exit"}, kT)));
  const Node& repeated = *g.operation("exit").input(0).node();
  EXPECT_EQ(repeated.op->name, "StatelessWhile");
  EXPECT_EQ(repeated.inputs, (std::vector<Output>{g.output("enter:0"), g.output("limit:0")}));
  auto [condition, body] = bodies_of(repeated);
  EXPECT_EQ(condition->parameters, (std::vector<Output>{g.output("merge:0"), g.output("limit:0")}));
  EXPECT_EQ(condition->results, std::vector<Output>{g.output("cond:0")});
  EXPECT_EQ(body->results, (std::vector<Output>{g.output("next:0"), g.output("limit:0")}));
  EXPECT_EQ(g.operation("neg").node()->body, body);
}

TEST(ImportControlFlow, ComputesInTheBodyAgainWhatTheConditionComputed) {
  Graph g;
  g.import_graph_def_text(kInputs + loop() + top(node("inner", "Identity", {"switch:1"}, kT)) +
                          top(node("shared", "LogicalNot", {"less", "^inner"})));
  EXPECT_EQ(g.operation("less").node()->body, g.operation("merge").node()->body);
  EXPECT_EQ(g.operation("shared").input(0), g.output("less_1:0"));
  EXPECT_EQ(g.operation("less_1").node()->body, g.operation("inner").node()->body);
}

TEST(ImportControlFlow, ReplacesInputsFromTheInputMap) {
  Graph g;
  Output q = g.placeholder(boolean, {}, "q"), z = g.placeholder(float32, {}, "z");
  g.import_graph_def_text(kInputs + conditional(), {.prefix = "in", .input_map = {{"p:0", q}, {"x:0", z}}});
  const Node& branches = *g.operation("in/m").input(0).node();
  EXPECT_EQ(branches.inputs, (std::vector<Output>{q, z}));
}

}  // namespace
}  // namespace weir
