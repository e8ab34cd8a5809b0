#pragma once

#include "devices/cpu/conv_internal.h"
#include "devices/cpu/conv_winograd_kernels.h"

// What the two ways of Winograd's method share.
namespace weir::cpu {

constexpr int64_t kMaxPlanes = 8 * 8;

// The variant with the least work for a result of so many pixels; null when there is none for the filter.
const WinogradKernels* find_winograd_variant(const ConvParams& p, int64_t height, int64_t width);

// So many channels that the transformed filter does not stay in the second-level cache.
inline bool is_wide(const ConvParams& p) { return p.in_c * p.out_c > 128 * 128; }

// Images cut into tiles. Tile (y, x) covers rows y * step + origin ... of `size` pixels in each direction.
struct Tiling {
  int64_t tiles_h, tiles_w;
  int64_t step, origin_h, origin_w, size;
  int64_t height, width, channels;

  // Calls set(i, offset) for the pixels of a tile, in rows; offset is that of the pixel in the batch, or -1 for one
  // that lies beyond its image.
  template <class Set>
  void for_pixels(int64_t tile, Set set) const {
    const int64_t image = tile / (tiles_h * tiles_w), y = tile / tiles_w % tiles_h * step + origin_h,
                  x = tile % tiles_w * step + origin_w;
    for (int64_t i = 0; i < size * size; ++i) {
      const int64_t row = y + i / size, column = x + i % size;
      const bool inside = row >= 0 && row < height && column >= 0 && column < width;
      set(i, inside ? ((image * height + row) * width + column) * channels : -1);
    }
  }

  void pixels(int64_t tile, const float* images, const float* zeros, const float** to) const {
    for_pixels(tile, [&](int64_t i, int64_t offset) { to[i] = offset < 0 ? zeros : images + offset; });
  }

  // Where stacks are not copied (Stacking::height), these calls are as for_pixels for channels [begin, end), piece by
  // piece: piece(first, last) for those of one pixel, with set(i, offset) for each pixel before it. Otherwise there is
  // one piece. Offsets are those of channel `first`.
  template <class Set, class Piece>
  void for_pieces(const Stacking& stacking, int64_t tile, int64_t begin, int64_t end, Set set, Piece piece) const {
    if (stacking.height == 0) {
      for_pixels(tile, [&](int64_t i, int64_t offset) { set(i, offset < 0 ? -1 : offset + begin); });
      return piece(begin, end);
    }
    const int64_t plain = stacking.channels, image = tile / (tiles_h * tiles_w);
    const int64_t row = tile / tiles_w % tiles_h * step + origin_h, column = tile % tiles_w * step + origin_w;
    for (int64_t first = begin; first < end;) {
      const int64_t phase = first / plain, last = std::min(end, (phase + 1) * plain), channel = first - phase * plain;
      const int64_t top = phase / 2 - stacking.before_h, left = phase % 2 - stacking.before_w;
      for (int64_t i = 0; i < size; ++i) {
        const int64_t y = 2 * (row + i) + top;
        const bool in_rows = row + i >= 0 && row + i < height && y >= 0 && y < stacking.height;
        const int64_t line = (image * stacking.height + y) * stacking.width;
        for (int64_t j = 0; j < size; ++j) {
          const int64_t x = 2 * (column + j) + left;
          const bool inside = in_rows && column + j >= 0 && column + j < width && x >= 0 && x < stacking.width;
          set(i * size + j, inside ? (line + x) * plain + channel : -1);
        }
      }
      piece(first, last);
      first = last;
    }
  }
};

// The tiles of source and destination, forward or backward to the input, which is forward with the filter turned around
// and its channels exchanged.
struct GatherTiles {
  GatherTiles(const ConvParams& p, bool backward, const WinogradKernels& kernels) {
    const int64_t m = kernels.tile + 1 - p.k_h, height = backward ? p.in_h : p.out_h(),
                  width = backward ? p.in_w : p.out_w();
    dest = {divide_up(height, m), divide_up(width, m), m, 0, 0, m, height, width, backward ? p.in_c : p.out_c};
    source = {dest.tiles_h,
              dest.tiles_w,
              m,
              backward ? p.pad_top + 1 - p.k_h : -p.pad_top,
              backward ? p.pad_left + 1 - p.k_w : -p.pad_left,
              kernels.tile,
              backward ? p.out_h() : p.in_h,
              backward ? p.out_w() : p.in_w,
              backward ? p.out_c : p.in_c};
    count = p.batch * dest.tiles_h * dest.tiles_w;
  }
  Tiling source, dest;
  int64_t count;
};

// One plane: rows of a times the panels of b, in slices whose panels stay in the first-level cache. Tiles that were
// packed must fit into one slice.
inline void multiply_plane(const GemmKernels<float>& kernels, GemmPanel<float> panel, int64_t depth, int64_t columns,
                           int64_t panel_step) {
  const int64_t slice = divide_up(depth, divide_up(depth, kernels.depth));
  const float* a = panel.a;
  const float* b = panel.b;
  float* c = panel.c;
  const bool accumulate = panel.accumulate;
  panel.b_step = kernels.columns;
  for (int64_t k = 0; k < depth; k += slice) {
    panel.a = a + k * panel.a_step;
    panel.depth = std::min(slice, depth - k);
    panel.accumulate = accumulate || k > 0;
    for (int64_t j = 0; j < columns; j += kernels.columns) {
      panel.columns = std::min(kernels.columns, columns - j);
      panel.b = b + j / kernels.columns * panel_step + k * kernels.columns;
      panel.c = c + j;
      kernels.panel(panel);
    }
  }
}

// Products of some rows that are zero.
inline void clear_products(float* products, int64_t rows, int64_t row, int64_t columns) {
  for (int64_t i = 0; i < rows; ++i) std::fill_n(products + i * row, columns, 0.0f);
}

// Forward, and backward to the input, with a filter of many channels (conv_winograd_wide.cc).
size_t wide_winograd_scratch_bytes(const ConvParams& p, bool backward, int threads);
void wide_winograd(ThreadPool& pool, const ConvParams& p, bool backward, const float* source, const float* filter,
                   const Epilogue<float>& epilogue, float* dest, void* scratch, const Stacking& stacking);

}  // namespace weir::cpu
