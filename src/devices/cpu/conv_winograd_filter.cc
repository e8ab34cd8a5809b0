#include "devices/cpu/conv_winograd_tiles.h"

namespace weir::cpu {
namespace {

// Backward to the filter, chunk by chunk of tiles: all are transformed, then each plane is multiplied, summing over
// the tiles. A chunk depends on the shape alone.
//
// Where one chunk is all, and the products of all planes would leave the second-level cache, some rows and columns of
// the result are multiplied for all planes and transformed back while they are near.
class WinogradFilterGrad {
 public:
  WinogradFilterGrad(const ConvParams& p, int threads, void* scratch, const Stacking& stacking = {})
      : p_(p),
        stacking_(stacking),
        kernels_(gemm_kernels<float>(isa())),
        winograd_(*find_winograd_variant(p, p.out_h(), p.out_w())) {
    const int64_t m = winograd_.tile + 1 - p.k_h;
    grad_ = {divide_up(p.out_h(), m), divide_up(p.out_w(), m), m, 0, 0, m, p.out_h(), p.out_w(), p.out_c};
    input_ = {grad_.tiles_h, grad_.tiles_w, m, -p.pad_top, -p.pad_left, winograd_.tile, p.in_h, p.in_w, p.in_c};
    tiles_ = p.batch * grad_.tiles_h * grad_.tiles_w;
    constexpr int64_t kChunkElements = 2 << 20, kOnlyChunkElements = 4 << 20;
    const int64_t tile_elements = planes_ * (p.in_c + p.out_c);
    near_ = is_wide(p) && tiles_ <= std::min(kernels_.depth, kOnlyChunkElements / tile_elements);
    chunk_ = std::clamp<int64_t>(kChunkElements / tile_elements, 32, kernels_.depth);
    chunk_ = near_ ? tiles_ : std::min(chunk_, tiles_);
    rows_ = choose_rows();

    Carver carver(scratch);
    zeros_ = carver.take<float>(std::max(p.in_c, p.out_c));
    input_plane_ = odd_lines(chunk_ * rows_);
    inputs_ = carver.take<float>(planes_ * input_plane_ * divide_up(p.in_c, rows_));
    panel_step_ = (chunk_ | 1) * kernels_.columns;
    grad_plane_ = odd_lines(panel_step_ * divide_up(p.out_c, kernels_.columns));
    grads_ = carver.take<float>(planes_ * grad_plane_);
    result_plane_ = near_ ? kNearColumns : odd_lines(p.in_c * p.out_c);
    result_row_ = near_ ? odd_lines(planes_ * kNearColumns) : p.out_c;
    results_ = carver.take<float>(near_ ? threads * rows_ * result_row_ : planes_ * result_plane_);
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
      if (near_) return multiply_near(pool, filter_grad);
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
  static constexpr int64_t kNearRows = 96, kNearColumns = 32, kFewestRows = 32;

  // Each plane lies on pages of its own, so a few tiles are transformed in one place before they go to the planes.
  void transform_chunk(ThreadPool& pool, int64_t first, int64_t count, const float* input, const float* output_grad) {
    pool.parallel_for(count, kGroup, [&](int64_t begin, int64_t end) {
      float* group = tiles_at_once_ + ThreadPool::thread_index() * kGroup * tile_;
      const float* from[kMaxPlanes];
      for (int64_t i = begin; i < end; ++i) {
        float* at = group + (i - begin) * tile_;
        input_.for_pieces(
            stacking_, first + i, 0, p_.in_c,
            [&](int64_t pixel, int64_t offset) { from[pixel] = offset < 0 ? zeros_ : input + offset; },
            [&](int64_t from_channel, int64_t to) {
              winograd_.data(from, to - from_channel, at + from_channel, p_.in_c);
            });
      }
      for (int64_t plane = 0; plane < planes_; ++plane) {
        for (int64_t row = 0; row < p_.in_c; row += rows_) {
          kernels_.pack_tiles(group + plane * p_.in_c + row, tile_, begin, end, count, std::min(rows_, p_.in_c - row),
                              inputs_ + (row / rows_ * planes_ + plane) * input_plane_);
        }
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

  void multiply_near(ThreadPool& pool, float* filter_grad) {
    const int64_t down = divide_up(p_.in_c, rows_);
    pool.parallel_for(down * divide_up(p_.out_c, kNearColumns), 1, [&](int64_t task, int64_t) {
      const int64_t row = task % down * rows_, column = task / down * kNearColumns;
      const int64_t rows = std::min(rows_, p_.in_c - row), columns = std::min(kNearColumns, p_.out_c - column);
      float* products = results_ + ThreadPool::thread_index() * rows_ * result_row_;
      for (int64_t i = 0; i < planes_; ++i) {
        if (!is_used(i, row, row + rows)) continue;
        multiply_plane(kernels_,
                       {.rows = rows,
                        .a = inputs_ + (row / rows_ * planes_ + i) * input_plane_,
                        .tiled = true,
                        .b = grads_ + i * grad_plane_ + column / kernels_.columns * panel_step_,
                        .c = products + i * result_plane_,
                        .c_row = result_row_},
                       chunk_, columns, panel_step_);
      }
      for (int64_t i = 0; i < rows; ++i) {
        winograd_.filter_grad(products + i * result_row_, result_plane_, columns,
                              filter_grad + (row + i) * p_.out_c + column, p_.in_c * p_.out_c);
      }
    });
  }

  void multiply_chunk(ThreadPool& pool, int64_t count, bool accumulate) {
    pool.parallel_for(planes_, 1, [&](int64_t i, int64_t) {
      for (int64_t row = 0; row < p_.in_c; row += rows_) {
        const int64_t rows = std::min(rows_, p_.in_c - row);
        if (!is_used(i, row, row + rows)) continue;
        multiply_plane(kernels_,
                       {.rows = rows,
                        .a = inputs_ + (row / rows_ * planes_ + i) * input_plane_,
                        .tiled = true,
                        .b = grads_ + i * grad_plane_,
                        .c = results_ + i * result_plane_ + row * p_.out_c,
                        .c_row = p_.out_c,
                        .accumulate = accumulate},
                       count, p_.out_c, panel_step_);
      }
    });
  }

  // Channels of the input that are multiplied at once: where pixels are stacked, of one pixel.
  int64_t choose_rows() const {
    const int64_t most = near_ ? std::min(p_.in_c, kNearRows) : p_.in_c, pixel = stacking_.channels;
    if (pixel < kFewestRows) return most;
    const int64_t pieces = divide_up(pixel, most);
    return pixel % pieces == 0 ? pixel / pieces : most;
  }

  // What is not used flows into taps that nobody reads, whatever it is.
  bool is_used(int64_t plane, int64_t begin, int64_t end) const {
    return !stacking_.used(plane, winograd_.tile, false, begin, end).empty();
  }

  const ConvParams& p_;
  const Stacking stacking_;
  const GemmKernels<float>& kernels_;
  const WinogradKernels& winograd_;
  const int64_t planes_ = winograd_.tile * winograd_.tile;
  Tiling input_, grad_;
  int64_t tiles_ = 0, chunk_ = 0;
  bool near_ = false;
  int64_t rows_ = 0;                // of the input's channels that are multiplied at once
  float* zeros_ = nullptr;          // a pixel beyond the image
  float* inputs_ = nullptr;         // transformed, rows_ of the channels after the other
  float* grads_ = nullptr;          // transformed, in panels
  float* results_ = nullptr;        // all of them, or of each thread what it works on
  float* tiles_at_once_ = nullptr;  // of each thread
  int64_t tile_ = 0, input_plane_ = 0, panel_step_ = 0, grad_plane_ = 0, result_plane_ = 0, result_row_ = 0;
  size_t scratch_bytes_ = 0;
};

}  // namespace

size_t winograd_backward_filter_scratch_bytes(const ConvParams& p, int threads, const Stacking& stacking) {
  return WinogradFilterGrad(p, threads, nullptr, stacking).scratch_bytes();
}
void winograd_backward_filter(ThreadPool& pool, const ConvParams& p, const float* input, const float* output_grad,
                              float* filter_grad, void* scratch, const Stacking& stacking) {
  WinogradFilterGrad(p, pool.threads(), scratch, stacking).run(pool, input, output_grad, filter_grad);
}

}  // namespace weir::cpu
