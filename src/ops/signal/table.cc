#include "ops/table_rows.h"

// clang-format off
#define ROWS(row) \
  row(fft) row(fft2d) row(fft3d) row(ifft) row(ifft2d) row(ifft3d) \
  row(batch_fft) row(batch_fft2d) row(batch_fft3d) row(batch_ifft) row(batch_ifft2d) row(batch_ifft3d) \
  row(rfft) row(rfft2d) row(rfft3d) row(irfft) row(irfft2d) row(irfft3d) \
  row(decode_wav) row(encode_wav) row(audio_spectrogram) row(mfcc)
// clang-format on
WEIR_OP_TABLE(signal_ops, ROWS)
