"""Rows of the table of operations: Fourier transforms and sound."""
from cases.table import C, COMPLEX, K, row


def transforms(rank):

    def cases(v):
        for shape in ((2, 6), (3, 17), (16,), (1, 31 * 2), (5, 128)) if rank == 1 else ((3, 4, 5), (7, 3, 8), (2, 2, 3, 16)):
            if len(shape) >= rank:
                yield C(v(*shape))

    return cases


row('FFT IFFT', transforms(1), COMPLEX)
row('FFT2D IFFT2D', transforms(2), COMPLEX)
row('FFT3D IFFT3D', transforms(3), COMPLEX)
row('BatchFFT BatchIFFT', transforms(1), ('complex64',))
row('BatchFFT2D BatchIFFT2D', transforms(2), ('complex64',))
row('BatchFFT3D BatchIFFT3D', transforms(3), ('complex64',))
row('RFFT', lambda v: [C(v(2, 6), K([6])), C(v(3, 9), K([9])), C(v(3, 9), K([6]), gradient=False), C(v(16), K([16]))],
    ('float32',))
row('RFFT2D', lambda v: [C(v(2, 3, 6), K([3, 6])), C(v(4, 5), K([4, 5])), C(v(2, 5, 6), K([4, 3]), gradient=False)],
    ('float32',))
row('RFFT3D', lambda v: [C(v(2, 3, 4, 6), K([3, 4, 6])), C(v(4, 5, 7), K([2, 5, 6]))], ('float32',))
row('IRFFT', lambda v: [C(v(2, 4), K([6])), C(v(3, 5), K([9])), C(v(3, 9), K([6]), gradient=False), C(v(9), K([16]))],
    ('complex64',))
row('IRFFT2D', lambda v: [C(v(2, 3, 4), K([3, 6])), C(v(4, 3), K([4, 5])), C(v(2, 5, 6), K([4, 3]), gradient=False)],
    ('complex64',))
row('IRFFT3D', lambda v: [C(v(2, 3, 4, 4), K([3, 4, 6])), C(v(4, 5, 7), K([2, 5, 6]))], ('complex64',))

row('AudioSpectrogram', lambda v: [C(v(600, 1), window_size=100, stride=40), C(v(300, 1), window_size=64, stride=64, magnitude_squared=True),
                                   C(v(30, 1), window_size=64, stride=1)], ('float32',))
row('Mfcc', lambda v: [C(abs(v(1, 3, 257)), K(16000)), C(abs(v(2, 2, 129)), K(8000), dct_coefficient_count=20, lower_frequency_limit=100.0)], ('float32',))
row('EncodeWav', lambda v: [C(v(50, 2, low=-1, high=1), K(16000))], ('float32',))
