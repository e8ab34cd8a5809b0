"""Pictures: files, sizes, colours, places, random forms with seeds, measures, boxes."""

### files
import zlib
s = tf.Session()
at = np.arange(37 * 45 * 3)
photo = ((at // 3 % 45 * 4 + at // 135 * 2 + at * 2654435761 % 23) % 256).astype(np.uint8).reshape(37, 45, 3)
for quality, options in [(95, {}), (40, {}), (75, {"progressive": True}), (75, {"chroma_downsampling": False}),
        (60, {"optimize_size": True, "density_unit": "cm", "x_density": 7, "xmp_metadata": "text"})]:
    file = s.run(tf.image.encode_jpeg(photo, quality=quality, **options))
    show(len(file), zlib.crc32(file))
    for channels, ratio, fancy, dct in [(0, 1, True, ""), (3, 2, True, ""), (1, 1, True, "INTEGER_ACCURATE"), (3, 4, False, ""),
            (3, 8, True, "INTEGER_FAST")]:
        pixels = s.run(tf.image.decode_jpeg(file, channels=channels, ratio=ratio, fancy_upscaling=fancy, dct_method=dct))
        show(pixels.shape, zlib.crc32(pixels.tobytes()))
    pixels = s.run(tf.image.decode_and_crop_jpeg(file, [5, 9, 20, 17]))
    show(pixels.shape, zlib.crc32(pixels.tobytes()))
    # What is missing of a progressive file is smoothed by libjpeg-turbo, in another way in each of its releases.
    for part in () if "progressive" in options else (0.8, 0.95):
        cut = file[:int(len(file) * part)]
        fails(lambda: s.run(tf.image.decode_jpeg(cut)))
        pixels = s.run(tf.image.decode_jpeg(cut, try_recover_truncated=True))
        show(pixels.shape, zlib.crc32(pixels.tobytes()))
    show(s.run(tf.image.extract_jpeg_shape(file)), s.run(tf.image.is_jpeg(file)))
grey = s.run(tf.image.encode_jpeg(photo[:, :, :1], format="grayscale"))
show(zlib.crc32(grey), zlib.crc32(s.run(tf.image.decode_jpeg(grey, channels=3)).tobytes()))
for channels in (1, 2, 3, 4):
    picture = np.concatenate([photo, photo], 2)[:, :, :channels]
    file = s.run(tf.image.encode_png(picture))
    for wanted in (0, 1, 3, 4):
        for dtype in (tf.uint8, tf.uint16):
            pixels = s.run(tf.image.decode_png(file, channels=wanted, dtype=dtype))
            show(pixels.shape, zlib.crc32(pixels.tobytes()))
wide = tf.constant((photo.astype(np.int64) * 251 % 65536).astype(np.uint16))
show(zlib.crc32(s.run(tf.image.decode_png(tf.image.encode_png(wide), dtype=tf.uint16)).tobytes()))
show(tf.image.decode_png(file), tf.image.decode_jpeg(file, channels=3), tf.image.decode_gif(file))
show(s.run(tf.image.decode_image(file)).shape, s.run(tf.image.decode_image(grey, channels=1, dtype=tf.float32))[0, 0])
fails(lambda: s.run(tf.image.decode_image(b"nothing")))
fails(lambda: s.run(tf.image.decode_png(b"nothing")))
fails(lambda: tf.image.decode_image(b"nothing", channels=2))
fails(lambda: s.run(tf.image.decode_jpeg(grey, channels=4)))

### sizes
s = tf.Session()
x = (np.arange(1 * 5 * 4 * 2).reshape(1, 5, 4, 2) * 7 % 11).astype(np.float32)
for size in ([7, 3], [2, 8], [5, 4], [1, 1]):
    for corners in (False, True):
        for method in range(4):
            y = tf.image.resize_images(x, size, method=method, align_corners=corners)
            show(y.shape, s.run(y))
    for f in (tf.image.resize_bilinear, tf.image.resize_nearest_neighbor, tf.image.resize_bicubic):
        show(s.run(f(x, size, half_pixel_centers=True)))
        a = tf.constant(x)
        show(s.run(tf.gradients(f(a, size), a)))
show(tf.image.resize_images(x[0], [5, 4]), tf.image.resize_images(x[0], [5, 9]))
show(s.run(tf.image.resize_images(x[0], [6, 12], preserve_aspect_ratio=True)).shape)
show(s.run(tf.image.resize_image_with_pad(x[0], 6, 12)))
for size in ([3, 9], [9, 3], [5, 4]):
    y = tf.image.resize_image_with_crop_or_pad(x[0], *size)
    show(y.shape, s.run(y))
show(s.run(tf.image.central_crop(x[0], 0.5)), s.run(tf.image.crop_to_bounding_box(x[0], 1, 1, 3, 2)))
show(s.run(tf.image.pad_to_bounding_box(x[0], 1, 1, 7, 6)))
show(s.run(tf.image.crop_and_resize(x, [[0, 0, 1, 1], [0.2, -0.3, 0.9, 0.6]], [0, 0], [3, 3], extrapolation_value=5)))
fails(lambda: tf.image.resize_images(x, [1, 2, 3]))
fails(lambda: tf.image.resize_images(x, [1.5, 2]))
fails(lambda: tf.image.resize_images(x, [4, 4], method=9))
fails(lambda: tf.image.resize_images(tf.placeholder(tf.float32), [4, 4]))
fails(lambda: tf.image.crop_to_bounding_box(x[0], 4, 0, 3, 2))
fails(lambda: tf.image.central_crop(x[0], 1.5))
fails(lambda: tf.image.resize_image_with_crop_or_pad(x[0], 0, 4))

### colours
s = tf.Session()
x = (np.arange(2 * 3 * 3).reshape(2, 3, 3) * 7 % 19 / 19.0).astype(np.float32)
b = (x * 255).astype(np.uint8)
for f in (tf.image.rgb_to_hsv, tf.image.hsv_to_rgb, tf.image.rgb_to_grayscale, tf.image.rgb_to_yiq, tf.image.yiq_to_rgb,
        tf.image.rgb_to_yuv, tf.image.yuv_to_rgb, tf.image.per_image_standardization):
    show(s.run(f(x)))
show(s.run(tf.image.rgb_to_grayscale(b)), s.run(tf.image.grayscale_to_rgb(tf.constant(b[:, :, :1]))))
for f, amounts in ((tf.image.adjust_brightness, (0.3, -0.2)), (tf.image.adjust_contrast, (0.5, 2.0)),
        (tf.image.adjust_hue, (0.1, -0.4)), (tf.image.adjust_saturation, (0.3, 2.0)), (tf.image.adjust_gamma, (0.5, 2.0))):
    for amount in amounts:
        show(s.run(f(x, amount)), s.run(f(b, amount)))
for dtype in (tf.uint8, tf.uint16, tf.int16, tf.int32, tf.float16, tf.float32, tf.float64):
    for saturate in (False, True):
        show(s.run(tf.image.convert_image_dtype(x, dtype, saturate)), s.run(tf.image.convert_image_dtype(b, dtype, saturate)))
show(s.run(tf.image.adjust_jpeg_quality(x, 50)))
fails(lambda: tf.image.convert_image_dtype(x, tf.string))
fails(lambda: tf.image.adjust_gamma(x, -1))

### random
s = tf.Session()
x = (np.arange(3 * 4 * 3).reshape(3, 4, 3) * 7 % 37 / 37.0).astype(np.float32)
for seed in (1, 2, 3):
    for y in (tf.image.random_flip_left_right(x, seed), tf.image.random_flip_up_down(x, seed),
            tf.image.random_brightness(x, 0.4, seed), tf.image.random_contrast(x, 0.2, 1.8, seed),
            tf.image.random_saturation(x, 0.2, 1.8, seed), tf.image.random_hue(x, 0.4, seed),
            tf.random_crop(x, [2, 2, 3], seed), tf.image.random_flip_left_right(np.stack([x, x, x, x]), seed)):
        show(y.shape, s.run(y), s.run(y))
    sampled = tf.image.sample_distorted_bounding_box([300, 200, 3], [[[0.2, 0.1, 0.7, 0.9]]], seed=seed, seed2=5)
    show(sampled, s.run(sampled), s.run(sampled))
fails(lambda: tf.image.random_hue(x, 0.7))
fails(lambda: tf.image.random_contrast(x, 2, 1))
fails(lambda: tf.image.random_brightness(x, -1))

### places and measures
s = tf.Session()
x = (np.arange(13 * 12 * 2).reshape(1, 13, 12, 2) * 7 % 37 / 37.0).astype(np.float32)
y = np.sqrt(x)
for f in (tf.image.flip_left_right, tf.image.flip_up_down, tf.image.transpose_image):
    show(s.run(f(x[0, :3, :2])), f(x), f(x[0]))
for k in range(5):
    show(tf.image.rot90(x[0], k).shape, s.run(tf.image.rot90(x[0, :3, :2], k)))
a, b = tf.constant(x), tf.constant(y)
show(s.run(tf.image.total_variation(a)), s.run(tf.image.psnr(a, b, 1.0)), s.run(tf.image.ssim(a, b, 1.0)))
show(s.run(tf.image.image_gradients(a))[0][0, :2, :2], s.run(tf.image.sobel_edges(a))[0, :2, :2])
show(s.run(tf.extract_image_patches(a[:, :4, :4], [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "SAME")))
show(s.run(tf.image.extract_glimpse(a, [3, 2], [[0.1, -0.2]])))
boxes = [[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 2, 1, 3], [0.1, 0, 1.1, 1]]
scores = [0.9, 0.75, 0.6, 0.95]
show(s.run(tf.image.non_max_suppression(boxes, scores, 3)), s.run(tf.image.non_max_suppression(boxes, scores, 4, 0.9, 0.7)))
show(s.run(tf.image.non_max_suppression_with_scores(boxes, scores, 4, 0.9, 0.1, 0.5)))
show(s.run(tf.image.non_max_suppression_padded(boxes, scores, 4, pad_to_max_output_size=True)))
show(s.run(tf.image.draw_bounding_boxes(np.zeros([1, 5, 5, 3], np.float32), [[[0, 0, 0.6, 0.6], [0.3, 0.3, 1, 1]]])))
fails(lambda: tf.image.flip_left_right(tf.constant([1.0])))
fails(lambda: tf.image.ssim(a, tf.constant(y[:, :12]), 1.0))
fails(lambda: tf.image.total_variation(tf.constant([1.0])))
