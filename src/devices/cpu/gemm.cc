#include "devices/cpu/gemm.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "devices/cpu/caches.h"

namespace weir::cpu {
#if defined(__x86_64__)
namespace {

// Tall tiles load less for each multiplication, which Intel's processors gain by. AMD's lose up to 7 % with them on most
// shapes, those with whole 512-bit units (Zen 5) as well.
bool prefers_tall_tiles() { return has_whole_avx512() && !__builtin_cpu_is("amd"); }

}  // namespace
#endif

template <>
const GemmKernels<float>& gemm_kernels<float>(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::Avx512) return prefers_tall_tiles() ? avx512::kGemmFloatTall : avx512::kGemmFloat;
  if (isa == Isa::Avx2) return avx2::kGemmFloat;
#endif
  (void)isa;
  return portable::kGemmFloat;
}

template <>
const GemmKernels<double>& gemm_kernels<double>(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::Avx512) return prefers_tall_tiles() ? avx512::kGemmDoubleTall : avx512::kGemmDouble;
  if (isa == Isa::Avx2) return avx2::kGemmDouble;
#endif
  (void)isa;
  return portable::kGemmDouble;
}

namespace {

constexpr int64_t kMaxColumns = 512;   // columns of b that one task packs
constexpr int64_t kRowPad = 16;        // keeps copied rows out of each other's cache sets
constexpr int64_t kVectorChunk = 512;  // results of a matrix-vector product that a task holds on its stack

int64_t divide_up(int64_t x, int64_t y) { return (x + y - 1) / y; }
int64_t round_up(int64_t x, int64_t y) { return divide_up(x, y) * y; }

// How a product is cut. An element is summed over the slices of a part and then over the parts; both depend on the
// shape alone. How c is cut into tasks may depend on the number of threads.
struct Plan {
  int64_t parts = 1;  // of k, each with a result of its own, added up in the end
  int64_t part_depth = 0;
  int64_t slice = 0;              // of a part, for which a panel of b stays in the first-level cache
  int64_t rows = 0, columns = 0;  // of a task
  bool copy_a = false;
  // Scratch memory in elements: the parts' results, then each thread's copies of pieces of b and a.
  int64_t partial = 0, packed_b = 0, copied_a = 0;

  int64_t elements(int threads) const { return partial + threads * (packed_b + copied_a); }
};

// Results so small that cutting them feeds few threads are cut along k instead. At most sixteen parts: they cost
// memory, and adding them up is not part of the fast loop.
template <class T>
int64_t choose_parts(const Gemm<T>& g) {
  constexpr int64_t kSmallResult = 64 * 64, kDepth = 1024;
  if (g.m * g.n * g.batch > kSmallResult) return 1;
  return std::clamp<int64_t>(g.k / kDepth, 1, 16);
}

// The inner dimension for which a panel of b is used again and again. It may be half as large again as the first-level
// cache: tiles read it in order, which the second level keeps up with, and the result is read and written less often.
template <class T>
int64_t slice_depth(const GemmKernels<T>& kernels) {
  const int64_t depth = caches().first * 3 / 2 / (kernels.columns * static_cast<int64_t>(sizeof(T)));
  return std::clamp(depth, kernels.depth, 4 * kernels.depth);
}

// Rows of a that meet all of a task's columns before the next ones do. Where the second-level cache holds the largest
// packed piece of b with room, b is read from there and few rows keep a and the result near; elsewhere many rows have
// to make up for fetching b from farther away. Of a transposed a few rows would be parts of lines.
template <class T>
int64_t rows_at_once(const Gemm<T>& g, const GemmKernels<T>& kernels) {
  const int64_t packed_bytes = slice_depth(kernels) * kMaxColumns * static_cast<int64_t>(sizeof(T));
  if (!g.transpose_a && packed_bytes * 5 / 3 <= caches().second) return 4 * kernels.rows;
  return 192 / kernels.rows * kernels.rows;
}

template <class T>
bool is_vector_product(const Gemm<T>& g) {
  return (g.m == 1 || g.n == 1) && !g.packed_b;
}

// 1, 2, 3, 4, 6, 8, 12, 16, 24, ...: enough choices to suit any number of threads.
int64_t next_count(int64_t count) {
  return (count & (count - 1)) == 0 && count > 1 ? count / 2 * 3 : (count * 4 + 2) / 3;
}

// Whether a stays in the second-level cache.
template <class T>
bool is_small(const Gemm<T>& g) {
  constexpr int64_t kSmallBytes = 280 << 10;
  return g.m * g.k * static_cast<int64_t>(sizeof(T)) <= kSmallBytes;
}

// Whether the rows of a tile, a multiple of a kilobyte from each other, or the steps of a transposed matrix share few
// sets of the first-level cache.
template <class T>
bool lies_in_few_sets(const Gemm<T>& g) {
  constexpr int64_t kSetBytes = 1024;
  return g.transpose_a || g.lda * static_cast<int64_t>(sizeof(T)) % kSetBytes == 0;
}

// Rows of a large matrix lie on many pages: a copy pays as soon as some panels use it. Where they lie in few sets of
// the cache, as columns of a transposed matrix do, it pays at once.
template <class T>
bool pays_to_copy(const Gemm<T>& g, const GemmKernels<T>& kernels, int64_t columns) {
  return columns > (lies_in_few_sets(g) ? 1 : 6) * kernels.columns && !is_small(g);
}

template <class T>
void choose_tasks(const Gemm<T>& g, const GemmKernels<T>& kernels, int threads, Plan& plan) {
  // Time of a task in steps of the inner loop over one vector pair. A tile that is not full takes as long as a full
  // one, each task packs its own piece of b and copies its own piece of a, and tiles on rows that are not copied lose
  // some percent to the cache. Matrices that come from beyond the second-level cache are packed at a third of the
  // speed; what is copied of a was fetched before.
  constexpr int64_t kFarBytes = 2 << 20;
  const bool far_a = g.m * g.k * static_cast<int64_t>(sizeof(T)) > kFarBytes;
  const bool far_b = g.n * g.k * static_cast<int64_t>(sizeof(T)) > kFarBytes;
  // What was packed before is read again for each task's rows.
  const double pack_column = g.packed_b ? 0.3 : far_b ? 0.9 : g.transpose_b ? 0.6 : 0.3, copy_row = far_a ? 0.4 : 0.3;
  const double uncopied = is_small(g) || !lies_in_few_sets(g) ? 1.07 : 1.25;
  auto cost = [&](int64_t rows, int64_t columns) {
    const bool copies = pays_to_copy(g, kernels, columns);
    const int64_t tiles = divide_up(rows, kernels.rows) * divide_up(columns, kernels.columns);
    const double multiply = static_cast<double>(tiles * kernels.rows) * (copies ? 1 : uncopied);
    const double pack = static_cast<double>(columns) * pack_column;
    const double copy = copies ? static_cast<double>(rows) * copy_row : 0;
    return static_cast<double>(plan.part_depth) * (multiply + pack + copy) + 500.0;
  };
  const int64_t tall = divide_up(g.m, kernels.rows), wide = divide_up(g.n, kernels.columns);
  const int64_t least = divide_up(g.n, kMaxColumns);
  double best = INFINITY;
  for (int64_t across = least; across <= std::min(wide, 4 * least * threads); across = next_count(across)) {
    const int64_t columns = std::min(g.n, divide_up(wide, across) * kernels.columns);
    for (int64_t down = 1; down <= std::min<int64_t>(tall, 4 * threads); down = next_count(down)) {
      const int64_t rows = std::min(g.m, divide_up(tall, down) * kernels.rows);
      const int64_t tasks = g.batch * plan.parts * divide_up(g.m, rows) * divide_up(g.n, columns);
      // The small share favours more tasks, which even out what the threads lose to other programs.
      const double time = cost(rows, columns) * (static_cast<double>(divide_up(tasks, threads)) + 0.02);
      if (time < best) {
        best = time;
        plan.rows = rows;
        plan.columns = columns;
      }
    }
  }
}

template <class T>
Plan make_plan(const Gemm<T>& g, const GemmKernels<T>& kernels, int threads) {
  Plan plan;
  plan.parts = choose_parts(g);
  plan.part_depth = divide_up(g.k, plan.parts);
  if (plan.parts > 1) plan.partial = round_up(plan.parts * g.batch * g.m * g.n, 16);
  if (is_vector_product(g)) {
    plan.rows = std::min(g.m, kVectorChunk);
    plan.columns = std::min(g.n, kVectorChunk);
    plan.packed_b = round_up(plan.part_depth, 16);  // for a vector whose elements do not lie side by side
    return plan;
  }
  // Two slices read and write the result once more: a panel a third longer costs less.
  const int64_t most = slice_depth(kernels);
  const int64_t slices = 3 * plan.part_depth <= 4 * most ? 1 : divide_up(plan.part_depth, most);
  plan.slice = divide_up(std::max<int64_t>(plan.part_depth, 1), slices);
  choose_tasks(g, kernels, threads, plan);
  if (!g.packed_b) plan.packed_b = round_up((plan.slice | 1) * round_up(plan.columns, kernels.columns), 16);
  plan.copy_a = pays_to_copy(g, kernels, plan.columns);
  if (plan.copy_a) {
    const int64_t rows = std::min(plan.rows, rows_at_once(g, kernels));
    plan.copied_a = round_up(rows * (plan.slice + kRowPad), 16);
  }
  return plan;
}

// One task: c[rows, columns] (part of it, when the product is cut along k).
template <class T>
struct Task {
  int64_t row, rows, column, columns;
  int64_t k, depth;  // first inner index and how many
  const T* a;
  const T* b;
  T* c;  // element [0, 0] of the matrix, not of the task
  int64_t ldc;
  bool accumulate;
  Epilogue<T> epilogue;
};

template <class T>
class Product {
 public:
  Product(const Gemm<T>& g, int threads, void* scratch)
      : g_(g),
        kernels_(gemm_kernels<T>(isa())),
        plan_(make_plan(g, kernels_, threads)),
        scratch_(static_cast<T*>(scratch)) {}

  void run(ThreadPool& pool) {
    const int64_t down = divide_up(g_.m, plan_.rows), across = divide_up(g_.n, plan_.columns);
    pool.parallel_for(g_.batch * plan_.parts * across * down, 1, [&](int64_t begin, int64_t) {
      const int64_t column = begin / down % across, part = begin / down / across % plan_.parts;
      run_task(task(begin / down / across / plan_.parts, part, begin % down * plan_.rows, column * plan_.columns));
    });
    if (plan_.parts > 1) add_parts(pool);
  }

  const Plan& plan() const { return plan_; }

 private:
  // For the columns of the task from j on, or for none before the last slice.
  static void set_epilogue(const Task<T>& task, bool last, int64_t row, int64_t j, GemmPanel<T>& panel) {
    const Epilogue<T>& e = task.epilogue;
    const int64_t column = task.column + j;
    panel.bias = last && e.bias ? e.bias + column : nullptr;
    panel.scale = last && e.scale ? e.scale + column : nullptr;
    panel.side = last && e.side ? e.side + row * task.ldc + column : nullptr;
    panel.activation = last ? e.activation : Activation::None;
  }

  Task<T> task(int64_t batch, int64_t part, int64_t row, int64_t column) const {
    Task<T> task = {.row = row,
                    .rows = std::min(plan_.rows, g_.m - row),
                    .column = column,
                    .columns = std::min(plan_.columns, g_.n - column),
                    .k = part * plan_.part_depth,
                    .depth = std::min(plan_.part_depth, g_.k - part * plan_.part_depth),
                    .a = g_.a + batch * g_.stride_a,
                    .b = g_.b + batch * g_.stride_b,
                    .c = g_.c + batch * g_.stride_c,
                    .ldc = g_.ldc,
                    .accumulate = g_.accumulate,
                    .epilogue = g_.epilogue};
    if (task.epilogue.side) task.epilogue.side += batch * g_.stride_c;
    if (plan_.parts > 1) {
      task.c = scratch_ + (batch * plan_.parts + part) * g_.m * g_.n;
      task.ldc = g_.n;
      task.accumulate = false;
      task.epilogue = {};
    }
    return task;
  }

  void run_task(const Task<T>& task) const {
    T* packed_b = scratch_ + plan_.partial + ThreadPool::thread_index() * (plan_.packed_b + plan_.copied_a);
    if (is_vector_product(g_)) {
      multiply_vector(task, packed_b);
    } else if (g_.packed_b && !plan_.copy_a) {
      multiply_packed(task);
    } else {
      multiply_blocks(task, packed_b, packed_b + plan_.packed_b);
    }
  }

  int64_t panel_step() const { return (plan_.slice | 1) * kernels_.columns; }

  // Columns that the first tile packs while it multiplies: whole panels of rows of b.
  int64_t fused_columns(const Task<T>& task) const {
    return g_.transpose_b || g_.packed_b ? 0 : task.columns / kernels_.columns * kernels_.columns;
  }

  // A matrix that was packed before is read from its first element to its last, which is what processors are best at: a
  // panel of it for all of k, then the next one. Sums are those of multiply_blocks.
  void multiply_packed(const Task<T>& task) const {
    const int64_t columns = kernels_.columns;
    for (int64_t j = 0; j < task.columns; j += columns) {
      for (int64_t k = 0; k == 0 || k < task.depth; k += plan_.slice) {
        const int64_t depth = std::min(plan_.slice, task.depth - k), first = task.k + k;
        const bool last = k + depth == task.depth;
        GemmPanel<T> panel = {.rows = task.rows,
                              .columns = std::min(columns, task.columns - j),
                              .depth = depth,
                              .b = task.b + (task.column + j) * g_.k + first * columns,
                              .b_step = columns,
                              .c = task.c + task.row * task.ldc + task.column + j,
                              .c_row = task.ldc,
                              .accumulate = task.accumulate || k > 0};
        set_epilogue(task, last, task.row, j, panel);
        panel.next_b = panel.b + depth * columns;
        locate_a(task, {task.row, task.rows, first, depth}, nullptr, panel);
        kernels_.panel(panel);
      }
    }
  }

  void multiply_blocks(const Task<T>& task, T* packed_b, T* copied_a) const {
    for (int64_t k = 0; k == 0 || k < task.depth; k += plan_.slice) {
      const int64_t depth = std::min(plan_.slice, task.depth - k), first = task.k + k;
      const T* b = task.b + (g_.transpose_b ? task.column * g_.ldb + first : first * g_.ldb + task.column);
      const int64_t packing = fused_columns(task);
      if (!g_.packed_b) {
        kernels_.pack(b + packing, g_.ldb, g_.transpose_b, depth, task.columns - packing,
                      packed_b + packing / kernels_.columns * panel_step(), panel_step());
      }
      // Equal pieces, not full ones and a rest.
      const int64_t most = rows_at_once(g_, kernels_), pieces = divide_up(task.rows, most);
      const int64_t piece = std::min(most, round_up(divide_up(task.rows, pieces), kernels_.rows));
      auto piece_at = [&](int64_t row, int64_t inner) {
        return Piece{.row = task.row + row,
                     .rows = std::min(piece, task.rows - row),
                     .k = task.k + inner,
                     .depth = std::min(plan_.slice, task.depth - inner)};
      };
      for (int64_t row = 0; row < task.rows; row += piece) {
        const bool next_slice = row + piece >= task.rows;
        multiply_piece(task, piece_at(row, k), next_slice ? piece_at(0, k + depth) : piece_at(row + piece, k),
                       row == 0 ? b : nullptr, packed_b, copied_a);
      }
    }
  }

  // Rows of a for some of the inner dimension.
  struct Piece {
    int64_t row, rows, k, depth;
  };

  const T* element_of_a(const Task<T>& task, int64_t row, int64_t k) const {
    return task.a + (g_.transpose_a ? k * g_.lda + row : row * g_.lda + k);
  }

  // Where a piece lies; nothing when there is none, or when a is near anyway.
  typename GemmPanel<T>::Ahead ahead(const Task<T>& task, const Piece& piece) const {
    if (piece.depth <= 0 || is_small(g_)) return {};
    const T* at = element_of_a(task, piece.row, piece.k);
    return g_.transpose_a ? typename GemmPanel<T>::Ahead{at, piece.depth, piece.rows, g_.lda}
                          : typename GemmPanel<T>::Ahead{at, piece.rows, piece.depth, g_.lda};
  }

  // b is where it lies unpacked, for the first rows. What is read of a next comes from memory while the last panel is
  // worked on.
  void multiply_piece(const Task<T>& task, const Piece& of, const Piece& next, const T* b, T* packed_b,
                      T* copied_a) const {
    const int64_t row = of.row, rows = of.rows, k = of.k, depth = of.depth;
    const bool last = k + depth == task.k + task.depth, accumulate = task.accumulate || k > task.k;
    GemmPanel<T> panel = {.rows = rows, .depth = depth, .c_row = task.ldc, .accumulate = accumulate};
    locate_a(task, of, copied_a, panel);
    for (int64_t j = 0; j < task.columns; j += kernels_.columns) {
      panel.columns = std::min(kernels_.columns, task.columns - j);
      T* packed = packed_b + j / kernels_.columns * panel_step();
      const bool packs = b && j < fused_columns(task);
      panel.b = packs ? b + j : g_.packed_b ? task.b + (task.column + j) * g_.k + k * kernels_.columns : packed;
      panel.b_step = packs ? g_.ldb : kernels_.columns;
      panel.packed = packs && task.rows > kernels_.rows ? packed : nullptr;
      const bool fetches = j + kernels_.columns < (g_.packed_b ? task.columns : fused_columns(task));
      panel.next_b = fetches ? panel.b + (g_.packed_b ? g_.k : 1) * kernels_.columns : nullptr;
      if (j + kernels_.columns >= task.columns) panel.ahead = ahead(task, next);
      panel.c = task.c + row * task.ldc + task.column + j;
      set_epilogue(task, last, row, j, panel);
      kernels_.panel(panel);
    }
  }

  // Points the panel at a piece of op(a), or at a copy of it when it is used for many columns.
  void locate_a(const Task<T>& task, const Piece& of, T* copy, GemmPanel<T>& panel) const {
    const T* from = element_of_a(task, of.row, of.k);
    if (!plan_.copy_a) {
      panel.a = from;
      panel.a_row = g_.transpose_a ? 1 : g_.lda;
      panel.a_step = g_.transpose_a ? g_.lda : 1;
      return;
    }
    panel.a = copy;
    if (g_.transpose_a) {
      kernels_.pack_tiles(from, g_.lda, 0, of.depth, of.depth, of.rows, copy);
      panel.tiled = true;
      return;
    }
    const int64_t step = of.depth + kRowPad;
    for (int64_t i = 0; i < of.rows; ++i) {
      std::memcpy(copy + i * step, from + i * g_.lda, static_cast<size_t>(of.depth) * sizeof(T));
    }
    panel.a_row = step;
    panel.a_step = 1;
  }

  // A matrix times a vector reads each element of the matrix once, so nothing is packed.
  void multiply_vector(const Task<T>& task, T* copied_x) const {
    // y = matrix * x, with the matrix as stored: rows of it give elements of y, or rows of it are added up to y.
    const bool by_row = g_.n == 1;
    const T* x = by_row ? task.b : task.a;
    const bool transpose_x = by_row ? g_.transpose_b : g_.transpose_a;
    const int64_t x_step = transpose_x == by_row ? 1 : by_row ? g_.ldb : g_.lda;
    const bool dots = by_row ? !g_.transpose_a : g_.transpose_b;
    const int64_t step = by_row ? g_.lda : g_.ldb, first = by_row ? task.row : task.column;
    const int64_t count = by_row ? task.rows : task.columns;
    const T* matrix = (by_row ? task.a : task.b) + (dots ? first * step + task.k : task.k * step + first);
    x += task.k * x_step;

    T y[kVectorChunk];
    if (dots) {
      if (x_step != 1) {
        for (int64_t t = 0; t < task.depth; ++t) copied_x[t] = x[t * x_step];
        x = copied_x;
      }
      kernels_.dot_rows(matrix, step, count, task.depth, x, y);
    } else {
      kernels_.combine_rows(matrix, step, task.depth, count, x, x_step, y);
    }
    T* c = task.c + task.row * task.ldc + task.column;
    const int64_t c_step = by_row ? task.ldc : 1;
    const int64_t at = task.row * task.ldc + task.column;
    for (int64_t i = 0; i < count; ++i) {
      T v = y[i];
      if (task.accumulate) v += c[i * c_step];
      c[i * c_step] = finished(v, task.epilogue, task.column + (by_row ? 0 : i), at + i * c_step);
    }
  }

  void add_parts(ThreadPool& pool) const {
    pool.parallel_for(g_.batch * g_.m, std::max<int64_t>(1, 4096 / g_.n), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t batch = i / g_.m, row = i % g_.m;
        const T* parts = scratch_ + (batch * plan_.parts * g_.m + row) * g_.n;
        T* c = g_.c + batch * g_.stride_c + row * g_.ldc;
        for (int64_t j = 0; j < g_.n; ++j) {
          T v = g_.accumulate ? c[j] : T(0);
          for (int64_t p = 0; p < plan_.parts; ++p) v += parts[p * g_.m * g_.n + j];
          c[j] = finished(v, g_.epilogue, j, batch * g_.stride_c + row * g_.ldc + j);
        }
      }
    });
  }

  const Gemm<T>& g_;
  const GemmKernels<T>& kernels_;
  const Plan plan_;
  T* const scratch_;
};

template <class T>
bool is_empty(const Gemm<T>& g) {
  return g.m <= 0 || g.n <= 0 || g.batch <= 0;
}

}  // namespace

template <class T>
size_t gemm_scratch_bytes(const Gemm<T>& g, int threads) {
  if (is_empty(g)) return 0;
  return static_cast<size_t>(make_plan(g, gemm_kernels<T>(isa()), threads).elements(threads)) * sizeof(T);
}

template <class T>
void gemm(ThreadPool& pool, const Gemm<T>& g, void* scratch) {
  if (!is_empty(g)) Product<T>(g, pool.threads(), scratch).run(pool);
}

template <class T>
int64_t packed_matrix_elements(int64_t k, int64_t n) {
  return k * round_up(n, gemm_kernels<T>(isa()).columns);
}

template <class T>
void pack_matrix(ThreadPool& pool, const PackMatrix<T>& m) {
  const GemmKernels<T>& kernels = gemm_kernels<T>(isa());
  // Some panels at a time, whose rows lie side by side.
  const int64_t panels = 4, columns = panels * kernels.columns;
  pool.parallel_for(divide_up(m.n, columns), 1, [&](int64_t chunk, int64_t) {
    const int64_t first = chunk * columns;
    kernels.pack(m.b + (m.transpose ? first * m.ldb : first), m.ldb, m.transpose, m.k, std::min(columns, m.n - first),
                 m.packed + first * m.k, m.k * kernels.columns);
  });
}

template size_t gemm_scratch_bytes(const Gemm<float>&, int);
template size_t gemm_scratch_bytes(const Gemm<double>&, int);
template void gemm(ThreadPool&, const Gemm<float>&, void*);
template void gemm(ThreadPool&, const Gemm<double>&, void*);
template int64_t packed_matrix_elements<float>(int64_t, int64_t);
template void pack_matrix(ThreadPool&, const PackMatrix<float>&);

}  // namespace weir::cpu
