#include <cmath>

#include "devices/cpu/conv_winograd_tiles.h"

namespace weir::cpu {
namespace {

const WinogradKernels* winograd_variants(Isa level) {
#if defined(__x86_64__)
  if (level == Isa::Avx512) return avx512::kWinograd;
  if (level == Isa::Avx2) return avx2::kWinograd;
#endif
  (void)level;
  return portable::kWinograd;
}

constexpr int64_t kFewestTiles = 16;

// What a pair of channels costs with tiles of a size, in products of the direct method. Beside the products there are
// the transforms, of which many go through memory where the channels are many; so does the transformed filter.
double cost_of(const WinogradKernels& kernels, const ConvParams& p, int64_t height, int64_t width) {
  const int64_t m = kernels.tile + 1 - kernels.taps, planes = kernels.tile * kernels.tile;
  const int64_t tiles = p.batch * divide_up(height, m) * divide_up(width, m);
  if (tiles < kFewestTiles) return INFINITY;
  return static_cast<double>(planes) *
         (static_cast<double>(tiles) * (is_wide(p) ? 1.6 : 1.3) + (is_wide(p) ? 14.0 : 8.0));
}

}  // namespace

const WinogradKernels* find_winograd_variant(const ConvParams& p, int64_t height, int64_t width) {
  const WinogradKernels* best = nullptr;
  for (int i = 0; i < kWinogradVariants; ++i) {
    const WinogradKernels& kernels = winograd_variants(isa())[i];
    if (kernels.taps != p.k_h || kernels.taps != p.k_w) continue;
    if (!best || cost_of(kernels, p, height, width) < cost_of(*best, p, height, width)) best = &kernels;
  }
  return best;
}

namespace {

// Forward, and backward to the input, which is forward with the filter turned around and its channels exchanged.
class WinogradGather {
 public:
  WinogradGather(const ConvParams& p, bool backward, int threads, void* scratch, const Stacking& stacking = {})
      : p_(p),
        backward_(backward),
        stacking_(stacking),
        kernels_(gemm_kernels<float>(isa())),
        winograd_(*find_winograd_variant(p, backward ? p.in_h : p.out_h(), backward ? p.in_w : p.out_w())) {
    const GatherTiles tiles(p, backward, winograd_);
    source_ = tiles.source;
    dest_ = tiles.dest;
    tiles_ = tiles.count;
    depth_ = source_.channels;
    columns_ = dest_.channels;
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

  // Tiles of a task. Their transforms should fit into the second-level cache.
  int64_t choose_block(int threads) const {
    constexpr int64_t kBlockElements = 160 * 1024;
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
      float* at = transformed + (tile - begin) * source_tile_;
      source_.for_pieces(
          backward_ ? Stacking() : stacking_, tile, 0, depth_,
          [&](int64_t i, int64_t offset) { from[i] = offset < 0 ? zeros_ : source + offset; },
          [&](int64_t first, int64_t last) { winograd_.data(from, last - first, at + first, depth_); });
    }
    for (int64_t i = 0; i < planes_; ++i) {
      const auto depth = backward_ ? Stacking::Range{0, depth_} : used(i, depth_);
      auto columns = backward_ ? used(i, columns_) : Stacking::Range{0, columns_};
      columns.begin = columns.begin / kernels_.columns * kernels_.columns;
      float* to = products + i * columns_;
      clear_products(to, end - begin, dest_tile_, columns.begin);
      clear_products(to + columns.end, end - begin, dest_tile_, columns_ - columns.end);
      multiply_plane(kernels_,
                     {.rows = end - begin,
                      .a = transformed + i * depth_ + depth.begin,
                      .a_row = source_tile_,
                      .b = panels_ + i * panel_plane_ + columns.begin / kernels_.columns * panel_step_ +
                           depth.begin * kernels_.columns,
                      .c = to + columns.begin,
                      .c_row = dest_tile_},
                     depth.end - depth.begin, columns.end - columns.begin, panel_step_);
    }
    float* to[kMaxPlanes];
    for (int64_t tile = begin; tile < end; ++tile) {
      const float* at = products + (tile - begin) * dest_tile_;
      dest_.for_pieces(
          backward_ ? stacking_ : Stacking(), tile, 0, columns_,
          [&](int64_t i, int64_t offset) { to[i] = offset < 0 ? nullptr : dest + offset; },
          [&](int64_t first, int64_t last) {
            winograd_.output(at + first, columns_, last - first, epilogue, dest, to);
          });
    }
  }

  Stacking::Range used(int64_t plane, int64_t channels) const {
    return stacking_.used(plane, winograd_.tile, backward_, 0, channels);
  }

  const ConvParams& p_;
  const bool backward_;
  const Stacking stacking_;
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

Stacking::Range Stacking::used(int64_t plane, int64_t tile, bool turned, int64_t begin, int64_t end) const {
  if (channels == 0) return {begin, end};
  const int64_t first = turned ? tile - 1 : 0, last = tile - 1 - first;
  Range range = {end, begin};
  for (int64_t phase = 0; phase < 4; ++phase) {
    const bool odd_h = phase / 2 == 1, odd_w = phase % 2 == 1;
    const bool zero_h = odd_h ? last_h && plane / tile == last : first_h && plane / tile == first;
    const bool zero_w = odd_w ? last_w && plane % tile == last : first_w && plane % tile == first;
    const int64_t from = std::max(begin, phase * channels), to = std::min(end, (phase + 1) * channels);
    if (zero_h || zero_w || from >= to) continue;
    range.begin = std::min(range.begin, from);
    range.end = std::max(range.end, to);
  }
  return range;
}

double Stacking::share(int64_t tile) const {
  if (channels == 0) return 1;
  int64_t left = 0;
  for (int64_t plane = 0; plane < tile * tile; ++plane) {
    for (int64_t phase = 0; phase < 4; ++phase) {
      left += used(plane, tile, false, phase * channels, (phase + 1) * channels).empty() ? 0 : 1;
    }
  }
  return static_cast<double>(left) / static_cast<double>(4 * tile * tile);
}

double winograd_products(const ConvParams& p, bool to_input, const Stacking& stacking) {
  if (p.stride_h != 1 || p.stride_w != 1 || p.dilation_h != 1 || p.dilation_w != 1) return INFINITY;
  const int64_t height = to_input ? p.in_h : p.out_h(), width = to_input ? p.in_w : p.out_w();
  const WinogradKernels* kernels = find_winograd_variant(p, height, width);
  return kernels ? cost_of(*kernels, p, height, width) * stacking.share(kernels->tile) : INFINITY;
}

bool winograd_pays(const ConvParams& p) {
  if (p.in_c < 16 || p.out_c < 16) return false;  // the transforms cost more than the products
  return std::max(winograd_products(p, false), winograd_products(p, true)) < static_cast<double>(direct_products(p));
}

size_t winograd_forward_scratch_bytes(const ConvParams& p, int threads) {
  if (is_wide(p)) return wide_winograd_scratch_bytes(p, false, threads);
  return WinogradGather(p, false, threads, nullptr).scratch_bytes();
}
size_t winograd_backward_input_scratch_bytes(const ConvParams& p, int threads) {
  if (is_wide(p)) return wide_winograd_scratch_bytes(p, true, threads);
  return WinogradGather(p, true, threads, nullptr).scratch_bytes();
}

void winograd_forward(ThreadPool& pool, const ConvParams& p, const float* input, const float* filter,
                      const Epilogue<float>& epilogue, float* output, void* scratch, const Stacking& stacking) {
  if (is_wide(p)) return wide_winograd(pool, p, false, input, filter, epilogue, output, scratch, stacking);
  WinogradGather(p, false, pool.threads(), scratch, stacking).run(pool, input, filter, epilogue, output);
}
void winograd_backward_input(ThreadPool& pool, const ConvParams& p, const float* filter, const float* output_grad,
                             float* input_grad, void* scratch, const Stacking& stacking) {
  if (is_wide(p)) return wide_winograd(pool, p, true, output_grad, filter, {}, input_grad, scratch, stacking);
  WinogradGather(p, true, pool.threads(), scratch, stacking).run(pool, output_grad, filter, {}, input_grad);
}

}  // namespace weir::cpu
