#include <bit>
#include <cmath>
#include <numbers>

#include "base/errors.h"
#include "devices/cpu/fft.h"
#include "graph/infer_context.h"
#include "ops/types.h"

// What speech recognisers of TensorFlow 1 begin with: magnitudes of short-time spectra, and cepstral coefficients of
// them.
namespace weir::ops {
namespace {

struct Window {
  int64_t size, stride, fft;
};

Window window_of(const AttrMap& attrs) {
  const auto size = attrs.get<int64_t>("window_size"), stride = attrs.get<int64_t>("stride");
  if (size < 2 || size > (int64_t{1} << 30) || stride < 1) {
    throw invalid_argument("Spectrogram initialization failed for window size {} and stride {}", size, stride);
  }
  return {size, stride, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(size)))};
}

void infer_spectrogram(InferContext& c) {
  c.require_rank(0, 2);
  const Window w = window_of(c.attrs());
  const Shape in = c.input(0).merged(Shape::unknown_dims(2));
  const int64_t frames = in[0] == kUnknown ? kUnknown : in[0] < w.size ? 0 : 1 + (in[0] - w.size) / w.stride;
  c.set_output(0, Shape{in[1], frames, 1 + w.fft / 2});
}

struct Spectrogram {
  Window window;
  bool squared;
  cpu::Fft<double> fft;
  std::vector<double> weights;
};

Spectrogram prepare_spectrogram(PrepareContext& c) {
  const Window w = window_of(c.node().attrs());
  const bool nothing = c.output().is_known() && c.output().elements() == 0;
  Spectrogram s{w, c.attr<bool>("magnitude_squared"), cpu::Fft<double>::of_real(nothing ? 1 : w.fft), {}};
  if (nothing) return s;
  for (int64_t i = 0; i < w.size; ++i) {
    s.weights.push_back(0.5 -
                        0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(w.size)));
  }
  // Frames, spectra, and the transform's own.
  constexpr size_t kFrames = 8;
  c.set_scratch(kFrames * static_cast<size_t>(2 * w.fft + 4) * sizeof(double) + s.fft.scratch_bytes(c.threads()));
  return s;
}

void spectrogram_cpu(KernelContext& c) {
  const auto& s = c.state<Spectrogram>();
  const int64_t channels = c.shape(0)[1], frames = c.output_shape()[1], bins = c.output_shape()[2], n = s.window.fft;
  if (c.output_elements() == 0) return;
  constexpr int64_t kFrames = 8;
  auto* lines = static_cast<double*>(c.scratch());
  auto* spectra = reinterpret_cast<std::complex<double>*>(lines + kFrames * n);
  void* rest = spectra + kFrames * bins;
  for (int64_t channel = 0; channel < channels; ++channel) {
    for (int64_t first = 0; first < frames; first += kFrames) {
      const int64_t count = std::min(kFrames, frames - first);
      for (int64_t f = 0; f < count; ++f) {
        const float* x = c.input<float>(0) + (first + f) * s.window.stride * channels + channel;
        for (int64_t i = 0; i < n; ++i) {
          lines[f * n + i] =
              i < s.window.size ? static_cast<double>(x[i * channels]) * s.weights[static_cast<size_t>(i)] : 0.0;
        }
      }
      s.fft.forward_real(lines, n, spectra, bins, count, rest, c.pool());
      float* out = c.output<float>() + (channel * frames + first) * bins;
      for (int64_t i = 0; i < count * bins; ++i) {
        const auto power = static_cast<float>(std::norm(spectra[i]));
        out[i] = s.squared ? power : std::sqrt(power);
      }
    }
  }
}

struct MfccOptions {
  double upper, lower;
  int64_t channels, coefficients;
};

MfccOptions mfcc_options(const AttrMap& attrs) {
  MfccOptions o{attrs.get<float>("upper_frequency_limit"), attrs.get<float>("lower_frequency_limit"),
                attrs.get<int64_t>("filterbank_channel_count"), attrs.get<int64_t>("dct_coefficient_count")};
  if (o.channels < 1 || o.channels > 1 << 20)
    throw invalid_argument("Number of filterbank channels must be positive: {}", o.channels);
  if (o.coefficients < 1 || o.coefficients > o.channels) {
    throw invalid_argument("Coefficient count must be positive and at most the number of channels: {}", o.coefficients);
  }
  if (!(o.lower >= 0) || !(o.upper > o.lower)) {
    throw invalid_argument("Upper frequency limit must be greater than lower frequency limit: {}, {}", o.upper,
                           o.lower);
  }
  return o;
}

void infer_mfcc(InferContext& c) {
  c.require_rank(0, 3);
  c.require_scalar(1);
  const MfccOptions o = mfcc_options(c.attrs());
  const Shape in = c.input(0).merged(Shape::unknown_dims(3));
  c.set_output(0, Shape{in[0], in[1], o.coefficients});
}

MfccOptions prepare_mfcc(PrepareContext& c) { return mfcc_options(c.node().attrs()); }

double to_mel(double hertz) { return 1127.0 * std::log1p(hertz / 700.0); }

// Each bin of a spectrum belongs to the falling side of a triangle and the rising side of the next one.
struct Filterbank {
  int64_t first, last;         // bins
  std::vector<int64_t> bands;  // the triangle that falls there; -1: before the first
  std::vector<double> weights;

  Filterbank(const MfccOptions& o, int64_t bins, double rate) {
    if (!(rate > 0) || bins < 2)
      throw invalid_argument("Mfcc initialization failed for channel count {} and sample rate {}", bins, rate);
    const double low = to_mel(o.lower), spacing = (to_mel(o.upper) - low) / static_cast<double>(o.channels + 1);
    auto centre = [&](int64_t i) { return low + spacing * static_cast<double>(i + 1); };
    const double hertz = 0.5 * rate / static_cast<double>(bins - 1);
    first = static_cast<int64_t>(1.5 + o.lower / hertz);
    last = static_cast<int64_t>(std::min(o.upper / hertz, 9e15));
    if (last >= bins) {
      throw invalid_argument("Input too short to compute filterbank: {} bins reach {} hertz", bins,
                             hertz * static_cast<double>(bins - 1));
    }
    int64_t band = 0;
    for (int64_t i = 0; i < bins; ++i) {
      const double mel = to_mel(static_cast<double>(i) * hertz);
      const bool used = i >= first && i <= last;
      while (used && band < o.channels && centre(band) < mel) ++band;
      bands.push_back(band - 1);
      const double here = band == 0 ? low : centre(band - 1), next = centre(band);
      weights.push_back(used ? (next - mel) / (next - here) : 0.0);
    }
  }
};

void mfcc_cpu(KernelContext& c) {
  const auto& o = c.state<MfccOptions>();
  const int64_t bins = c.shape(0)[2], frames = c.shape(0)[0] * c.shape(0)[1];
  if (c.output_elements() == 0) return;
  const Filterbank bank(o, bins, c.scalar<int32_t>(1));
  const double scale = std::sqrt(2.0 / static_cast<double>(o.channels)),
               step = std::numbers::pi / static_cast<double>(o.channels);
  c.pool().parallel_for(frames, 8, [&](int64_t begin, int64_t end) {
    std::vector<double> energy(static_cast<size_t>(o.channels));
    for (int64_t f = begin; f < end; ++f) {
      const float* x = c.input<float>(0) + f * bins;
      std::fill(energy.begin(), energy.end(), 0.0);
      for (int64_t i = bank.first; i <= bank.last; ++i) {
        const double magnitude = std::sqrt(static_cast<double>(x[i])),
                     falling = magnitude * bank.weights[static_cast<size_t>(i)];
        const int64_t band = bank.bands[static_cast<size_t>(i)];
        if (band >= 0) energy[static_cast<size_t>(band)] += falling;
        if (band + 1 < o.channels) energy[static_cast<size_t>(band + 1)] += magnitude - falling;
      }
      for (double& e : energy) e = std::log(e < 1e-12 ? 1e-12 : e);
      for (int64_t k = 0; k < o.coefficients; ++k) {
        double sum = 0;
        for (int64_t j = 0; j < o.channels; ++j) {
          sum += scale * std::cos(static_cast<double>(k) * step * (static_cast<double>(j) + 0.5)) *
                 energy[static_cast<size_t>(j)];
        }
        c.output<float>()[f * o.coefficients + k] = static_cast<float>(sum);
      }
    }
  });
}

}  // namespace

OpDef audio_spectrogram_op() {
  return {.name = "AudioSpectrogram",
          .inputs = "input:float",
          .outputs = "spectrogram:float",
          .attrs = "window_size:int; stride:int; magnitude_squared:bool=False",
          .infer = infer_spectrogram,
          .cpu = {.select = kernel_any<spectrogram_cpu>, .prepare = prepared<prepare_spectrogram>}};
}

OpDef mfcc_op() {
  return {.name = "Mfcc",
          .inputs = "spectrogram:float; sample_rate:int32",
          .outputs = "output:float",
          .attrs =
              "upper_frequency_limit:float=4000.0; lower_frequency_limit:float=20.0; filterbank_channel_count:int=40; "
              "dct_coefficient_count:int=13",
          .infer = infer_mfcc,
          .cpu = {.select = kernel_any<mfcc_cpu>, .prepare = prepared<prepare_mfcc>}};
}

}  // namespace weir::ops
