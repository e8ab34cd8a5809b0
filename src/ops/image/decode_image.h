#pragma once

#include "graph/infer_context.h"
#include "ops/kernel.h"
#include "weir/image_codecs.h"

namespace weir::ops {

// Which operation decodes. As in TensorFlow each of DecodeJpeg, DecodePng and DecodeGif takes a file of any of the
// three formats; they differ in attributes and in the rank of what they give.
enum class Decoding { Jpeg, JpegCrop, Png, Gif };

// What the attributes say, checked.
struct DecodeState {
  Decoding decoding;
  int64_t channels = 0;
  DType dtype = uint8;
  JpegDecodeOptions jpeg = {};
};
DecodeState decode_state(const AttrMap& attrs, Decoding decoding);

// [height, width, channels].
void infer_decoded(InferContext& c);

// Input 0 is the file; of DecodeAndCropJpeg input 1 is the window.
void decode_image(KernelContext& c);

}  // namespace weir::ops
