// Data sets: weir.cifar10.
#include <nanobind/stl/string.h>

#include "convert.h"
#include "data/cifar10.h"

namespace weir::python {
namespace {

using data::DistortedBatches;
using data::Pictures;

nb::tuple to_tuple(data::Batches::Batch&& batch) {
  need_numpy();
  return nb::make_tuple(to_numpy(std::move(batch.images)), to_numpy(std::move(batch.labels)));
}

// Waits and works without the interpreter lock.
template <class F>
auto unlocked(F f) {
  Unlocked outside;
  return f();
}

}  // namespace

void bind_data(nb::module_& m) {
  nb::class_<Pictures>(m, "Pictures")
      .def(
          "__init__",
          [](Pictures* self, nb::handle images, nb::handle labels) {
            need_numpy();
            new (self) Pictures{to_tensor(images, DType::UInt8, true), to_tensor(labels, DType::Int64, true)};
          },
          nb::arg("images"), nb::arg("labels"))
      .def("__len__", [](const Pictures& p) { return p.labels.elements(); })
      .def_prop_ro("images",
                   [](const Pictures& p) {
                     need_numpy();
                     return to_numpy(Tensor(p.images));
                   })
      .def_prop_ro("labels", [](const Pictures& p) {
        need_numpy();
        return to_numpy(Tensor(p.labels));
      });
  m.def(
      "read_cifar10",
      [](const std::string& folder, const std::string& part, int threads) {
        if (part != "train" && part != "test") {
          PyErr_Format(PyExc_ValueError, "part must be 'train' or 'test', got '%s'", part.c_str());
          throw nb::python_error();
        }
        const auto which = part == "train" ? data::Cifar10Part::Train : data::Cifar10Part::Test;
        return unlocked([&] { return data::read_cifar10(folder, which, threads); });
      },
      nb::arg("folder"), nb::arg("part"), nb::arg("threads") = 0);
  nb::class_<DistortedBatches>(m, "DistortedBatches")
      .def(
          "__init__",
          [](DistortedBatches* self, const Pictures& pictures, int64_t batch_size, uint64_t seed, int64_t first_batch,
             int threads, int prefetch, int64_t height, int64_t width, bool flip, float max_brightness,
             float lower_contrast, float upper_contrast, bool whiten) {
            new (self) DistortedBatches(pictures, {.batch_size = batch_size,
                                                   .seed = seed,
                                                   .first_batch = first_batch,
                                                   .threads = threads,
                                                   .prefetch = prefetch,
                                                   .distortions = {.height = height,
                                                                   .width = width,
                                                                   .flip = flip,
                                                                   .max_brightness = max_brightness,
                                                                   .lower_contrast = lower_contrast,
                                                                   .upper_contrast = upper_contrast,
                                                                   .whiten = whiten}});
          },
          nb::arg("pictures"), nb::arg("batch_size") = 128, nb::arg("seed") = 0, nb::arg("first_batch") = 0,
          nb::arg("threads") = 1, nb::arg("prefetch") = 4, nb::arg("height") = 24, nb::arg("width") = 24,
          nb::arg("flip") = true, nb::arg("max_brightness") = 63.0f, nb::arg("lower_contrast") = 0.2f,
          nb::arg("upper_contrast") = 1.8f, nb::arg("whiten") = true)
      .def("__iter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__next__", [](DistortedBatches& b) { return to_tuple(unlocked([&] { return b.next(); })); })
      .def("next", [](DistortedBatches& b) { return to_tuple(unlocked([&] { return b.next(); })); });
  m.def(
      "central_batch",
      [](const Pictures& pictures, int64_t begin, int64_t count, int64_t height, int64_t width) {
        return to_tuple(unlocked([&] { return data::central_batch(pictures, begin, count, height, width); }));
      },
      nb::arg("pictures"), nb::arg("begin"), nb::arg("count"), nb::arg("height") = 24, nb::arg("width") = 24);
}

}  // namespace weir::python
