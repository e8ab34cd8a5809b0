#include "devices/cpu/reduce.h"

#include <algorithm>
#include <limits>

#include "base/thread_pool.h"
#include "devices/cpu/isa.h"
#include "devices/cpu/reduce_table.h"

namespace weir::cpu {
namespace {

const ReduceTable& table() {
#if defined(__x86_64__)
  static const ReduceTable& chosen = isa() == Isa::Avx512 ? avx512::kReduceTable
                                     : isa() == Isa::Avx2 ? avx2::kReduceTable
                                                          : portable::kReduceTable;
  return chosen;
#else
  return portable::kReduceTable;
#endif
}

// Floats that one task reduces: small enough to stay in the second-level cache, large enough to hide the hand-over.
constexpr int64_t kTaskFloats = 32768;
constexpr int64_t kColumnBlock = 1024;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// How one [reduced, inner] slice is cut. Narrow rows are folded: `fold` adjacent rows count as one wide row, whose
// segments are joined at the end, so that vectors are full. The wide rows go to tasks in chunks of `chunk_rows`, each
// giving one row of partial results; rows that do not fill a wide row give one more.
struct Cut {
  int64_t fold, cols, wide_rows, chunk_rows, chunks, left_over_floats;

  explicit Cut(const ReduceShape& s) {
    fold = s.inner < 32 && s.inner > 1 ? ceil_div(64, s.inner * 8) * 8 : 1;
    if (s.reduced < 2 * fold) fold = 1;
    cols = s.inner * fold;
    wide_rows = s.reduced / fold;
    chunk_rows = s.inner == 1 ? kTaskFloats : std::max<int64_t>(64, kTaskFloats / std::min(cols, kColumnBlock));
    chunks = ceil_div(wide_rows, chunk_rows);
    left_over_floats = (s.reduced - wide_rows * fold) * s.inner;
  }
  int64_t partial_rows() const { return chunks + (left_over_floats > 0); }
  bool direct() const { return fold == 1 && chunks == 1; }
};

bool fits_one_task(const ReduceShape& s) { return s.reduced * s.inner <= kTaskFloats; }

float neutral(ReduceFn fn) {
  switch (fn) {
    case ReduceFn::Max:
      return -std::numeric_limits<float>::infinity();
    case ReduceFn::Min:
      return std::numeric_limits<float>::infinity();
    case ReduceFn::Prod:
      return 1;
    default:
      return 0;
  }
}

// A reduction, and the one that joins its partial results.
struct Functions {
  explicit Functions(ReduceFn function)
      : fn(function),
        run(table().run[static_cast<int>(fn)]),
        columns(table().columns[static_cast<int>(fn)]),
        join_run(table().run[static_cast<int>(joining())]),
        join(table().columns[static_cast<int>(joining())]) {}
  ReduceFn fn;
  ReduceRun run;
  ReduceColumns columns;
  ReduceRun join_run;
  ReduceColumns join;

  ReduceFn joining() const { return fn == ReduceFn::SumSquares ? ReduceFn::Sum : fn; }
  // The partial row of elements that do not fill a wide row.
  void left_over(const float* x, const Cut& cut, float* partial) const {
    columns(x, 1, cut.cols, cut.left_over_floats, partial);
    std::fill(partial + cut.left_over_floats, partial + cut.cols, neutral(fn));
  }
};

// One slice by one thread.
void reduce_slice(const Functions& f, const float* x, const ReduceShape& s, const Cut& cut, float* y) {
  if (s.inner == 1) {
    *y = f.run(x, s.reduced);
  } else if (cut.fold == 1) {
    f.columns(x, s.reduced, s.inner, s.inner, y);
  } else {
    float wide[2 * 8 * 32];  // two rows of at most 31 * 8 floats
    f.columns(x, cut.wide_rows, cut.cols, cut.cols, wide);
    if (cut.left_over_floats > 0) {
      f.left_over(x + cut.wide_rows * cut.cols, cut, wide + cut.cols);
      f.join(wide, 2, cut.cols, cut.cols, wide);
    }
    f.join(wide, cut.fold, s.inner, s.inner, y);
  }
}

// Slices too large for one task: chunks to partial rows, then these to y.
void reduce_chunks(const Functions& f, const float* x, const ReduceShape& s, const Cut& cut, float* y, float* partials,
                   ThreadPool& pool) {
  const int64_t blocks = ceil_div(cut.cols, kColumnBlock), rows = cut.partial_rows();
  float* first = cut.direct() ? y : partials;
  pool.parallel_for(s.outer * rows * blocks, 1, [&](int64_t task, int64_t) {
    const int64_t slice = task / (rows * blocks), chunk = task / blocks % rows, col = task % blocks * kColumnBlock;
    const float* from = x + slice * s.reduced * s.inner + chunk * cut.chunk_rows * cut.cols + col;
    float* to = first + (slice * rows + chunk) * cut.cols + col;
    if (chunk == cut.chunks) {
      f.left_over(x + slice * s.reduced * s.inner + cut.wide_rows * cut.cols, cut, to);
      return;
    }
    const int64_t n = std::min(cut.chunk_rows, cut.wide_rows - chunk * cut.chunk_rows);
    if (s.inner == 1)
      *to = f.run(from, n);
    else
      f.columns(from, n, cut.cols, std::min(kColumnBlock, cut.cols - col), to);
  });
  if (cut.direct()) return;
  pool.parallel_for(s.outer * blocks, 1, [&](int64_t task, int64_t) {
    const int64_t slice = task / blocks, col = task % blocks * kColumnBlock;
    const int64_t width = std::min(kColumnBlock, cut.cols - col);
    float* from = partials + slice * rows * cut.cols + col;
    if (s.inner == 1) {
      y[slice] = f.join_run(from, rows);
    } else if (cut.fold == 1) {
      f.join(from, rows, cut.cols, width, y + slice * s.inner + col);
    } else {
      f.join(from, rows, cut.cols, width, from);
      f.join(from, cut.fold, s.inner, s.inner, y + slice * s.inner);
    }
  });
}

}  // namespace

ReduceRun reduce_run(ReduceFn fn) { return table().run[static_cast<int>(fn)]; }
ReduceColumns reduce_columns(ReduceFn fn) { return table().columns[static_cast<int>(fn)]; }

int64_t reduce_scratch_bytes(const ReduceShape& shape) {
  if (fits_one_task(shape)) return 0;
  const Cut cut(shape);
  if (cut.direct()) return 0;
  return shape.outer * cut.partial_rows() * cut.cols * static_cast<int64_t>(sizeof(float));
}

void reduce(ReduceFn fn, const float* x, const ReduceShape& s, float* y, void* scratch, ThreadPool& pool) {
  const int64_t outputs = s.outer * s.inner;
  if (outputs == 0) return;
  const Functions f(fn);
  if (s.reduced == 0) {
    std::fill(y, y + outputs, neutral(fn));
  } else {
    const Cut cut(s);
    if (fits_one_task(s)) {
      pool.parallel_for(s.outer, std::max<int64_t>(1, kTaskFloats / (s.reduced * s.inner)),
                        [&](int64_t begin, int64_t end) {
                          for (int64_t i = begin; i < end; ++i)
                            reduce_slice(f, x + i * s.reduced * s.inner, s, cut, y + i * s.inner);
                        });
    } else {
      reduce_chunks(f, x, s, cut, y, static_cast<float*>(scratch), pool);
    }
  }
  if (fn == ReduceFn::Mean)
    pool.parallel_for(outputs, kTaskFloats, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) y[i] /= static_cast<float>(s.reduced);
    });
}

void arg_reduce(ArgFn fn, const float* x, const ReduceShape& s, int64_t* y, ThreadPool& pool) {
  const int64_t slice = s.reduced * s.inner;
  const auto run = table().arg_run[static_cast<int>(fn)];
  pool.parallel_for(s.outer, std::max<int64_t>(1, kTaskFloats / std::max<int64_t>(1, slice)),
                    [&](int64_t begin, int64_t end) {
                      for (int64_t i = begin; i < end; ++i) {
                        if (s.inner == 1) {
                          y[i] = run(x + i * slice, s.reduced);
                          continue;
                        }
                        for (int64_t col = 0; col < s.inner; ++col) {
                          const float* p = x + i * slice + col;
                          float best = neutral(fn == ArgFn::Max ? ReduceFn::Max : ReduceFn::Min);
                          int64_t at = 0;
                          for (int64_t r = 0; r < s.reduced; ++r) {
                            const float v = p[r * s.inner];
                            if (fn == ArgFn::Max ? v > best : v < best) best = v, at = r;
                          }
                          y[i * s.inner + col] = at;
                        }
                      }
                    });
}

}  // namespace weir::cpu
