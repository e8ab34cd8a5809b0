// Backward to the filter: filter_grad[tap, c, :] is the sum over pixels of input[pixel + tap, c] times the output
// gradient's pixel. As a block product its rows are the (tap, c), which lie anywhere in the image, and its inner
// dimension runs along the rows of the output, with a stride in the image.
//
// With many channels the taps are treated one by one, and pixels for which a tap lies beyond the image are left out.
// The images are copied channel by channel, because the product walks along the pixels of some channels. With few
// channels the taps of a row of the filter are treated together and lie side by side in the image as it is, or in a
// copy with zeros around. The output gradient is packed by panels, or read where it lies when it has few channels: to
// pack it would cost as much as half of what is computed with it.
//
// Vectors run along the channels of the output, or, where these fill them badly, along the taps of a row of the filter
// and their channels, which lie side by side in the image: then the two change roles, and the result is turned at the
// end.
//
// The batch is cut into a fixed number of parts with a result each, which are added up in order.

#include "devices/cpu/conv_dilated.h"
#include "devices/cpu/conv_patches.h"
#include "devices/cpu/conv_stacked.h"
#include "devices/cpu/conv_turned.h"

namespace weir::cpu {
namespace {

constexpr int64_t kParts = 8;
constexpr int64_t kChunkBytes = 192 << 10;   // of the images, used from the second-level cache
constexpr int64_t kMostUnpacked = 2;         // panels: rows of more lie far apart in the output gradient
constexpr double kTurn = 0.9;                // of the other way's time, at most, where the roles change
constexpr int64_t kPartialBytes = 32 << 20;  // of all parts' results together, at most

template <class T>
class FilterGrad {
 public:
  FilterGrad(const ConvParams& p, int threads, void* scratch)
      : p_(p), kernels_(gemm_kernels<T>(isa())), out_h_(p.out_h()), out_w_(p.out_w()) {
    choose_layout();
    choose_parts(threads);
    Carver carver(scratch);
    a_rows_ = carver.take<int64_t>(std::max(band_rows_, p.out_c));
    c_rows_ = carver.take<int64_t>(std::max(band_rows_, p.out_c));
    a_segments_ = carver.take<int64_t>(p.k_h * group_ * out_h_);
    b_segments_ = carver.take<int64_t>(p.k_h * group_ * out_h_);
    partial_ = carver.take<T>(parts_ > 1 || turned_ ? (parts_ + turned_) * rows_ * p.out_c : 0);
    packs_ = !turned_ && p.out_c > kMostUnpacked * kernels_.columns;
    b_step_ = packs_ ? kernels_.columns : p.out_c;
    panel_step_ = packs_ ? (group_ * out_h_ * out_w_ | 1) * kernels_.columns : kernels_.columns;
    panels_size_ = packs_                                     ? panel_step_ * divide_up(p.out_c, kernels_.columns)
                   : turned_ || p.out_c % kernels_.lanes == 0 ? 0
                                                              : group_ * out_h_ * out_w_ * p.out_c + kernels_.lanes;
    panels_ = carver.take<T>(panels_size_ * threads);
    images_ = carver.take<T>(images_size_ * threads);
    scratch_bytes_ = carver.used();
  }

  size_t scratch_bytes() const { return scratch_bytes_; }

  void run(ThreadPool& pool, const T* input, const T* output_grad, T* filter_grad) {
    describe();
    const int64_t pieces = divide_up(bands_, piece_bands_);
    pool.parallel_for(parts_ * pieces, 1, [&](int64_t begin, int64_t) {
      const int64_t part = begin / pieces, band = begin % pieces * piece_bands_;
      T* result = parts_ > 1 || turned_ ? partial_ + part * rows_ * p_.out_c : filter_grad;
      run_part(part, band, std::min(band + piece_bands_, bands_), input, output_grad, result);
    });
    T* sum = turned_ ? partial_ + parts_ * rows_ * p_.out_c : filter_grad;
    if (parts_ > 1) {
      add_parts(pool, sum);
    } else {
      sum = turned_ ? partial_ : filter_grad;
    }
    if (turned_) kernels_.transpose(sum, rows_, p_.out_c, rows_, filter_grad, p_.out_c);
  }

 private:
  // What it takes to multiply by so many columns: a vector by itself needs more loads for each multiplication.
  double vectors(int64_t columns) const {
    const int64_t pairs = columns / kernels_.columns, rest = columns % kernels_.columns;
    return static_cast<double>(2 * pairs) + (rest == 0 ? 0 : rest <= kernels_.lanes ? 1.125 : 2);
  }

  void choose_layout() {
    const int64_t taps = p_.k_w * p_.in_c;
    turned_ = p_.dilation_w == 1 && p_.out_c > 1 && p_.out_c < kernels_.columns &&
              static_cast<double>(p_.out_c) * vectors(taps) < kTurn * static_cast<double>(taps) * vectors(p_.out_c);
    single_taps_ = !turned_ && p_.in_c >= 4 * kernels_.block_rows;
    window_ = {.height = p_.in_h,
               .width = p_.in_w,
               .channels = p_.in_c,
               .row_origin = -p_.pad_top,
               .column_origin = -p_.pad_left,
               .rows = (out_h_ - 1) * p_.stride_h + (p_.k_h - 1) * p_.dilation_h + 1,
               .columns = (out_w_ - 1) * p_.stride_w + (p_.k_w - 1) * p_.dilation_w + 1};
    // Whole vectors of a turned one are read, which must not reach beyond the end of all memory.
    direct_ = !single_taps_ && !turned_ && window_.inside();
    // A tile of the result is read and written once for each group of images.
    group_ = std::clamp<int64_t>(kernels_.depth / (out_h_ * out_w_), 1, p_.batch);
    if (single_taps_) {
      pitch_ = p_.in_w;
      step_ = 1;
      image_size_ = p_.in_h * p_.in_w;
      plane_ = odd_lines(group_ * image_size_);
    } else {
      pitch_ = direct_ ? p_.in_w * p_.in_c : Window::pitch(window_.columns, p_.in_c);
      step_ = p_.in_c;
      image_size_ = direct_ ? p_.in_h * pitch_ : round_up(window_.rows * pitch_, 16);
    }
    images_size_ = direct_ ? 0 : single_taps_ ? p_.in_c * plane_ : group_ * image_size_ + kernels_.lanes;
  }

  void choose_parts(int threads) {
    bands_ = p_.k_h * (single_taps_ ? p_.k_w : 1);
    rows_ = p_.k_h * p_.k_w * p_.in_c;
    band_rows_ = rows_ / bands_;
    const int64_t row_bytes = kernels_.depth * p_.stride_w * static_cast<int64_t>(sizeof(T));
    chunk_ = std::max<int64_t>(1, kChunkBytes / row_bytes / kernels_.block_rows) * kernels_.block_rows;

    const int64_t groups = divide_up(p_.batch, group_);
    const int64_t result_bytes = rows_ * p_.out_c * static_cast<int64_t>(sizeof(T));
    parts_ = std::clamp<int64_t>(kPartialBytes / std::max<int64_t>(1, result_bytes), 1, std::min(kParts, groups));
    part_images_ = divide_up(groups, parts_) * group_;
    parts_ = divide_up(p_.batch, part_images_);
    // With few parts the bands are divided too, at the price that each piece prepares the images anew.
    piece_bands_ = divide_up(bands_, std::min(bands_, divide_up(2 * threads, parts_)));
  }

  // Output rows or columns [first, last) for which a tap has the image under it.
  struct Range {
    int64_t first, last;
  };
  static Range covered(int64_t tap, int64_t stride, int64_t pad, int64_t in, int64_t out) {
    const int64_t first = std::min(out, divide_up(std::max<int64_t>(pad - tap, 0), stride));
    const int64_t end = in + pad > tap ? (in - 1 + pad - tap) / stride + 1 : 0;
    return {first, std::clamp(end, first, out)};
  }
  Range covered_rows(int64_t h) const { return covered(h * p_.dilation_h, p_.stride_h, p_.pad_top, p_.in_h, out_h_); }
  Range covered_columns(int64_t w) const {
    return covered(w * p_.dilation_w, p_.stride_w, p_.pad_left, p_.in_w, out_w_);
  }

  void describe() {
    for (int64_t i = 0; turned_ && i < p_.out_c; ++i) {
      a_rows_[i] = i;
      c_rows_[i] = i * rows_;
    }
    for (int64_t i = 0; !turned_ && i < band_rows_; ++i) {
      a_rows_[i] = single_taps_ ? i * plane_ : i / p_.in_c * p_.dilation_w * p_.in_c + i % p_.in_c;
      c_rows_[i] = i * p_.out_c;
    }
    for (int64_t h = 0; h < p_.k_h; ++h) {
      const Range rows = covered_rows(h);
      const int64_t shift = h * p_.dilation_h - (single_taps_ ? p_.pad_top : 0);
      int64_t at = h * group_ * out_h_;
      for (int64_t image = 0; image < group_; ++image) {
        for (int64_t y = rows.first; y < rows.last; ++y, ++at) {
          a_segments_[at] = image * image_size_ + (y * p_.stride_h + shift) * pitch_;
          b_segments_[at] = (image * out_h_ + y) * out_w_ * b_step_;
        }
      }
    }
  }

  void run_part(int64_t part, int64_t first_band, int64_t last_band, const T* input, const T* output_grad,
                T* result) const {
    T* panels = panels_ + ThreadPool::thread_index() * panels_size_;
    T* copies = images_ + ThreadPool::thread_index() * images_size_;
    const int64_t first = part * part_images_, last = std::min(first + part_images_, p_.batch);
    const int64_t in_size = p_.in_h * p_.in_w * p_.in_c, out_pixels = out_h_ * out_w_;
    for (int64_t image = first; image < last; image += group_) {
      const int64_t images = std::min(group_, last - image);
      const T* from = input + image * in_size;
      if (!direct_) {
        copy_images(from, images, copies);
        from = copies;
      }
      const T* grads = output_grad + image * out_pixels * p_.out_c;
      if (packs_) {
        kernels_.pack(grads, p_.out_c, false, images * out_pixels, p_.out_c, panels, panel_step_);
        grads = panels;
      } else if (panels_size_ > 0 && image + images == p_.batch) {
        // Whole vectors are read, which must not reach beyond the end of all memory.
        std::copy_n(grads, images * out_pixels * p_.out_c, panels);
        grads = panels;
      }
      for (int64_t band = first_band; band < last_band; ++band) {
        multiply(band, images, image == first, from, grads, result);
      }
    }
  }

  void copy_images(const T* from, int64_t images, T* to) const {
    const int64_t pixels = p_.in_h * p_.in_w;
    if (single_taps_) return kernels_.transpose(from, p_.in_c, images * pixels, p_.in_c, to, plane_);
    for (int64_t i = 0; i < images; ++i, from += pixels * p_.in_c) {
      copy_window(window_, from, pitch_, to + i * image_size_);
    }
  }

  // A band of the result for some images, a few rows of the output at a time so that a panel stays in the first-level
  // cache.
  void multiply(int64_t band, int64_t images, bool first, const T* from, const T* grads, T* result) const {
    const int64_t h = single_taps_ ? band / p_.k_w : band, w = single_taps_ ? band % p_.k_w : 0;
    const Range rows = covered_rows(h), columns = single_taps_ ? covered_columns(w) : Range{0, out_w_};
    const int64_t shift = single_taps_ ? w * p_.dilation_w - p_.pad_left : 0;
    const int64_t width = columns.last - columns.first, segments = width > 0 ? images * (rows.last - rows.first) : 0;
    const int64_t at_once = std::max<int64_t>(1, kernels_.depth / std::max<int64_t>(1, width));
    const int64_t piece =
        divide_up(std::max<int64_t>(1, width), divide_up(std::max<int64_t>(1, width), kernels_.depth));
    GemmBlock<T> block = {.a_step = p_.stride_w * step_, .b_step = b_step_};
    result += band * band_rows_ * (turned_ ? 1 : p_.out_c);
    for (int64_t segment = 0; segment == 0 || segment < segments; segment += at_once) {
      for (int64_t x = 0; x == 0 || x < width; x += piece) {
        block.a = from + (columns.first + x) * block.a_step + shift;
        block.a_segments = a_segments_ + h * group_ * out_h_ + segment;
        block.b_segments = b_segments_ + h * group_ * out_h_ + segment;
        block.segment_count = std::min(at_once, segments - segment);
        block.length = std::min(piece, width - x);
        block.accumulate = !(first && segment == 0 && x == 0);
        if (turned_) {
          multiply_turned(block, grads + x * b_step_, result);
          continue;
        }
        multiply_chunks(block, grads + (columns.first + x) * b_step_, result);
      }
    }
  }

  // All rows and columns of a band, some rows at a time so that the images under them stay in the second-level cache.
  void multiply_chunks(GemmBlock<T> block, const T* grads, T* result) const {
    for (int64_t row = 0; row < band_rows_; row += chunk_) {
      block.rows = std::min(chunk_, band_rows_ - row);
      block.a_rows = a_rows_ + row;
      block.c_rows = c_rows_ + row;
      for (int64_t j = 0; j < p_.out_c; j += kernels_.columns) {
        block.columns = std::min(kernels_.columns, p_.out_c - j);
        block.b = grads + j / kernels_.columns * panel_step_;
        block.c = result + j;
        kernels_.block(block);
      }
    }
  }

  // The same in the other roles: `block` describes the image as a, the output gradient as b.
  void multiply_turned(GemmBlock<T> block, const T* grads, T* result) const {
    std::swap(block.a_step, block.b_step);
    std::swap(block.a_segments, block.b_segments);
    const T* image = block.a;
    block.a = grads;
    block.rows = p_.out_c;
    block.a_rows = a_rows_;
    block.c_rows = c_rows_;
    for (int64_t j = 0; j < band_rows_; j += kernels_.columns) {
      block.columns = std::min(kernels_.columns, band_rows_ - j);
      block.b = image + j;
      block.c = result + j;
      kernels_.block(block);
    }
  }

  void add_parts(ThreadPool& pool, T* filter_grad) const {
    const int64_t size = rows_ * p_.out_c;
    pool.parallel_for(size, 4096, [&](int64_t begin, int64_t end) {
      std::copy(partial_ + begin, partial_ + end, filter_grad + begin);
      for (int64_t part = 1; part < parts_; ++part) {
        const T* from = partial_ + part * size;
        for (int64_t i = begin; i < end; ++i) filter_grad[i] += from[i];
      }
    });
  }

  const ConvParams& p_;
  const GemmKernels<T>& kernels_;
  const int64_t out_h_, out_w_;
  Window window_;
  bool direct_ = false;  // the taps never leave the image, which is then read where it lies
  // Of the images that are read: from row to row, pixel to pixel, channel to channel and image to image.
  int64_t pitch_ = 0, step_ = 0, plane_ = 0, image_size_ = 0;
  int64_t rows_ = 0;   // of the result: taps times channels
  int64_t group_ = 0;  // images that are multiplied together
  int64_t parts_ = 0, part_images_ = 0;
  bool single_taps_ = false;  // a band of the result is one tap, not one row of the filter
  int64_t bands_ = 0, band_rows_ = 0;
  int64_t piece_bands_ = 0;  // in a task
  int64_t chunk_ = 0;        // rows of a band that are multiplied by all columns before the next ones
  int64_t* a_rows_ = nullptr;
  int64_t* c_rows_ = nullptr;
  int64_t* a_segments_ = nullptr;  // for each row of the filter: rows of images ...
  int64_t* b_segments_ = nullptr;  // ... and of the output gradient
  bool packs_ = false;             // the output gradient, into panels
  int64_t b_step_ = 0;             // of it, from pixel to pixel
  bool turned_ = false;            // a is the output gradient, b the images, and the result lies the other way
  T* partial_ = nullptr;
  T* panels_ = nullptr;  // of the output gradient, or a copy of its end, for each thread
  T* images_ = nullptr;  // for each thread
  int64_t panel_step_ = 0, panels_size_ = 0, images_size_ = 0;
  size_t scratch_bytes_ = 0;
};

}  // namespace

template <class T>
size_t conv_backward_filter_scratch_bytes(const ConvParams& params, int threads) {
  const ConvParams p = with_rows_as_pixels(params);
  if (!has_output(p)) return 0;
  if (is_matrix_product(p)) return gemm_scratch_bytes(backward_filter_product<T>(p), threads);
  if (uses_winograd<T>(p)) return winograd_backward_filter_scratch_bytes(p, threads);
  if (uses_stacks<T>(p)) return stacked_backward_filter_scratch_bytes(p, threads);
  if (uses_separation<T>(p)) return separated_backward_filter_scratch_bytes(p, threads);
  if (turns_filter(p)) return turned_backward_filter_scratch_bytes<T>(p, threads);
  if (multiplies_pixels(p)) return pixels_backward_filter_scratch_bytes<T>(p, threads);
  return FilterGrad<T>(p, threads, nullptr).scratch_bytes();
}

template <class T>
void conv_backward_filter(ThreadPool& pool, const ConvParams& params, const T* input, const T* output_grad,
                          T* filter_grad, void* scratch) {
  const ConvParams p = with_rows_as_pixels(params);
  if (!has_output(p)) {
    std::fill_n(filter_grad, p.k_h * p.k_w * p.in_c * p.out_c, T(0));
    return;
  }
  if (is_matrix_product(p)) {
    Gemm<T> g = backward_filter_product<T>(p);
    g.a = input;
    g.b = output_grad;
    g.c = filter_grad;
    return gemm(pool, g, scratch);
  }
  if constexpr (std::is_same_v<T, float>) {
    if (uses_winograd<T>(p)) return winograd_backward_filter(pool, p, input, output_grad, filter_grad, scratch);
    if (uses_stacks<T>(p)) return stacked_backward_filter(pool, p, input, output_grad, filter_grad, scratch);
    if (uses_separation<T>(p)) return separated_backward_filter(pool, p, input, output_grad, filter_grad, scratch);
  }
  if (turns_filter(p)) return turned_backward_filter(pool, p, input, output_grad, filter_grad, scratch);
  if (multiplies_pixels(p)) return pixels_backward_filter(pool, p, input, output_grad, filter_grad, scratch);
  FilterGrad<T>(p, pool.threads(), scratch).run(pool, input, output_grad, filter_grad);
}

template size_t conv_backward_filter_scratch_bytes<float>(const ConvParams&, int);
template size_t conv_backward_filter_scratch_bytes<double>(const ConvParams&, int);
template void conv_backward_filter(ThreadPool&, const ConvParams&, const float*, const float*, float*, void*);
template void conv_backward_filter(ThreadPool&, const ConvParams&, const double*, const double*, double*, void*);

}  // namespace weir::cpu
