#include "ops/state/update.h"

#include <algorithm>

#include "base/errors.h"
#include "graph/op.h"

namespace weir::ops {
namespace {

void require_shape(const VariableState& variable, const Tensor& value, const Shape& wanted) {
  if (value.shape() != wanted) {
    throw invalid_argument("variable '{}' has shape {}; it cannot be updated with {}", variable.name(),
                           value.shape().str(), wanted.str());
  }
}

// Rows of the variables: everything but the first dimension must be equal, and the first long enough.
void require_rows(const VariableState& variable, const Tensor& value, const Tensor& first, const Shape& grad,
                  const Shape& indices) {
  bool fits = value.shape().rank() >= 1 && value.shape() == first.shape();
  // Updates have the shape of the indices followed by that of a row.
  Shape wanted = indices;
  for (int d = 1; fits && d < value.shape().rank(); ++d) wanted.append(value.shape()[d]);
  if (!fits || wanted != grad) {
    throw invalid_argument("rows of variable '{}' of shape {} cannot be updated with {} at {} indices", variable.name(),
                           value.shape().str(), grad.str(), indices.str());
  }
}

}  // namespace

VariableState& variable_of(const KernelContext& c, int index, DType dtype) {
  VariableState& variable = c.variable(index);
  if (variable.dtype() != dtype) {
    throw invalid_argument("variable '{}' is {}; the operation wants {}", variable.name(), dtype_name(variable.dtype()),
                           dtype_name(dtype));
  }
  return variable;
}

void infer_apply(InferContext& c) {
  const std::vector<ArgSpec>& args = c.op().inputs;
  int grad = -1, indices = -1;
  Shape shape = Shape::unknown();
  for (int i = 0; i < c.inputs(); ++i) {
    const ArgSpec& arg = args[static_cast<size_t>(i)];
    if (arg.is_ref) {
      shape = shape.merged(c.input(i));
    } else if (arg.name == "grad" || arg.name == "delta") {
      grad = i;
    } else if (arg.name == "indices") {
      indices = i;
    } else {
      c.require_scalar(i);
    }
  }
  if (indices < 0) {
    shape = shape.merged(c.input(grad));
  } else {
    c.require_rank(indices, 1);
    c.require_min_rank(grad, 1);
    if (shape.has_rank() && c.input(grad).has_rank()) {
      if (shape.rank() < 1) c.fail("a scalar variable has no rows");
      Shape rows = shape;
      rows.set_dim(0, c.input(indices).has_rank() ? c.input(indices)[0] : kUnknown);
      (void)rows.merged(c.input(grad));
    }
  }
  if (c.outputs() > 0) c.set_output(0, std::move(shape));
}

void update_dense(KernelContext& c, DType dtype, int count, int grad,
                  FunctionRef<void(void* const* data, int64_t elements)> body) {
  std::array<VariableState*, VariableState::kMaxTogether> variables{};
  for (int i = 0; i < count; ++i) variables[static_cast<size_t>(i)] = &variable_of(c, i, dtype);
  std::span<VariableState* const> all(variables.data(), static_cast<size_t>(count));
  const UpdateMode mode = c.node().use_locking().value_or(true) ? UpdateMode::Atomic : UpdateMode::Unlocked;
  VariableState::update_together(all, mode, [&](std::span<Tensor* const> values) {
    std::array<void*, VariableState::kMaxTogether> data{};
    for (size_t i = 0; i < values.size(); ++i) {
      require_shape(*all[i], *values[i], c.shape(grad));
      data[i] = values[i]->mutable_raw();
    }
    body(data.data(), values[0]->elements());
  });
  if (c.outputs() > 0) c.forward_ref(0, 0);
}

void update_rows(KernelContext& c, DType dtype, int count, int grad, int indices,
                 FunctionRef<void(void* const* rows, const void* grad, int64_t elements)> body) {
  std::array<VariableState*, VariableState::kMaxTogether> variables{};
  for (int i = 0; i < count; ++i) variables[static_cast<size_t>(i)] = &variable_of(c, i, dtype);
  std::span<VariableState* const> all(variables.data(), static_cast<size_t>(count));
  const bool wide = c.dtype(indices) == DType::Int64;
  const void* const listed = c.raw_input(indices);
  auto index = [=](int64_t i) {
    return wide ? static_cast<const int64_t*>(listed)[i] : int64_t{static_cast<const int32_t*>(listed)[i]};
  };
  const char* const grads = static_cast<const char*>(c.raw_input(grad));
  const bool same = c.shape(grad).rank() == 0;
  const UpdateMode mode = c.node().use_locking().value_or(false) ? UpdateMode::InPlace : UpdateMode::Unlocked;
  VariableState::update_together(all, mode, [&](std::span<Tensor* const> values) {
    for (size_t i = 0; i < values.size() && !same; ++i) {
      require_rows(*all[i], *values[i], *values[0], c.shape(grad), c.shape(indices));
    }
    if (values[0]->shape().rank() == 0) throw invalid_argument("a scalar variable has no rows");
    const int64_t rows = values[0]->shape()[0], n = c.elements(indices);
    const int64_t row = rows > 0 ? values[0]->elements() / rows : 0;
    const size_t bytes = static_cast<size_t>(row) * dtype_size(dtype);
    // All indices are checked first, so that a bad one leaves the variable untouched.
    for (int64_t i = 0; i < n; ++i) {
      if (index(i) < 0 || index(i) >= rows) {
        throw invalid_argument("indices[{}] = {} is not in [0, {}): Index {} at offset {} in indices is out of range",
                               i, index(i), rows, index(i), i);
      }
    }
    std::array<char*, VariableState::kMaxTogether> base{};
    for (size_t v = 0; v < values.size(); ++v) base[v] = static_cast<char*>(values[v]->mutable_raw());
    // Each part looks at all indices and takes its own rows, so updates of one row stay in order, whatever the number
    // of parts. Looking costs little beside rows of some length.
    constexpr int64_t kParts = 8, kLongRow = 32;
    const bool spreads = c.pool().threads() > 1 && row >= kLongRow && n * row >= kUpdateGrain;
    const int64_t parts = spreads ? kParts : 1;
    c.pool().parallel_for(parts, 1, [&](int64_t part, int64_t) {
      [[maybe_unused]] RacingWrites racing;
      auto is_own = [&](int64_t i) { return (index(i) & (parts - 1)) == part; };
      auto fetch = [&](int64_t i) {  // rows lie anywhere: the processor cannot guess the next one
        const size_t end = std::min<size_t>(bytes, 512), row_at = static_cast<size_t>(index(i)) * bytes;
        for (size_t v = 0; v < values.size(); ++v) {
          for (size_t at = 0; at < end; at += 64) __builtin_prefetch(base[v] + row_at + at, 1);
        }
      };
      // Rows of a large table come from memory, which takes as long as some dozen updates.
      constexpr int64_t kAhead = 24;
      std::array<void*, VariableState::kMaxTogether> data{};
      for (int64_t i = 0; i < n; ++i) {
        if (i + kAhead < n && is_own(i + kAhead)) fetch(i + kAhead);
        if (!is_own(i)) continue;
        const size_t row_at = static_cast<size_t>(index(i)) * bytes;
        for (size_t v = 0; v < values.size(); ++v) data[v] = base[v] + row_at;
        body(data.data(), grads + (same ? 0 : static_cast<size_t>(i) * bytes), row);
      }
    });
  });
  if (c.outputs() > 0) c.forward_ref(0, 0);
}

}  // namespace weir::ops
