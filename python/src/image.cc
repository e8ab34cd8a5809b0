// Functions of weir/image.h: the graph comes first; the public names, argument orders and defaults are the package's.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "building.h"
#include "weir/image.h"

namespace weir::python {
namespace {

using H = nb::handle;
using G = GraphObject&;

// A picture. What is no tensor yet becomes a constant in the scope that the function is about to open.
Output picture(G graph, H value, const char* scope, const char* name = "image") {
  if (find_tensor(value) || !*scope) return to_output(graph, value, DType::Invalid, name);
  return to_output(graph, value, DType::Invalid, graph.unique_name(scope, false) + "/" + name + "/");
}

// A number of the program, or a tensor.
In number(G graph, H value) { return to_value(graph, value); }
// The same, of the type that the operation wants.
In floating(G graph, H value) { return to_in(graph, value, find_tensor(value) ? DType::Invalid : DType::Float32); }

// function(image, name)
template <Output (*function)(const In&, std::string_view)>
void def_named(nb::module_& m, const char* name, const char* scope, const char* argument) {
  def(m, name, [=](G g, H image, H node) {
    return build(g, {image}, [&](G graph) {
      const std::string label = to_name(node);
      return wrap(function(picture(graph, image, label.empty() ? scope : label.c_str(), argument), label));
    });
  });
}

// function(image)
template <Output (*function)(const In&)>
void def_plain(nb::module_& m, const char* name, const char* scope, const char* argument = "image") {
  def(m, name, [=](G g, H image) {
    return build(g, {image}, [&](G graph) { return wrap(function(picture(graph, image, scope, argument))); });
  });
}

// function(image, {seed})
template <Output (*function)(const In&, const image::RandomOptions&)>
void def_random(nb::module_& m, const char* name) {
  def(m, name, [=](G g, H image, H seed) {
    // The scope is called like the function without "image_".
    return build(g, {image},
                 [&](G graph) { return wrap(function(picture(graph, image, name + 6), {.seed = to_seed(seed)})); });
  });
}

// function(image, lower, upper, {seed})
template <Output (*function)(const In&, float, float, const image::RandomOptions&)>
void def_random_range(nb::module_& m, const char* name, const char* scope, const char* argument = "image") {
  def(m, name, [=](G g, H image, H lower, H upper, H seed) {
    return build(g, {image}, [&](G graph) {
      return wrap(function(picture(graph, image, scope, argument), static_cast<float>(to_double(lower, "lower")),
                           static_cast<float>(to_double(upper, "upper")), {.seed = to_seed(seed)}));
    });
  });
}
template <Output (*function)(const In&, float, const image::RandomOptions&)>
void def_random_delta(nb::module_& m, const char* name, const char* scope) {
  def(m, name, [=](G g, H image, H delta, H seed) {
    return build(g, {image}, [&](G graph) {
      return wrap(function(picture(graph, image, scope), static_cast<float>(to_double(delta, "max_delta")),
                           {.seed = to_seed(seed)}));
    });
  });
}

void bind_colours(nb::module_& m) {
  def(m, "image_convert_dtype", [](G g, H image, H dtype, bool saturate, H name) {
    return build(g, {image}, [&](G graph) {
      return wrap(image::convert_image_dtype(picture(graph, image, ""), to_dtype(dtype), {.saturate = saturate},
                                             to_name(name)));
    });
  });
  def_named<&image::rgb_to_grayscale>(m, "image_rgb_to_grayscale", "rgb_to_grayscale", "images");
  def_named<&image::grayscale_to_rgb>(m, "image_grayscale_to_rgb", "grayscale_to_rgb", "images");
  def_plain<&image::rgb_to_yiq>(m, "image_rgb_to_yiq", "", "images");
  def_plain<&image::yiq_to_rgb>(m, "image_yiq_to_rgb", "", "images");
  def_plain<&image::rgb_to_yuv>(m, "image_rgb_to_yuv", "", "images");
  def_plain<&image::yuv_to_rgb>(m, "image_yuv_to_rgb", "", "images");
  def_plain<&image::per_image_standardization>(m, "image_standardization", "per_image_standardization");
  def(m, "image_adjust_brightness", [](G g, H image, H delta) {
    return build(g, {image, delta}, [&](G graph) {
      return wrap(image::adjust_brightness(picture(graph, image, "adjust_brightness"), number(graph, delta)));
    });
  });
  def(m, "image_adjust_contrast", [](G g, H image, H factor) {
    return build(g, {image, factor}, [&](G graph) {
      return wrap(image::adjust_contrast(picture(graph, image, "adjust_contrast", "images"), floating(graph, factor)));
    });
  });
  def(m, "image_adjust_gamma", [](G g, H image, H gamma, H gain) {
    return build(g, {image, gamma, gain}, [&](G graph) {
      return wrap(
          image::adjust_gamma(picture(graph, image, "adjust_gamma"), number(graph, gamma), number(graph, gain)));
    });
  });
  auto adjust = [&](const char* name, const char* scope, auto function) {
    def(m, name, [=](G g, H image, H amount, H node) {
      return build(g, {image, amount}, [&](G graph) {
        const std::string label = to_name(node);
        Output of = picture(graph, image, label.empty() ? scope : label.c_str());
        return wrap(function(of, floating(graph, amount), label));
      });
    });
  };
  adjust("image_adjust_hue", "adjust_hue", &image::adjust_hue);
  adjust("image_adjust_saturation", "adjust_saturation", &image::adjust_saturation);
  def_random_delta<&image::random_brightness>(m, "image_random_brightness", "adjust_brightness");
  def_random_delta<&image::random_hue>(m, "image_random_hue", "adjust_hue");
  def_random_range<&image::random_contrast>(m, "image_random_contrast", "adjust_contrast", "images");
  def_random_range<&image::random_saturation>(m, "image_random_saturation", "adjust_saturation");
}

void bind_places(nb::module_& m) {
  def_plain<&image::flip_left_right>(m, "image_flip_left_right", "flip_left_right");
  def_plain<&image::flip_up_down>(m, "image_flip_up_down", "flip_up_down");
  def(m, "image_random_crop", [](G g, H value, H size, H seed, H name) {
    return build(g, {value, size}, [&](G graph) {
      const std::string label = to_name(name), scope = label.empty() ? "random_crop" : label;
      Output of = picture(graph, value, scope.c_str(), "value");
      Output wanted = to_output(graph, size, find_tensor(size) ? DType::Invalid : DType::Int32,
                                graph.unique_name(scope, false) + "/size/");
      return wrap(image::random_crop(of, wanted, {.seed = to_seed(seed)}, label));
    });
  });
  def_random<&image::random_flip_left_right>(m, "image_random_flip_left_right");
  def_random<&image::random_flip_up_down>(m, "image_random_flip_up_down");
  def_named<&image::transpose>(m, "image_transpose", "transpose", "image");
  def(m, "image_rot90", [](G g, H image, H k, H name) {
    return build(g, {image, k}, [&](G graph) {
      const std::string label = to_name(name);
      return wrap(
          image::rot90(picture(graph, image, label.empty() ? "rot90" : label.c_str()), number(graph, k), label));
    });
  });
  def(m, "image_central_crop", [](G g, H image, H fraction) {
    return build(g, {image}, [&](G graph) {
      return wrap(image::central_crop(picture(graph, image, "central_crop"), to_double(fraction, "central_fraction")));
    });
  });
  auto boxed = [&](const char* name, const char* scope, auto function) {
    def(m, name, [=](G g, H image, H top, H left, H height, H width) {
      return build(g, {image, top, left, height, width}, [&](G graph) {
        const image::BoundingBox box{number(graph, top), number(graph, left), number(graph, height),
                                     number(graph, width)};
        return wrap(function(picture(graph, image, scope), box));
      });
    });
  };
  boxed("image_crop_to_bounding_box", "crop_to_bounding_box", &image::crop_to_bounding_box);
  boxed("image_pad_to_bounding_box", "pad_to_bounding_box", &image::pad_to_bounding_box);
  def(m, "image_resize_with_crop_or_pad", [](G g, H image, H height, H width) {
    return build(g, {image, height, width}, [&](G graph) {
      return wrap(image::resize_with_crop_or_pad(picture(graph, image, "resize_image_with_crop_or_pad"),
                                                 number(graph, height), number(graph, width)));
    });
  });
  def(m, "image_resize", [](G g, H images, H size, int method, bool align_corners, bool preserve, H name) {
    return build(g, {images, size}, [&](G graph) {
      const std::string label = to_name(name);
      Output of = picture(graph, images, label.empty() ? "resize" : label.c_str(), "images");
      const image::ResizeImagesOptions options{.method = static_cast<image::ResizeMethod>(method),
                                               .align_corners = align_corners,
                                               .preserve_aspect_ratio = preserve};
      return wrap(
          image::resize(of, to_in(graph, size, find_tensor(size) ? DType::Invalid : DType::Int32), options, label));
    });
  });
  def(m, "image_resize_v2", [](G g, H images, H size, int method, bool preserve, bool antialias, H name) {
    return build(g, {images, size}, [&](G graph) {
      const std::string label = to_name(name);
      Output of = picture(graph, images, label.empty() ? "resize" : label.c_str(), "images");
      const image::ResizeImagesOptions options{.method = static_cast<image::ResizeMethod>(method),
                                               .preserve_aspect_ratio = preserve,
                                               .half_pixel_centers = true,
                                               .antialias = antialias};
      return wrap(
          image::resize(of, to_in(graph, size, find_tensor(size) ? DType::Invalid : DType::Int32), options, label));
    });
  });
  def(m, "image_resize_with_pad",
      [](G g, H image, H height, H width, int method, bool align_corners, bool centers, bool antialias) {
        return build(g, {image, height, width}, [&](G graph) {
          const image::ResizeImagesOptions options{.method = static_cast<image::ResizeMethod>(method),
                                                   .align_corners = align_corners,
                                                   .half_pixel_centers = centers,
                                                   .antialias = antialias};
          return wrap(image::resize_with_pad(picture(graph, image, "resize_image_with_pad"), number(graph, height),
                                             number(graph, width), options));
        });
      });
}

void bind_files(nb::module_& m) {
  def_named<&image::is_jpeg>(m, "image_is_jpeg", "is_jpeg", "contents");
  def(m, "image_decode", [](G g, H contents, H channels, H dtype, bool expand, H name) {
    return build(g, {contents}, [&](G graph) {
      const std::string label = to_name(name);
      const image::DecodeImageOptions options{channels.is_none() ? 0 : to_int64(channels, "channels"), to_dtype(dtype),
                                              expand};
      Output file = picture(graph, contents, label.empty() ? "decode_image" : label.c_str(), "contents");
      return wrap(image::decode_image(file, options, label));
    });
  });
  def(m, "image_adjust_jpeg_quality", [](G g, H image, H quality, H name) {
    return build(g, {image, quality}, [&](G graph) {
      const std::string label = to_name(name);
      Output of = picture(graph, image, label.empty() ? "adjust_jpeg_quality" : label.c_str());
      return wrap(image::adjust_jpeg_quality(of, number(graph, quality), label));
    });
  });
  def(m, "image_random_jpeg_quality", [](G g, H image, int64_t lower, int64_t upper, H seed) {
    return build(g, {image}, [&](G graph) {
      return wrap(image::random_jpeg_quality(picture(graph, image, "adjust_jpeg_quality"), lower, upper,
                                             {.seed = to_seed(seed)}));
    });
  });
}

image::SsimOptions ssim_options(H size, H sigma, H k1, H k2) {
  return {to_int64(size, "filter_size"), static_cast<float>(to_double(sigma, "filter_sigma")),
          static_cast<float>(to_double(k1, "k1")), static_cast<float>(to_double(k2, "k2"))};
}

void bind_measures(nb::module_& m) {
  def_named<&image::total_variation>(m, "image_total_variation", "total_variation", "images");
  def_plain<&image::sobel_edges>(m, "image_sobel_edges", "");
  def(m, "image_gradients", [](G g, H image) {
    return build(g, {image}, [&](G graph) {
      const auto [dy, dx] = image::image_gradients(picture(graph, image, ""));
      return nb::make_tuple(wrap(dy), wrap(dx));
    });
  });
  def(m, "image_psnr", [](G g, H a, H b, H max_val, H name) {
    return build(g, {a, b, max_val}, [&](G graph) {
      const std::string label = to_name(name);
      Output first = picture(graph, a, label.empty() ? "PSNR" : label.c_str(), "a");
      return wrap(image::psnr(first, to_in(graph, b, first.dtype()), number(graph, max_val), label));
    });
  });
  def(m, "image_ssim", [](G g, H a, H b, H max_val, H size, H sigma, H k1, H k2) {
    return build(g, {a, b, max_val}, [&](G graph) {
      Output first = picture(graph, a, "", "img1");
      return wrap(image::ssim(first, to_in(graph, b, first.dtype()), number(graph, max_val),
                              ssim_options(size, sigma, k1, k2)));
    });
  });
  def(m, "image_ssim_multiscale",
      [](G g, H a, H b, H max_val, std::vector<float> factors, H size, H sigma, H k1, H k2) {
        return build(g, {a, b, max_val}, [&](G graph) {
          Output first = picture(graph, a, "MS-SSIM", "img1");
          return wrap(image::ssim_multiscale(first, to_in(graph, b, first.dtype()), number(graph, max_val), factors,
                                             ssim_options(size, sigma, k1, k2)));
        });
      });
}

void bind_transforms(nb::module_& m) {
  auto moving = [&](const char* name, auto function) {
    def(m, name, [=](G g, H images, H amounts, const std::string& interpolation, H output_shape, H node) {
      return build(g, {images, amounts, output_shape}, [&](G graph) {
        image::TransformOptions options{.interpolation = interpolation};
        if (!output_shape.is_none()) {
          options.output_shape = to_in(graph, output_shape, find_tensor(output_shape) ? DType::Invalid : DType::Int32);
        }
        return wrap(function(picture(graph, images, ""), floating(graph, amounts), options, to_name(node)));
      });
    });
  };
  moving("image_transform", &image::transform);
  moving("image_rotate", &image::rotate);
  moving("image_translate", &image::translate);
  def(m, "image_angles_to_transforms", [](G g, H angles, H height, H width, H name) {
    return build(g, {angles, height, width}, [&](G graph) {
      return wrap(image::angles_to_projective_transforms(
          to_output(graph, angles, find_tensor(angles) ? DType::Invalid : DType::Float32, "angles"),
          floating(graph, height), floating(graph, width), to_name(name)));
    });
  });
  auto of_numbers = [&](const char* name, auto function) {
    def(m, name, [=](G g, H numbers) {
      return build(g, {numbers}, [&](G graph) {
        return wrap(
            function(to_output(graph, numbers, find_tensor(numbers) ? DType::Invalid : DType::Float32, "transforms")));
      });
    });
  };
  of_numbers("image_translations_to_transforms",
             [](const In& x) { return image::translations_to_projective_transforms(x); });
  of_numbers("image_transforms_to_matrices", &image::flat_transforms_to_matrices);
  of_numbers("image_matrices_to_transforms", &image::matrices_to_flat_transforms);
  def(m, "image_compose_transforms", [](G g, H list) {
    return build(g, {list},
                 [&](G graph) { return wrap(image::compose_transforms(to_outputs(graph, list, DType::Float32))); });
  });
}

}  // namespace

void bind_image(nb::module_& m) {
  bind_colours(m);
  bind_places(m);
  bind_files(m);
  bind_measures(m);
  bind_transforms(m);
}

}  // namespace weir::python
