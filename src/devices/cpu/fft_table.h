#pragma once

#include <stdint.h>

namespace weir::cpu {

// The loops of Fourier transforms of one instruction set. They work on several transforms side by side, a lane each:
// element k of all of them is two vectors, the real parts and the imaginary ones.
template <class T>
inline constexpr int kFftLanes = static_cast<int>(32 / sizeof(T));

template <class T>
struct FftTable {
  // One pass of Stockham's method for the radix r: elements x[q + s (p + m j)] become y[q + s (r p + k)] for p < m and
  // q < s. `twiddles` has r - 1 complex numbers for each p; `roots`, the r-th roots of one, is read by radices above 5.
  void (*pass)(int r, const T* x, T* y, int64_t m, int64_t s, const T* twiddles, const T* roots);
  // Elements of up to kFftLanes complex lines into lanes: that of line l begins at x + 2 * at[l], and the next element
  // is 2 * stride further. Lanes without a line are 0. `swapped`: real and imaginary parts change places.
  void (*load)(const T* x, const int64_t* at, int lines, int64_t stride, int64_t n, T* lanes, bool swapped);
  // And back, times `scale`.
  void (*store)(const T* lanes, T* y, const int64_t* at, int lines, int64_t stride, int64_t n, T scale, bool swapped);
  // Each element times the complex number of its place in `table`.
  void (*multiply)(T* lanes, const T* table, int64_t n, bool swap_result);
  // What the transform of n/2 complex numbers, which are pairs of 2h real ones, says of the transform of the real ones:
  // z has h elements, x gets h + 1. `roots` are the 2h-th roots of one. And the way back, twice too large.
  void (*unpack_real)(const T* z, T* x, int64_t h, const T* roots);
  void (*pack_real)(const T* x, T* z, int64_t h, const T* roots);
};

namespace portable {
extern const FftTable<float> kFftFloat;
extern const FftTable<double> kFftDouble;
}  // namespace portable
#if defined(__x86_64__)
namespace avx2 {
extern const FftTable<float> kFftFloat;
extern const FftTable<double> kFftDouble;
}  // namespace avx2
#endif

}  // namespace weir::cpu
