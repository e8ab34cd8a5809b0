#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <thread>
#include <utility>

#include "base/errors.h"
#include "devices/accelerator/accelerator_device.h"
#include "devices/cpu_device.h"
#include "devices/virtual_gpu.h"

namespace weir {
namespace {

thread_local std::vector<std::shared_ptr<const Device>> more_devices;

constexpr int kMostDevices = 1024;
constexpr int kMostThreads = 1024;  // more would only wait for each other

int core_count(int asked) {
  if (asked < 0) throw invalid_argument("intra_op_parallelism_threads is {}", asked);
  return asked > 0 ? std::min(asked, kMostThreads) : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int virtual_gpus(const SessionOptions& options) {
  int count = options.virtual_gpus.count;
  if (count < 0) {
    const char* text = std::getenv("WEIR_VIRTUAL_GPUS");
    if (!text || !*text) return 0;
    char* end = nullptr;
    long value = std::strtol(text, &end, 10);
    if (*end || value < 0 || value > kMostDevices) {
      throw invalid_argument("WEIR_VIRTUAL_GPUS must be a number of devices; it is '{}'", text);
    }
    count = static_cast<int>(value);
  }
  // As in TensorFlow, device_count says how many of the machine's GPUs a session may use.
  auto limit = options.device_count.find("GPU");
  return limit == options.device_count.end() ? count : std::min(count, limit->second);
}

int64_t machine_memory() { return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE); }

int64_t gpu_memory_limit(const VirtualGpuOptions& options, int count) {
  if (options.memory_limit < 0) throw invalid_argument("the memory limit of the virtual GPUs is negative");
  if (!(options.memory_fraction > 0 && options.memory_fraction <= 1)) {
    throw invalid_argument("per_process_gpu_memory_fraction must be in (0, 1]; it is {}", options.memory_fraction);
  }
  int64_t whole = options.memory_limit > 0 ? options.memory_limit : machine_memory() / 2 / count;
  return std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(whole) * options.memory_fraction));
}

// The machine's GPUs, unless the session wants none or has virtual ones in their place.
void add_machine_gpus(const SessionOptions& options, std::vector<std::shared_ptr<const Device>>& devices) {
  const auto limit = options.device_count.find("GPU");
  if (limit != options.device_count.end() && limit->second == 0) return;
  auto engines = accelerator::visible_engines();
  if (limit != options.device_count.end()) {
    engines.resize(std::min(engines.size(), static_cast<size_t>(limit->second)));
  }
  const double fraction = options.virtual_gpus.memory_fraction;
  if (!engines.empty() && !(fraction > 0 && fraction <= 1)) {
    throw invalid_argument("per_process_gpu_memory_fraction must be in (0, 1]; it is {}", fraction);
  }
  for (size_t i = 0; i < engines.size(); ++i) {
    devices.push_back(std::make_shared<accelerator::AcceleratorDevice>(
        static_cast<int>(i), engines[i],
        accelerator::AcceleratorOptions{.memory_fraction = fraction,
                                        .allow_growth = options.virtual_gpus.allow_growth}));
  }
}

}  // namespace

DeviceSet::DeviceSet(const SessionOptions& options) {
  for (const auto& [type, count] : options.device_count) {
    if (count < 0) throw invalid_argument("device_count['{}'] is {}", type, count);
  }
  const int cores = core_count(options.intra_op_parallelism_threads);
  auto asked = options.device_count.find("CPU");
  const int cpus = asked == options.device_count.end() ? 1 : std::max(1, asked->second);
  if (cpus > kMostDevices) throw invalid_argument("device_count['CPU'] is {}; at most {} are made", cpus, kMostDevices);
  auto add = [&](auto device) {
    if (!options.task.empty()) device->belong_to(DeviceSpec::parse(options.task));
    devices_.push_back(std::move(device));
  };
  for (int i = 0; i < cpus; ++i) {
    // The cores that do not divide evenly go to the first ones.
    const int share = std::max(1, cores / cpus + (i < cores % cpus ? 1 : 0));
    add(std::make_shared<CpuDevice>(i, share));
  }
  const int gpus = virtual_gpus(options);
  for (int i = 0; i < gpus; ++i) {
    const int share = std::max(1, cores / gpus + (i < cores % gpus ? 1 : 0));
    add(std::make_shared<VirtualGpu>(i, share, gpu_memory_limit(options.virtual_gpus, gpus)));
  }
  if (gpus == 0 && more_devices.empty()) add_machine_gpus(options, devices_);
  devices_.insert(devices_.end(), more_devices.begin(), more_devices.end());
}

MoreDevices::MoreDevices(std::vector<std::shared_ptr<const Device>> devices)
    : before_(std::exchange(more_devices, std::move(devices))) {}

MoreDevices::~MoreDevices() { more_devices = std::move(before_); }

std::vector<int> DeviceSet::matching(const DeviceSpec& spec) const {
  std::vector<int> found;
  for (int i = 0; i < size(); ++i) {
    if (spec.matches((*this)[i].spec())) found.push_back(i);
  }
  return found;
}

int DeviceSet::first_gpu() const {
  for (int i = 0; i < size(); ++i) {
    if ((*this)[i].is_accelerator()) return i;
  }
  return -1;
}

std::string DeviceSet::names() const {
  std::string list;
  for (int i = 0; i < size(); ++i) list += (i ? ", " : "") + (*this)[i].name();
  return "[ " + list + " ]";
}

std::vector<DeviceInfo> list_local_devices(const SessionOptions& options) {
  DeviceSet devices(options);
  std::vector<DeviceInfo> list;
  for (int i = 0; i < devices.size(); ++i) list.push_back(devices[i].info());
  return list;
}

std::vector<DeviceInfo> list_local_devices() { return list_local_devices(SessionOptions{}); }

}  // namespace weir
