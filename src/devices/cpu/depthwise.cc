#include "devices/cpu/depthwise.h"

#include <algorithm>

#include "base/thread_pool.h"
#include "devices/cpu/depthwise_table.h"
#include "devices/cpu/isa.h"

namespace weir::cpu {
namespace {

const DepthwiseTable& table() {
#if defined(__x86_64__)
  static const DepthwiseTable& chosen = isa() == Isa::Avx512 ? avx512::kDepthwiseTable
                                        : isa() == Isa::Avx2 ? avx2::kDepthwiseTable
                                                             : portable::kDepthwiseTable;
  return chosen;
#else
  return portable::kDepthwiseTable;
#endif
}

constexpr int64_t kTaskFloats = 32768;

int64_t ceil_div(int64_t a, int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }

// One tap along a line of pixels: pixel p reads position at + p * step, which exists for p in [begin, end).
struct Line {
  int64_t tap, at, begin, end;
};
struct Lines {
  Line line[kMaxDepthwiseTaps];
  int64_t count = 0, step, pixels;

  Lines(int64_t distance, int64_t length) : step(distance), pixels(length) {}
  void add(int64_t tap, int64_t at, int64_t size) {
    const int64_t begin = std::clamp<int64_t>(ceil_div(-at, step), 0, pixels);
    line[count++] = {tap, at, begin, std::clamp<int64_t>(ceil_div(size - at, step), begin, pixels)};
  }
  // Calls body(first pixel, pixels, takes) for runs of pixels that all meet the same taps: those that `takes` admits.
  template <class Body>
  void for_each_run(const Body& body) const {
    int64_t begin = 0, end = pixels;
    for (int64_t i = 0; i < count; ++i) {
      begin = std::max(begin, line[i].begin);
      end = std::min(end, line[i].end);
    }
    if (begin >= end) begin = end = pixels;
    auto one = [&](int64_t p) { body(p, 1, [p](const Line& l) { return l.begin <= p && p < l.end; }); };
    for (int64_t p = 0; p < begin; ++p) one(p);
    if (begin < end) body(begin, end - begin, [](const Line&) { return true; });
    for (int64_t p = end; p < pixels; ++p) one(p);
  }
};

Lines forward_lines(const DepthwiseAxis& a) {
  Lines lines(a.stride, a.out);
  for (int64_t k = 0; k < a.size; ++k) lines.add(k, k * a.dilation - a.pad, a.in);
  return lines;
}

// The outputs that input pixels first, first + stride, ... were seen from.
Lines backward_lines(const DepthwiseAxis& a, int64_t first) {
  Lines lines(1, ceil_div(a.in - first, a.stride));
  for (int64_t k = 0; k < a.size; ++k) {
    const int64_t start = first + a.pad - k * a.dilation;
    if (start % a.stride == 0) lines.add(k, start / a.stride, a.out);
  }
  return lines;
}

// One row of results: its sources lie in the rows that `rows` gives for pixel `row`.
struct RowJob {
  const DepthwiseShape& s;
  const float *image, *filter;  // of one image, and all of the filter
  int64_t width;                // of the image
  Epilogue<float> epilogue;     // what it adds begins with the first pixel
  float* y;                     // the first pixel
  int64_t y_step;
};
void convolve_row(const RowJob& j, const Lines& rows, int64_t row, const Lines& columns) {
  const auto pixels = table().pixels;
  const int64_t channels = j.s.channels;
  columns.for_each_run([&](int64_t first, int64_t count, auto takes) {
    DepthwiseTap taps[kMaxDepthwiseTaps];
    int64_t n = 0;
    for (int64_t r = 0; r < rows.count; ++r) {
      const Line& l = rows.line[r];
      if (row < l.begin || row >= l.end) continue;
      for (int64_t k = 0; k < columns.count; ++k) {
        const Line& c = columns.line[k];
        if (!takes(c)) continue;
        const int64_t at = (l.at + row * rows.step) * j.width + c.at + first * columns.step;
        taps[n++] = {j.image + at * channels, j.filter + (l.tap * j.s.width.size + c.tap) * channels};
      }
    }
    Epilogue<float> epilogue = j.epilogue;
    if (epilogue.side) epilogue.side += first * j.y_step;
    pixels(taps, n, columns.step * channels, epilogue, j.y + first * j.y_step, j.y_step, count, channels);
  });
}

int64_t row_grain(int64_t width, int64_t channels) {
  return std::max<int64_t>(1, kTaskFloats / std::max<int64_t>(1, width * channels));
}

// ---- the filter's gradient

constexpr int64_t kChunk = 128;     // channels of a task
constexpr int64_t kFloatRun = 256;  // pixels that are summed up in float

// Images are cut into blocks by the shape alone; each block's sums are added in order.
int64_t chunks(const DepthwiseShape& s) { return ceil_div(s.channels, kChunk); }
int64_t block_images(const DepthwiseShape& s) {
  const int64_t blocks = std::clamp<int64_t>(32 / std::max<int64_t>(chunks(s), 1), 1, std::max<int64_t>(s.batch, 1));
  return std::max<int64_t>(1, ceil_div(s.batch, blocks));
}
int64_t blocks(const DepthwiseShape& s) { return ceil_div(s.batch, block_images(s)); }
int64_t taps_of(const DepthwiseShape& s) { return s.height.size * s.width.size; }

struct FilterTask {
  const DepthwiseShape& s;
  const float *x, *dy;  // at the first of the task's channels
  int64_t channels;     // of the task
  float* sums;          // [taps, channels]

  void add_row(const Lines& rows, const Lines& columns, int64_t image, int64_t row) const {
    const int64_t pitch = s.channels;
    const float* from = x + image * s.height.in * s.width.in * pitch;
    const float* grad = dy + (image * s.height.out + row) * s.width.out * pitch;
    columns.for_each_run([&](int64_t first, int64_t count, auto takes) {
      DepthwiseSum taps[kMaxDepthwiseTaps];
      int64_t n = 0;
      for (int64_t r = 0; r < rows.count; ++r) {
        const Line& l = rows.line[r];
        if (row < l.begin || row >= l.end) continue;
        for (int64_t k = 0; k < columns.count; ++k) {
          const Line& c = columns.line[k];
          if (!takes(c)) continue;
          const int64_t at = (l.at + row * rows.step) * s.width.in + c.at + first * columns.step;
          taps[n++] = {from + at * pitch, sums + (l.tap * s.width.size + c.tap) * channels};
        }
      }
      table().sums(taps, n, columns.step * pitch, grad + first * pitch, pitch, count, channels);
    });
  }
};

}  // namespace

void depthwise(const DepthwiseShape& s, const float* x, const float* filter, const Epilogue<float>& epilogue, float* y,
               ThreadPool& pool) {
  const Lines rows = forward_lines(s.height), columns = forward_lines(s.width);
  const int64_t row_floats = s.width.out * s.channels;
  pool.parallel_for(s.batch * s.height.out, row_grain(s.width.out, s.channels), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float* image = x + i / s.height.out * s.height.in * s.width.in * s.channels;
      Epilogue<float> of_row = epilogue;
      if (of_row.side) of_row.side += i * row_floats;
      convolve_row({s, image, filter, s.width.in, of_row, y + i * row_floats, s.channels}, rows, i % s.height.out,
                   columns);
    }
  });
}

void depthwise_input(const DepthwiseShape& s, const float* filter, const float* dy, float* dx, ThreadPool& pool) {
  const int64_t row_floats = s.width.in * s.channels;
  pool.parallel_for(s.batch * s.height.in, row_grain(s.width.in, s.channels), [&](int64_t begin, int64_t end) {
    for (int64_t phase = 0; phase < std::min(s.width.stride, s.width.in); ++phase) {
      const Lines columns = backward_lines(s.width, phase);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t ih = i % s.height.in, first = ih % s.height.stride;
        const Lines rows = backward_lines(s.height, first);
        const float* image = dy + i / s.height.in * s.height.out * s.width.out * s.channels;
        convolve_row(
            {s, image, filter, s.width.out, {}, dx + i * row_floats + phase * s.channels, s.width.stride * s.channels},
            rows, ih / s.height.stride, columns);
      }
    }
  });
}

size_t depthwise_filter_scratch(const DepthwiseShape& s) {
  return static_cast<size_t>(blocks(s) * taps_of(s) * s.channels) * sizeof(double);
}

void depthwise_filter(const DepthwiseShape& s, const float* x, const float* dy, float* filter_grad, void* scratch,
                      ThreadPool& pool) {
  const Lines rows = forward_lines(s.height), columns = forward_lines(s.width);
  const int64_t taps = taps_of(s), size = taps * s.channels, images = block_images(s);
  const int64_t flush_rows = std::max<int64_t>(1, kFloatRun / std::max<int64_t>(1, s.width.out));
  auto* partial = static_cast<double*>(scratch);
  pool.parallel_for(blocks(s) * chunks(s), 1, [&](int64_t task, int64_t) {
    const int64_t block = task / chunks(s), channel = task % chunks(s) * kChunk;
    const int64_t channels = std::min(kChunk, s.channels - channel);
    alignas(64) float sums[kMaxDepthwiseTaps * kChunk];
    const FilterTask filter_task{s, x + channel, dy + channel, channels, sums};
    double* to = partial + block * size + channel;
    for (int64_t t = 0; t < taps; ++t) std::fill_n(to + t * s.channels, channels, 0.0);
    std::fill_n(sums, taps * channels, 0.0f);
    int64_t pending = 0;
    auto flush = [&] {
      for (int64_t t = 0; t < taps; ++t)
        for (int64_t c = 0; c < channels; ++c) to[t * s.channels + c] += sums[t * channels + c];
      std::fill_n(sums, taps * channels, 0.0f);
      pending = 0;
    };
    for (int64_t n = block * images; n < std::min(s.batch, (block + 1) * images); ++n) {
      for (int64_t row = 0; row < s.height.out; ++row) {
        filter_task.add_row(rows, columns, n, row);
        if (++pending >= flush_rows) flush();
      }
    }
    flush();
  });
  for (int64_t i = 0; i < size; ++i) {
    double sum = 0;
    for (int64_t b = 0; b < blocks(s); ++b) sum += partial[b * size + i];
    filter_grad[i] = static_cast<float>(sum);
  }
}

}  // namespace weir::cpu
