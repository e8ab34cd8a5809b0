// Convolution as a sum over taps: forward, and backward to the input. A destination pixel gathers, for each tap, the
// channels of one source pixel times that tap's matrix. The source is read where it lies, or from a copy with zeros
// around; neighbouring taps of a row form one run in memory.
//
// Backward with a stride is one such sum for each phase, the set of input pixels with the same position relative to
// the stride: each has its own taps, and steps through the output gradient pixel by pixel.

#include <numeric>

#include "devices/cpu/conv_dilated.h"
#include "devices/cpu/conv_patches.h"
#include "devices/cpu/conv_scatter.h"
#include "devices/cpu/conv_stacked.h"

namespace weir::cpu {
namespace {

constexpr int64_t kMaxPixels = 1024;         // destination pixels of a band
constexpr int64_t kBandBytes = 256 * 1024;   // of the source, copied for a band: stays in the second-level cache
constexpr int64_t kGroupBytes = 768 * 1024;  // the same for small images that are treated together
constexpr int64_t kLongRun = 8;              // elements of a run of taps that are worth cutting in the middle rows
constexpr int64_t kLongRunAtEdge = 64;       // ... and in the others

// One axis of a gather. Destination index x = first + step * q for q in [begin, end) reads source indices
// q * source_step + origin + tap, with tap = (k * dilation - phase) / stride for backward.
struct Axis {
  int64_t begin = 0, end = 0;  // of q
  int64_t dest_first = 0, dest_step = 1;
  int64_t tap_first = 0, tap_step = 1, taps = 0;  // filter indices that take part
  int64_t offset_first = 0, offset_step = 1;      // of the taps, in source pixels, ascending
};

// What forward and backward share: the axes for each phase.
struct Gather {
  int64_t batch = 0;
  int64_t source_h = 0, source_w = 0, source_c = 0;
  int64_t dest_h = 0, dest_w = 0, dest_c = 0;
  int64_t k_h = 0, k_w = 0;
  int64_t step_h = 1, step_w = 1;                          // source pixels from one q to the next
  int64_t origin_h = 0, origin_w = 0;                      // source index of q = 0 and offset 0
  int64_t span_h = 1, span_w = 1;                          // source pixels under the taps
  int64_t begin_h = 0, end_h = 0, begin_w = 0, end_w = 0;  // q of all phases
  int64_t phases_h = 1, phases_w = 1;
  bool backward = false;
  ConvParams params;

  Axis axis_h(int64_t phase) const {
    return axis(phase, params.in_h, params.pad_top, params.stride_h, params.dilation_h, k_h, span_h, params.out_h());
  }
  Axis axis_w(int64_t phase) const {
    return axis(phase, params.in_w, params.pad_left, params.stride_w, params.dilation_w, k_w, span_w, params.out_w());
  }

 private:
  Axis axis(int64_t phase, int64_t in, int64_t pad, int64_t stride, int64_t dilation, int64_t k, int64_t span,
            int64_t out) const {
    if (!backward) return {.end = out, .taps = k, .offset_step = dilation};
    Axis a;
    a.dest_first = phase - pad;
    a.dest_step = stride;
    a.begin = divide_up(std::max<int64_t>(pad - phase, 0), stride);
    a.end = in + pad > phase ? (in - 1 + pad - phase) / stride + 1 : 0;
    // Taps k with k * dilation = phase (mod stride) lie a fixed number apart. The last of them has the least offset.
    const int64_t apart = stride / std::gcd(stride, dilation);
    int64_t first = 0;
    while (first < apart && first * dilation % stride != phase) ++first;
    if (first == apart || first >= k) return a;
    a.taps = (k - 1 - first) / apart + 1;
    a.tap_first = first + (a.taps - 1) * apart;
    a.tap_step = -apart;
    a.offset_first = span - 1 - (a.tap_first * dilation - phase) / stride;
    a.offset_step = apart * dilation / stride;
    return a;
  }
};

Gather forward_gather(const ConvParams& p) {
  return {.batch = p.batch,
          .source_h = p.in_h,
          .source_w = p.in_w,
          .source_c = p.in_c,
          .dest_h = p.out_h(),
          .dest_w = p.out_w(),
          .dest_c = p.out_c,
          .k_h = p.k_h,
          .k_w = p.k_w,
          .step_h = p.stride_h,
          .step_w = p.stride_w,
          .origin_h = -p.pad_top,
          .origin_w = -p.pad_left,
          .span_h = (p.k_h - 1) * p.dilation_h + 1,
          .span_w = (p.k_w - 1) * p.dilation_w + 1,
          .end_h = p.out_h(),
          .end_w = p.out_w(),
          .params = p};
}

Gather backward_gather(const ConvParams& p) {
  Gather g = {.batch = p.batch,
              .source_h = p.out_h(),
              .source_w = p.out_w(),
              .source_c = p.out_c,
              .dest_h = p.in_h,
              .dest_w = p.in_w,
              .dest_c = p.in_c,
              .k_h = p.k_h,
              .k_w = p.k_w,
              .span_h = (p.k_h - 1) * p.dilation_h / p.stride_h + 1,
              .span_w = (p.k_w - 1) * p.dilation_w / p.stride_w + 1,
              .phases_h = p.stride_h,
              .phases_w = p.stride_w,
              .backward = true,
              .params = p};
  g.origin_h = 1 - g.span_h;
  g.origin_w = 1 - g.span_w;
  g.begin_h = p.pad_top / p.stride_h;
  g.begin_w = p.pad_left / p.stride_w;
  g.end_h = (p.in_h - 1 + p.pad_top) / p.stride_h + 1;
  g.end_w = (p.in_w - 1 + p.pad_left) / p.stride_w + 1;
  return g;
}

// The part of a gather that one phase describes, ready to run.
template <class T>
struct Phase {
  Axis h, w;
  int64_t length = 0;             // of a run
  int64_t row_runs = 0;           // runs of one row of the filter
  int64_t* runs = nullptr;        // offsets in the source ...
  int64_t* panel_runs = nullptr;  // ... and in a panel
  T* panels = nullptr;            // the taps' matrices, packed
  int64_t depth = 0, panel_step = 0;
};

template <class T>
class GatherConv {
 public:
  GatherConv(const Gather& g, int threads, void* scratch) : g_(g), kernels_(gemm_kernels<T>(isa())) {
    choose_bands(threads);
    Carver carver(scratch);
    phases_ = carver.take<Phase<T>>(g_.phases_h * g_.phases_w);
    runs_ = carver.take<int64_t>(2 * g_.k_h * g_.k_w);
    panels_ = carver.take<T>((g_.k_h * g_.k_w * g_.source_c + g_.phases_h * g_.phases_w) *
                             round_up(g_.dest_c, kernels_.columns));
    windows_ = carver.take<T>(direct_ ? 0 : window_size_ * group_ * threads);
    scratch_bytes_ = carver.used();
  }

  size_t scratch_bytes() const { return scratch_bytes_; }

  void run(ThreadPool& pool, const T* source, const T* filter, const Epilogue<T>& epilogue, T* dest) {
    describe_phases();
    pack_filter(pool, filter);
    pool.parallel_for(divide_up(g_.batch, group_) * bands_, 1, [&](int64_t begin, int64_t) {
      const int64_t image = begin / bands_ * group_, q = g_.begin_h + begin % bands_ * band_;
      run_band({image, std::min(group_, g_.batch - image), q, std::min(q + band_, g_.end_h)}, source, epilogue, dest);
    });
  }

 private:
  // A task: rows [begin, end) of the destination of some images.
  struct Band {
    int64_t image, images, begin, end;
    int64_t origin = 0;  // of its window in what is read
  };

  Window window(int64_t begin, int64_t end) const {
    return {.height = g_.source_h,
            .width = g_.source_w,
            .channels = g_.source_c,
            .row_origin = begin * g_.step_h + g_.origin_h,
            .column_origin = g_.begin_w * g_.step_w + g_.origin_w,
            .rows = (end - 1 - begin) * g_.step_h + g_.span_h,
            .columns = (g_.end_w - 1 - g_.begin_w) * g_.step_w + g_.span_w};
  }

  // Whether taps beside the image are left out everywhere, in columns as in rows (see run_phase).
  bool cuts_all_columns() const {
    for (int64_t i = 0; i < g_.phases_w; ++i) {
      const Axis w = g_.axis_w(i);
      if (w.taps > 0 && (w.offset_step != 1 || g_.source_c * w.taps < kLongRunAtEdge)) return false;
    }
    return true;
  }

  // Rows q of the destination that are done in one go: few enough for the cache and for all threads to have work.
  // Where the cuts lie does not matter to the result.
  void choose_bands(int threads) {
    const Window whole = window(g_.begin_h, g_.end_h);
    direct_ = whole.inside() || cuts_all_columns();
    pitch_ = direct_ ? std::max<int64_t>(1, g_.source_w * g_.source_c) : Window::pitch(whole.columns, g_.source_c);
    const int64_t rows = g_.end_h - g_.begin_h;
    const int64_t by_pixels = kMaxPixels / std::max<int64_t>(1, g_.end_w - g_.begin_w);
    const int64_t row_bytes = pitch_ * static_cast<int64_t>(sizeof(T));
    const int64_t by_bytes = (kBandBytes / row_bytes - g_.span_h) / g_.step_h + 1;
    const int64_t by_tasks = divide_up(rows * g_.batch, 4 * threads);
    band_ = std::clamp<int64_t>(std::min({by_pixels, by_bytes, by_tasks}), 1, rows);
    bands_ = divide_up(rows, band_);
    band_ = divide_up(rows, bands_);
    bands_ = divide_up(rows, band_);
    window_size_ = direct_ ? g_.source_h * pitch_ : round_up(((band_ - 1) * g_.step_h + g_.span_h) * pitch_, 16);

    // A panel of the filter should serve many pixels, more than a small image has.
    constexpr int64_t kPixels = 512;
    group_ = 1;
    if (bands_ == 1) {
      const int64_t by_pixel_count = kPixels / std::max<int64_t>(1, rows * (g_.end_w - g_.begin_w));
      const int64_t by_group_bytes = kGroupBytes / std::max<int64_t>(1, window_size_ * static_cast<int64_t>(sizeof(T)));
      group_ = std::clamp<int64_t>(std::min({by_pixel_count, by_group_bytes, g_.batch / (2 * threads)}), 1, g_.batch);
    }
  }

  void describe_phases() {
    int64_t* runs = runs_;
    T* panels = panels_;
    for (int64_t i = 0; i < g_.phases_h * g_.phases_w; ++i) {
      Phase<T>& phase = phases_[i];
      phase = {.h = g_.axis_h(i / g_.phases_w), .w = g_.axis_w(i % g_.phases_w), .panels = panels};
      const bool merge = phase.w.offset_step == 1;  // the taps of a row touch
      phase.length = g_.source_c * (merge ? phase.w.taps : 1);
      phase.row_runs = merge ? std::min<int64_t>(1, phase.w.taps) : phase.w.taps;
      phase.runs = runs;
      phase.panel_runs = runs += phase.h.taps * phase.row_runs;
      for (int64_t run = 0; run < phase.h.taps * phase.row_runs; ++run) {
        const int64_t h = run / phase.row_runs, w = run % phase.row_runs;
        phase.runs[run] = (phase.h.offset_first + h * phase.h.offset_step) * pitch_ +
                          (phase.w.offset_first + w * phase.w.offset_step) * g_.source_c;
        *runs++ = run * phase.length * kernels_.columns;
      }
      phase.depth = phase.h.taps * phase.w.taps * g_.source_c;
      phase.panel_step = (phase.depth | 1) * kernels_.columns;
      panels += phase.panel_step * divide_up(g_.dest_c, kernels_.columns);
    }
  }

  // Packs the matrices in the order of the runs. For backward they are transposed.
  void pack_filter(ThreadPool& pool, const T* filter) const {
    const int64_t per_phase = g_.k_h * g_.k_w;
    const int64_t matrix = g_.source_c * g_.dest_c;
    const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, matrix));
    pool.parallel_for(g_.phases_h * g_.phases_w * per_phase, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const Phase<T>& phase = phases_[i / per_phase];
        const int64_t tap = i % per_phase;
        if (tap >= phase.h.taps * phase.w.taps) continue;
        const int64_t h = phase.h.tap_first + tap / phase.w.taps * phase.h.tap_step;
        const int64_t w = phase.w.tap_first + tap % phase.w.taps * phase.w.tap_step;
        kernels_.pack(filter + (h * g_.k_w + w) * matrix, g_.params.out_c, g_.backward, g_.source_c, g_.dest_c,
                      phase.panels + tap * g_.source_c * kernels_.columns, phase.panel_step);
      }
    });
  }

  void run_band(Band band, const T* source, Epilogue<T> epilogue, T* dest) const {
    const Window part = window(band.begin, band.end);
    const int64_t source_size = g_.source_h * g_.source_w * g_.source_c;
    source += band.image * source_size;
    const int64_t first = band.image * g_.dest_h * g_.dest_w * g_.dest_c;
    dest += first;
    if (epilogue.side) epilogue.side += first;
    if (direct_) {
      // It may lie before the source, of which only what lies under taps is read.
      band.origin = part.row_origin * pitch_ + part.column_origin * g_.source_c;
    } else {
      T* copies = windows_ + ThreadPool::thread_index() * group_ * window_size_;
      for (int64_t i = 0; i < band.images; ++i) {
        copy_window(part, source + i * source_size, pitch_, copies + i * window_size_);
      }
      source = copies;
    }
    for (int64_t i = 0; i < g_.phases_h * g_.phases_w; ++i) run_phase(phases_[i], band, source, epilogue, dest);
  }

  // Taps [first, last) of an axis.
  struct Taps {
    int64_t first = 0, last = 0;
    bool operator==(const Taps&) const = default;
  };

  // The taps that have the image under them for destination index q.
  static Taps taps_inside(const Axis& axis, int64_t q, int64_t step, int64_t origin, int64_t size) {
    const int64_t begin = q * step + origin + axis.offset_first;
    const int64_t first = std::clamp<int64_t>(divide_up(std::max<int64_t>(-begin, 0), axis.offset_step), 0, axis.taps);
    const int64_t last =
        begin < size ? std::clamp<int64_t>((size - 1 - begin) / axis.offset_step + 1, first, axis.taps) : first;
    return {first, last};
  }
  Taps taps_of_row(const Phase<T>& phase, int64_t y) const {
    return taps_inside(phase.h, y, g_.step_h, g_.origin_h, g_.source_h);
  }
  Taps taps_of_column(const Phase<T>& phase, int64_t x) const {
    return taps_inside(phase.w, x, g_.step_w, g_.origin_w, g_.source_w);
  }

  // Calls body(begin, end, taps) for the stretches of [begin, end) that have the same taps.
  template <class TapsOf, class Body>
  static void for_stretches(int64_t begin, int64_t end, TapsOf taps_of, Body body) {
    for (int64_t q = begin, next = q; q < end; q = next) {
      const Taps taps = taps_of(q);
      while (next < end && taps_of(next) == taps) ++next;
      body(q, next, taps);
    }
  }

  // Leaves out what lies beyond the image: rows of the filter always; columns only in runs that are long enough for it,
  // longer ones near the upper and the lower edge, where few pixels have the same taps.
  void run_phase(const Phase<T>& phase, const Band& band, const T* source, const Epilogue<T>& epilogue, T* dest) const {
    const int64_t begin = std::max(band.begin, phase.h.begin), end = std::min(band.end, phase.h.end);
    auto of_row = [&](int64_t y) { return taps_of_row(phase, y); };
    auto of_column = [&](int64_t x) { return taps_of_column(phase, x); };
    for_stretches(begin, end, of_row, [&](int64_t top, int64_t bottom, Taps rows) {
      Area area = {.top = top, .bottom = bottom, .left = phase.w.begin, .right = phase.w.end, .rows = rows};
      area.length = phase.length;
      const bool middle = rows == Taps{0, phase.h.taps};
      if (phase.row_runs != 1 || phase.length < (middle ? kLongRun : kLongRunAtEdge)) {
        return run_area(phase, band, area, source, epilogue, dest);
      }
      for_stretches(phase.w.begin, phase.w.end, of_column, [&](int64_t left, int64_t right, Taps columns) {
        area.left = left;
        area.right = right;
        area.skip = columns.first * g_.source_c;
        area.length = (columns.last - columns.first) * g_.source_c;
        run_area(phase, band, area, source, epilogue, dest);
      });
    });
  }

  // Destination pixels that the same taps serve.
  struct Area {
    int64_t top, bottom, left, right;
    Taps rows;                     // of the filter
    int64_t skip = 0, length = 0;  // the part of a run that lies in the image
  };

  void run_area(const Phase<T>& phase, const Band& band, const Area& area, const T* source, const Epilogue<T>& epilogue,
                T* dest) const {
    int64_t a_rows[kMaxPixels], c_rows[kMaxPixels];
    GemmBlock<T> block = {.a = source, .a_rows = a_rows, .b_step = kernels_.columns, .c_rows = c_rows};
    auto flush = [&] {
      if (block.rows > 0) multiply(phase, area, block, epilogue, dest);
      block.rows = 0;
    };
    for (int64_t y = area.top; y < area.bottom; ++y) {
      for (int64_t i = 0; i < band.images; ++i) {
        const int64_t dest_row = i * g_.dest_h + phase.h.dest_first + y * phase.h.dest_step;
        const int64_t source_row = band.origin + i * window_size_ + (y - band.begin) * g_.step_h * pitch_;
        for (int64_t x = area.left; x < area.right; ++x) {
          if (block.rows == kMaxPixels) flush();
          a_rows[block.rows] = source_row + (x - g_.begin_w) * g_.step_w * g_.source_c;
          c_rows[block.rows] = (dest_row * g_.dest_w + phase.w.dest_first + x * phase.w.dest_step) * g_.dest_c;
          ++block.rows;
        }
      }
    }
    flush();
  }

  // Some pixels of an area, all channels of the destination. The sum is cut where a panel would leave the first-level
  // cache.
  void multiply(const Phase<T>& phase, const Area& area, GemmBlock<T> block, const Epilogue<T>& epilogue,
                T* dest) const {
    const int64_t first = area.rows.first * phase.row_runs, last = area.rows.last * phase.row_runs;
    const int64_t pieces = std::max<int64_t>(1, divide_up(area.length, kernels_.depth));
    const int64_t piece = std::max<int64_t>(1, divide_up(area.length, pieces));
    const int64_t at_once = std::max<int64_t>(1, kernels_.depth / std::max<int64_t>(1, area.length));
    const T* base = block.a;
    for (int64_t run = first; run == first || run < last; run += at_once) {
      for (int64_t at = 0; at == 0 || at < area.length; at += piece) {
        block.a = base + area.skip + at;
        block.a_segments = phase.runs + run;
        block.b_segments = phase.panel_runs + run;
        block.segment_count = std::min(at_once, last - run);
        block.length = std::min(piece, area.length - at);
        block.accumulate = run > first || at > 0;
        const bool final = run + at_once >= last && at + piece >= area.length;
        block.activation = final ? epilogue.activation : Activation::None;
        const T* panel = phase.panels + (area.skip + at) * kernels_.columns;
        for (int64_t j = 0; j < g_.dest_c; j += kernels_.columns, panel += phase.panel_step) {
          block.columns = std::min(kernels_.columns, g_.dest_c - j);
          block.b = panel;
          block.c = dest + j;
          block.bias = final && epilogue.bias ? epilogue.bias + j : nullptr;
          block.scale = final && epilogue.scale ? epilogue.scale + j : nullptr;
          block.side = final && epilogue.side ? epilogue.side + j : nullptr;
          kernels_.block(block);
        }
      }
    }
  }

  const Gather g_;
  const GemmKernels<T>& kernels_;
  bool direct_ = false;           // no tap is read that leaves the image, which is then read where it lies
  int64_t pitch_ = 0;             // of the rows that are read
  int64_t band_ = 0, bands_ = 0;  // rows of a task, and how many make an image
  int64_t group_ = 1;             // images of a task
  Phase<T>* phases_ = nullptr;
  int64_t* runs_ = nullptr;
  T* panels_ = nullptr;
  T* windows_ = nullptr;     // one for each thread
  int64_t window_size_ = 0;  // from image to image, in the copy or in the source
  size_t scratch_bytes_ = 0;
};

}  // namespace

template <class T>
size_t conv_forward_scratch_bytes(const ConvParams& params, int threads) {
  const ConvParams p = with_rows_as_pixels(params);
  if (!has_output(p)) return 0;
  if (is_matrix_product(p)) return gemm_scratch_bytes(forward_product<T>(p), threads);
  if (scatters_forward(p)) return scatter_forward_scratch_bytes<T>(p, threads);
  if (uses_winograd<T>(p)) return winograd_forward_scratch_bytes(p, threads);
  if (uses_stacks<T>(p)) return stacked_forward_scratch_bytes(p, threads);
  if (uses_separation<T>(p)) return separated_forward_scratch_bytes(p, threads);
  if (multiplies_patches(p)) return patches_forward_scratch_bytes<T>(p, threads);
  return GatherConv<T>(forward_gather(p), threads, nullptr).scratch_bytes();
}

template <class T>
void conv_forward(ThreadPool& pool, const ConvParams& params, const T* input, const T* filter,
                  const Epilogue<T>& epilogue, T* output, void* scratch) {
  const ConvParams p = with_rows_as_pixels(params);
  if (!has_output(p)) return;
  if (is_matrix_product(p)) {
    Gemm<T> g = forward_product<T>(p);
    g.a = input;
    g.b = filter;
    g.c = output;
    g.epilogue = epilogue;
    return gemm(pool, g, scratch);
  }
  if (scatters_forward(p)) return scatter_forward(pool, p, input, filter, epilogue, output, scratch);
  if constexpr (std::is_same_v<T, float>) {
    if (uses_winograd<T>(p)) return winograd_forward(pool, p, input, filter, epilogue, output, scratch);
    if (uses_stacks<T>(p)) return stacked_forward(pool, p, input, filter, epilogue, output, scratch);
    if (uses_separation<T>(p)) return separated_forward(pool, p, input, filter, epilogue, output, scratch);
  }
  if (multiplies_patches(p)) return patches_forward(pool, p, input, filter, epilogue, output, scratch);
  GatherConv<T>(forward_gather(p), pool.threads(), scratch).run(pool, input, filter, epilogue, output);
}

template <class T>
size_t conv_backward_input_scratch_bytes(const ConvParams& params, int threads) {
  const ConvParams p = with_rows_as_pixels(params);
  if (!has_input(p) || !has_output(p)) return 0;
  if (is_matrix_product(p)) return gemm_scratch_bytes(backward_input_product<T>(p), threads);
  if (scatters_backward_input(p)) return scatter_backward_input_scratch_bytes<T>(p, threads);
  if (uses_winograd<T>(p)) return winograd_backward_input_scratch_bytes(p, threads);
  if (uses_stacks<T>(p, true)) return stacked_backward_input_scratch_bytes(p, threads);
  if (uses_separation<T>(p, true)) return separated_backward_input_scratch_bytes(p, threads);
  if (multiplies_pixels(p)) return pixels_backward_input_scratch_bytes<T>(p, threads);
  return GatherConv<T>(backward_gather(p), threads, nullptr).scratch_bytes();
}

template <class T>
void conv_backward_input(ThreadPool& pool, const ConvParams& params, const T* filter, const T* output_grad,
                         T* input_grad, void* scratch) {
  const ConvParams p = with_rows_as_pixels(params);
  if (!has_input(p)) return;
  if (!has_output(p)) {
    std::fill_n(input_grad, p.batch * p.in_h * p.in_w * p.in_c, T(0));
    return;
  }
  if (is_matrix_product(p)) {
    Gemm<T> g = backward_input_product<T>(p);
    g.a = output_grad;
    g.b = filter;
    g.c = input_grad;
    return gemm(pool, g, scratch);
  }
  if (scatters_backward_input(p)) return scatter_backward_input(pool, p, filter, output_grad, input_grad, scratch);
  if constexpr (std::is_same_v<T, float>) {
    if (uses_winograd<T>(p)) return winograd_backward_input(pool, p, filter, output_grad, input_grad, scratch);
    if (uses_stacks<T>(p, true)) return stacked_backward_input(pool, p, filter, output_grad, input_grad, scratch);
    if (uses_separation<T>(p, true)) return separated_backward_input(pool, p, filter, output_grad, input_grad, scratch);
  }
  if (multiplies_pixels(p)) return pixels_backward_input(pool, p, filter, output_grad, input_grad, scratch);
  GatherConv<T>(backward_gather(p), pool.threads(), scratch).run(pool, output_grad, filter, {}, input_grad);
}

template size_t conv_forward_scratch_bytes<float>(const ConvParams&, int);
template size_t conv_forward_scratch_bytes<double>(const ConvParams&, int);
template void conv_forward(ThreadPool&, const ConvParams&, const float*, const float*, const Epilogue<float>&, float*,
                           void*);
template void conv_forward(ThreadPool&, const ConvParams&, const double*, const double*, const Epilogue<double>&,
                           double*, void*);
template size_t conv_backward_input_scratch_bytes<float>(const ConvParams&, int);
template size_t conv_backward_input_scratch_bytes<double>(const ConvParams&, int);
template void conv_backward_input(ThreadPool&, const ConvParams&, const float*, const float*, float*, void*);
template void conv_backward_input(ThreadPool&, const ConvParams&, const double*, const double*, double*, void*);

}  // namespace weir::cpu
