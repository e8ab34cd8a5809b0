#include "ops/summary/audio.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weir::ops {
namespace {

void append_little_endian(std::string& to, uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to += static_cast<char>(value >> (8 * i));
}

// 16 bits a sample; values beyond [-1, 1) are clipped.
int16_t sample(float value) {
  if (std::isnan(value)) return 0;
  return static_cast<int16_t>(std::clamp(std::round(value * 32768.0f), -32768.0f, 32767.0f));
}

// A WAV file.
std::string encode_wav(const float* samples, uint32_t frames, uint32_t channels, uint32_t sample_rate) {
  const uint32_t frame_bytes = 2 * channels, data_bytes = frames * frame_bytes;
  std::string wav = "RIFF";
  append_little_endian(wav, 36 + data_bytes, 4);
  wav += "WAVEfmt ";
  append_little_endian(wav, 16, 4);  // bytes of the format that follows
  append_little_endian(wav, 1, 2);   // plain samples
  append_little_endian(wav, channels, 2);
  append_little_endian(wav, sample_rate, 4);
  append_little_endian(wav, sample_rate * frame_bytes, 4);
  append_little_endian(wav, frame_bytes, 2);
  append_little_endian(wav, 16, 2);  // bits a sample
  wav += "data";
  append_little_endian(wav, data_bytes, 4);
  for (size_t i = 0; i < size_t{frames} * channels; ++i) {
    append_little_endian(wav, static_cast<uint16_t>(sample(samples[i])), 2);
  }
  return wav;
}

}  // namespace

void infer_audio_summary(InferContext& c) {
  infer_tagged_summary(c);
  if (c.input(1).has_rank() && c.input(1).rank() != 2 && c.input(1).rank() != 3) {
    c.fail("Tensor must be 3-D or 2-D, got: " + c.input(1).str());
  }
}

proto::Summary audio_summary(KernelContext& c, int tag, float sample_rate, int64_t max_outputs) {
  const Shape& shape = c.shape(tag + 1);
  const int64_t frames = shape[1], channels = shape.rank() == 2 ? 1 : shape[2];
  // The format counts bytes, also those of a second, in 32 bits and channels in 16.
  constexpr int64_t kLargest = std::numeric_limits<uint32_t>::max() - 36;
  if (!(sample_rate > 0)) c.fail("sample_rate must be > 0");
  if (c.elements(tag + 1) == 0 && shape[0] != 0) c.fail("the audio is empty: " + shape.str());
  if (2 * channels > std::numeric_limits<uint16_t>::max() || 2 * channels * frames > kLargest ||
      static_cast<double>(sample_rate) * 2 * static_cast<double>(channels) > static_cast<double>(kLargest)) {
    c.fail("audio of shape " + shape.str() + " does not fit into a WAV file");
  }
  proto::Summary summary;
  for (int64_t i = 0; i < std::min(max_outputs, shape[0]); ++i) {
    proto::Summary::Value& value = *summary.add_value();
    value.set_tag(numbered_tag(c.input<std::string>(tag)[0], "audio", i, max_outputs));
    proto::Summary::Audio& audio = *value.mutable_audio();
    audio.set_sample_rate(sample_rate);
    audio.set_num_channels(channels);
    audio.set_length_frames(frames);
    audio.set_content_type("audio/wav");
    audio.set_encoded_audio_string(encode_wav(c.input<float>(tag + 1) + i * frames * channels,
                                              static_cast<uint32_t>(frames), static_cast<uint32_t>(channels),
                                              static_cast<uint32_t>(std::lround(sample_rate))));
  }
  return summary;
}

}  // namespace weir::ops
