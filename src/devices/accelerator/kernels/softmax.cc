#include "devices/accelerator/launch.h"
#include "devices/accelerator/table.h"
#include "ops/array/strided_copy.h"
#include "ops/nn/rows.h"

namespace weir::accelerator {
namespace {

// A group works on one row at a time.
constexpr const char* kSource = R"kernel(
#define LARGEST_AND_SUM(x, base, columns) \
    ITEMS(i) { \
      T best = x[base]; \
      for (int k = i; k < columns; k += GROUP_ITEMS) best = x[base + k] > best ? x[base + k] : best; \
      shared[i] = best; \
    } \
    BARRIER; \
    for (int half_ = GROUP_ITEMS / 2; half_ > 0; half_ /= 2) { \
      ITEMS(i) { if (i < half_ && shared[i + half_] > shared[i]) shared[i] = shared[i + half_]; } \
      BARRIER; \
    } \
    const T largest = shared[0]; \
    BARRIER; \
    ITEMS(i) { \
      T part = 0; \
      for (int k = i; k < columns; k += GROUP_ITEMS) part += exp(x[base + k] - largest); \
      shared[i] = part; \
    } \
    BARRIER; \
    for (int half_ = GROUP_ITEMS / 2; half_ > 0; half_ /= 2) { \
      ITEMS(i) { if (i < half_) shared[i] += shared[i + half_]; } \
      BARRIER; \
    } \
    const T sum = shared[0]; \
    BARRIER;

KERNEL(softmax, BUFFER(T, x), BUFFER(T, y), int rows, int columns, int logarithm) {
  OPEN(T, x); OPEN(T, y);
  LOCAL(T, shared, GROUP_ITEMS);
  for (int row = GROUP; row < rows; row += GROUPS) {
    const int base = row * columns;
    LARGEST_AND_SUM(x, base, columns)
    ITEMS(i) {
      for (int k = i; k < columns; k += GROUP_ITEMS) {
        y[base + k] = logarithm ? x[base + k] - largest - log(sum) : exp(x[base + k] - largest) / sum;
      }
    }
    BARRIER;
  }
}

KERNEL(sparse_cross_entropy, BUFFER(T, x), BUFFER(U, labels), BUFFER(T, loss), BUFFER(T, dx), int rows, int columns) {
  OPEN(T, x); OPEN(U, labels); OPEN(T, loss); OPEN(T, dx);
  LOCAL(T, shared, GROUP_ITEMS);
  for (int row = GROUP; row < rows; row += GROUPS) {
    const int base = row * columns, label = (int)labels[row];
    const int good = labels[row] >= 0 && labels[row] < columns;
    LARGEST_AND_SUM(x, base, columns)
    ITEMS(i) {
      for (int k = i; k < columns; k += GROUP_ITEMS) {
        dx[base + k] = exp(x[base + k] - largest) / sum - (k == label ? 1 : 0);
      }
      if (i == 0) loss[row] = good ? log(sum) - (x[base + (good ? label : 0)] - largest) : (T)NAN_VALUE;
    }
    BARRIER;
  }
}

KERNEL(cross_entropy, BUFFER(T, x), BUFFER(T, labels), BUFFER(T, loss), BUFFER(T, dx), int rows, int columns) {
  OPEN(T, x); OPEN(T, labels); OPEN(T, loss); OPEN(T, dx);
  LOCAL(T, shared, GROUP_ITEMS);
  for (int row = GROUP; row < rows; row += GROUPS) {
    const int base = row * columns;
    LARGEST_AND_SUM(x, base, columns)
    ITEMS(i) {
      T part = 0;
      for (int k = i; k < columns; k += GROUP_ITEMS) {
        const T logit = x[base + k] - largest, label = labels[base + k];
        if (label != 0) part += label * (log(sum) - logit);
        dx[base + k] = exp(logit) / sum - label;
      }
      shared[i] = part;
    }
    BARRIER;
    for (int half_ = GROUP_ITEMS / 2; half_ > 0; half_ /= 2) {
      ITEMS(i) { if (i < half_) shared[i] += shared[i + half_]; }
      BARRIER;
    }
    ITEMS(i) { if (i == 0) loss[row] = shared[0]; }
    BARRIER;
  }
}
)kernel";
const KernelDef kSoftmax(kSource, "softmax"), kSparseCrossEntropy(kSource, "sparse_cross_entropy"),
    kCrossEntropy(kSource, "cross_entropy");

constexpr int64_t kMostGroups = 65535;

template <bool kLogarithm>
void softmax(KernelContext& c) {
  const ops::RowShape shape(c.shape(0));
  Launch(kSoftmax.of(c.dtype(0)))
      .buffer(c.raw_input(0))
      .buffer(c.raw_output())
      .count(shape.rows)
      .count(shape.columns)
      .value(int32_t{kLogarithm})
      .groups(std::min(shape.rows, kMostGroups));
}

void sparse_cross_entropy(KernelContext& c) {
  const ops::RowShape shape(c.shape(0));
  check_range(c, 1, shape.columns,
              "Received a label value of {value} which is outside the valid range of [0, {limit}) in row {place}");
  Launch(kSparseCrossEntropy.of(c.dtype(0), c.dtype(1)))
      .buffer(c.raw_input(0))
      .buffer(c.raw_input(1))
      .buffer(c.raw_output(0))
      .buffer(c.raw_output(1))
      .count(shape.rows)
      .count(shape.columns)
      .groups(std::min(shape.rows, kMostGroups));
}

// An operand of one row or one column, repeated to the shape of the other.
const void* stretched(KernelContext& c, int input, Tensor& room) {
  const Shape &from = c.shape(input), &to = c.output_shape(1);
  if (from == to) return c.raw_input(input);
  room = temporary(c.dtype(input), to);
  ops::StridedBox box;
  box.add(to[0], to[1], from[0] == 1 ? 0 : from[1]);
  box.add(to[1], 1, from[1] == 1 ? 0 : 1);
  ops::copy_box(c.dtype(input), box, room.mutable_raw(), c.raw_input(input), c.pool());
  return room.raw();
}

void cross_entropy(KernelContext& c) {
  const ops::RowShape shape(c.output_shape(1));
  Tensor logits, labels;
  const void* x = stretched(c, 0, logits);
  Launch(kCrossEntropy.of(c.dtype(0)))
      .buffer(x)
      .buffer(stretched(c, 1, labels))
      .buffer(c.raw_output(0))
      .buffer(c.raw_output(1))
      .count(shape.rows)
      .count(shape.columns)
      .groups(std::min(shape.rows, kMostGroups));
}

}  // namespace

std::span<const KernelRow> softmax_kernels() {
  static const KernelRow rows[] = {
      {"Softmax", {.select = always<softmax<false>>}, first_is_float},
      {"LogSoftmax", {.select = always<softmax<true>>}, first_is_float},
      {"SparseSoftmaxCrossEntropyWithLogits", {.select = always<sparse_cross_entropy>}, first_is_float},
      {"SoftmaxCrossEntropyWithLogits", {.select = always<cross_entropy>}, first_is_float},
  };
  return rows;
}

}  // namespace weir::accelerator
