#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

namespace weir {
class ThreadPool;
}

namespace weir::cpu {

template <class T>
struct FftTable;

// Where the lines of an array are that are transformed: line t begins at element (t / inner) * outer + t % inner, and
// its elements are `stride` apart. So an axis of an array [a, n, b] has a * b lines, inner b, outer n * b, stride b.
struct FftLines {
  int64_t inner = 1, outer = 0, stride = 1;
};

// Discrete Fourier transforms of one length, in any number of lines. Lengths are taken apart into factors 4, 2, 3, 5
// and the primes up to 31 (Stockham's method); those with a larger prime are a convolution (Bluestein's). Several lines
// are transformed side by side in the lanes of vectors; a long line is cut into short ones first. Twiddle factors are
// worked out in double precision.
//
// Immutable once made, and thread-safe when scratch memory is not shared. Results do not depend on the threads.
// T is float or double.
template <class T>
class Fft {
 public:
  explicit Fft(int64_t n);  // REQUIRES: n >= 1
  ~Fft();
  Fft(Fft&&) noexcept;

  int64_t size() const { return n_; }
  // Bytes of scratch memory for each of the calls below.
  size_t scratch_bytes(int threads) const;

  // y may be x when the lines are the same. The inverse is divided by n.
  void transform(const std::complex<T>* x, FftLines from, std::complex<T>* y, FftLines to, int64_t lines, bool inverse,
                 void* scratch, ThreadPool& pool) const;
  // Lines of n real numbers, neighbours in memory, `x_outer` from line to line, to lines of n / 2 + 1 complex ones, and
  // back. The inverse reads no imaginary part that a transform of real numbers cannot have.
  void forward_real(const T* x, int64_t x_outer, std::complex<T>* y, int64_t y_outer, int64_t lines, void* scratch,
                    ThreadPool& pool) const;
  void inverse_real(const std::complex<T>* x, int64_t x_outer, T* y, int64_t y_outer, int64_t lines, void* scratch,
                    ThreadPool& pool) const;

 private:
  struct Pass {
    int radix;
    int64_t m, s;
    std::vector<T> twiddles, roots;
  };
  size_t lane_numbers() const;             // of one thread's two buffers
  T* run_lanes(T* lanes, T* other) const;  // returns where the result is, one of both
  bool is_cut(int64_t lines) const;        // long lines are
  void transform_cut(const T* x, int64_t x_stride, T* y, int64_t y_stride, bool inverse, T* scratch,
                     ThreadPool& pool) const;
  template <class Body>
  void for_each_group(int64_t lines, T* scratch, ThreadPool& pool, const Body& body) const;

  int64_t n_;
  const FftTable<T>* table_;
  std::vector<Pass> passes_;
  // Bluestein's method: a transform of a length that is easy, the chirp, and the transform of its conjugate.
  std::unique_ptr<Fft> easy_;
  std::vector<T> chirp_, chirp_transform_;
  // A line as a matrix [rows, columns]: transforms of the columns, twiddle factors, transforms of the rows.
  std::unique_ptr<Fft> columns_, rows_;
  std::vector<T> cut_twiddles_;
  // For real lines: the transform of half the length, and the roots of one.
  std::unique_ptr<Fft> half_;
  std::vector<T> real_roots_;
  void prepare_real();

 public:
  // Makes forward_real() and inverse_real() possible.
  static Fft of_real(int64_t n);
};

extern template class Fft<float>;
extern template class Fft<double>;

}  // namespace weir::cpu
