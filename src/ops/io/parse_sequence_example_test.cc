#include <gtest/gtest.h>

#include "proto/example.pb.h"
#include "tests/support/check_op.h"
#include "weir/parsing_ops.h"
#include "weir/session.h"

namespace weir {
namespace {

using testing::expect_error;
using testing::expect_same;
using Strings = std::vector<std::string>;

proto::SequenceExample two_steps() {
  proto::SequenceExample message;
  auto& context = *message.mutable_context()->mutable_feature();
  context["c"].mutable_int64_list()->add_value(7);
  auto& lists = *message.mutable_feature_lists()->mutable_feature_list();
  for (int step = 0; step < 2; ++step) {
    auto* dense = lists["d"].add_feature()->mutable_float_list();
    dense->add_value(static_cast<float>(step));
    dense->add_value(10);
    auto* ragged = lists["r"].add_feature()->mutable_bytes_list();
    for (int i = 0; i <= step; ++i) ragged->add_value(std::string(1, static_cast<char>('a' + i)));
  }
  return message;
}

const FeatureSpecs kContext = {{"c", FixedLenFeature{{}, int64}}};
const FeatureSpecs kSteps = {{"d", FixedLenSequenceFeature{{2}, float32}}, {"r", VarLenFeature{string}}};

TEST(ParseSingleSequenceExample, GivesContextAndSteps) {
  Graph g;
  Output in = g.placeholder(string, Shape{});
  ParsedSequence parsed = parse_single_sequence_example(in, kContext, kSteps);
  EXPECT_EQ(parsed.sequence["d"].shape(), (Shape{kUnknown, 2}));
  Session session(g);
  auto run = [&](const Output& o) { return session.run(o, {{in, Tensor(two_steps().SerializeAsString())}}); };
  expect_same(run(parsed.context["c"]), Tensor(int64_t{7}));
  expect_same(run(parsed.sequence["d"]), Tensor::from<float>({0, 10, 1, 10}, {2, 2}));
  const SparseOutput& ragged = parsed.sequence.sparse("r");
  expect_same(run(ragged.indices), Tensor::from<int64_t>({0, 0, 1, 0, 1, 1}, {3, 2}));
  expect_same(run(ragged.values), Tensor(Strings{"a", "a", "b"}));
  expect_same(run(ragged.dense_shape), Tensor(std::vector<int64_t>{2, 2}));
}

TEST(ParseSingleSequenceExample, TellsWhatIsWrongWithWhichStep) {
  auto fails = [](const std::function<void(proto::SequenceExample&)>& change, const FeatureSpecs& steps,
                  const std::string& text) {
    Graph g;
    Output in = g.placeholder(string, Shape{});
    ParsedSequence parsed = parse_single_sequence_example(in, kContext, steps, "file:3");
    Session session(g);
    proto::SequenceExample message = two_steps();
    change(message);
    expect_error(
        [&] {
          session.run(parsed.context["c"], {{in, Tensor(message.SerializeAsString())}});
        },
        Code::InvalidArgument, text);
  };
  auto nothing = [](proto::SequenceExample&) {};
  fails([](auto& m) { m.clear_context(); }, kSteps,
        "Name: file:3, Context feature 'c' is required but could not be found.");
  fails([](auto& m) { m.clear_feature_lists(); }, kSteps,
        "Name: file:3, Feature list 'd' is required but could not be found.  Did you mean to include it in "
        "feature_list_dense_missing_assumed_empty");
  fails(nothing, {{"d", FixedLenSequenceFeature{{2}, int64}}},
        "Feature list: d, Index: 0.  Data types don't match. Expected type: int64");
  fails(nothing, {{"r", FixedLenSequenceFeature{{}, string}}},
        "Name: file:3, Key: r, Index: 1.  Number of bytes values != expected.  values size: 2 but output shape: []");
  fails(nothing, {{"r", VarLenFeature{float32}}}, "Data types don't match. Expected type: float, Actual type: string");
}

TEST(ParseSingleSequenceExample, TakesAMissingListAsEmptyWhereThatIsAllowed) {
  Graph g;
  ParsedSequence parsed = parse_single_sequence_example(
      g.constant(Tensor("")), {}, {{"z", FixedLenSequenceFeature{{2}, float32, true}}, {"y", VarLenFeature{int64}}});
  Session session(g);
  EXPECT_EQ(session.run(parsed.sequence["z"]).shape(), (Shape{0, 2}));
  expect_same(session.run(parsed.sequence.sparse("y").dense_shape), Tensor(std::vector<int64_t>{0, 0}));
}

TEST(ParseSequenceExample, PadsStepsWithZerosAndTellsLengths) {
  proto::SequenceExample one = two_steps();
  for (auto& [name, list] : *one.mutable_feature_lists()->mutable_feature_list()) list.mutable_feature()->RemoveLast();
  Graph g;
  Operation op = NodeBuilder("ParseSequenceExample")
                     .graph(g)
                     .input(Tensor(Strings{two_steps().SerializeAsString(), one.SerializeAsString()}))
                     .input(Tensor(Strings()))
                     .input(InList{In(Tensor(DType::Int64, Shape{0}))})
                     .attr("feature_list_dense_missing_assumed_empty", Strings())
                     .attr("context_sparse_keys", Strings())
                     .attr("context_dense_keys", Strings{"c"})
                     .attr("feature_list_sparse_keys", Strings{"r"})
                     .attr("feature_list_dense_keys", Strings{"d"})
                     .attr("Ncontext_dense", 1)
                     .attr("Nfeature_list_sparse", 1)
                     .attr("Nfeature_list_dense", 1)
                     .attr("context_dense_shapes", std::vector<Shape>{{}})
                     .attr("feature_list_dense_types", std::vector<DType>{float32})
                     .attr("feature_list_sparse_types", std::vector<DType>{string})
                     .attr("feature_list_dense_shapes", std::vector<Shape>{{2}})
                     .build();
  Session session(g);
  expect_same(session.run(op.output(0)), Tensor(std::vector<int64_t>{7, 7}));
  expect_same(session.run(op.output(1)), Tensor::from<int64_t>({0, 0, 0, 0, 1, 0, 0, 1, 1, 1, 0, 0}, {4, 3}));
  expect_same(session.run(op.output(3)), Tensor(std::vector<int64_t>{2, 2, 2}));
  expect_same(session.run(op.output(4)), Tensor::from<float>({0, 10, 1, 10, 0, 10, 0, 0}, {2, 2, 2}));
  expect_same(session.run(op.output(5)), Tensor(std::vector<int64_t>{2, 1}));
}

}  // namespace
}  // namespace weir
