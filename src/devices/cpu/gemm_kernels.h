#pragma once

#include <cstdint>

#include "devices/cpu/isa.h"

namespace weir::cpu {

// Applied to the finished result of a product or convolution. NaN passes through.
enum class Activation { None, Relu, Relu6 };

// What becomes of a result y while it is near: act(y * scale + bias + side). Null pointers stand for nothing.
template <class T>
struct Epilogue {
  const T* bias = nullptr;  // for each row, that is, of a convolution, for each channel
  Activation activation = Activation::None;
  const T* scale = nullptr;  // as the bias
  const T* side = nullptr;   // in the shape of the result, which it must not overlap
};

// The one inner loop under matrix products and convolutions: some rows times one panel of columns,
//
//   c[c_rows[i] + j] = act(bias[j] + side[c_rows[i] + j] + scale[j] * ((accumulate ? c[c_rows[i] + j] : 0)
//                          + sum over s, t of a[a_rows[i] + a_segments[s] + t * a_step]
//                                             * b[b_segments[s] + t * b_step + j]))
//
// Rows of a and c may lie anywhere, and the inner dimension is made of equal segments that may lie anywhere in a and b:
// a convolution reads its (padded) image as it stands, with no copy of patches, and leaves out what lies beyond it.
// Each element is summed in the order of (s, t) whatever the number of rows and columns of the block, so how a result
// is cut into blocks does not change it.
template <class T>
struct GemmBlock {
  int64_t rows = 0;
  int64_t columns = 0;  // at most GemmKernels::columns; b must be readable up to the next multiple of `lanes`
  const T* a = nullptr;
  const int64_t* a_rows = nullptr;
  int64_t a_step = 1;
  const int64_t* a_segments = nullptr;
  const int64_t* b_segments = nullptr;
  int64_t segment_count = 0;
  int64_t length = 0;
  const T* b = nullptr;
  int64_t b_step = 0;
  T* c = nullptr;
  const int64_t* c_rows = nullptr;
  bool accumulate = false;
  const T* bias = nullptr;  // null: none, as for the next two
  const T* scale = nullptr;
  const T* side = nullptr;  // lies as c does
  Activation activation = Activation::None;
};

// The same for rows that lie at equal distances, with an inner dimension in one piece: what matrix products are, and
// with less to look up for each tile, which counts when the inner dimension is short.
//
//   c[i * c_row + j] = act(bias[j] + side[i * c_row + j] + scale[j] * ((accumulate ? c[i * c_row + j] : 0)
//                          + sum over t of a[i * a_row + t * a_step] * b[t * b_step + j]))
template <class T>
struct GemmPanel {
  // A matrix that is read soon: columns of some rows, which are `pitch` elements from each other.
  struct Ahead {
    const T* at = nullptr;  // null: none
    int64_t rows = 0, columns = 0, pitch = 0;
  };

  int64_t rows = 0;
  int64_t columns = 0;  // as in a block
  int64_t depth = 0;
  const T* a = nullptr;
  int64_t a_row = 0, a_step = 1;
  bool tiled = false;  // a is what pack_tiles made of as many rows; a_row and a_step mean nothing then
  const T* b = nullptr;
  int64_t b_step = 0;
  // Null, or where the first tile puts a copy of b, [depth, GemmKernels::columns], from which the others read: copying
  // is free beside the multiplications. REQUIRES: all columns.
  T* packed = nullptr;
  const T* next_b = nullptr;  // b of the next panel, at the same steps, to be brought nearer meanwhile; or null
  Ahead ahead = {};           // what is read of a next, to be brought nearer meanwhile
  T* c = nullptr;
  int64_t c_row = 0;
  bool accumulate = false;
  const T* bias = nullptr;  // null: none, as for the next two
  const T* scale = nullptr;
  const T* side = nullptr;  // lies as c does
  Activation activation = Activation::None;
};

// One build of the hot loops, for one instruction set.
template <class T>
struct GemmKernels {
  int64_t lanes;       // elements of a vector
  int64_t columns;     // width of a panel: two vectors
  int64_t rows;        // rows of a tile of a panel, which is held in registers
  int64_t block_rows;  // the same of a block
  int64_t depth;       // inner dimension for which a panel and a tile's rows stay in the first-level cache

  void (*block)(const GemmBlock<T>& block);
  void (*panel)(const GemmPanel<T>& panel);

  // Copies b[k, n] into panels [k, columns] that begin panel_step elements from each other; the last is filled with
  // zeros. transposed: b is stored as [n, k]. `step` is the distance of its rows. A panel_step that is an odd multiple
  // of `columns` keeps the panels, which are written side by side, in different sets of the cache.
  void (*pack)(const T* b, int64_t step, bool transposed, int64_t k, int64_t n, T* panels, int64_t panel_step);

  // Copies steps [begin, end) of a[depth, rows] (the transpose of what is multiplied; `a` is where step `begin` lies)
  // tile by tile of a panel with so many rows: the elements of a step side by side, which is how they are used, and the
  // steps one after the other.
  void (*pack_tiles)(const T* a, int64_t step, int64_t begin, int64_t end, int64_t depth, int64_t rows, T* to);

  // to[j * to_step + t] = from[t * step + j] for t < rows and j < columns.
  void (*transpose)(const T* from, int64_t step, int64_t rows, int64_t columns, T* to, int64_t to_step);

  // y[i] = sum over t of a[i * step + t] * x[t], for rows < m. The order of the sum depends on k alone.
  void (*dot_rows)(const T* a, int64_t step, int64_t m, int64_t k, const T* x, T* y);

  // y[j] = sum over t of x[t * x_step] * b[t * step + j], for j < n, in the order of t.
  void (*combine_rows)(const T* b, int64_t step, int64_t k, int64_t n, const T* x, int64_t x_step, T* y);
};

// The build for a level, which must be one that the processor has.
template <class T>
const GemmKernels<T>& gemm_kernels(Isa isa);
template <>
const GemmKernels<float>& gemm_kernels<float>(Isa isa);
template <>
const GemmKernels<double>& gemm_kernels<double>(Isa isa);

namespace portable {
extern const GemmKernels<float> kGemmFloat;
extern const GemmKernels<double> kGemmDouble;
}  // namespace portable
#if defined(__x86_64__)
namespace avx2 {
extern const GemmKernels<float> kGemmFloat;
extern const GemmKernels<double> kGemmDouble;
}  // namespace avx2
namespace avx512 {
extern const GemmKernels<float> kGemmFloat;
extern const GemmKernels<double> kGemmDouble;
extern const GemmKernels<float> kGemmFloatTall;  // for processors that has_whole_avx512()
extern const GemmKernels<double> kGemmDoubleTall;
}  // namespace avx512
#endif

}  // namespace weir::cpu
