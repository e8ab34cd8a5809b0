#include "graph/declared_ops.h"

#include <gtest/gtest.h>

#include "weir/error.h"
#include "weir/graph.h"

namespace weir {
namespace {

TEST(DeclaredOps, ANodeHasTheNameAndTypesThatItWasDeclaredWith) {
  AttrMap attrs;
  attrs.set("depth", int64_t{3});
  const std::string key =
      declare_op("Mine", {}, {{.type = DType::Float32}, {.type = DType::Int32, .is_ref = true}}, attrs);
  Graph g;
  Operation node = g.add({.op = key, .name = "a", .attrs = attrs});
  EXPECT_EQ(node.type(), "Mine");
  EXPECT_EQ(node.outputs(), 2);
  EXPECT_EQ(node.output(0).dtype(), DType::Float32);
  EXPECT_TRUE(node.output(1).is_ref());
  EXPECT_FALSE(node.output(0).shape().has_rank());
}

TEST(DeclaredOps, TheSameSignatureIsDeclaredOnce) {
  EXPECT_EQ(declare_op("Once", {}, {{.type = DType::Float32}}, {}),
            declare_op("Once", {}, {{.type = DType::Float32}}, {}));
  EXPECT_NE(declare_op("Once", {}, {{.type = DType::Float32}}, {}),
            declare_op("Once", {}, {{.type = DType::Int32}}, {}));
}

TEST(DeclaredOps, ANameThatIsNoneOfATableIsFoundOnlyByItsKey) {
  declare_op("Hidden", {}, {}, {});
  EXPECT_EQ(find_op("Hidden"), nullptr);
}

TEST(DeclaredOps, RejectsAnAttributeThatNoSignatureCanHold) {
  AttrMap attrs;
  attrs.set("a;b:int", int64_t{3});
  EXPECT_THROW(declare_op("Bad", {}, {}, attrs), Error);
}

TEST(DeclaredOps, ARegisteredOperationHasItsDefaults) {
  proto::OpDef message;
  message.set_name("Registered");
  auto& attr = *message.add_attr();
  attr.set_name("N");
  attr.set_type("int");
  attr.mutable_default_value()->set_i(7);
  auto& output = *message.add_output_arg();
  output.set_name("y");
  output.set_type(proto::DT_INT32);
  EXPECT_TRUE(register_op(message));
  Graph g;
  EXPECT_EQ(g.add({.op = "Registered"}).attrs().get<int64_t>("N"), 7);
}

TEST(DeclaredOps, OperationsOfTheTablesStayWhatTheyAre) {
  proto::OpDef message;
  message.set_name("MatMul");
  EXPECT_FALSE(register_op(message));
  EXPECT_EQ(find_op("MatMul")->inputs.size(), 2u);
}

TEST(DeclaredOps, RejectsAnArgumentWithoutAType) {
  proto::OpDef message;
  message.set_name("Typeless");
  message.add_input_arg()->set_name("x");
  EXPECT_THROW(register_op(message), Error);
}

}  // namespace
}  // namespace weir
