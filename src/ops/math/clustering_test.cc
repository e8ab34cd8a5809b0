#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "weir/ops.h"
#include "weir/session.h"

namespace weir {
namespace {

using namespace weir::testing;

TEST(NearestNeighbors, OrdersCentresByDistance) {
  check_op({.op = "NearestNeighbors",
            .inputs = {{{0., 0.}, {10., 0.}}, {{9., 0.}, {1., 0.}, {0., 5.}}, 2},
            .outputs = {{{1, 2}, {0, 1}}, {{1., 25.}, {1., 81.}}},
            .bad = {{.inputs = {{{0., 0.}}, {{9.}}, 1}, .message = "point_dimensions == center_dimensions"}}});
}

TEST(Kmc2ChainInitialization, FollowsLargerDistances) {
  check_op({.op = "KMC2ChainInitialization", .inputs = {{0., 1., 0.}, 0}, .outputs = {1}});
}

TEST(KmeansPlusPlusInitialization, TakesEveryPointWhenAllAreWanted) {
  check_op({.op = "KmeansPlusPlusInitialization",
            .inputs = {{{1., 2.}}, 1, 7, 0},
            .outputs = {{{1., 2.}}},
            .bad = {{.inputs = {{{1., 2.}}, 2, 7, 0}, .message = "num_to_sample <= points.rows()"},
                    {.inputs = {{{1., 2.}}, 0, 7, 0}, .message = "num_to_sample > 0"}}});
  Graph g;
  Output points = g.constant(Tensor::from<float>({0, 0, 5, 5, 5}, {5, 1}));
  Output drawn = NodeBuilder("KmeansPlusPlusInitialization")
                     .input(points)
                     .input(Tensor(int64_t{2}))
                     .input(Tensor(int64_t{3}))
                     .input(Tensor(int64_t{2}))
                     .output();
  const Tensor found = Session(g).run(drawn);
  EXPECT_NE(found.data<float>()[0], found.data<float>()[1]);
}

}  // namespace
}  // namespace weir
