// Winograd's method with many channels, forward and backward to the input. The transformed filter would be several
// times as large as the filter, and go to memory and back. So it is never there as a whole: a task takes some columns
// of the result, transforms their part of the filter slice by slice of the inner dimension, multiplies with each slice
// while it is in the second-level cache, and transforms its products back.
//
// How the inner dimension is sliced depends on the shape and the processor, not on the threads.

#include "devices/cpu/caches.h"
#include "devices/cpu/conv_winograd_tiles.h"

namespace weir::cpu {
namespace {

constexpr int64_t kColumns = 32;     // of a task
constexpr int64_t kTurned = 32;      // channels of the source whose taps are transformed before they are turned
constexpr int64_t kMostTiles = 128;  // of a task
constexpr int64_t kSourceElements = 2 << 20;  // of tiles that are transformed at once
constexpr int64_t kAhead = 8;                 // rows of the filter that are fetched before they are transformed

class WideGather {
 public:
  WideGather(const ConvParams& p, bool backward, int threads, void* scratch, const Stacking& stacking = {})
      : p_(p),
        backward_(backward),
        stacking_(stacking),
        kernels_(gemm_kernels<float>(isa())),
        winograd_(*find_winograd_variant(p, backward ? p.in_h : p.out_h(), backward ? p.in_w : p.out_w())),
        tiles_(p, backward, winograd_) {
    choose_sizes(threads);
    Carver carver(scratch);
    zeros_ = carver.take<float>(depth_);
    sources_ = carver.take<float>(chunk_blocks_ * block_size_);
    filters_ = carver.take<float>(threads * planes_ * filter_plane_);
    turned_ = carver.take<float>(backward ? threads * planes_ * turned_plane_ : 0);
    products_ = carver.take<float>(threads * block_ * product_tile_);
    scratch_bytes_ = carver.used();
  }

  size_t scratch_bytes() const { return scratch_bytes_; }

  void run(ThreadPool& pool, const float* source, const float* filter, const Epilogue<float>& epilogue, float* dest) {
    std::fill_n(zeros_, depth_, 0.0f);
    const int64_t chunk = chunk_blocks_ * block_, panels = divide_up(columns_, kColumns);
    for (int64_t first = 0; first < tiles_.count; first += chunk) {
      const int64_t count = std::min(chunk, tiles_.count - first);
      pool.parallel_for(count, 4, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) transform_source(first + i, i, source);
      });
      pool.parallel_for(panels * divide_up(count, block_), 1, [&](int64_t task, int64_t) {
        const int64_t block = task / panels, at = block * block_;
        run_task({.first = first + at,
                  .count = std::min(block_, count - at),
                  .sources = sources_ + block * block_size_,
                  .column = task % panels * kColumns},
                 filter, epilogue, dest);
      });
    }
  }

 private:
  // Some tiles, and some columns of their results.
  struct Task {
    int64_t first, count;
    const float* sources;
    int64_t column;
  };

  // A slice of the filter and the products of a task share the second-level cache.
  void choose_sizes(int threads) {
    depth_ = tiles_.source.channels;
    columns_ = tiles_.dest.channels;
    const int64_t step = planes_ * kColumns;  // of a tile of products, or of a row of the filter
    const int64_t room = caches().second * 7 / 8 / static_cast<int64_t>(sizeof(float)) / step;
    block_ = std::clamp<int64_t>(std::min(tiles_.count, room / 2), 1, kMostTiles);
    block_ = divide_up(tiles_.count, divide_up(tiles_.count, block_));
    const int64_t most = std::clamp<int64_t>(room - block_, 32, 160);
    slice_ = std::min(depth_, round_up(divide_up(depth_, divide_up(depth_, most)), 16));
    slices_ = divide_up(depth_, slice_);

    row_ = odd_lines(slice_);
    source_plane_ = odd_lines(block_ * row_);
    block_size_ = slices_ * planes_ * source_plane_;
    panel_step_ = (slice_ | 1) * kernels_.columns;
    filter_plane_ = odd_lines(panel_step_ * divide_up(kColumns, kernels_.columns));
    turned_plane_ = odd_lines(kColumns * kTurned);
    product_tile_ = odd_lines(step);
    const int64_t blocks = divide_up(tiles_.count, block_), panels = divide_up(columns_, kColumns);
    const int64_t by_memory = kSourceElements / block_size_, by_tasks = divide_up(2 * threads, panels);
    chunk_blocks_ = std::clamp<int64_t>(std::max(by_memory, by_tasks), 1, blocks);
  }

  // Tile `at` of the chunk: in each slice, for each plane, the rows of a block lie one after the other.
  void transform_source(int64_t tile, int64_t at, const float* source) const {
    const float* pixels[kMaxPlanes];
    float* to = sources_ + at / block_ * block_size_ + at % block_ * row_;
    for (int64_t k = 0; k < depth_; k += slice_, to += planes_ * source_plane_) {
      tiles_.source.for_pieces(
          backward_ ? Stacking() : stacking_, tile, k, std::min(k + slice_, depth_),
          [&](int64_t i, int64_t offset) { pixels[i] = offset < 0 ? zeros_ : source + offset; },
          [&](int64_t first, int64_t last) { winograd_.data(pixels, last - first, to + first - k, source_plane_); });
    }
  }

  void run_task(const Task& task, const float* filter, Epilogue<float> epilogue, float* dest) const {
    const auto thread = ThreadPool::thread_index();
    float* panels = filters_ + thread * planes_ * filter_plane_;
    float* products = products_ + thread * block_ * product_tile_;
    const int64_t columns = std::min(kColumns, columns_ - task.column);
    for (int64_t s = 0; s < slices_; ++s) {
      const int64_t k = s * slice_, depth = std::min(slice_, depth_ - k);
      if (backward_) {
        transform_turned_filter(filter, task.column, columns, k, depth, panels);
      } else {
        transform_filter(filter, task.column, columns, k, depth, panels);
      }
      for (int64_t i = 0; i < planes_; ++i) {
        const auto used = backward_ ? Stacking::Range{k, k + depth} : this->used(i, k, k + depth);
        if (used.empty()) continue;
        const float* source = task.sources + (s * planes_ + i) * source_plane_;
        GemmPanel<float> panel = {.rows = task.count,
                                  .depth = used.end - used.begin,
                                  .a = source + used.begin - k,
                                  .a_row = row_,
                                  .b_step = kernels_.columns,
                                  .c_row = product_tile_,
                                  .accumulate = backward_ ? s > 0 : !this->used(i, 0, k).empty()};
        for (int64_t j = 0; j < columns; j += kernels_.columns) {
          panel.columns = std::min(kernels_.columns, columns - j);
          panel.b =
              panels + i * filter_plane_ + j / kernels_.columns * panel_step_ + (used.begin - k) * kernels_.columns;
          panel.c = products + i * kColumns + j;
          if (backward_ && this->used(i, task.column + j, task.column + j + panel.columns).empty()) {
            if (s == 0) clear_products(panel.c, task.count, product_tile_, panel.columns);
            continue;
          }
          // What the next plane, or the next slice, reads comes nearer meanwhile.
          if (j + kernels_.columns >= columns && (i + 1 < planes_ || s + 1 < slices_)) {
            panel.ahead = {source + source_plane_, task.count, row_, row_};
          }
          kernels_.panel(panel);
        }
      }
    }
    if (epilogue.bias) epilogue.bias += task.column;
    if (epilogue.scale) epilogue.scale += task.column;
    float* to[kMaxPlanes];
    for (int64_t t = 0; t < task.count; ++t) {
      const float* at = products + t * product_tile_;
      tiles_.dest.for_pieces(
          backward_ ? stacking_ : Stacking(), task.first + t, task.column, task.column + columns,
          [&](int64_t i, int64_t offset) { to[i] = offset < 0 ? nullptr : dest + offset; },
          [&](int64_t first, int64_t last) {
            winograd_.output(at + first - task.column, kColumns, last - first, epilogue, dest, to);
          });
    }
  }

  // Rows [k, k + depth) and some columns of the filter's matrices.
  void transform_filter(const float* filter, int64_t column, int64_t columns, int64_t k, int64_t depth,
                        float* panels) const {
    const int64_t tap = depth_ * columns_, taps = p_.k_h * p_.k_w;
    for (int64_t c = 0; c < depth; ++c) {
      const float* row = filter + (k + c) * columns_ + column;
      // Pieces of rows that lie far apart are nothing that processors fetch by themselves.
      for (int64_t t = 0; t < taps && k + c + kAhead < depth_; ++t) {
        __builtin_prefetch(row + t * tap + kAhead * columns_);
        __builtin_prefetch(row + t * tap + kAhead * columns_ + columns - 1);
      }
      for (int64_t j = 0; j < columns; j += kernels_.columns) {
        winograd_.filter(row + j, tap, std::min(kernels_.columns, columns - j),
                         panels + j / kernels_.columns * panel_step_ + c * kernels_.columns, filter_plane_);
      }
    }
  }

  // The same for backward: the taps in reverse, and rows of the filter are columns of the panels.
  void transform_turned_filter(const float* filter, int64_t column, int64_t columns, int64_t k, int64_t depth,
                               float* panels) const {
    const int64_t tap = depth_ * columns_, taps = p_.k_h * p_.k_w;
    float* turned = turned_ + ThreadPool::thread_index() * planes_ * turned_plane_;
    for (int64_t first = 0; first < depth; first += kTurned) {
      const int64_t length = std::min(kTurned, depth - first);
      for (int64_t i = 0; i < columns; ++i) {
        const float* row = filter + (column + i) * depth_ + k + first;
        for (int64_t t = 0; t < taps && column + i + kAhead < columns_; ++t) {
          __builtin_prefetch(row + t * tap + kAhead * depth_);
          __builtin_prefetch(row + t * tap + kAhead * depth_ + length - 1);
        }
        winograd_.filter(row + (taps - 1) * tap, -tap, length, turned + i * kTurned, turned_plane_);
      }
      for (int64_t i = 0; i < planes_; ++i) {
        kernels_.pack(turned + i * turned_plane_, kTurned, true, length, columns,
                      panels + i * filter_plane_ + first * kernels_.columns, panel_step_);
      }
    }
  }

  Stacking::Range used(int64_t plane, int64_t begin, int64_t end) const {
    return stacking_.used(plane, winograd_.tile, backward_, begin, end);
  }

  const ConvParams& p_;
  const bool backward_;
  const Stacking stacking_;
  const GemmKernels<float>& kernels_;
  const WinogradKernels& winograd_;
  const int64_t planes_ = winograd_.tile * winograd_.tile;
  const GatherTiles tiles_;
  int64_t depth_ = 0, columns_ = 0;  // channels of source and destination
  int64_t slice_ = 0, slices_ = 0;   // of the inner dimension
  int64_t block_ = 0;                // tiles of a task
  int64_t chunk_blocks_ = 0;         // so many blocks are transformed at once
  int64_t row_ = 0, source_plane_ = 0, block_size_ = 0;
  int64_t panel_step_ = 0, filter_plane_ = 0, turned_plane_ = 0, product_tile_ = 0;
  float* zeros_ = nullptr;     // a pixel beyond the image
  float* sources_ = nullptr;   // transformed
  float* filters_ = nullptr;   // of each thread: a slice of the transformed filter ...
  float* turned_ = nullptr;    // ... a piece of it before it is turned ...
  float* products_ = nullptr;  // ... and the products of a task, tile by tile
  size_t scratch_bytes_ = 0;
};

}  // namespace

size_t wide_winograd_scratch_bytes(const ConvParams& p, bool backward, int threads) {
  return WideGather(p, backward, threads, nullptr).scratch_bytes();
}
void wide_winograd(ThreadPool& pool, const ConvParams& p, bool backward, const float* source, const float* filter,
                   const Epilogue<float>& epilogue, float* dest, void* scratch, const Stacking& stacking) {
  WideGather(p, backward, pool.threads(), scratch, stacking).run(pool, source, filter, epilogue, dest);
}

}  // namespace weir::cpu
