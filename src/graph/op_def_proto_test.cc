#include "graph/op_def_proto.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

namespace weir {
namespace {

template <class Message>
Message from_text(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

std::vector<std::string> names(const proto::OpList& list) {
  std::vector<std::string> result;
  for (const proto::OpDef& op : list.op()) result.push_back(op.name());
  return result;
}

TEST(OpDefProto, SaysWhatTensorFlowSays) {
  proto::OpDef message;
  op_to_proto(*find_op("DepthToSpace"), message);
  const auto expected = from_text<proto::OpDef>(R"(
    name: "DepthToSpace"
    input_arg { name: "input" type_attr: "T" }
    output_arg { name: "output" type_attr: "T" }
    attr { name: "T" type: "type" }
    attr { name: "block_size" type: "int" has_minimum: true minimum: 2 }
    attr { name: "data_format" type: "string" default_value { s: "NHWC" }
           allowed_values { list { s: "NHWC" s: "NCHW" s: "NCHW_VECT_C" } } })");
  EXPECT_EQ(message.DebugString(), expected.DebugString());
}

TEST(OpDefProto, TellsAScalarFromAnUnknownShape) {
  proto::OpDef table, placeholder;
  op_to_proto(*find_op("MutableHashTableOfTensorsV2"), table);
  op_to_proto(*find_op("Placeholder"), placeholder);
  auto shape_of = [](const proto::OpDef& op, const std::string& name) {
    for (const proto::OpDef::AttrDef& attr : op.attr()) {
      if (attr.name() == name) return attr.default_value().shape();
    }
    ADD_FAILURE() << name;
    return proto::TensorShapeProto();
  };
  EXPECT_FALSE(shape_of(table, "value_shape").unknown_rank());
  EXPECT_TRUE(shape_of(placeholder, "shape").unknown_rank());
}

TEST(OpDefProto, FindsOperationsInFunctionsThatAreCalled) {
  const auto graph = from_text<proto::GraphDef>(R"(
    node { name: "a" op: "A" }
    library {
      function { signature { name: "A" } node_def { name: "b" op: "B" } }
      function { signature { name: "B" } node_def { name: "c" op: "Const" } node_def { name: "a" op: "A" } }
      function { signature { name: "C" } node_def { name: "s" op: "Square" } }
    })");
  EXPECT_EQ(names(ops_used_by(graph)), std::vector<std::string>{"Const"});
}

TEST(OpDefProto, NamesOperationsThatNobodyHasDescribed) {
  const auto graph = from_text<proto::GraphDef>(R"(node { name: "a" op: "NoSuchOperation" })");
  EXPECT_EQ(op_names_used_by(graph), std::set<std::string>{"NoSuchOperation"});
  EXPECT_EQ(ops_used_by(graph).op_size(), 0);
}

TEST(OpDefProto, StripsDefaultsAndNothingElse) {
  auto graph = from_text<proto::GraphDef>(R"(
    node { name: "a" op: "Complex" attr { key: "T" value { type: DT_FLOAT } }
                                   attr { key: "Tout" value { type: DT_COMPLEX128 } }
                                   attr { key: "_class" value { s: "loc" } } }
    node { name: "b" op: "NoSuchOperation" attr { key: "T" value { type: DT_FLOAT } } }
    library {
      function { signature { name: "Complex2" }
                 node_def { name: "c" op: "Complex" attr { key: "T" value { type: DT_FLOAT } } } }
    })");
  strip_default_attrs(graph);
  EXPECT_FALSE(graph.node(0).attr().contains("T"));
  EXPECT_TRUE(graph.node(0).attr().contains("Tout"));
  EXPECT_TRUE(graph.node(0).attr().contains("_class"));
  EXPECT_TRUE(graph.node(1).attr().contains("T"));
  EXPECT_TRUE(graph.library().function(0).node_def(0).attr().empty());
}

}  // namespace
}  // namespace weir
