#include "devices/opencl/opencl_driver.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "base/errors.h"
#include "devices/opencl/api.h"
#include "devices/opencl/blast.h"

namespace weir::opencl {
namespace {

using accelerator::Argument;
using accelerator::EventHandle;
using accelerator::KernelHandle;
using accelerator::ProgramHandle;
using accelerator::Queue;
using accelerator::Region;
using Way = DeviceMemory::Way;

template <class Value>
Value number(const Api& api, DeviceId device, uint32_t what) {
  Value value{};
  api.get_device_info(device, what, sizeof value, &value, nullptr);
  return value;
}

std::string text(const Api& api, DeviceId device, uint32_t what) {
  size_t bytes = 0;
  if (api.get_device_info(device, what, 0, nullptr, &bytes) != kSuccess || bytes == 0) return "";
  std::string value(bytes, '\0');
  api.get_device_info(device, what, bytes, value.data(), nullptr);
  value.resize(std::strlen(value.c_str()));
  return value;
}

class OpenClDriver final : public accelerator::Driver {
 public:
  OpenClDriver(const Api& api, DeviceId device, const std::string& platform, const Libraries& libraries)
      : api_(api), device_(device), blast_(libraries.blast), least_product_(libraries.least_product) {
    info_.kind = "OpenCL";
    info_.name = text(api, device, kDeviceName);
    info_.driver = platform + " " + text(api, device, kDriverVersion);
    info_.memory = static_cast<int64_t>(number<uint64_t>(api, device, kDeviceGlobalMemSize));
    info_.largest_region = static_cast<int64_t>(number<uint64_t>(api, device, kDeviceMaxMemAllocSize));
    info_.units = static_cast<int>(std::max(1u, number<uint32_t>(api, device, kDeviceMaxComputeUnits)));
    info_.has_double = text(api, device, kDeviceExtensions).find("cl_khr_fp64") != std::string::npos;
    int32_t status = kSuccess;
    context_ = api_.create_context(nullptr, 1, &device_, nullptr, nullptr, &status);
    require(status, "clCreateContext");
    for (CommandQueue& queue : queues_) {
      queue = api_.create_command_queue(context_, device_, kProfilingQueue, &status);
      require(status, "clCreateCommandQueue");
    }
  }

  ~OpenClDriver() override {
    for (Kernel* kernel : kernels_) {
      api_.release_kernel(kernel->object);
      delete kernel;
    }
    for (Program program : programs_) api_.release_program(program);
    for (CommandQueue queue : queues_) {
      if (queue) api_.release_command_queue(queue);
    }
    if (context_) api_.release_context(context_);
  }

  Region allocate(size_t bytes) override {
    int32_t status = kSuccess;
    Mem memory = api_.create_buffer(context_, kMemReadWrite, bytes, nullptr, &status);
    require(status, "clCreateBuffer");
    // Buffers of OpenCL 1.2 have no addresses. These are set aside for this one and mean nothing to the processor.
    void* base = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) {
      api_.release_mem_object(memory);
      throw error(Code::ResourceExhausted, "no addresses are left for {} bytes of {}", bytes, info_.name);
    }
    Region region{static_cast<char*>(base), bytes, memory};
    std::unique_lock lock(regions_mutex_);
    regions_.emplace(region.base, region);
    return region;
  }

  void release(const Region& region) noexcept override {
    {
      std::unique_lock lock(regions_mutex_);
      regions_.erase(region.base);
    }
    api_.release_mem_object(static_cast<Mem>(region.handle));
    munmap(region.base, region.bytes);
  }

  // A buffer of the host's memory that stays mapped: what drivers take for pinned.
  void* pin(size_t bytes) override {
    int32_t status = kSuccess;
    Mem memory = api_.create_buffer(context_, kMemReadWrite | kMemAllocHostPtr, bytes, nullptr, &status);
    require(status, "clCreateBuffer");
    void* data =
        api_.enqueue_map_buffer(queues_[0], memory, 1, kMapRead | kMapWrite, 0, bytes, 0, nullptr, nullptr, &status);
    if (status != kSuccess) api_.release_mem_object(memory);
    require(status, "clEnqueueMapBuffer");
    std::unique_lock lock(regions_mutex_);
    pinned_.emplace(data, memory);
    return data;
  }

  void unpin(void* data) noexcept override {
    std::unique_lock lock(regions_mutex_);
    auto found = pinned_.find(data);
    if (found == pinned_.end()) return;
    api_.enqueue_unmap_mem_object(queues_[0], found->second, data, 0, nullptr, nullptr);
    api_.release_mem_object(found->second);
    pinned_.erase(found);
  }

  void copy(void* to, const void* from, size_t bytes, Way way, Queue on) override {
    CommandQueue queue = queues_[static_cast<size_t>(on)];
    if (way == Way::FromHost) {
      const Place there = place_of(to);
      require(api_.enqueue_write_buffer(queue, there.memory, 0, there.offset, bytes, from, 0, nullptr, nullptr),
              "clEnqueueWriteBuffer");
    } else if (way == Way::ToHost) {
      const Place here = place_of(from);
      require(api_.enqueue_read_buffer(queue, here.memory, 0, here.offset, bytes, to, 0, nullptr, nullptr),
              "clEnqueueReadBuffer");
    } else {
      const Place here = place_of(from), there = place_of(to);
      require(api_.enqueue_copy_buffer(queue, here.memory, there.memory, here.offset, there.offset, bytes, 0, nullptr,
                                       nullptr),
              "clEnqueueCopyBuffer");
    }
  }

  std::string compile(const std::string& source) override {
    const char* text = source.c_str();
    const size_t length = source.size();
    int32_t status = kSuccess;
    Program program = api_.create_program_with_source(context_, 1, &text, &length, &status);
    require(status, "clCreateProgramWithSource");
    const Release release{api_, program};
    build(program);
    size_t bytes = 0;
    require(api_.get_program_info(program, kProgramBinarySizes, sizeof bytes, &bytes, nullptr), "clGetProgramInfo");
    std::string binary(bytes, '\0');
    auto* data = reinterpret_cast<unsigned char*>(binary.data());
    require(api_.get_program_info(program, kProgramBinaries, sizeof data, &data, nullptr), "clGetProgramInfo");
    return binary;
  }

  ProgramHandle load(const std::string& binary) override {
    const auto* data = reinterpret_cast<const unsigned char*>(binary.data());
    const size_t bytes = binary.size();
    int32_t status = kSuccess, loaded = kSuccess;
    Program program = api_.create_program_with_binary(context_, 1, &device_, &bytes, &data, &loaded, &status);
    require(status, "clCreateProgramWithBinary");
    try {
      require(loaded, "clCreateProgramWithBinary");
      build(program);
    } catch (...) {
      api_.release_program(program);
      throw;
    }
    std::unique_lock lock(regions_mutex_);
    programs_.push_back(program);
    return program;
  }

  KernelHandle find(ProgramHandle program, const char* name) override {
    int32_t status = kSuccess;
    KernelObject object = api_.create_kernel(static_cast<Program>(program), name, &status);
    require(status, "clCreateKernel");
    auto* kernel = new Kernel{object, {}};
    std::unique_lock lock(regions_mutex_);
    kernels_.push_back(kernel);
    return kernel;
  }

  void launch(KernelHandle handle, int groups, std::span<const Argument> arguments) override {
    Kernel& kernel = *static_cast<Kernel*>(handle);
    std::lock_guard lock(kernel.mutex);  // arguments are the kernel's until it is enqueued
    uint32_t index = 0;
    for (const Argument& argument : arguments) {
      if (argument.bytes > 0) {
        require(api_.set_kernel_arg(kernel.object, index++, argument.bytes, argument.data), "clSetKernelArg");
        continue;
      }
      const Place place = argument.data ? place_of(argument.data) : Place{};
      const auto offset = static_cast<uint64_t>(place.offset);
      require(api_.set_kernel_arg(kernel.object, index++, sizeof(Mem), &place.memory), "clSetKernelArg");
      require(api_.set_kernel_arg(kernel.object, index++, sizeof offset, &offset), "clSetKernelArg");
    }
    const size_t local = accelerator::kGroupItems, global = local * static_cast<size_t>(groups);
    require(api_.enqueue_nd_range_kernel(queues_[0], kernel.object, 1, nullptr, &global, &local, 0, nullptr, nullptr),
            "clEnqueueNDRangeKernel");
  }

  bool multiply(const accelerator::Product& p, const void* a, const void* b, void* c) override {
    if (p.batch * p.m * p.n * p.k < least_product_) return false;
    const BlastApi* blast = blast_ ? blast_() : nullptr;
    if (!blast) return false;
    return p.type == DType::Float64 ? multiply_as<double>(blast->dgemm, blast->dgemm_batched, p, a, b, c)
                                    : multiply_as<float>(blast->sgemm, blast->sgemm_batched, p, a, b, c);
  }

  EventHandle record(Queue on) override {
    CommandQueue queue = queues_[static_cast<size_t>(on)];
    Event event = nullptr;
    require(api_.enqueue_marker(queue, 0, nullptr, &event), "clEnqueueMarkerWithWaitList");
    require(api_.flush(queue), "clFlush");  // whoever waits for the mark, on another queue too, does not do that
    return event;
  }

  void wait(EventHandle event) override {
    auto* mark = static_cast<Event>(event);
    const int32_t status = api_.wait_for_events(1, &mark);
    api_.release_event(mark);
    require(status, "clWaitForEvents");
  }

  void follow(Queue queue, EventHandle event) override {
    const auto mark = static_cast<Event>(event);
    require(api_.enqueue_barrier(queues_[static_cast<size_t>(queue)], 1, &mark, nullptr),
            "clEnqueueBarrierWithWaitList");
  }

  EventHandle moment() override { return record(Queue::Compute); }

  int64_t nanoseconds(EventHandle from, EventHandle to) override {
    uint64_t at[2] = {};
    for (int i = 0; i < 2; ++i) {
      auto* event = static_cast<Event>(i == 0 ? from : to);
      require(api_.get_event_profiling_info(event, kProfilingEnd, sizeof at[i], &at[i], nullptr),
              "clGetEventProfilingInfo");
    }
    return static_cast<int64_t>(at[1] - at[0]);
  }

  void forget(EventHandle event) noexcept override { api_.release_event(static_cast<Event>(event)); }

 private:
  struct Kernel {
    KernelObject object;
    std::mutex mutex;
  };
  struct Release {
    const Api& api;
    Program program;
    ~Release() { api.release_program(program); }
  };
  struct Place {
    Mem memory = nullptr;
    size_t offset = 0;
  };

  template <class T, class Single, class Batched>
  bool multiply_as(Single single, Batched batched, const accelerator::Product& p, const void* a, const void* b,
                   void* c) {
    constexpr int kRowMajor = 101, kPlain = 111, kTransposed = 112;
    const Place at_a = place_of(a), at_b = place_of(b), at_c = place_of(c);
    const int turn_a = p.transpose_a ? kTransposed : kPlain, turn_b = p.transpose_b ? kTransposed : kPlain;
    const auto m = static_cast<size_t>(p.m), n = static_cast<size_t>(p.n), k = static_cast<size_t>(p.k);
    const size_t a_row = p.transpose_a ? m : k, b_row = p.transpose_b ? k : n;
    const size_t a_offset = at_a.offset / sizeof(T), b_offset = at_b.offset / sizeof(T),
                 c_offset = at_c.offset / sizeof(T);
    if (p.batch == 1) {
      return single(kRowMajor, turn_a, turn_b, m, n, k, T{1}, at_a.memory, a_offset, a_row, at_b.memory, b_offset,
                    b_row, T{0}, at_c.memory, c_offset, n, &queues_[0], nullptr) == kSuccess;
    }
    return batched(kRowMajor, turn_a, turn_b, m, n, k, T{1}, at_a.memory, a_offset, a_row,
                   static_cast<size_t>(p.a_batch), at_b.memory, b_offset, b_row, static_cast<size_t>(p.b_batch), T{0},
                   at_c.memory, c_offset, n, m * n, static_cast<size_t>(p.batch), &queues_[0], nullptr) == kSuccess;
  }

  Place place_of(const void* address) const {
    const char* at = static_cast<const char*>(address);
    std::shared_lock lock(regions_mutex_);
    auto after = regions_.upper_bound(at);
    if (after != regions_.begin()) {
      const Region& region = std::prev(after)->second;
      if (at < region.base + region.bytes) {
        return {static_cast<Mem>(region.handle), static_cast<size_t>(at - region.base)};
      }
    }
    throw error(Code::Internal, "a kernel of {} was given an address that is not in its memory", info_.name);
  }

  void build(Program program) const {
    const int32_t status = api_.build_program(program, 1, &device_, "-cl-std=CL1.2", nullptr, nullptr);
    if (status == kSuccess) return;
    size_t bytes = 0;
    api_.get_program_build_info(program, device_, kProgramBuildLog, 0, nullptr, &bytes);
    std::string log(bytes, '\0');
    if (bytes > 0) api_.get_program_build_info(program, device_, kProgramBuildLog, bytes, log.data(), nullptr);
    throw invalid_argument("the OpenCL compiler of {} refuses a kernel (error {}): {}", info_.name, status,
                           log.c_str());
  }

  void require(int32_t status, const char* call) const {
    if (status == kSuccess) return;
    if (status == kMemObjectAllocationFailure || status == kOutOfHostMemory || status == kInvalidBufferSize) {
      throw error(Code::ResourceExhausted, "{} on {}: out of memory (error {})", call, info_.name, status);
    }
    if (status == kDeviceNotAvailable || status == kOutOfResources || status == -14) {
      throw error(Code::Unavailable, "{}: the device {} does not answer any more, or has no resources left (error {})",
                  call, info_.name, status);
    }
    throw error(Code::Internal, "{} on {} failed with OpenCL's error {}", call, info_.name, status);
  }

  const Api& api_;
  DeviceId device_;
  const BlastApi* (*blast_)();
  const int64_t least_product_;
  Context context_ = nullptr;
  std::array<CommandQueue, accelerator::kQueues> queues_{};
  mutable std::shared_mutex regions_mutex_;  // and of all that follows
  std::map<const char*, Region> regions_;
  std::map<void*, Mem> pinned_;
  std::vector<Program> programs_;
  std::vector<Kernel*> kernels_;
};

bool is_pocl(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name.find("pocl") != std::string::npos || name.find("portable computing") != std::string::npos;
}

}  // namespace

std::vector<std::shared_ptr<accelerator::Driver>> find_drivers(bool with_cpus, const Libraries& libraries) {
  std::vector<std::shared_ptr<accelerator::Driver>> gpus, cpus;
  const Api* api = open_api();
  if (!api) return gpus;
  uint32_t count = 0;
  if (api->get_platform_ids(0, nullptr, &count) != kSuccess) return gpus;
  std::vector<Platform> platforms(count);
  api->get_platform_ids(count, platforms.data(), nullptr);
  for (Platform platform : platforms) {
    char version[256] = "";
    api->get_platform_info(platform, kPlatformVersion, sizeof version - 1, version, nullptr);
    uint32_t found = 0;
    if (api->get_device_ids(platform, kTypeAll, 0, nullptr, &found) != kSuccess) continue;
    std::vector<DeviceId> devices(found);
    api->get_device_ids(platform, kTypeAll, found, devices.data(), nullptr);
    for (DeviceId device : devices) {
      const auto type = number<uint64_t>(*api, device, kDeviceType);
      const bool is_cpu = (type & (kTypeGpu | kTypeAccelerator)) == 0;
      if ((is_cpu && !with_cpus) || number<uint32_t>(*api, device, kDeviceAvailable) == 0) continue;
      try {
        (is_cpu ? cpus : gpus).push_back(std::make_shared<OpenClDriver>(*api, device, version, libraries));
      } catch (const Error&) {  // one that cannot be used is none
      }
    }
  }
  gpus.insert(gpus.end(), cpus.begin(), cpus.end());
  return gpus;
}

bool may_have_gpus() {
  if (std::getenv("OCL_ICD_VENDORS") || std::getenv("OPENCL_VENDOR_PATH")) return true;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator("/etc/OpenCL/vendors", failed)) {
    std::ifstream file(entry.path());
    std::string library;
    std::getline(file, library);
    if (!library.empty() && !is_pocl(library)) return true;
  }
  return false;
}

}  // namespace weir::opencl
