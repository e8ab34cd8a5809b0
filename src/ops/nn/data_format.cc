#include <string>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/types.h"

// Dimensions and sizes of an image in another order of its dimensions: "NHWC" to "NCHW".
namespace weir::ops {
namespace {

struct State {
  std::vector<int64_t> place;  // in the new order, of each dimension of the old
};

std::vector<int64_t> places(const AttrMap& attrs) {
  const auto &from = attrs.get<std::string>("src_format"), &to = attrs.get<std::string>("dst_format");
  if (from.size() != 4 && from.size() != 5) {
    throw invalid_argument("Source format must be of length 4 or 5; it is '{}'", from);
  }
  std::vector<int64_t> place;
  for (char dimension : from) {
    const size_t at = to.find(dimension);
    if (at == std::string::npos || to.size() != from.size() || from.find(dimension) != from.rfind(dimension) ||
        to.rfind(dimension) != at) {
      throw invalid_argument("Destination and source format must determine a permutation; they are '{}' and '{}'", from,
                             to);
    }
    place.push_back(static_cast<int64_t>(at));
  }
  return place;
}

State prepare(PrepareContext& c) { return {places(c.node().attrs())}; }

void infer_map(InferContext& c) {
  places(c.attrs());
  c.set_output(0, c.input(0));
}

void infer_permute(InferContext& c) {
  const auto dims = static_cast<int64_t>(places(c.attrs()).size());
  const Shape& x = c.input(0);
  if (x.has_rank() && x.rank() != 1 && x.rank() != 2) {
    throw invalid_argument("the input must be a vector or a matrix; its shape is {}", x.str());
  }
  if (x.has_rank() && x[0] != kUnknown && x[0] != dims && x[0] != 2) {
    throw invalid_argument("the input must have {} rows, or 2 for height and width; its shape is {}", dims, x.str());
  }
  c.set_output(0, x);
}

struct Map {
  template <class T>
  static void run(KernelContext& c) {
    const auto& place = c.state<State>().place;
    const auto dims = static_cast<int64_t>(place.size());
    for (int64_t i = 0; i < c.elements(0); ++i) {
      const int64_t dimension = c.input<T>(0)[i];
      if (dimension < -dims || dimension >= dims) {
        throw invalid_argument("dimension {} is outside of [{}, {})", dimension, -dims, dims);
      }
      c.output<T>()[i] = static_cast<T>(place[static_cast<size_t>(dimension < 0 ? dimension + dims : dimension)]);
    }
  }
};

struct Permute {
  template <class T>
  static void run(KernelContext& c) {
    const auto& place = c.state<State>().place;
    const auto& attrs = c.node().attrs();
    const auto& from = attrs.get<std::string>("src_format");
    const Shape& shape = c.shape(0);
    const int64_t columns = shape.rank() == 2 ? shape[1] : 1;
    // Two rows are those of height and width alone.
    std::vector<int64_t> rows;
    if (shape[0] == 2 && place.size() != 2) {
      const int64_t height = place[from.find('H')], width = place[from.find('W')];
      const bool height_first = from.find('H') < from.find('W');
      const bool keep = (height < width) == height_first;
      rows = keep ? std::vector<int64_t>{0, 1} : std::vector<int64_t>{1, 0};
    } else {
      rows = place;
    }
    for (size_t row = 0; row < rows.size(); ++row) {
      const T* x = c.input<T>(0) + static_cast<int64_t>(row) * columns;
      std::copy_n(x, columns, c.output<T>() + rows[row] * columns);
    }
  }
};

constexpr std::string_view kAttrs = "T:type{int32,int64}=int32; src_format:string='NHWC'; dst_format:string='NCHW'";

}  // namespace

OpDef data_format_dim_map_op() {
  return {.name = "DataFormatDimMap",
          .inputs = "x:T",
          .outputs = "y:T",
          .attrs = kAttrs,
          .infer = infer_map,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<Types<int32_t, int64_t>, Map>, .prepare = prepared<prepare>}};
}

OpDef data_format_vec_permute_op() {
  return {.name = "DataFormatVecPermute",
          .inputs = "x:T",
          .outputs = "y:T",
          .attrs = kAttrs,
          .infer = infer_permute,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<Types<int32_t, int64_t>, Permute>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops
