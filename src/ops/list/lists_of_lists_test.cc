#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/ops.h"
#include "weir/session.h"

namespace weir {
namespace {

using namespace weir::testing;

Output list_of(Graph& g, const std::vector<float>& values) {
  return NodeBuilder("TensorListFromTensor")
      .input(g.constant(Tensor(values)))
      .input(Tensor(std::vector<int32_t>{}))
      .output();
}

TEST(TensorListConcatLists, PutsOneBehindTheOther) {
  Graph g;
  Output joined = NodeBuilder("TensorListConcatLists")
                      .input(list_of(g, {1, 2}))
                      .input(list_of(g, {3}))
                      .attr("element_dtype", float32)
                      .output();
  Output all = NodeBuilder("TensorListStack")
                   .input(joined)
                   .input(Tensor(std::vector<int32_t>{}))
                   .attr("element_dtype", float32)
                   .output();
  expect_near(Session(g).run(all), Tensor(std::vector<float>{1, 2, 3}), 0);
  Output wrong = NodeBuilder("TensorListConcatLists")
                     .input(list_of(g, {1}))
                     .input(list_of(g, {3}))
                     .attr("element_dtype", int32)
                     .output();
  expect_error([&] { Session(g).run(wrong.op()); }, Code::InvalidArgument, "Invalid data types");
}

TEST(Pack, PutsListsTogetherAndUnpackTakesThemApart) {
  Graph g;
  const Output pair = stack({list_of(g, {1, 2}), list_of(g, {3})});
  Session session(g);
  for (const auto& [index, expected] : {std::pair(0, std::vector<float>{1, 2}), {1, {3}}}) {
    Output all = NodeBuilder("TensorListStack")
                     .input(unstack(pair, 2)[static_cast<size_t>(index)])
                     .input(Tensor(std::vector<int32_t>{}))
                     .attr("element_dtype", float32)
                     .output();
    expect_same(session.run(all), Tensor(expected));
  }
}

}  // namespace
}  // namespace weir
