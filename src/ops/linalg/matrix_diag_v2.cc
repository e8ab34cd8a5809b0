#include <algorithm>

#include "base/errors.h"
#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/array/array_util.h"
#include "ops/array/element_type.h"
#include "ops/array/strided_copy.h"
#include "ops/linalg/matrices.h"
#include "weir/ops.h"

// Bands of diagonals of matrices: those from k[0] below or above the main one to k[1], as rows of a matrix, the
// uppermost first; each begins at the left.
namespace weir::ops {
namespace {

struct Band {
  int64_t low, high;
  int64_t count() const { return high - low + 1; }
};

template <class At>
Band band_of(const Shape& k, const At& at) {
  if (k.rank() > 1) throw invalid_argument("diag_index must be a scalar or vector, received shape: {}", k.str());
  const int64_t n = k.elements();
  if (n < 1) throw invalid_argument("Expected diag_index to have at least 1 element");
  if (n > 2) throw invalid_argument("diag_index must have only one or two elements, received {} elements.", n);
  const Band band{at(0), at(n - 1)};
  if (band.low > band.high) {
    throw invalid_argument("lower_diag_index must not be larger than upper_diag_index: {} > {}", band.low, band.high);
  }
  return band;
}

std::optional<Band> known_band(InferContext& c, int input) {
  if (c.input(input).has_rank() && c.input(input).rank() > 1) {
    throw invalid_argument("diag_index must be a scalar or vector, received shape: {}", c.input(input).str());
  }
  const auto k = c.value_as_ints(input);
  if (!k) return std::nullopt;
  return band_of(c.value(input).shape(), [&](int64_t i) { return (*k)[static_cast<size_t>(i)]; });
}

Band band_input(const KernelContext& c, int input) {
  return band_of(c.shape(input), [&](int64_t i) { return int_at(c, input, i); });
}

int64_t longest(const Band& band, int64_t rows, int64_t columns) {
  return std::min(rows + std::min<int64_t>(band.high, 0), columns - std::max<int64_t>(band.low, 0));
}

void require_inside(const Band& band, int64_t rows, int64_t columns) {
  auto check = [&](int64_t k, const char* which) {
    if (k != 0 && (k <= -rows || k >= columns)) {
      throw invalid_argument("{} is out of bound: {}. It must be between {} and {}", which, k, -rows, columns);
    }
  };
  check(band.low, "lower_diag_index");
  check(band.high, "upper_diag_index");
}

// The shape of the diagonals of matrices; of unknown sizes what is not known.
Shape diagonals_of(const Shape& matrices, const Band& band) {
  Shape shape = batch_of(matrices);
  if (band.count() > 1) shape.append(band.count());
  const int64_t rows = matrices[-2], columns = matrices[-1];
  if (rows == kUnknown || columns == kUnknown) {
    shape.append(kUnknown);
  } else {
    require_inside(band, rows, columns);
    shape.append(std::max<int64_t>(0, longest(band, rows, columns)));
  }
  return shape;
}

void infer_part(InferContext& c) {
  if (c.input(0).has_rank() && c.input(0).rank() < 2) {
    throw invalid_argument("input must be at least 2-dim, received shape: {}", c.input(0).str());
  }
  if (c.input(2).has_rank() && c.input(2).rank() != 0) throw invalid_argument("Padding must be scalar.");
  const auto band = known_band(c, 1);
  if (c.input(0).has_rank() && band) c.set_output(0, diagonals_of(c.input(0), *band));
}

// Rows and columns of matrices with such diagonals.
std::pair<int64_t, int64_t> sizes_of(const Band& band, int64_t length, int64_t rows, int64_t columns) {
  const int64_t least_rows = length - std::min<int64_t>(band.high, 0);
  const int64_t least_columns = length + std::max<int64_t>(band.low, 0);
  if (rows != -1 && rows < least_rows) throw invalid_argument("The number of rows is too small.");
  if (columns != -1 && columns < least_columns) throw invalid_argument("The number of columns is too small.");
  if (rows == -1 && columns == -1) {
    rows = columns = std::max(least_rows, least_columns);
  } else if (rows == -1) {
    rows = least_rows;
  } else if (columns == -1) {
    columns = least_columns;
  }
  if (rows != least_rows && columns != least_columns) {
    throw invalid_argument(
        "The number of rows or columns is not consistent with the specified d_lower, d_upper, and diagonal.");
  }
  return {rows, columns};
}

void infer_diag(InferContext& c) {
  const Shape& diagonal = c.input(0);
  if (diagonal.has_rank() && diagonal.rank() < 1) {
    throw invalid_argument("diagonal must be at least 1-dim, received shape: {}", diagonal.str());
  }
  for (int i : {2, 3, 4}) c.require_scalar(i);
  const auto band = known_band(c, 1);
  if (!diagonal.has_rank() || !band) return;
  const bool several = band->count() > 1;
  if (several && (diagonal.rank() < 2 || (diagonal[-2] != kUnknown && diagonal[-2] != band->count()))) {
    throw invalid_argument(
        "The number of diagonals provided in the input does not match the lower_diag_index and upper_diag_index "
        "range.");
  }
  Shape to(diagonal.dims().first(static_cast<size_t>(diagonal.rank() - (several ? 2 : 1))));
  const auto rows = c.value_as_ints(2), columns = c.value_as_ints(3);
  if (diagonal[-1] == kUnknown || !rows || !columns) {
    to.append(kUnknown);
    to.append(kUnknown);
  } else {
    const auto [r, q] = sizes_of(*band, diagonal[-1], rows->at(0), columns->at(0));
    to.append(r);
    to.append(q);
  }
  c.set_output(0, to);
}

void require_diagonals(const Shape& diagonals, const Shape& matrices, const Band& band) {
  const Shape wanted = diagonals_of(matrices, band);
  if (!wanted.compatible(diagonals)) {
    throw invalid_argument("the diagonals of {} have shape {}; got {}", matrices.str(), wanted.str(), diagonals.str());
  }
}

void infer_set(InferContext& c) {
  if (c.input(0).has_rank() && c.input(0).rank() < 2) {
    throw invalid_argument("input must be at least 2-dim, received shape: {}", c.input(0).str());
  }
  if (c.input(1).has_rank() && c.input(1).rank() < 1) {
    throw invalid_argument("diagonal must be at least 1-dim, received shape: {}", c.input(1).str());
  }
  const auto band = known_band(c, 2);
  c.set_output(0, c.input(0));
  if (c.input(0).has_rank() && band) require_diagonals(c.input(1), c.input(0), *band);
}

// Calls body(element of the diagonals, element of the matrices) for all that lie on the band.
template <class Body>
void for_each_on_band(const Shape& matrices, const Band& band, int64_t length, const Body& body) {
  const int64_t rows = matrices[-2], columns = matrices[-1], count = matrix_count(matrices);
  for (int64_t b = 0; b < count; ++b) {
    for (int64_t k = band.low; k <= band.high; ++k) {
      const int64_t first_row = std::max<int64_t>(0, -k), first_column = std::max<int64_t>(0, k);
      const int64_t n = std::min({rows - first_row, columns - first_column, length});
      for (int64_t i = 0; i < n; ++i) {
        body((b * band.count() + band.high - k) * length + i, (b * rows + first_row + i) * columns + first_column + i);
      }
    }
  }
}

void part_cpu(KernelContext& c) {
  const Band band = band_input(c, 1);
  const DType dtype = c.dtype(0);
  fill_elements(dtype, c.raw_output(), c.output_elements(), c.raw_input(2), c.pool());
  with_element_type(dtype, [&]<class T>(T) {
    for_each_on_band(c.shape(0), band, c.output_shape()[-1],
                     [&](int64_t to, int64_t from) { c.output<T>()[to] = c.input<T>(0)[from]; });
  });
}

void diag_cpu(KernelContext& c) {
  const Band band = band_input(c, 1);
  const DType dtype = c.dtype(0);
  fill_elements(dtype, c.raw_output(), c.output_elements(), c.raw_input(4), c.pool());
  with_element_type(dtype, [&]<class T>(T) {
    for_each_on_band(c.output_shape(), band, c.shape(0)[-1],
                     [&](int64_t from, int64_t to) { c.output<T>()[to] = c.input<T>(0)[from]; });
  });
}

void set_cpu(KernelContext& c) {
  const Band band = band_input(c, 2);
  require_diagonals(c.shape(1), c.shape(0), band);  // the shapes of the inputs may be known before the band is
  const DType dtype = c.dtype(0);
  if (c.raw_output() != c.raw_input(0)) copy_elements(dtype, c.raw_output(), c.raw_input(0), c.elements(0), c.pool());
  with_element_type(dtype, [&]<class T>(T) {
    for_each_on_band(c.shape(0), band, c.shape(1)[-1],
                     [&](int64_t from, int64_t to) { c.output<T>()[to] = c.input<T>(1)[from]; });
  });
}

Output zero_of(const Output& like) { return cast(like.graph().constant(0, int32), like.dtype()); }

Output part_of(const Output& matrices, const Output& k) {
  return NodeBuilder("MatrixDiagPartV2").input(matrices).input(k).input(zero_of(matrices)).output();
}

void diag_gradient(GradContext& c) { c.set_input_grad(0, part_of(c.output_grad(), c.input(1))); }

void part_gradient(GradContext& c) {
  Output grad = c.output_grad();
  c.set_input_grad(0,
                   NodeBuilder("MatrixSetDiagV2").input(zeros_like(c.input(0))).input(grad).input(c.input(1)).output());
}

void set_gradient(GradContext& c) {
  Output grad = c.output_grad();
  c.set_input_grad(0,
                   NodeBuilder("MatrixSetDiagV2").input(grad).input(zeros_like(c.input(1))).input(c.input(2)).output());
  c.set_input_grad(1, part_of(grad, c.input(2)));
}

}  // namespace

OpDef matrix_diag_v2_op() {
  return {.name = "MatrixDiagV2",
          .inputs = "diagonal:T; k:int32; num_rows:int32; num_cols:int32; padding_value:T",
          .outputs = "output:T",
          .attrs = "T:type",
          .host = "k, num_rows, num_cols",
          .infer = infer_diag,
          .gradient = diag_gradient,
          .cpu = {.select = kernel_moving<diag_cpu>}};
}

OpDef matrix_diag_part_v2_op() {
  return {.name = "MatrixDiagPartV2",
          .inputs = "input:T; k:int32; padding_value:T",
          .outputs = "diagonal:T",
          .attrs = "T:type",
          .host = "k",
          .infer = infer_part,
          .gradient = part_gradient,
          .cpu = {.select = kernel_moving<part_cpu>}};
}

OpDef matrix_set_diag_v2_op() {
  return {.name = "MatrixSetDiagV2",
          .inputs = "input:T; diagonal:T; k:int32",
          .outputs = "output:T",
          .attrs = "T:type",
          .host = "k",
          .infer = infer_set,
          .gradient = set_gradient,
          .cpu = {.select = kernel_moving<set_cpu>, .in_place = 0b1}};
}

}  // namespace weir::ops
