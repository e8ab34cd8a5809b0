#include <algorithm>
#include <array>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/array/array_util.h"
#include "ops/array/strided_copy.h"
#include "ops/math/functors.h"

// Sums of products of the elements of one or two tensors, whose dimensions an equation names: "ij,jk->ik".
namespace weir::ops {
namespace {

// Dimensions that stand for "..." have labels of their own, counted from the last one.
constexpr int kEllipsis = 256;

struct Equation {
  std::vector<std::string> inputs;
  std::string output;
};

Equation parse(const std::string& text, int inputs) {
  std::string plain;
  for (char ch : text) {
    if (ch != ' ') plain.push_back(ch);
  }
  const size_t arrow = plain.find("->");
  if (arrow == std::string::npos || plain.find("->", arrow + 2) != std::string::npos) {
    throw invalid_argument("Expecting exactly one '->' in einsum equation: {}", text);
  }
  Equation equation{{}, plain.substr(arrow + 2)};
  std::string left = plain.substr(0, arrow);
  for (size_t comma; (comma = left.find(',')) != std::string::npos; left.erase(0, comma + 1)) {
    equation.inputs.push_back(left.substr(0, comma));
  }
  equation.inputs.push_back(left);
  if (equation.inputs.size() > 2) {
    throw invalid_argument("Expecting 1 or 2 input subscripts in equation '{}' but got: {}", text,
                           equation.inputs.size());
  }
  if (static_cast<int>(equation.inputs.size()) != inputs) {
    throw invalid_argument("Expected {} inputs for equation {} but got: {}", equation.inputs.size(), text, inputs);
  }
  return equation;
}

// The label of each dimension of a tensor of that rank.
std::vector<int> labels_of(const std::string& subscript, int rank, const std::string& equation) {
  std::vector<int> labels;
  size_t named = 0;
  bool ellipsis = false;
  for (size_t i = 0; i < subscript.size(); ++i) {
    if (std::isalpha(static_cast<unsigned char>(subscript[i]))) {
      ++named;
    } else if (subscript.compare(i, 3, "...") == 0 && !ellipsis) {
      ellipsis = true;
      i += 2;
    } else {
      throw invalid_argument("Invalid character in einsum equation '{}'", equation);
    }
  }
  const int free = rank - static_cast<int>(named);
  if (free < 0 || (free > 0 && !ellipsis)) {
    throw invalid_argument("Expected input of rank {} for subscript '{}' but got a tensor of rank {}", named, subscript,
                           rank);
  }
  for (size_t i = 0; i < subscript.size(); ++i) {
    if (subscript[i] == '.') {
      for (int d = free; d > 0; --d) labels.push_back(kEllipsis + d);
      i += 2;
    } else {
      labels.push_back(static_cast<unsigned char>(subscript[i]));
    }
  }
  return labels;
}

// Everything that follows from the equation and the shapes.
struct Plan {
  // The labels of the result that come from both inputs, from the first, from the second; and those summed over.
  std::vector<int> batch, left, right, summed;
  std::vector<std::vector<int>> inputs;
  std::vector<int> output;
  std::vector<std::pair<int, int64_t>> sizes;  // of every label

  int64_t size_of(int label) const {
    for (const auto& [known, size] : sizes) {
      if (known == label) return size;
    }
    return 1;
  }
  int64_t elements(const std::vector<int>& labels) const {
    int64_t n = 1;
    for (int label : labels) n = checked_multiply(n, size_of(label));
    return n;
  }
};

bool has(const std::vector<int>& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

Plan plan_of(const std::string& text, std::span<const Shape* const> shapes) {
  const Equation equation = parse(text, static_cast<int>(shapes.size()));
  Plan plan;
  int free = 0;
  for (size_t i = 0; i < shapes.size(); ++i) {
    plan.inputs.push_back(labels_of(equation.inputs[i], shapes[i]->rank(), text));
    for (size_t d = 0; d < plan.inputs[i].size(); ++d) {
      const int label = plan.inputs[i][d];
      const int64_t size = (*shapes[i])[static_cast<int>(d)];
      if (label > kEllipsis) free = std::max(free, label - kEllipsis);
      auto known =
          std::find_if(plan.sizes.begin(), plan.sizes.end(), [&](auto& entry) { return entry.first == label; });
      if (known == plan.sizes.end()) {
        plan.sizes.emplace_back(label, size);
      } else if (known->second == kUnknown || (label > kEllipsis && known->second == 1)) {
        known->second = size;
      } else if (size != kUnknown && size != known->second && !(label > kEllipsis && size == 1)) {
        throw invalid_argument("Expected dimension {} at axis {} of the input shaped {} but got dimension {}",
                               known->second, d, shapes[i]->str(), size);
      }
    }
  }
  int named = 0;
  for (char ch : equation.output) named += ch != '.' ? 1 : 0;
  plan.output = labels_of(equation.output, named + (equation.output.find("...") == std::string::npos ? 0 : free), text);
  for (int label : plan.output) {
    if (label < kEllipsis && !std::any_of(plan.inputs.begin(), plan.inputs.end(),
                                          [&](const std::vector<int>& labels) { return has(labels, label); })) {
      throw invalid_argument("Output subscripts contain the label '{}' not present in the input subscripts.",
                             static_cast<char>(label));
    }
  }
  for (const auto& [label, size] : plan.sizes) {
    const bool a = has(plan.inputs[0], label), b = plan.inputs.size() > 1 && has(plan.inputs[1], label);
    if (!has(plan.output, label)) {
      plan.summed.push_back(label);
    } else {
      (a && b ? plan.batch : a ? plan.left : plan.right).push_back(label);
    }
  }
  return plan;
}

void infer(InferContext& c) {
  std::vector<const Shape*> shapes;
  for (int i = 0; i < c.inputs(); ++i) {
    if (!c.input(i).has_rank()) {
      parse(c.attr<std::string>("equation"), c.inputs());
      return;
    }
    shapes.push_back(&c.input(i));
  }
  const Plan plan = plan_of(c.attr<std::string>("equation"), shapes);
  Shape to;
  for (int label : plan.output) to.append(plan.size_of(label));
  c.set_output(0, to);
}

struct State {
  Plan plan;
  int64_t batch, rows, columns, summed;
};

State prepare(PrepareContext& c) {
  std::vector<const Shape*> shapes;
  for (int i = 0; i < c.inputs(); ++i) shapes.push_back(&c.input(i));
  State state{plan_of(c.attr<std::string>("equation"), shapes), 1, 1, 1, 1};
  const Plan& p = state.plan;
  state.batch = p.elements(p.batch);
  state.rows = p.elements(p.left);
  state.columns = p.elements(p.right);
  state.summed = p.elements(p.summed);
  if (c.output().is_known() && c.output().elements() == 0) return state;
  const int64_t both = checked_multiply(state.batch, state.summed);
  int64_t elements = checked_multiply(both, state.rows);
  elements = checked_add(elements, checked_multiply(both, state.columns));
  elements = checked_add(elements, checked_multiply(state.batch, checked_multiply(state.rows, state.columns)));
  c.set_scratch(static_cast<size_t>(checked_multiply(elements, 16)));
  return state;
}

// The elements of a tensor with these labels in the order of `order`; a label that it lacks repeats, and one that
// stands twice walks the diagonal.
void arrange(const Plan& plan, const std::vector<int>& labels, const Shape& shape, const std::vector<int>& order,
             DType dtype, const void* from, void* to, ThreadPool& pool) {
  const Strides strides(shape);
  StridedBox box;
  int64_t to_stride = plan.elements(order);
  for (int label : order) {
    const int64_t size = plan.size_of(label);
    to_stride /= size;
    int64_t step = 0;
    for (size_t d = 0; d < labels.size(); ++d) {
      if (labels[d] == label && shape[static_cast<int>(d)] != 1) step += strides[static_cast<int>(d)];
    }
    box.add(size, to_stride, step);
  }
  copy_box(dtype, box, to, from, pool);
}

std::vector<int> joined(std::initializer_list<const std::vector<int>*> parts) {
  std::vector<int> all;
  for (const auto* part : parts) all.insert(all.end(), part->begin(), part->end());
  return all;
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const auto& [plan, batch, rows, columns, summed] = c.state<State>();
    const DType dtype = dtype_of<T>;
    T* a = static_cast<T*>(c.scratch());
    T* b = a + batch * rows * summed;
    T* y = b + batch * summed * columns;
    if (summed > 0) {
      arrange(plan, plan.inputs[0], c.shape(0), joined({&plan.batch, &plan.left, &plan.summed}), dtype, c.raw_input(0),
              a, c.pool());
      if (c.inputs() > 1) {
        arrange(plan, plan.inputs[1], c.shape(1), joined({&plan.batch, &plan.summed, &plan.right}), dtype,
                c.raw_input(1), b, c.pool());
      } else {
        std::fill_n(b, batch * summed * columns, one<T>());
      }
    }
    c.pool().parallel_for(batch * rows, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, summed * columns)),
                          [&, n = columns, k = summed, m = rows](int64_t begin, int64_t end) {
                            for (int64_t row = begin; row < end; ++row) {
                              product_row(a + row * k, b + row / m * k * n, y + row * n, k, n);
                            }
                          });
    // Labels that stand twice in the output fill its diagonal.
    const Shape& shape = c.output_shape();
    const std::vector<int> order = joined({&plan.batch, &plan.left, &plan.right});
    if (order.size() < plan.output.size()) zero_elements(dtype, c.raw_output(), c.output_elements(), c.pool());
    const Strides strides(shape);
    StridedBox box;
    int64_t from_stride = batch * rows * columns;
    for (int label : order) {
      const int64_t size = plan.size_of(label);
      from_stride /= size;
      int64_t step = 0;
      for (size_t d = 0; d < plan.output.size(); ++d)
        step += plan.output[d] == label ? strides[static_cast<int>(d)] : 0;
      box.add(size, step, from_stride);
    }
    copy_box(dtype, box, c.raw_output(), y, c.pool());
  }

 private:
  template <class T>
  static T one() {
    if constexpr (kIsNarrowFloat<T>) {
      return T(1.0f);
    } else {
      return T(1);
    }
  }
  template <class T>
  static void product_row(const T* a, const T* b, T* y, int64_t k, int64_t n) {
    constexpr int64_t kBlock = 64;
    for (int64_t first = 0; first < n; first += kBlock) {
      const int64_t count = std::min(kBlock, n - first);
      Wide<T> sums[kBlock] = {};
      for (int64_t i = 0; i < k; ++i) {
        const Wide<T> value = static_cast<Wide<T>>(a[i]);
        const T* line = b + i * n + first;
        for (int64_t j = 0; j < count; ++j) {
          sums[j] = wrapping_add(sums[j], wrapping_mul(value, static_cast<Wide<T>>(line[j])));
        }
      }
      for (int64_t j = 0; j < count; ++j) y[first + j] = static_cast<T>(sums[j]);
    }
  }
};

}  // namespace

OpDef einsum_op() {
  return {.name = "Einsum",
          .inputs = "inputs:N*T",
          .outputs = "output:T",
          .attrs = "equation:string; N:int>=1; T:type",
          .infer = infer,
          .cpu = {.select = kernel_for<NumberTypes, Cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops
