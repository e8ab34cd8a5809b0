// The same model built here and in TensorFlow 1.15 (tests/conformance/graph_exchange.py) makes the same nodes, in the
// same order, under the same names: checkpoints and seeds depend on it.

#include <gtest/gtest.h>

#include <fstream>

#include "proto/graph.pb.h"
#include "weir/variable_scope.h"
#include "weir/weir.h"

namespace weir {
namespace {

struct Line {
  std::string name, op;
  std::vector<std::string> inputs;
  bool operator==(const Line&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Line& line) {
  out << line.name << " = " << line.op << "(";
  for (const std::string& input : line.inputs) out << " " << input;
  return out << " )";
}

// The nodes up to the first one of the gradients.
std::vector<Line> forward_lines(const std::string& bytes) {
  proto::GraphDef message;
  EXPECT_TRUE(message.ParseFromString(bytes));
  std::vector<Line> lines;
  for (const proto::NodeDef& node : message.node()) {
    if (node.name().starts_with("gradients/")) break;
    lines.push_back({node.name(), node.op(), {node.input().begin(), node.input().end()}});
  }
  return lines;
}

void expect_parity(const Graph& g, const std::string& name) {
  std::ifstream file(WEIR_SOURCE_DIR "/tests/data/graphs/" + name + ".pb", std::ios::binary);
  std::vector<Line> theirs = forward_lines({std::istreambuf_iterator<char>(file), {}});
  std::vector<Line> ours = forward_lines(g.to_graph_def());
  ASSERT_FALSE(theirs.empty());
  for (size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i) ASSERT_EQ(ours[i], theirs[i]) << "node " << i;
  EXPECT_EQ(ours.size(), theirs.size());
}

TEST(GraphParity, MultiLayerPerceptron) {
  Graph g;
  Output x = g.placeholder(float32, {kUnknown, 12}, "x"), y = g.placeholder(float32, {kUnknown, 3}, "y");
  Variable w1 = g.variable("w1", truncated_normal(g, {12, 8}, {.stddev = 0.1f, .seed = 1}));
  Variable b1 = g.variable("b1", zeros(g, {8}));
  Output h = nn::relu(matmul(x, w1) + b1);
  Variable w2 = g.variable("w2", random_normal(g, {8, 3}, {.seed = 2}));
  Output product = matmul(h, w2);
  Variable b2 = g.variable("b2", g.constant(Tensor(std::vector<float>(3, 0.1f))));
  Output logits = nn::bias_add(product, b2);
  reduce_mean(nn::softmax_cross_entropy_with_logits(y, logits), {}, "loss");
  expect_parity(g, "mlp");
}

TEST(GraphParity, ConvolutionalNetwork) {
  Graph g;
  Output images = g.placeholder(float32, {kUnknown, 64}, "images"), labels = g.placeholder(int64, {kUnknown}, "labels");
  Output keep = placeholder_with_default(g.constant(Tensor(1.f), "keep/input"), {}, "keep");
  Output x = reshape(images, {-1, 8, 8, 1});
  int64_t seed = 0;
  for (int64_t channels : {4, 6}) {
    VariableScope scope =
        g.variable_scope("conv" + std::to_string(seed), {.initializer = random_uniform_initializer(-0.1f, 0.1f, seed)});
    ++seed;
    Variable kernel = g.get_variable("kernel", {3, 3, x.shape()[3], channels});
    Variable bias = g.get_variable("bias", {channels}, {.initializer = zeros_initializer()});
    x = nn::relu(nn::bias_add(nn::conv2d(x, kernel), bias));
    x = nn::max_pool(x);
    x = nn::lrn(x, {.depth_radius = 2, .bias = 1, .alpha = 0.001f, .beta = 0.75f});
  }
  x = nn::avg_pool(x, {.ksize = {1, 2, 2, 1}, .strides = {1, 1, 1, 1}, .padding = "VALID"});
  Output flat = nn::dropout(reshape(x, {-1, 6}), keep, {.seed = 3});
  Variable w = g.get_variable("w", {6, 5}, {.initializer = truncated_normal_initializer(1, {.seed = 4})});
  Output logits = matmul(flat, w);
  Output loss = reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(labels, logits));
  add(loss, 1e-3f * nn::l2_loss(w), "loss");
  g.get_variable("global_step", {}, {.initializer = zeros_initializer(), .dtype = int64, .trainable = false});
  expect_parity(g, "convnet");
}

}  // namespace
}  // namespace weir
