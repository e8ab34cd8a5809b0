"""Sound: files, spectrograms, cepstral coefficients."""

from weir.ops import simple

simple.install(globals(), {
    "decode_wav": "DecodeWav", "encode_wav": "EncodeWav", "audio_spectrogram": "AudioSpectrogram", "mfcc": "Mfcc",
})
