#include <cmath>
#include <cstring>

#include "base/errors.h"
#include "graph/infer_context.h"
#include "ops/types.h"

// Sound files with 16 bits a sample.
namespace weir::ops {
namespace {

// Little-endian numbers of a file, read within its bounds.
class Reader {
 public:
  explicit Reader(std::string_view data) : data_(data) {}
  size_t left() const { return data_.size() - at_; }
  std::string_view text(size_t n) {
    if (n > left()) throw invalid_argument("Data too short when trying to read string");
    at_ += n;
    return data_.substr(at_ - n, n);
  }
  template <class T>
  T number() {
    const std::string_view bytes = text(sizeof(T));
    uint32_t value = 0;
    for (size_t i = sizeof(T); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
    return static_cast<T>(value);
  }
  void expect(std::string_view wanted) {
    const std::string_view found = text(wanted.size());
    if (found != wanted) throw invalid_argument("Header mismatch: Expected {} but found {}", wanted, found);
  }
  void skip(size_t n) { at_ = n > left() ? data_.size() : at_ + n; }

 private:
  std::string_view data_;
  size_t at_ = 0;
};

struct Sound {
  uint32_t rate = 0;
  int64_t channels = 0, samples = 0;
  std::string_view data = {};

  float sample(int64_t i, int64_t channel) const {
    const auto* p = reinterpret_cast<const unsigned char*>(data.data()) + (i * channels + channel) * 2;
    return static_cast<float>(static_cast<int16_t>(p[0] | p[1] << 8)) * (1.0f / 32768);
  }
};

Sound read_wav(std::string_view contents) {
  Reader in(contents);
  Sound sound;
  in.expect("RIFF");
  in.number<uint32_t>();  // the size of the file
  in.expect("WAVE");
  in.expect("fmt ");
  const auto format_size = in.number<uint32_t>();
  if (format_size != 16 && format_size != 18) {
    throw invalid_argument("Bad file size for WAV: Expected 16 or 18, but got{}", format_size);
  }
  if (const auto format = in.number<uint16_t>(); format != 1) {
    throw invalid_argument("Bad audio format for WAV: Expected 1 (PCM), but got{}", format);
  }
  sound.channels = in.number<uint16_t>();
  if (sound.channels < 1) throw invalid_argument("Bad number of channels for WAV: Expected at least 1, but got 0");
  sound.rate = in.number<uint32_t>();
  const auto bytes_per_second = in.number<uint32_t>();
  const auto bytes_per_sample = in.number<uint16_t>();
  if (const auto bits = in.number<uint16_t>(); bits != 16) {
    throw invalid_argument("Can only read 16-bit WAV files, but received {}", bits);
  }
  if (bytes_per_sample != 2 * sound.channels) {
    throw invalid_argument("Bad bytes per sample in WAV header: Expected {} but got {}", 2 * sound.channels,
                           bytes_per_sample);
  }
  if (bytes_per_second != bytes_per_sample * sound.rate) {
    throw invalid_argument(
        "Bad bytes per second in WAV header: Expected {} but got {} (sample_rate={}, bytes_per_sample={})",
        bytes_per_sample * sound.rate, bytes_per_second, sound.rate, bytes_per_sample);
  }
  if (format_size == 18) in.skip(2);
  bool found = false;
  while (in.left() > 0) {
    const std::string_view id = in.text(4);
    const auto size = in.number<uint32_t>();
    if (size > static_cast<uint32_t>(INT32_MAX)) {
      throw invalid_argument("WAV data chunk '{}' is too large: {} bytes, but the limit is {}", id, size, INT32_MAX);
    }
    if (id != "data") {
      in.skip(size);
      continue;
    }
    if (found) throw invalid_argument("More than one data chunk found in WAV");
    found = true;
    sound.samples = size / bytes_per_sample;
    sound.data = in.text(static_cast<size_t>(sound.samples) * bytes_per_sample);
  }
  if (!found) throw invalid_argument("No data chunk found in WAV");
  return sound;
}

void infer_decode(InferContext& c) {
  c.require_scalar(0);
  auto size = [&](const char* name) {
    const auto wanted = c.attr<int64_t>(name);
    if (wanted < -1) throw invalid_argument("{} must be non-negative, got {}", name, wanted);
    return wanted == -1 ? kUnknown : wanted;
  };
  c.set_output(0, Shape{size("desired_samples"), size("desired_channels")});
  c.set_output(1, Shape{});
}

void decode_cpu(KernelContext& c) {
  if (c.elements(0) != 1) throw invalid_argument("contents must be scalar, got shape {}", c.shape(0).str());
  const Sound sound = read_wav(*c.input<std::string>(0));
  const auto samples = c.node().attr<int64_t>("desired_samples"), channels = c.node().attr<int64_t>("desired_channels");
  const int64_t rows = samples == -1 ? sound.samples : samples, columns = channels == -1 ? sound.channels : channels;
  Tensor audio(DType::Float32, Shape{rows, columns});
  auto* out = audio.mutable_data<float>();
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t k = 0; k < columns; ++k) {
      *out++ = i < sound.samples ? sound.sample(i, std::min(k, sound.channels - 1)) : 0.0f;
    }
  }
  c.set_output(0, std::move(audio));
  c.set_output(1, Tensor(static_cast<int32_t>(sound.rate)));
}

void infer_encode(InferContext& c) {
  if (c.input(0).has_rank() && c.input(0).rank() != 2) {
    throw invalid_argument("audio must be 2-dimensional, got shape {}", c.input(0).str());
  }
  c.require_scalar(1);
  c.set_output(0, Shape{});
}

void encode_cpu(KernelContext& c) {
  const int64_t frames = c.shape(0)[0], channels = c.shape(0)[1], rate = c.scalar<int32_t>(1);
  if (rate <= 0) throw invalid_argument("sample_rate must be in (0, 2^32), got: {}", rate);
  if (channels == 0 || channels > UINT16_MAX)
    throw invalid_argument("num_channels must be in (0, 2^16), got: {}", channels);
  if (frames == 0) throw invalid_argument("num_frames must be positive.");
  const int64_t size = 44 + frames * channels * 2;
  if (size > UINT32_MAX) throw invalid_argument("Provided channels and frames cannot be encoded as a WAV.");
  std::string file;
  file.reserve(static_cast<size_t>(size));
  auto number = [&](int64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) file.push_back(static_cast<char>(value >> (8 * i) & 255));
  };
  file += "RIFF";
  number(size - 8, 4);
  file += "WAVEfmt ";
  number(16, 4);
  number(1, 2);
  number(channels, 2);
  number(rate, 4);
  number(rate * 2 * channels, 4);
  number(2 * channels, 2);
  number(16, 2);
  file += "data";
  number(frames * channels * 2, 4);
  for (int64_t i = 0; i < frames * channels; ++i) {
    const float value = std::round(c.input<float>(0)[i] * 32768.0f);
    number(std::isnan(value) ? 0 : static_cast<int64_t>(std::min(std::max(value, -32768.0f), 32767.0f)), 2);
  }
  *c.output<std::string>() = std::move(file);
}

}  // namespace

OpDef decode_wav_op() {
  return {.name = "DecodeWav",
          .inputs = "contents:string",
          .outputs = "audio:float; sample_rate:int32",
          .attrs = "desired_channels:int=-1; desired_samples:int=-1",
          .infer = infer_decode,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<decode_cpu>, .gives_outputs = true},
          .host_only = true};
}

OpDef encode_wav_op() {
  return {.name = "EncodeWav",
          .inputs = "audio:float; sample_rate:int32",
          .outputs = "contents:string",
          .infer = infer_encode,
          .cpu = {.select = kernel_any<encode_cpu>},
          .host_only = true};
}

}  // namespace weir::ops
