#include <gtest/gtest.h>

#include "tests/support/check_op.h"

namespace weir {
namespace {

using namespace weir::testing;

TEST(Bitwise, WorksOnAllIntegers) {
  check_op({.op = "BitwiseAnd", .inputs = {{12, 10}, 6}, .outputs = {{4, 2}}});
  check_op({.op = "BitwiseOr", .inputs = {{12, 10}, 6}, .outputs = {{14, 14}}});
  check_op({.op = "BitwiseXor", .inputs = {{12, 10}, 6}, .outputs = {{10, 12}}});
  check_op({.op = "LeftShift", .inputs = {{1, 3, 1}, {2, 0, -1}}, .outputs = {{4, 3, 1}}});
  check_op({.op = "RightShift", .inputs = {{12, 7, 9}, {2, 1, 100}}, .outputs = {{3, 3, 0}}});
  check_op({.op = "Invert", .inputs = {{0, -1, 5}}, .outputs = {{-1, 0, -6}}});
  check_op({.op = "PopulationCount", .inputs = {{0, 7, 100}}, .outputs = {{0, 3, 3}}});
}

// scipy.special: gammainc, gammaincc, betainc, i0e, i1e.
TEST(IncompleteGamma, AgreesWithScipy) {
  check_op({.op = "Igamma",
            .inputs = {{0.5, 2., 10., 3.}, {1., 2., 3., 20.}},
            .outputs = {{0.842700792949715, 0.593994150290162, 0.001102488070820, 0.999999544484953}}});
  check_op({.op = "Igammac",
            .inputs = {{0.5, 2., 10.}, {1., 2., 3.}},
            .outputs = {{0.157299207050285, 0.406005849709838, 0.998897511929180}}});
}

TEST(Betainc, AgreesWithScipy) {
  check_op({.op = "Betainc",
            .inputs = {{0.5, 2., 5.}, {0.5, 3., 1.}, {0.5, 0.4, 0.9}},
            .outputs = {{0.5, 0.5248, 0.59049}},
            .gradient_inputs = {2},
            .bad = {{.inputs = {{1., 2.}, 1., {0.1, 0.2, 0.3}}, .message = "inconsistent"}}});
}

TEST(Bessel, AgreesWithScipy) {
  check_op({.op = "BesselI0e",
            .inputs = {{0.5, -2., 40.}},
            .outputs = {{0.645035270449150, 0.308508322553671, 0.0632774126402}},
            .gradient_tolerance = 1e-5});
  check_op({.op = "BesselI1e",
            .inputs = {{0.5, -2., 40.}},
            .outputs = {{0.156420803184871, -0.215269289248937, 0.0624814252395}},
            .gradient_tolerance = 1e-5});
}

}  // namespace
}  // namespace weir
