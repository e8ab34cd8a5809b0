"""tf.signal, tf.quantization and tf.random's stateless numbers, with numpy and TensorFlow 1.15's numbers as judges."""

import numpy as np
import pytest

import weir as tf

SIGNAL = np.random.RandomState(1).uniform(-1, 1, (2, 700)).astype(np.float32)


def run(value, feeds=None):
    with tf.Session() as session:
        return session.run(value, feeds)


def test_transforms_are_numpys():
    with tf.Graph().as_default():
        complexes = (SIGNAL + 1j * SIGNAL[::-1]).astype(np.complex64)
        for ours, theirs in ((tf.fft(complexes), np.fft.fft(complexes)), (tf.signal.ifft(complexes), np.fft.ifft(complexes)),
                             (tf.spectral.rfft(SIGNAL), np.fft.rfft(SIGNAL)),
                             (tf.signal.rfft(SIGNAL, [800]), np.fft.rfft(SIGNAL, 800)),
                             (tf.signal.irfft(complexes[:, :20], [50]), np.fft.irfft(complexes[:, :20], 50))):
            np.testing.assert_allclose(run(ours), theirs, rtol=1e-4, atol=1e-4)


def test_a_short_time_transform_is_undone():
    with tf.Graph().as_default():
        spectrum = tf.contrib.signal.stft(SIGNAL, 100, 25)
        window = tf.signal.inverse_stft_window_fn(25)
        back = run(tf.signal.inverse_stft(spectrum, 100, 25, window_fn=window))
    np.testing.assert_allclose(back[:, 100:600], SIGNAL[:, 100:600], atol=1e-5)


def test_frames_of_unknown_lengths():
    with tf.Graph().as_default():
        signal, length = tf.placeholder(tf.float32, [None, None]), tf.placeholder(tf.int32, [])
        frames = tf.signal.frame(signal, length, 30, pad_end=True, pad_value=2)
        assert frames.shape.as_list() == [None, None, None]
        found = run(frames, {signal: SIGNAL, length: 90})
        assert found.shape == (2, 24, 90)
        np.testing.assert_array_equal(found[:, 1], SIGNAL[:, 30:120])
        assert found[0, -1, -1] == 2


def test_wrong_arguments_are_errors():
    with tf.Graph().as_default():
        with pytest.raises(ValueError):
            tf.signal.frame(SIGNAL, 0, 1)
        with pytest.raises(ValueError):
            tf.signal.linear_to_mel_weight_matrix(upper_edge_hertz=9000.0)
        with pytest.raises(NotImplementedError):
            tf.signal.dct(SIGNAL, axis=0)


def test_stateless_numbers_are_tensorflows():
    with tf.Graph().as_default():
        np.testing.assert_allclose(run(tf.random.stateless_uniform([2], [1, 2])), [0.84406042, 0.19204533], rtol=1e-6)
        assert run(tf.contrib.stateless.stateless_random_uniform([4], [1, 2], -3, 100, tf.int32)).tolist() == [93, 49, 15, 41]
        np.testing.assert_allclose(run(tf.random.stateless_normal([2], [1, 2])), [0.54411012, 0.20738031], rtol=1e-5)


def test_a_generator_moves_on_and_is_reset():
    with tf.Graph().as_default(), tf.Session() as session:
        generator = tf.random.experimental.Generator.from_seed(1234)
        draw = generator.normal([3])
        session.run(tf.global_variables_initializer())
        first, second = session.run(draw), session.run(draw)
        assert not np.array_equal(first, second)
        session.run(generator.reset(tf.random.experimental.create_rng_state(1234)))
        np.testing.assert_array_equal(session.run(draw), first)


def test_quantised_numbers_come_back_to_a_step():
    with tf.Graph().as_default():
        q = tf.quantize(SIGNAL, -1.0, 1.0, tf.quint8)
        np.testing.assert_allclose(run(tf.dequantize(q.output, q.output_min, q.output_max)), SIGNAL, atol=0.006)
        x = tf.constant([-8.0, 0.3, 7.0])
        y = tf.fake_quant_with_min_max_args(x)
        assert run(tf.gradients(y, x)[0]).tolist() == [0, 1, 0]
