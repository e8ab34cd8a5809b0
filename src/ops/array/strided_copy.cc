#include "ops/array/strided_copy.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>

#include "base/errors.h"
#include "ops/array/element_type.h"
#include "ops/element_mover.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace weir::ops {
namespace {

constexpr int64_t kBlockBytes = 128 << 10;  // of one block of a parallel loop

template <class T>
void copy_run(T* to, const T* from, int64_t n) {
  if constexpr (std::is_trivially_copyable_v<T>) {
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
  } else {
    std::copy(from, from + n, to);
  }
}

template <class T>
void copy_row(T* to, int64_t to_stride, const T* from, int64_t from_stride, int64_t n) {
  if (to_stride == 1 && from_stride == 1) {
    copy_run(to, from, n);
  } else if (to_stride == 1 && from_stride == 0) {
    std::fill_n(to, n, *from);
  } else {
    for (int64_t i = 0; i < n; ++i) to[i * to_stride] = from[i * from_stride];
  }
}

constexpr int64_t kTile = 16;
constexpr int64_t kStrip = 4 * kTile;  // tiles side by side, so that source rows are read in longer stretches

template <class T>
void transpose_tile(T* tile, const T* from, int64_t from_stride) {
  for (int64_t k = 0; k < kTile; ++k) {
    for (int64_t i = 0; i < kTile; ++i) tile[i * kTile + k] = from[k * from_stride + i];
  }
}

// Four rows at a time in vectors.
void transpose_tile(uint32_t* tile, const uint32_t* from, int64_t from_stride) {
  using Vec = uint32_t __attribute__((vector_size(16)));
  auto load = [](const uint32_t* p) {
    Vec v;
    std::memcpy(&v, p, sizeof v);
    return v;
  };
  for (int64_t k = 0; k < kTile; k += 4) {
    const uint32_t* rows = from + k * from_stride;
    for (int64_t i = 0; i < kTile; i += 4) {
      Vec a = load(rows + i), b = load(rows + from_stride + i);
      Vec c = load(rows + 2 * from_stride + i), d = load(rows + 3 * from_stride + i);
      Vec ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5), ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
      Vec cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5), cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
      const Vec columns[4] = {
          __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5), __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7),
          __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5), __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7)};
      for (int64_t j = 0; j < 4; ++j) std::memcpy(tile + (i + j) * kTile + k, &columns[j], sizeof(Vec));
    }
  }
}

// Writes the rows of a tile. Past the caches (`stream`) lines that are written whole need not be read first.
template <class T>
void write_tile(T* to, int64_t to_stride, const T* tile, bool stream) {
#if defined(__SSE2__)
  constexpr size_t kVectors = sizeof(T) * kTile / sizeof(__m128i);
  if (stream) {
    for (int64_t i = 0; i < kTile; ++i) {
      auto* row = reinterpret_cast<__m128i*>(to + i * to_stride);
      const auto* from = reinterpret_cast<const __m128i*>(tile + i * kTile);
      for (size_t v = 0; v < kVectors; ++v) _mm_stream_si128(row + v, _mm_load_si128(from + v));
    }
    return;
  }
#endif
  (void)stream;
  for (int64_t i = 0; i < kTile; ++i) copy_run(to + i * to_stride, tile + i * kTile, kTile);
}

// Whether rows that begin at `to` may be streamed: vectors must be aligned, and so much written that it will not be in
// the caches when it is read.
template <class T>
bool may_stream(const T* to, int64_t to_stride, int64_t elements) {
  constexpr int64_t kStreamBytes = 8 << 20;
  auto misaligned = (reinterpret_cast<uintptr_t>(to) | static_cast<uintptr_t>(to_stride) * sizeof(T)) % 16;
  return misaligned == 0 && elements * static_cast<int64_t>(sizeof(T)) >= kStreamBytes;
}

// to[i * to_stride + k] = from[k * from_stride + i] for i < n1, k < n0. Whole tiles go through a buffer in the
// first-level cache: every cache line of either array is then touched once, even where strides are powers of two and
// all lines of a tile compete for one set.
template <class T>
void transpose_plane(T* to, int64_t to_stride, const T* from, int64_t from_stride, int64_t n1, int64_t n0,
                     bool stream) {
  constexpr bool kTiles = std::is_trivially_copyable_v<T> && sizeof(T) <= 8;
  auto transpose_part = [&](int64_t i0, int64_t i1, int64_t k0, int64_t k1) {
    if constexpr (kTiles) {
      if (i1 - i0 == kTile && k1 - k0 == kTile) {
        alignas(64) T tile[kTile * kTile];
        transpose_tile(tile, from + k0 * from_stride + i0, from_stride);
        write_tile(to + i0 * to_stride + k0, to_stride, tile, stream);
        return;
      }
    }
    for (int64_t i = i0; i < i1; ++i) {
      for (int64_t k = k0; k < k1; ++k) to[i * to_stride + k] = from[k * from_stride + i];
    }
  };
  if (n1 < kTile) {
    // A few interleaved channels: one stream in, a few streams out.
    for (int64_t k = 0; k < n0; ++k) {
      for (int64_t i = 0; i < n1; ++i) to[i * to_stride + k] = from[k * from_stride + i];
    }
    return;
  }
  for (int64_t strip = 0; strip < n1; strip += kStrip) {
    for (int64_t k0 = 0; k0 < n0; k0 += kTile) {
      for (int64_t i0 = strip; i0 < std::min(strip + kStrip, n1); i0 += kTile) {
        transpose_part(i0, std::min(i0 + kTile, n1), k0, std::min(k0 + kTile, n0));
      }
    }
  }
#if defined(__SSE2__)
  if (stream) _mm_sfence();
#endif
}

template <class T>
void copy_plane(T* to, const T* from, const StridedBox::Dim& outer, const StridedBox::Dim& inner, int64_t n1,
                int64_t elements) {
  if (inner.to == 1 && inner.from != 1 && outer.from == 1) {
    bool stream = may_stream(to, outer.to, elements);
    return transpose_plane(to, outer.to, from, inner.from, n1, inner.size, stream);
  }
  for (int64_t i = 0; i < n1; ++i) {
    copy_row(to + i * outer.to, inner.to, from + i * outer.from, inner.from, inner.size);
  }
}

// The innermost dimension makes rows, another one makes planes of rows: the one along which the source is contiguous,
// if rows are not, and else the next. The planes are cut into pieces of some rows, which are what threads take.
template <class T>
void copy_planes(const StridedBox& box, T* to, const T* from, ThreadPool& pool) {
  const int last = box.rank() - 1;
  const StridedBox::Dim inner = box[last];
  int row_dim = last - 1;
  if (inner.from != 1) {
    for (int d = last - 1; d >= 0; --d) {
      if (box[d].from == 1) row_dim = d;
    }
  }
  const StridedBox::Dim rows = box[row_dim];
  int64_t row_bytes = inner.size * static_cast<int64_t>(sizeof(T));
  int64_t piece = std::max<int64_t>(kBlockBytes / row_bytes, 1);
  if (rows.from == 1) piece = (piece + kStrip - 1) / kStrip * kStrip;
  piece = std::min(piece, rows.size);
  int64_t pieces = (rows.size + piece - 1) / piece;
  int64_t planes = box.elements() / (inner.size * rows.size);
  int64_t grain = std::max<int64_t>(kBlockBytes / (piece * row_bytes), 1);

  pool.parallel_for(planes * pieces, grain, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      int64_t first_row = unit % pieces * piece, rest = unit / pieces;
      int64_t to_at = first_row * rows.to, from_at = first_row * rows.from;
      for (int d = last - 1; d >= 0; --d) {
        if (d == row_dim) continue;
        int64_t index = rest % box[d].size;
        rest /= box[d].size;
        to_at += index * box[d].to;
        from_at += index * box[d].from;
      }
      copy_plane(to + to_at, from + from_at, rows, inner, std::min(piece, rows.size - first_row), box.elements());
    }
  });
}

template <class T>
void copy(const StridedBox& box, T* to, const T* from, ThreadPool& pool) {
  if (box.rank() == 0) {
    *to = *from;
  } else if (box.rank() == 1) {
    const StridedBox::Dim& d = box[0];
    pool.parallel_for(d.size, kBlockBytes / static_cast<int64_t>(sizeof(T)), [&](int64_t begin, int64_t end) {
      copy_row(to + begin * d.to, d.to, from + begin * d.from, d.from, end - begin);
    });
  } else {
    copy_planes(box, to, from, pool);
  }
}

}  // namespace

void StridedBox::add(int64_t size, int64_t to_stride, int64_t from_stride) {
  elements_ = checked_multiply(elements_, size);
  if (size == 1) return;
  if (rank_ > 0) {
    Dim& outer = dims_[rank_ - 1];
    if (outer.to == size * to_stride && outer.from == size * from_stride) {
      outer = {outer.size * size, to_stride, from_stride};
      return;
    }
  }
  if (rank_ == kMaxRank) throw error(Code::Unimplemented, "more than {} dimensions", kMaxRank);
  dims_[rank_++] = {size, to_stride, from_stride};
}

void copy_box(DType dtype, const StridedBox& box, void* to, const void* from, ThreadPool& pool) {
  if (box.elements() == 0) return;
  if (ElementMover* mover = ElementMover::current(); mover && mover->holds(to))
    return mover->copy_box(dtype, box, to, from);
  with_element_type(dtype, [&]<class T>(T) { copy(box, static_cast<T*>(to), static_cast<const T*>(from), pool); });
}

void copy_elements(DType dtype, void* to, const void* from, int64_t n, ThreadPool& pool) {
  StridedBox box;
  box.add(n, 1, 1);
  copy_box(dtype, box, to, from, pool);
}

void fill_elements(DType dtype, void* to, int64_t n, const void* value, ThreadPool& pool) {
  StridedBox box;
  box.add(n, 1, 0);
  copy_box(dtype, box, to, value, pool);
}

void zero_elements(DType dtype, void* to, int64_t n, ThreadPool& pool) {
  if (dtype == DType::String) {
    std::string empty;
    return fill_elements(dtype, to, n, &empty, pool);
  }
  int64_t bytes = n * static_cast<int64_t>(dtype_size(dtype));
  if (ElementMover* mover = ElementMover::current(); mover && mover->holds(to)) {
    return mover->zero(to, static_cast<size_t>(bytes));
  }
  pool.parallel_for(bytes, kBlockBytes, [&](int64_t begin, int64_t end) {
    std::memset(static_cast<char*>(to) + begin, 0, static_cast<size_t>(end - begin));
  });
}

constinit thread_local ElementMover* ElementMover::current_ = nullptr;

Tensor place_result(DType dtype, const Shape& shape) {
  ElementMover* mover = ElementMover::current();
  return mover ? mover->place(dtype, shape) : Tensor(dtype, shape);
}

Strides::Strides(const Shape& shape) {
  if (shape.rank() > kMaxRank) throw error(Code::Unimplemented, "more than {} dimensions", kMaxRank);
  int64_t stride = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    values[i] = stride;
    stride *= shape.dims()[static_cast<size_t>(i)];
  }
}

}  // namespace weir::ops
