#include <cmath>

#include "devices/cpu/conv_internal.h"
#include "devices/cpu/conv_winograd_kernels.h"

namespace weir::cpu {
namespace {

constexpr int64_t kMaxPlanes = 8 * 8;

const WinogradKernels* winograd_variants(Isa level) {
#if defined(__x86_64__)
  if (level == Isa::Avx512) return avx512::kWinograd;
  if (level == Isa::Avx2) return avx2::kWinograd;
#endif
  (void)level;
  return portable::kWinograd;
}

// So many channels that the transformed filter does not stay in the second-level cache.
bool is_wide(const ConvParams& p) { return p.in_c * p.out_c > 128 * 128; }

constexpr int64_t kFewestTiles = 16;

// What a pair of channels costs with tiles of a size, in products of the direct method. Beside the products there are
// the transforms, of which many go through memory where the channels are many; so does the transformed filter.
double cost_of(const WinogradKernels& kernels, const ConvParams& p, int64_t height, int64_t width) {
  const int64_t m = kernels.tile + 1 - kernels.taps, planes = kernels.tile * kernels.tile;
  const int64_t tiles = p.batch * divide_up(height, m) * divide_up(width, m);
  if (tiles < kFewestTiles) return INFINITY;
  return static_cast<double>(planes) *
         (static_cast<double>(tiles) * (is_wide(p) ? 1.6 : 1.3) + (is_wide(p) ? 30.0 : 8.0));
}

// The variant with the least work for a result of so many pixels; null when there is none for the filter.
const WinogradKernels* find_variant(const ConvParams& p, int64_t height, int64_t width) {
  const WinogradKernels* best = nullptr;
  for (int i = 0; i < kWinogradVariants; ++i) {
    const WinogradKernels& kernels = winograd_variants(isa())[i];
    if (kernels.taps != p.k_h || kernels.taps != p.k_w) continue;
    if (!best || cost_of(kernels, p, height, width) < cost_of(*best, p, height, width)) best = &kernels;
  }
  return best;
}

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
};

// One plane: rows of a times the panels of b, in slices whose panels stay in the first-level cache. Tiles that were
// packed must fit into one slice.
void multiply_plane(const GemmKernels<float>& kernels, GemmPanel<float> panel, int64_t depth, int64_t columns,
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

// Forward, and backward to the input, which is forward with the filter turned around and its channels exchanged.
class WinogradGather {
 public:
  WinogradGather(const ConvParams& p, bool backward, int threads, void* scratch)
      : p_(p),
        backward_(backward),
        kernels_(gemm_kernels<float>(isa())),
        winograd_(*find_variant(p, backward ? p.in_h : p.out_h(), backward ? p.in_w : p.out_w())) {
    const int64_t m = winograd_.tile + 1 - p.k_h;
    depth_ = backward ? p.out_c : p.in_c;
    columns_ = backward ? p.in_c : p.out_c;
    const int64_t height = backward ? p.in_h : p.out_h(), width = backward ? p.in_w : p.out_w();
    const int64_t pad_h = backward ? p.k_h - 1 - p.pad_top : p.pad_top;
    const int64_t pad_w = backward ? p.k_w - 1 - p.pad_left : p.pad_left;
    dest_ = {divide_up(height, m), divide_up(width, m), m, 0, 0, m, height, width, columns_};
    source_ = {dest_.tiles_h,
               dest_.tiles_w,
               m,
               -pad_h,
               -pad_w,
               winograd_.tile,
               backward ? p.out_h() : p.in_h,
               backward ? p.out_w() : p.in_w,
               depth_};
    tiles_ = p.batch * dest_.tiles_h * dest_.tiles_w;

    block_ = choose_block(threads);
    Carver carver(scratch);
    zeros_ = carver.take<float>(depth_);
    panel_step_ = (depth_ | 1) * kernels_.columns;
    panel_plane_ = odd_lines(panel_step_ * divide_up(columns_, kernels_.columns));
    panels_ = carver.take<float>(planes_ * panel_plane_);
    turned_plane_ = odd_lines(kernels_.columns * kTurned);
    turned_ = carver.take<float>(backward ? threads * planes_ * turned_plane_ : 0);
    source_tile_ = odd_lines(planes_ * depth_);
    dest_tile_ = odd_lines(planes_ * columns_);
    blocks_ = carver.take<float>(threads * block_ * (source_tile_ + dest_tile_));
    scratch_bytes_ = carver.used();
  }

  size_t scratch_bytes() const { return scratch_bytes_; }

  void run(ThreadPool& pool, const float* source, const float* filter, const Epilogue<float>& epilogue, float* dest) {
    std::fill_n(zeros_, depth_, 0.0f);
    backward_ ? transform_turned_filter(pool, filter) : transform_filter(pool, filter);
    pool.parallel_for(tiles_, block_, [&](int64_t begin, int64_t end) {
      float* block = blocks_ + ThreadPool::thread_index() * block_ * (source_tile_ + dest_tile_);
      run_block(begin, end, source, epilogue, dest, block, block + block_ * source_tile_);
    });
  }

 private:
  static constexpr int64_t kMaxBlock = 96;
  static constexpr int64_t kTurned = 32;  // channels of the source whose taps are transformed before they are turned

  // Tiles of a task. Their transforms should fit into the second-level cache. Where they do not, and the transformed
  // filter leaves it for each task, a task takes as many tiles as there are for each thread.
  int64_t choose_block(int threads) const {
    constexpr int64_t kBlockElements = 160 * 1024;
    if (is_wide(p_)) return divide_up(tiles_, threads * divide_up(tiles_, threads * kMaxBlock));
    const int64_t fitting = std::min(divide_up(tiles_, 3 * threads), kBlockElements / (planes_ * (depth_ + columns_)));
    return std::clamp<int64_t>(round_up(fitting, kernels_.rows), 2 * kernels_.rows, kMaxBlock);
  }

  // Straight into the panels: [columns_ / kernels_.columns, depth_, kernels_.columns] for each plane.
  void transform_filter(ThreadPool& pool, const float* filter) const {
    pool.parallel_for(depth_, 4, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        for (int64_t j = 0; j < columns_; j += kernels_.columns) {
          winograd_.filter(filter + c * columns_ + j, depth_ * columns_, std::min(kernels_.columns, columns_ - j),
                           panels_ + j / kernels_.columns * panel_step_ + c * kernels_.columns, panel_plane_);
        }
      }
    });
  }

  // The same for backward: the taps in reverse, and rows of the filter are columns of the panels.
  void transform_turned_filter(ThreadPool& pool, const float* filter) const {
    const int64_t tap = depth_ * columns_, pieces = divide_up(depth_, kTurned);
    filter += (p_.k_h * p_.k_w - 1) * tap;
    pool.parallel_for(divide_up(columns_, kernels_.columns) * pieces, 1, [&](int64_t task, int64_t) {
      const int64_t panel = task / pieces, column = panel * kernels_.columns, first = task % pieces * kTurned;
      const int64_t rows = std::min(kernels_.columns, columns_ - column), length = std::min(kTurned, depth_ - first);
      float* turned = turned_ + ThreadPool::thread_index() * planes_ * turned_plane_;
      for (int64_t i = 0; i < rows; ++i) {
        winograd_.filter(filter + (column + i) * depth_ + first, -tap, length, turned + i * kTurned, turned_plane_);
      }
      for (int64_t i = 0; i < planes_; ++i) {
        kernels_.pack(turned + i * turned_plane_, kTurned, true, length, rows,
                      panels_ + i * panel_plane_ + panel * panel_step_ + first * kernels_.columns, panel_step_);
      }
    });
  }

  void run_block(int64_t begin, int64_t end, const float* source, const Epilogue<float>& epilogue, float* dest,
                 float* transformed, float* products) const {
    const float* from[kMaxPlanes];
    for (int64_t tile = begin; tile < end; ++tile) {
      source_.pixels(tile, source, zeros_, from);
      winograd_.data(from, depth_, transformed + (tile - begin) * source_tile_, depth_);
    }
    for (int64_t i = 0; i < planes_; ++i) {
      multiply_plane(kernels_,
                     {.rows = end - begin,
                      .a = transformed + i * depth_,
                      .a_row = source_tile_,
                      .b = panels_ + i * panel_plane_,
                      .c = products + i * columns_,
                      .c_row = dest_tile_},
                     depth_, columns_, panel_step_);
    }
    float* to[kMaxPlanes];
    for (int64_t tile = begin; tile < end; ++tile) {
      dest_.for_pixels(tile, [&](int64_t i, int64_t offset) { to[i] = offset < 0 ? nullptr : dest + offset; });
      winograd_.output(products + (tile - begin) * dest_tile_, columns_, columns_, epilogue, dest, to);
    }
  }

  const ConvParams& p_;
  const bool backward_;
  const GemmKernels<float>& kernels_;
  const WinogradKernels& winograd_;
  const int64_t planes_ = winograd_.tile * winograd_.tile;
  int64_t depth_ = 0, columns_ = 0;  // channels of source and destination
  Tiling source_, dest_;
  int64_t tiles_ = 0, block_ = 0;  // in the batch, in a task
  float* zeros_ = nullptr;         // a pixel beyond the image
  float* panels_ = nullptr;        // the transformed filter
  float* turned_ = nullptr;        // of each thread: a piece of it before it is turned
  // Of each thread: transformed source and products, tile by tile, so that a transform stays on few pages.
  float* blocks_ = nullptr;
  int64_t panel_step_ = 0, panel_plane_ = 0, turned_plane_ = 0, source_tile_ = 0, dest_tile_ = 0;
  size_t scratch_bytes_ = 0;
};

// Backward to the filter, chunk by chunk of tiles: all are transformed, then each plane is multiplied, summing over
// the tiles. A chunk depends on the shape alone.
class WinogradFilterGrad {
 public:
  WinogradFilterGrad(const ConvParams& p, int threads, void* scratch)
      : p_(p), kernels_(gemm_kernels<float>(isa())), winograd_(*find_variant(p, p.out_h(), p.out_w())) {
    const int64_t m = winograd_.tile + 1 - p.k_h;
    grad_ = {divide_up(p.out_h(), m), divide_up(p.out_w(), m), m, 0, 0, m, p.out_h(), p.out_w(), p.out_c};
    input_ = {grad_.tiles_h, grad_.tiles_w, m, -p.pad_top, -p.pad_left, winograd_.tile, p.in_h, p.in_w, p.in_c};
    tiles_ = p.batch * grad_.tiles_h * grad_.tiles_w;
    constexpr int64_t kChunkElements = 2 << 20;
    chunk_ = std::clamp<int64_t>(kChunkElements / (planes_ * (p.in_c + p.out_c)), 32, kernels_.depth);
    chunk_ = std::min(chunk_, tiles_);

    Carver carver(scratch);
    zeros_ = carver.take<float>(std::max(p.in_c, p.out_c));
    input_plane_ = odd_lines(chunk_ * p.in_c);
    inputs_ = carver.take<float>(planes_ * input_plane_);
    panel_step_ = (chunk_ | 1) * kernels_.columns;
    grad_plane_ = odd_lines(panel_step_ * divide_up(p.out_c, kernels_.columns));
    grads_ = carver.take<float>(planes_ * grad_plane_);
    result_plane_ = odd_lines(p.in_c * p.out_c);
    results_ = carver.take<float>(planes_ * result_plane_);
    tile_ = odd_lines(planes_ * std::max(p.in_c, p.out_c));
    tiles_at_once_ = carver.take<float>(threads * kGroup * tile_);
    scratch_bytes_ = carver.used();
  }

  size_t scratch_bytes() const { return scratch_bytes_; }

  void run(ThreadPool& pool, const float* input, const float* output_grad, float* filter_grad) {
    std::fill_n(zeros_, std::max(p_.in_c, p_.out_c), 0.0f);
    for (int64_t first = 0; first < tiles_; first += chunk_) {
      const int64_t count = std::min(chunk_, tiles_ - first);
      transform_chunk(pool, first, count, input, output_grad);
      multiply_chunk(pool, count, first > 0);
    }
    pool.parallel_for(p_.in_c, 4, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        winograd_.filter_grad(results_ + c * p_.out_c, result_plane_, p_.out_c, filter_grad + c * p_.out_c,
                              p_.in_c * p_.out_c);
      }
    });
  }

 private:
  static constexpr int64_t kGroup = 8;

  // Each plane lies on pages of its own, so a few tiles are transformed in one place before they go to the planes.
  void transform_chunk(ThreadPool& pool, int64_t first, int64_t count, const float* input, const float* output_grad) {
    pool.parallel_for(count, kGroup, [&](int64_t begin, int64_t end) {
      float* group = tiles_at_once_ + ThreadPool::thread_index() * kGroup * tile_;
      const float* from[kMaxPlanes];
      for (int64_t i = begin; i < end; ++i) {
        input_.pixels(first + i, input, zeros_, from);
        winograd_.data(from, p_.in_c, group + (i - begin) * tile_, p_.in_c);
      }
      for (int64_t plane = 0; plane < planes_; ++plane) {
        kernels_.pack_tiles(group + plane * p_.in_c, tile_, begin, end, count, p_.in_c, inputs_ + plane * input_plane_);
      }
      for (int64_t i = begin; i < end; ++i) {
        grad_.pixels(first + i, output_grad, zeros_, from);
        winograd_.output_grad(from, p_.out_c, group + (i - begin) * tile_, p_.out_c);
      }
      for (int64_t plane = 0; plane < planes_; ++plane) {
        kernels_.pack(group + plane * p_.out_c, tile_, false, end - begin, p_.out_c,
                      grads_ + plane * grad_plane_ + begin * kernels_.columns, panel_step_);
      }
    });
  }

  void multiply_chunk(ThreadPool& pool, int64_t count, bool accumulate) {
    pool.parallel_for(planes_, 1, [&](int64_t i, int64_t) {
      multiply_plane(kernels_,
                     {.rows = p_.in_c,
                      .a = inputs_ + i * input_plane_,
                      .tiled = true,
                      .b = grads_ + i * grad_plane_,
                      .c = results_ + i * result_plane_,
                      .c_row = p_.out_c,
                      .accumulate = accumulate},
                     count, p_.out_c, panel_step_);
    });
  }

  const ConvParams& p_;
  const GemmKernels<float>& kernels_;
  const WinogradKernels& winograd_;
  const int64_t planes_ = winograd_.tile * winograd_.tile;
  Tiling input_, grad_;
  int64_t tiles_ = 0, chunk_ = 0;
  float* zeros_ = nullptr;   // a pixel beyond the image
  float* inputs_ = nullptr;  // transformed
  float* grads_ = nullptr;   // transformed, in panels
  float* results_ = nullptr;
  float* tiles_at_once_ = nullptr;  // of each thread
  int64_t tile_ = 0, input_plane_ = 0, panel_step_ = 0, grad_plane_ = 0, result_plane_ = 0;
  size_t scratch_bytes_ = 0;
};

// Taps of one axis that have the image under them, for all pixels of the output.
int64_t taps_inside(int64_t in, int64_t out, int64_t k, int64_t pad, int64_t stride, int64_t dilation) {
  int64_t taps = 0;
  for (int64_t tap = 0; tap < k; ++tap) {
    const int64_t shift = pad - tap * dilation, begin = divide_up(std::max<int64_t>(shift, 0), stride);
    const int64_t end = in + shift > 0 ? std::min((in - 1 + shift) / stride + 1, out) : 0;
    taps += std::max<int64_t>(end - begin, 0);
  }
  return taps;
}

}  // namespace

int64_t direct_products(const ConvParams& p) {
  return p.batch * taps_inside(p.in_h, p.out_h(), p.k_h, p.pad_top, p.stride_h, p.dilation_h) *
         taps_inside(p.in_w, p.out_w(), p.k_w, p.pad_left, p.stride_w, p.dilation_w);
}

double winograd_products(const ConvParams& p, bool to_input) {
  if (p.stride_h != 1 || p.stride_w != 1 || p.dilation_h != 1 || p.dilation_w != 1) return INFINITY;
  const int64_t height = to_input ? p.in_h : p.out_h(), width = to_input ? p.in_w : p.out_w();
  const WinogradKernels* kernels = find_variant(p, height, width);
  return kernels ? cost_of(*kernels, p, height, width) : INFINITY;
}

bool winograd_pays(const ConvParams& p) {
  if (p.in_c < 16 || p.out_c < 16) return false;  // the transforms cost more than the products
  return std::max(winograd_products(p, false), winograd_products(p, true)) < static_cast<double>(direct_products(p));
}

size_t winograd_forward_scratch_bytes(const ConvParams& p, int threads) {
  return WinogradGather(p, false, threads, nullptr).scratch_bytes();
}
size_t winograd_backward_input_scratch_bytes(const ConvParams& p, int threads) {
  return WinogradGather(p, true, threads, nullptr).scratch_bytes();
}
size_t winograd_backward_filter_scratch_bytes(const ConvParams& p, int threads) {
  return WinogradFilterGrad(p, threads, nullptr).scratch_bytes();
}

void winograd_forward(ThreadPool& pool, const ConvParams& p, const float* input, const float* filter,
                      const Epilogue<float>& epilogue, float* output, void* scratch) {
  WinogradGather(p, false, pool.threads(), scratch).run(pool, input, filter, epilogue, output);
}
void winograd_backward_input(ThreadPool& pool, const ConvParams& p, const float* filter, const float* output_grad,
                             float* input_grad, void* scratch) {
  WinogradGather(p, true, pool.threads(), scratch).run(pool, output_grad, filter, {}, input_grad);
}
void winograd_backward_filter(ThreadPool& pool, const ConvParams& p, const float* input, const float* output_grad,
                              float* filter_grad, void* scratch) {
  WinogradFilterGrad(p, pool.threads(), scratch).run(pool, input, output_grad, filter_grad);
}

}  // namespace weir::cpu
