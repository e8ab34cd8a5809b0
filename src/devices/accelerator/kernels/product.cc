#include <algorithm>
#include <string>

#include "devices/accelerator/kernels/gemm_text.h"
#include "devices/accelerator/kernels/library.h"
#include "devices/accelerator/kernels/reduction.h"
#include "devices/accelerator/launch.h"
#include "devices/accelerator/table.h"
#include "ops/nn/epilogue.h"

namespace weir::accelerator {
namespace {

// strides: a by m, a by k, b by k, b by n; batches: of a, b and c; more: bias or not, activation.
constexpr const char* kText = R"kernel(
#define LOAD_A(value, m, k) value = a[a_at + (m) * strides.v[0] + (k) * strides.v[1]];
#define LOAD_B(value, k, n) value = b[b_at + (k) * strides.v[2] + (n) * strides.v[3]];
#define STORE(m, n, x) { T out_ = x; if (has_bias) out_ += bias[n]; c[c_at + (m) * columns + (n)] = ACTIVATE(out_, activation); }
KERNEL(product, BUFFER(T, a), BUFFER(T, b), BUFFER(T, bias), BUFFER(T, c), int rows, int columns, int depth, int tiles,
       int splits, INTS strides, INTS batches, int has_bias, int activation) {
  OPEN(T, a); OPEN(T, b); OPEN(T, c); OPEN(T, bias);
  const int tile_number = GROUP % tiles, part = GROUP / tiles % splits, batch = GROUP / tiles / splits;
  const int share = (depth + splits - 1) / splits;
  const int a_at = batch * batches.v[0], b_at = batch * batches.v[1];
  const int c_at = (batch * splits + part) * rows * columns;
  const int k_begin = part * share, k_end = min(depth, k_begin + share);
  GEMM(rows, columns, k_begin, k_end, tile_number, strides.v[1] == 1, strides.v[3] == 1)
}
)kernel";
const KernelDef kProduct(kGemmText, kText, "product");

void multiply(const Product& p, const void* a, const void* b, void* c, const void* bias, int32_t activation) {
  if (multiply_by_library(p, a, b, c)) {
    finish_channels(p.type, c, p.batch * p.m * p.n, 1, p.n, bias, activation);
    return;
  }
  const DType type = p.type;
  constexpr int64_t kTile = 32, kGroups = 64, kLeastDepth = 512;
  const int64_t tiles = (p.m + kTile - 1) / kTile * ((p.n + kTile - 1) / kTile);
  // Few results from a long sum: cut the sum, unless something follows it.
  int64_t splits = 1;
  if (!bias && activation == 0 && p.batch == 1)
    splits = std::clamp<int64_t>(kGroups / tiles, 1, std::max<int64_t>(1, p.k / kLeastDepth));
  Tensor parts;
  if (splits > 1) parts = temporary(type, {splits * p.m * p.n});
  small_int(p.batch * p.m * p.n * splits);
  const int64_t lda = p.transpose_a ? p.m : p.k, ldb = p.transpose_b ? p.k : p.n;
  Ints strides, batches;
  strides.v[0] = p.transpose_a ? 1 : small_int(lda);
  strides.v[1] = p.transpose_a ? small_int(lda) : 1;
  strides.v[2] = p.transpose_b ? 1 : small_int(ldb);
  strides.v[3] = p.transpose_b ? small_int(ldb) : 1;
  batches.v[0] = small_int(p.a_batch);
  batches.v[1] = small_int(p.b_batch);
  Launch(kProduct.of(type))
      .buffer(a)
      .buffer(b)
      .buffer(bias ? bias : a)
      .buffer(splits > 1 ? parts.mutable_raw() : c)
      .count(p.m)
      .count(p.n)
      .count(p.k)
      .count(tiles)
      .count(splits)
      .value(strides)
      .value(batches)
      .value(int32_t{bias != nullptr})
      .value(activation)
      .groups(tiles * splits * p.batch);
  if (splits > 1) fold(kSumFold, type, parts.raw(), c, 1, splits, p.m * p.n);
}

struct State {
  Product product;
  bool bias = false;
  int32_t activation = 0;
};

State prepare(PrepareContext& c) {
  State state;
  Product& p = state.product;
  p.type = c.node().type();
  p.transpose_a = c.attr<bool>("transpose_a");
  p.transpose_b = c.attr<bool>("transpose_b");
  p.m = c.output()[0];
  p.n = c.output()[1];
  p.k = c.input(0)[p.transpose_a ? 0 : 1];
  return state;
}

State prepare_fused(PrepareContext& c) {
  State state = prepare(c);
  const ops::Epilogue epilogue = ops::parse_epilogue(c.node().attrs());
  state.bias = epilogue.bias;
  state.activation = epilogue.activation == cpu::Activation::Relu    ? 1
                     : epilogue.activation == cpu::Activation::Relu6 ? 2
                                                                     : 0;
  return state;
}

void mat_mul(KernelContext& c) {
  const State& s = c.state<State>();
  multiply(s.product, c.raw_input(0), c.raw_input(1), c.raw_output(), s.bias ? c.raw_input(2) : nullptr, s.activation);
}

// Batches of equal shape, or one matrix for all of them.
State prepare_batched(PrepareContext& c) {
  State state;
  Product& p = state.product;
  p.type = c.node().type();
  const Shape &a = c.input(0), &b = c.input(1), &y = c.output();
  p.transpose_a = c.attr<bool>("adj_x");
  p.transpose_b = c.attr<bool>("adj_y");
  p.m = y[y.rank() - 2];
  p.n = y[y.rank() - 1];
  p.k = a[a.rank() - (p.transpose_a ? 2 : 1)];
  const int64_t results = p.m * p.n;
  p.batch = results > 0 ? y.elements() / results : 0;
  auto step = [&](const Shape& x) -> int64_t {
    const int64_t matrix = x[x.rank() - 2] * x[x.rank() - 1];
    if (matrix == 0 || x.elements() == matrix) return 0;
    if (x.elements() != matrix * p.batch) {
      throw error(Code::Unimplemented, "matrices whose batches broadcast, {} and {}, on the device", a.str(), b.str());
    }
    return matrix;
  };
  p.a_batch = step(a);
  p.b_batch = step(b);
  return state;
}

bool is_plain(const NodeView& node, std::span<const DType> inputs, std::span<const DType>) {
  const AttrValue* packed = node.attrs().find("packed_columns");
  return is_floating(inputs[0]) && (!packed || std::get<int64_t>(*packed) == 0) &&
         ops::parse_epilogue(node.attrs()).is_simple();
}

}  // namespace

std::span<const KernelRow> product_kernels() {
  static const KernelRow rows[] = {
      {"MatMul", {.select = always<mat_mul>, .prepare = prepared<prepare>}, first_is_float},
      {"_FusedMatMul", {.select = always<mat_mul>, .prepare = prepared<prepare_fused>}, is_plain},
      {"BatchMatMul", {.select = always<mat_mul>, .prepare = prepared<prepare_batched>}, first_is_float},
      {"BatchMatMulV2", {.select = always<mat_mul>, .prepare = prepared<prepare_batched>}, first_is_float},
  };
  return rows;
}

}  // namespace weir::accelerator
