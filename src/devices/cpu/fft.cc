#include "devices/cpu/fft.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/thread_pool.h"
#include "devices/cpu/fft_table.h"
#include "devices/cpu/isa.h"

namespace weir::cpu {
namespace {

constexpr int kLargestRadix = 31;
constexpr int64_t kCut = 4096;         // lines of so many elements are cut however many there are,
constexpr int64_t kCutFewLines = 256;  // and of so many where lanes would stay empty

template <class T>
const FftTable<T>& table() {
  const bool wide =
#if defined(__x86_64__)
      isa() != Isa::Portable;
#else
      false;
#endif
  if constexpr (sizeof(T) == 4) {
#if defined(__x86_64__)
    if (wide) return avx2::kFftFloat;
#endif
    return portable::kFftFloat;
  } else {
#if defined(__x86_64__)
    if (wide) return avx2::kFftDouble;
#endif
    return portable::kFftDouble;
  }
}

// exp(-2 pi i k / n), for k in [0, n).
template <class T>
void append_root(std::vector<T>& to, int64_t k, int64_t n) {
  // The angle is brought into the first eighth of the circle, where sine and cosine are exact to the last place.
  const bool mirrored = 2 * k > n;
  if (mirrored) k = n - k;
  const bool obtuse = 4 * k > n;
  const int64_t doubled = obtuse ? n - 2 * k : 2 * k;  // pi * doubled / n in [0, pi / 2]
  const double angle = std::numbers::pi * static_cast<double>(doubled) / static_cast<double>(n);
  const double c = std::cos(angle), s = std::sin(angle);
  to.push_back(static_cast<T>(obtuse ? -c : c));
  to.push_back(static_cast<T>(mirrored ? s : -s));
}

std::vector<int> factors_of(int64_t n) {
  std::vector<int> factors;
  for (int r : {4, 2, 3, 5}) {
    for (; n % r == 0; n /= r) factors.push_back(r);
  }
  for (int r = 7; r <= kLargestRadix && n > 1; r += 2) {
    for (; n % r == 0; n /= r) factors.push_back(r);
  }
  if (n > 1) factors.clear();  // there is a large prime
  return factors;
}

// The least length from `n` on that has small factors only.
int64_t easy_length(int64_t n) {
  int64_t best = 1;
  while (best < n) best *= 2;
  for (int64_t odd : {3, 5, 9, 15}) {
    int64_t length = odd;
    while (length < n) length *= 2;
    best = std::min(best, length);
  }
  return best;
}

// The number of rows of a line as a matrix: the divisor next to its root. 1: there is none.
int64_t rows_of(int64_t n) {
  for (auto rows = static_cast<int64_t>(std::sqrt(static_cast<double>(n))); rows > 8; --rows) {
    if (n % rows == 0) return rows;
  }
  return 1;
}

template <class T>
const T* numbers(const std::complex<T>* x) {
  return reinterpret_cast<const T*>(x);
}
template <class T>
T* numbers(std::complex<T>* x) {
  return reinterpret_cast<T*>(x);
}

}  // namespace

template <class T>
Fft<T>::Fft(int64_t n) : n_(n), table_(&table<T>()) {
  const std::vector<int> factors = factors_of(n);
  if (n > 1 && factors.empty()) {
    const int64_t length = easy_length(2 * n - 1);
    easy_ = std::make_unique<Fft>(length);
    // exp(-pi i k^2 / n): the squares, modulo 2n, by their differences.
    for (int64_t k = 0, squared = 0; k < n; squared = (squared + 2 * k + 1) % (2 * n), ++k)
      append_root(chirp_, squared, 2 * n);
    // The convolution runs along conj(chirp), which is the same in both directions.
    std::vector<std::complex<T>> wave(static_cast<size_t>(length));
    for (int64_t k = 0; k < n; ++k) {
      const std::complex<T> c(chirp_[static_cast<size_t>(2 * k)], -chirp_[static_cast<size_t>(2 * k + 1)]);
      wave[static_cast<size_t>(k)] = c;
      if (k > 0) wave[static_cast<size_t>(length - k)] = c;
    }
    ThreadPool one(1);
    std::vector<char> scratch(easy_->scratch_bytes(1));
    easy_->transform(wave.data(), {}, wave.data(), {}, 1, false, scratch.data(), one);
    chirp_transform_.assign(numbers(wave.data()), numbers(wave.data()) + 2 * length);
    return;
  }
  int64_t rest = n, s = 1;
  for (int r : factors) {
    rest /= r;
    Pass pass{r, rest, s, {}, {}};
    for (int64_t p = 0; p < rest; ++p) {
      for (int k = 1; k < r; ++k) append_root(pass.twiddles, p * k % (rest * r), rest * r);
    }
    if (r > 5) {
      for (int k = 0; k < r; ++k) append_root(pass.roots, k, r);
    }
    passes_.push_back(std::move(pass));
    s *= r;
  }
  if (n < kCutFewLines) return;
  const int64_t rows = rows_of(n), columns = n / rows;
  if (rows == 1) return;
  columns_ = std::make_unique<Fft>(rows);
  rows_ = std::make_unique<Fft>(columns);
  for (int64_t k = 0; k < rows; ++k) {
    for (int64_t c = 0; c < columns; ++c) append_root(cut_twiddles_, k * c % n, n);
  }
}

template <class T>
Fft<T>::~Fft() = default;
template <class T>
Fft<T>::Fft(Fft&&) noexcept = default;

template <class T>
Fft<T> Fft<T>::of_real(int64_t n) {
  Fft fft(n);
  fft.prepare_real();
  return fft;
}

template <class T>
void Fft<T>::prepare_real() {
  if (n_ % 2 != 0) return;
  half_ = std::make_unique<Fft>(n_ / 2);
  for (int64_t k = 0; k <= n_ / 2; ++k) append_root(real_roots_, k, n_);
}

template <class T>
size_t Fft<T>::lane_numbers() const {
  const int64_t length = easy_ ? easy_->n_ : n_ + 1;
  return 2 * static_cast<size_t>(length) * 2 * kFftLanes<T>;
}

template <class T>
size_t Fft<T>::scratch_bytes(int threads) const {
  size_t most = lane_numbers() * static_cast<size_t>(threads);
  if (columns_) {
    const size_t part = std::max(columns_->lane_numbers(), rows_->lane_numbers()) * static_cast<size_t>(threads);
    most = std::max(most, part + 2 * static_cast<size_t>(n_));
  }
  size_t bytes = most * sizeof(T);
  // A real line that is cut needs room for the transform of its pairs.
  if (half_) bytes = std::max(bytes, half_->scratch_bytes(threads) + static_cast<size_t>(n_) * sizeof(T));
  return bytes;
}

template <class T>
T* Fft<T>::run_lanes(T* lanes, T* other) const {
  if (easy_) {
    table_->multiply(lanes, chirp_.data(), n_, false);
    std::fill(lanes + n_ * 2 * kFftLanes<T>, lanes + easy_->n_ * 2 * kFftLanes<T>, T(0));
    T* result = easy_->run_lanes(lanes, other);
    table_->multiply(result, chirp_transform_.data(), easy_->n_, true);
    T* back = easy_->run_lanes(result, result == lanes ? other : lanes);
    // Parts are swapped for the inverse: swapping them back, the chirp, and the division are one step.
    const T scale = T(1) / static_cast<T>(easy_->n_);
    constexpr int kLanes = kFftLanes<T>;
    for (int64_t k = 0; k < n_; ++k) {
      T* at = back + k * 2 * kLanes;
      const T c = chirp_[static_cast<size_t>(2 * k)] * scale, s = chirp_[static_cast<size_t>(2 * k + 1)] * scale;
      for (int l = 0; l < kLanes; ++l) {
        const T re = at[kLanes + l], im = at[l];
        at[l] = re * c - im * s;
        at[kLanes + l] = re * s + im * c;
      }
    }
    return back;
  }
  for (const Pass& p : passes_) {
    table_->pass(p.radix, lanes, other, p.m, p.s, p.twiddles.data(), p.roots.data());
    std::swap(lanes, other);
  }
  return lanes;
}

template <class T>
bool Fft<T>::is_cut(int64_t lines) const {
  return columns_ && (n_ >= kCut || lines < kFftLanes<T>);
}

// Calls body(first line, lines, lanes, other) for groups of lines that fit into lanes.
template <class T>
template <class Body>
void Fft<T>::for_each_group(int64_t lines, T* scratch, ThreadPool& pool, const Body& body) const {
  constexpr int64_t kLanes = kFftLanes<T>;
  const int64_t groups = (lines + kLanes - 1) / kLanes;
  const size_t room = lane_numbers();
  pool.parallel_for(groups, std::max<int64_t>(1, 1024 / n_), [&](int64_t begin, int64_t end) {
    T* lanes = scratch + static_cast<size_t>(ThreadPool::thread_index()) * room;
    for (int64_t group = begin; group < end; ++group) {
      const int64_t first = group * kLanes;
      body(first, static_cast<int>(std::min(kLanes, lines - first)), lanes, lanes + room / 2);
    }
  });
}

namespace {
inline void places(const FftLines& where, int64_t first, int lines, int64_t* at) {
  for (int l = 0; l < lines; ++l) at[l] = (first + l) / where.inner * where.outer + (first + l) % where.inner;
}
}  // namespace

template <class T>
void Fft<T>::transform(const std::complex<T>* x, FftLines from, std::complex<T>* y, FftLines to, int64_t lines,
                       bool inverse, void* scratch, ThreadPool& pool) const {
  T* room = static_cast<T*>(scratch);
  if (is_cut(lines)) {
    for (int64_t t = 0; t < lines; ++t) {
      int64_t at_x, at_y;
      places(from, t, 1, &at_x);
      places(to, t, 1, &at_y);
      transform_cut(numbers(x + at_x), from.stride, numbers(y + at_y), to.stride, inverse, room, pool);
    }
    return;
  }
  const T scale = inverse ? T(1) / static_cast<T>(n_) : T(1);
  for_each_group(lines, room, pool, [&](int64_t first, int count, T* lanes, T* other) {
    int64_t at[kFftLanes<T>];
    places(from, first, count, at);
    table_->load(numbers(x), at, count, from.stride, n_, lanes, inverse);
    const T* result = run_lanes(lanes, other);
    places(to, first, count, at);
    table_->store(result, numbers(y), at, count, to.stride, n_, scale, inverse);
  });
}

// Elements n = columns * i + j, results k = l + rows * m: the transforms along i, times exp(-2 pi i j l / n), and then
// those along j.
template <class T>
void Fft<T>::transform_cut(const T* x, int64_t x_stride, T* y, int64_t y_stride, bool inverse, T* scratch,
                           ThreadPool& pool) const {
  const int64_t rows = columns_->n_, columns = rows_->n_;
  T* between = scratch;
  T* room = scratch + 2 * n_;
  columns_->for_each_group(columns, room, pool, [&](int64_t first, int count, T* lanes, T* other) {
    int64_t at[kFftLanes<T>];
    for (int l = 0; l < count; ++l) at[l] = (first + l) * x_stride;
    table_->load(x, at, count, columns * x_stride, rows, lanes, inverse);
    const T* result = columns_->run_lanes(lanes, other);
    constexpr int kLanes = kFftLanes<T>;
    for (int64_t k = 0; k < rows; ++k) {
      const T* w = cut_twiddles_.data() + 2 * (k * columns + first);
      const T* from = result + k * 2 * kLanes;
      T* to = between + 2 * (k * columns + first);
      for (int l = 0; l < count; ++l) {
        to[2 * l] = from[l] * w[2 * l] - from[kLanes + l] * w[2 * l + 1];
        to[2 * l + 1] = from[l] * w[2 * l + 1] + from[kLanes + l] * w[2 * l];
      }
    }
  });
  const T scale = inverse ? T(1) / static_cast<T>(n_) : T(1);
  rows_->for_each_group(rows, room, pool, [&](int64_t first, int count, T* lanes, T* other) {
    int64_t at[kFftLanes<T>];
    for (int l = 0; l < count; ++l) at[l] = (first + l) * columns;
    table_->load(between, at, count, 1, columns, lanes, false);
    const T* result = rows_->run_lanes(lanes, other);
    for (int l = 0; l < count; ++l) at[l] = (first + l) * y_stride;
    table_->store(result, y, at, count, rows * y_stride, columns, scale, inverse);
  });
}

template <class T>
void Fft<T>::forward_real(const T* x, int64_t x_outer, std::complex<T>* y, int64_t y_outer, int64_t lines,
                          void* scratch, ThreadPool& pool) const {
  T* room = static_cast<T*>(scratch);
  constexpr int kLanes = kFftLanes<T>;
  const int64_t results = n_ / 2 + 1;
  if (half_ && half_->is_cut(lines)) {
    T* pairs = room;
    for (int64_t t = 0; t < lines; ++t) {
      half_->transform_cut(x + t * x_outer, 1, pairs, 1, false, room + n_, pool);
      T* to = numbers(y + t * y_outer);
      for (int64_t k = 0, h = n_ / 2; k < results; ++k) {
        const T* a = pairs + 2 * (k == h ? 0 : k);
        const T* b = pairs + 2 * (k == 0 ? 0 : h - k);
        const T even_re = T(0.5) * (a[0] + b[0]), even_im = T(0.5) * (a[1] - b[1]);
        const T odd_re = T(0.5) * (a[1] + b[1]), odd_im = T(-0.5) * (a[0] - b[0]);
        const T c = real_roots_[static_cast<size_t>(2 * k)], s = real_roots_[static_cast<size_t>(2 * k + 1)];
        to[2 * k] = even_re + odd_re * c - odd_im * s;
        to[2 * k + 1] = even_im + odd_re * s + odd_im * c;
      }
    }
    return;
  }
  for_each_group(lines, room, pool, [&](int64_t first, int count, T* lanes, T* other) {
    int64_t at[kLanes];
    T* result;
    if (half_) {
      // Line starts are counted in complex numbers by load(), in real ones here.
      for (int l = 0; l < count; ++l) at[l] = 0;
      T* to = lanes;
      for (int64_t k = 0; k < n_ / 2; ++k, to += 2 * kLanes) {
        for (int l = 0; l < kLanes; ++l) {
          const T* from = x + (first + (l < count ? l : 0)) * x_outer + 2 * k;
          to[l] = from[0];
          to[kLanes + l] = from[1];
        }
      }
      T* z = half_->run_lanes(lanes, other);
      result = z == lanes ? other : lanes;
      table_->unpack_real(z, result, n_ / 2, real_roots_.data());
    } else {
      T* to = lanes;
      for (int64_t k = 0; k < n_; ++k, to += 2 * kLanes) {
        for (int l = 0; l < kLanes; ++l) {
          to[l] = x[(first + (l < count ? l : 0)) * x_outer + k];
          to[kLanes + l] = T(0);
        }
      }
      result = run_lanes(lanes, other);
    }
    for (int l = 0; l < count; ++l) at[l] = (first + l) * y_outer;
    table_->store(result, numbers(y), at, count, 1, results, T(1), false);
  });
}

template <class T>
void Fft<T>::inverse_real(const std::complex<T>* x, int64_t x_outer, T* y, int64_t y_outer, int64_t lines,
                          void* scratch, ThreadPool& pool) const {
  T* room = static_cast<T*>(scratch);
  constexpr int kLanes = kFftLanes<T>;
  const int64_t h = n_ / 2;
  if (half_ && half_->is_cut(lines)) {
    T* pairs = room;
    for (int64_t t = 0; t < lines; ++t) {
      const T* from = numbers(x + t * x_outer);
      for (int64_t k = 0; k < h; ++k) {
        const T* a = from + 2 * k;
        const T* b = from + 2 * (h - k);
        const T a_im = k == 0 ? T(0) : a[1], b_im = k == 0 ? T(0) : b[1];
        const T even_re = a[0] + b[0], even_im = a_im - b_im, rest_re = a[0] - b[0], rest_im = a_im + b_im;
        const T c = real_roots_[static_cast<size_t>(2 * k)], s = -real_roots_[static_cast<size_t>(2 * k + 1)];
        pairs[2 * k] = T(0.5) * (even_re - (rest_re * s + rest_im * c));
        pairs[2 * k + 1] = T(0.5) * (even_im + (rest_re * c - rest_im * s));
      }
      half_->transform_cut(pairs, 1, y + t * y_outer, 1, true, room + n_, pool);
    }
    return;
  }
  for_each_group(lines, room, pool, [&](int64_t first, int count, T* lanes, T* other) {
    int64_t at[kLanes];
    for (int l = 0; l < count; ++l) at[l] = (first + l) * x_outer;
    table_->load(numbers(x), at, count, 1, h + 1, lanes, false);
    if (half_) {
      table_->pack_real(lanes, other, h, real_roots_.data());
      // The inverse: parts swapped before and after.
      for (int64_t k = 0; k < h; ++k)
        std::swap_ranges(other + k * 2 * kLanes, other + k * 2 * kLanes + kLanes, other + k * 2 * kLanes + kLanes);
      const T* z = half_->run_lanes(other, lanes);
      const T scale = T(1) / static_cast<T>(n_);
      for (int64_t k = 0; k < h; ++k, z += 2 * kLanes) {
        for (int l = 0; l < count; ++l) {
          T* to = y + (first + l) * y_outer + 2 * k;
          to[0] = z[kLanes + l] * scale;
          to[1] = z[l] * scale;
        }
      }
      return;
    }
    for (int64_t k = 0; k <= h; ++k) {  // the other half follows from symmetry, and parts are swapped
      T* low = lanes + k * 2 * kLanes;
      T* high = lanes + (n_ - k) * 2 * kLanes;
      for (int l = 0; l < kLanes; ++l) {
        const T re = low[l], im = k == 0 ? T(0) : low[kLanes + l];
        low[l] = im;
        low[kLanes + l] = re;
        if (k > 0) {
          high[l] = -im;
          high[kLanes + l] = re;
        }
      }
    }
    const T* z = run_lanes(lanes, other);
    const T scale = T(1) / static_cast<T>(n_);
    for (int64_t k = 0; k < n_; ++k, z += 2 * kLanes) {
      for (int l = 0; l < count; ++l) y[(first + l) * y_outer + k] = z[kLanes + l] * scale;
    }
  });
}

template class Fft<float>;
template class Fft<double>;

}  // namespace weir::cpu
