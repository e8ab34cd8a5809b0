#include <cstdlib>
#include <string_view>

#include "base/errors.h"
#include "devices/accelerator/accelerator_device.h"
#include "devices/cuda/cuda_driver.h"
#include "devices/opencl/opencl_driver.h"

namespace weir::accelerator {
namespace {

bool wants_cpus() {
  const char* asked = std::getenv("WEIR_OPENCL_CPU");
  return asked && *asked && std::string_view(asked) != "0";
}

// WEIR_GPU_LIBRARIES=0: the core's own kernels compute everything.
bool wants_libraries() {
  const char* asked = std::getenv("WEIR_GPU_LIBRARIES");
  return !asked || std::string_view(asked) != "0";
}

std::vector<std::shared_ptr<Engine>> find_engines() {
  const KernelCache cache(KernelCache::default_folder());
  std::vector<std::shared_ptr<Engine>> engines;
  const bool libraries = wants_libraries();
  for (const auto& driver :
       cuda::find_drivers(libraries ? cuda::Libraries{cuda::open_blas, cuda::open_dnn} : cuda::Libraries{})) {
    engines.push_back(std::make_shared<Engine>(driver, Language::Cuda, cache));
  }
  const bool cpus = wants_cpus();
  if (cpus || opencl::may_have_gpus()) {
    for (const auto& driver : opencl::find_drivers(cpus, {.blast = libraries ? opencl::open_blast : nullptr})) {
      engines.push_back(std::make_shared<Engine>(driver, Language::OpenCl, cache));
    }
  }
  return engines;
}

}  // namespace

const std::vector<std::shared_ptr<Engine>>& machine_engines() {
  // Never destroyed: drivers take themselves down when the process ends, in an order of their own.
  static const auto* engines = new std::vector<std::shared_ptr<Engine>>(find_engines());
  return *engines;
}

std::vector<std::shared_ptr<Engine>> visible_engines() {
  const auto& all = machine_engines();
  const char* asked = std::getenv("WEIR_VISIBLE_GPUS");
  const std::string list = asked ? asked : "";
  if (list.empty() || all.empty()) return all;
  std::vector<std::shared_ptr<Engine>> visible;
  for (std::string_view rest = list; !rest.empty();) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string word(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    char* end = nullptr;
    const long number = std::strtol(word.c_str(), &end, 10);
    if (word.empty() || *end || number < 0 || number >= static_cast<long>(all.size())) {
      throw invalid_argument("'visible_device_list' listed an invalid GPU id '{}' but visible device count is {}", word,
                             all.size());
    }
    const auto& engine = all[static_cast<size_t>(number)];
    for (const auto& before : visible) {
      if (before == engine) throw invalid_argument("visible_device_list contained a duplicate GPU id: '{}'", list);
    }
    visible.push_back(engine);
  }
  return visible;
}

}  // namespace weir::accelerator
