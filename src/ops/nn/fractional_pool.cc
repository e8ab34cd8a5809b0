#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/array/array_util.h"
#include "ops/random/word_stream.h"
#include "ops/types.h"
#include "weir/ops.h"

// Pools whose cells have random sizes, so that a picture shrinks by a fraction (Graham, "Fractional max-pooling",
// 2014).
namespace weir::ops {
namespace {

std::vector<float> ratios_of(const AttrMap& attrs) {
  const auto& ratio = attrs.get<std::vector<float>>("pooling_ratio");
  if (ratio.size() != 4) throw invalid_argument("pooling_ratio field must specify 4 dimensions");
  for (float r : ratio) {
    if (!(r >= 1)) throw invalid_argument("pooling_ratio cannot be smaller than 1, got: {}", r);
  }
  if (ratio[0] != 1 || ratio[3] != 1) {
    throw error(Code::Unimplemented, "Fractional pooling is not yet supported on the batch nor channel dimension.");
  }
  if (!attrs.get<bool>("deterministic") && (attrs.get<int64_t>("seed") != 0 || attrs.get<int64_t>("seed2") != 0)) {
    throw invalid_argument("Both seed and seed2 should be 0 if deterministic is false.");
  }
  return ratio;
}

void infer(InferContext& c) {
  c.require_rank(0, 4);
  const std::vector<float> ratio = ratios_of(c.attrs());
  Shape to = c.input(0).merged(Shape::unknown_dims(4));
  for (int i = 0; i < 4; ++i) {
    if (to[i] == kUnknown) continue;
    const float r = ratio[static_cast<size_t>(i)];
    if (static_cast<float>(to[i]) < r) {
      throw invalid_argument(
          "Pooling ratio is higher than input dimension size for dimension {}. Input dim size: {} pooling ratio: {}", i,
          to[i], r);
    }
    to.set_dim(i, static_cast<int64_t>(std::floor(static_cast<float>(to[i]) / r)));
  }
  c.set_output(0, to);
  c.set_output(1, Shape{to[1] == kUnknown ? kUnknown : to[1] + 1});
  c.set_output(2, Shape{to[2] == kUnknown ? kUnknown : to[2] + 1});
}

struct State {
  bool pseudo_random, overlapping, deterministic;
  uint64_t seed, seed2;
};

State prepare(PrepareContext& c) {
  State state{c.attr<bool>("pseudo_random"), c.attr<bool>("overlapping"), c.attr<bool>("deterministic"),
              static_cast<uint64_t>(c.attr<int64_t>("seed")), static_cast<uint64_t>(c.attr<int64_t>("seed2"))};
  if (state.deterministic && state.seed == 0 && state.seed2 == 0) {
    std::random_device device;  // the same cells in every run, but others in every process
    state.seed = static_cast<uint64_t>(device()) << 32 | device();
  }
  return state;
}

// Where the cells begin, and behind the last one the end. Moves the generator on as TensorFlow's does.
void make_sequence(cpu::Philox& generator, int64_t in, int64_t out, bool pseudo_random, int64_t* begins) {
  WordStream words(generator);
  const int64_t k = in / out;
  begins[0] = 0;
  if (pseudo_random) {
    generator.skip(1);
    const double alpha = static_cast<double>(in) / static_cast<double>(out);
    const double most = std::min(static_cast<double>(k + 2) / alpha - 1,
                                 static_cast<double>(in + 1 - k) / alpha - static_cast<double>(out - 1));
    const double u = words.next_double() * most;
    for (int64_t i = 1; i < out; ++i) {
      begins[i] = static_cast<int64_t>(std::ceil(alpha * (static_cast<double>(i) + u))) - 1;
    }
    begins[out] = in;
    return;
  }
  generator.skip(static_cast<uint64_t>((out + 3) / 4));
  int64_t* sizes = begins + 1;
  for (int64_t i = 0; i < out; ++i) sizes[i] = k + (i < in % out ? 1 : 0);
  for (int64_t i = 0; i + 1 < out; ++i) std::swap(sizes[i], sizes[i + words.next() % static_cast<uint32_t>(out - i)]);
  for (int64_t i = 0; i < out; ++i) sizes[i] += begins[i];
}

// Calls body(first, last) with the places of cell i, the last included.
int64_t last_of(const int64_t* begins, int64_t i, bool overlapping, int64_t in) {
  return std::min(overlapping ? begins[i + 1] : begins[i + 1] - 1, in - 1);
}

template <bool kMax>
struct Forward {
  template <class T>
  static void run(KernelContext& c) {
    const auto& s = c.state<State>();
    const Shape &in = c.shape(0), &out = c.output_shape();
    int64_t *rows = c.output<int64_t>(1), *columns = c.output<int64_t>(2);
    cpu::Philox generator(s.seed, s.seed2);
    if (!s.deterministic) {
      std::random_device device;
      generator = cpu::Philox(static_cast<uint64_t>(device()) << 32 | device(), device());
    }
    if (out[1] == 0 || out[2] == 0) return;
    make_sequence(generator, in[1], out[1], s.pseudo_random, rows);
    make_sequence(generator, in[2], out[2], s.pseudo_random, columns);
    const int64_t depth = in[3];
    T* y = c.output<T>();
    for (int64_t b = 0; b < in[0]; ++b) {
      for (int64_t i = 0; i < out[1]; ++i) {
        const int64_t row_end = last_of(rows, i, s.overlapping, in[1]);
        for (int64_t j = 0; j < out[2]; ++j, y += depth) {
          const int64_t column_end = last_of(columns, j, s.overlapping, in[2]);
          std::fill_n(y, depth, kMax ? std::numeric_limits<T>::lowest() : T(0));
          int64_t count = 0;
          for (int64_t h = rows[i]; h <= row_end; ++h) {
            for (int64_t w = columns[j]; w <= column_end; ++w, ++count) {
              const T* x = c.input<T>(0) + ((b * in[1] + h) * in[2] + w) * depth;
              for (int64_t d = 0; d < depth; ++d) {
                if constexpr (kMax) {
                  y[d] = std::max(y[d], x[d]);
                } else {
                  y[d] += x[d];
                }
              }
            }
          }
          if (!kMax && count > 0) {
            for (int64_t d = 0; d < depth; ++d) y[d] /= static_cast<T>(count);
          }
        }
      }
    }
  }
};

struct Cells {
  const int64_t* begins;
  int64_t count, in;
};

Cells cells_input(const KernelContext& c, int input, int64_t count, int64_t in) {
  const auto* begins = c.input<int64_t>(input);
  if (c.elements(input) != count + 1) {
    throw invalid_argument("a pooling sequence has {} entries for {} cells", c.elements(input), count);
  }
  for (int64_t i = 0; i <= count; ++i) {
    if (begins[i] < 0 || begins[i] > in || (i > 0 && begins[i] <= begins[i - 1])) {
      throw invalid_argument(
          "Row sequence tensor values must not be negative, must rise, and end at {}; entry {} is {}", in, i,
          begins[i]);
    }
  }
  return {begins, count, in};
}

bool prepare_grad(PrepareContext& c) { return c.attr<bool>("overlapping"); }

void infer_avg_grad(InferContext& c) {
  c.require_rank(0, 1);
  c.require_rank(1, 4);
  for (int i : {2, 3}) c.require_rank(i, 1);
  if (c.input(0).has_rank() && c.input(0)[0] != kUnknown && c.input(0)[0] != 4) {
    throw invalid_argument("original input tensor shape must be 1-dimensional and 4 elements");
  }
  const Shape to = shape_argument(c, 0);
  for (int i = 0; to.has_rank() && i < to.rank(); ++i) {
    constexpr const char* kNames[] = {"Batch", "Rows", "Columns", "Depth"};
    if (to[i] == 0) throw invalid_argument("{} dimension of input must not be 0", kNames[i]);
  }
  c.set_output(0, to.has_rank() ? to : Shape::unknown_dims(4));
}

void infer_max_grad(InferContext& c) {
  for (int i : {0, 1, 2}) c.require_rank(i, 4);
  for (int i : {3, 4}) c.require_rank(i, 1);
  if (!c.input(1).compatible(c.input(2))) {
    throw invalid_argument("orig_output and out_backprop have shapes {} and {}", c.input(1).str(), c.input(2).str());
  }
  c.set_output(0, c.input(0));
}

void require_same_ends(const Shape& in, const Shape& out) {
  if (in[0] != out[0] || in[3] != out[3]) {
    throw invalid_argument("batch and channels of {} and {} differ", in.str(), out.str());
  }
}

struct AvgGrad {
  template <class T>
  static void run(KernelContext& c) {
    const Shape &in = c.output_shape(), &out = c.shape(1);
    require_same_ends(in, out);
    const Cells rows = cells_input(c, 2, out[1], in[1]), columns = cells_input(c, 3, out[2], in[2]);
    const bool overlapping = c.state<bool>();
    const int64_t depth = in[3];
    std::vector<double> sums(static_cast<size_t>(c.output_elements()), 0.0);
    const T* grad = c.input<T>(1);
    for (int64_t b = 0; b < out[0]; ++b) {
      for (int64_t i = 0; i < out[1]; ++i) {
        const int64_t row_end = last_of(rows.begins, i, overlapping, in[1]);
        for (int64_t j = 0; j < out[2]; ++j, grad += depth) {
          const int64_t column_end = last_of(columns.begins, j, overlapping, in[2]);
          const auto count = static_cast<double>((row_end - rows.begins[i] + 1) * (column_end - columns.begins[j] + 1));
          for (int64_t h = rows.begins[i]; h <= row_end; ++h) {
            for (int64_t w = columns.begins[j]; w <= column_end; ++w) {
              double* to = sums.data() + ((b * in[1] + h) * in[2] + w) * depth;
              for (int64_t d = 0; d < depth; ++d) to[d] += static_cast<double>(grad[d]) / count;
            }
          }
        }
      }
    }
    for (size_t i = 0; i < sums.size(); ++i) c.output<T>()[i] = static_cast<T>(sums[i]);
  }
};

// To the first of the largest elements of a cell.
struct MaxGrad {
  template <class T>
  static void run(KernelContext& c) {
    const Shape &in = c.shape(0), &out = c.shape(2);
    require_same_ends(in, out);
    const Cells rows = cells_input(c, 3, out[1], in[1]), columns = cells_input(c, 4, out[2], in[2]);
    const bool overlapping = c.state<bool>();
    const int64_t depth = in[3];
    T* sums = c.output<T>();
    std::fill_n(sums, c.output_elements(), T(0));
    const T *x = c.input<T>(0), *grad = c.input<T>(2);
    for (int64_t b = 0; b < out[0]; ++b) {
      for (int64_t i = 0; i < out[1]; ++i) {
        const int64_t row_end = last_of(rows.begins, i, overlapping, in[1]);
        for (int64_t j = 0; j < out[2]; ++j, grad += depth) {
          const int64_t column_end = last_of(columns.begins, j, overlapping, in[2]);
          for (int64_t d = 0; d < depth; ++d) {
            int64_t best = -1;
            for (int64_t h = rows.begins[i]; h <= row_end; ++h) {
              for (int64_t w = columns.begins[j]; w <= column_end; ++w) {
                const int64_t at = ((b * in[1] + h) * in[2] + w) * depth + d;
                if (best < 0 || x[at] > x[best]) best = at;
              }
            }
            if (best >= 0) sums[best] += grad[d];
          }
        }
      }
    }
  }
};

void avg_gradient(GradContext& c) {
  c.set_input_grad(0, NodeBuilder("FractionalAvgPoolGrad")
                          .input(shape(c.input(0), int64))
                          .input(c.output_grad(0))
                          .input(c.output(1))
                          .input(c.output(2))
                          .attr("overlapping", c.attr<bool>("overlapping"))
                          .output());
}

void max_gradient(GradContext& c) {
  c.set_input_grad(0, NodeBuilder("FractionalMaxPoolGrad")
                          .input(c.input(0))
                          .input(c.output(0))
                          .input(c.output_grad(0))
                          .input(c.output(1))
                          .input(c.output(2))
                          .attr("overlapping", c.attr<bool>("overlapping"))
                          .output());
}

using PoolTypes = Types<float, double, int32_t, int64_t>;
constexpr std::string_view kAttrs =
    "pooling_ratio:list(float)>=4; pseudo_random:bool=False; overlapping:bool=False; deterministic:bool=False; "
    "seed:int=0; seed2:int=0; T:type{float,double,int32,int64}";
constexpr std::string_view kGradAttrs = "overlapping:bool=False; T:type{float,double,int32,int64}";

OpDef forward_row(std::string_view name, void (*gradient)(GradContext&), ComputeFn (*select)(const NodeView&)) {
  return {.name = name,
          .inputs = "value:T",
          .outputs = "output:T; row_pooling_sequence:int64; col_pooling_sequence:int64",
          .attrs = kAttrs,
          .infer = infer,
          .gradient = gradient,
          .cpu = {.select = select, .prepare = prepared<prepare>}};
}

}  // namespace

OpDef fractional_avg_pool_op() {
  return forward_row("FractionalAvgPool", avg_gradient, kernel_for<PoolTypes, Forward<false>>);
}
OpDef fractional_max_pool_op() {
  return forward_row("FractionalMaxPool", max_gradient, kernel_for<PoolTypes, Forward<true>>);
}
OpDef fractional_avg_pool_grad_op() {
  return {
      .name = "FractionalAvgPoolGrad",
      .inputs = "orig_input_tensor_shape:int64; out_backprop:T; row_pooling_sequence:int64; col_pooling_sequence:int64",
      .outputs = "output:T",
      .attrs = kGradAttrs,
      .host = "orig_input_tensor_shape",
      .infer = infer_avg_grad,
      .cpu = {.select = kernel_for<PoolTypes, AvgGrad>, .prepare = prepared<prepare_grad>}};
}
OpDef fractional_max_pool_grad_op() {
  return {
      .name = "FractionalMaxPoolGrad",
      .inputs = "orig_input:T; orig_output:T; out_backprop:T; row_pooling_sequence:int64; col_pooling_sequence:int64",
      .outputs = "output:T",
      .attrs = kGradAttrs,
      .infer = infer_max_grad,
      .cpu = {.select = kernel_for<PoolTypes, MaxGrad>, .prepare = prepared<prepare_grad>}};
}

}  // namespace weir::ops
