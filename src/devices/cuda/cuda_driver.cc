#include "devices/cuda/cuda_driver.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <set>

#include "base/errors.h"
#include "devices/cuda/replay.h"

namespace weir::cuda {
namespace {

using accelerator::Argument;
using accelerator::EventHandle;
using accelerator::KernelHandle;
using accelerator::ProgramHandle;
using accelerator::Queue;
using accelerator::Region;
using Way = DeviceMemory::Way;

Address address(const void* pointer) { return reinterpret_cast<Address>(pointer); }

// The primary context of a device, a stream in it for each queue.
class CudaDriver final : public accelerator::Driver {
 public:
  CudaDriver(const Api& api, int number, const Libraries& libraries) : api_(api), libraries_(libraries) {
    require(api_.device_get(&device_, number), "cuDeviceGet");
    char name[256] = "";
    require(api_.device_get_name(name, sizeof name - 1, device_), "cuDeviceGetName");
    size_t bytes = 0;
    require(api_.device_total_mem(&bytes, device_), "cuDeviceTotalMem");
    int version = 0, units = 1, major = 0, minor = 0;
    require(api_.driver_get_version(&version), "cuDriverGetVersion");
    require(api_.device_get_attribute(&units, kMultiprocessors, device_), "cuDeviceGetAttribute");
    require(api_.device_get_attribute(&major, kMajor, device_), "cuDeviceGetAttribute");
    require(api_.device_get_attribute(&minor, kMinor, device_), "cuDeviceGetAttribute");
    architecture_ = fmt::format("compute_{}{}", major, minor);
    info_.kind = "CUDA";
    info_.name = name;
    info_.driver =
        fmt::format("CUDA {}.{}, compute capability {}.{}", version / 1000, version % 1000 / 10, major, minor);
    info_.memory = info_.largest_region = static_cast<int64_t>(bytes);
    info_.units = std::max(1, units);
    info_.has_double = true;
    require(api_.primary_ctx_retain(&context_, device_), "cuDevicePrimaryCtxRetain");
    enter();
    for (Stream& stream : streams_) require(api_.stream_create(&stream, kNonBlockingStream), "cuStreamCreate");
    replay_.emplace(api_, stream());
  }

  // The primary context stays: others of the process may use it.
  ~CudaDriver() override {
    if (api_.ctx_set_current(context_) != kSuccess) return;
    blas_.reset();
    dnn_.reset();
    replay_.reset();
    for (Stream stream : streams_) {
      if (stream) api_.stream_destroy(stream);
    }
    for (Event event : events_) api_.event_destroy(event);
    for (Module module : modules_) api_.module_unload(module);
  }

  int64_t in_use() override {
    enter();
    size_t free = 0, all = 0;
    if (api_.mem_get_info(&free, &all) != kSuccess) return -1;
    return static_cast<int64_t>(all - free);
  }

  Region allocate(size_t bytes) override {
    enter();
    Address at = 0;
    require(api_.mem_alloc(&at, bytes), "cuMemAlloc");
    return {reinterpret_cast<char*>(at), bytes, nullptr};
  }

  void release(const Region& region) noexcept override {
    try {
      enter();
      const auto turn = my_turn(Queue::Compute);  // launches that were gathered may use it
      api_.mem_free(address(region.base));
    } catch (const Error&) {  // the device is lost, and its memory with it
    }
  }

  void* pin(size_t bytes) override {
    enter();
    void* data = nullptr;
    require(api_.mem_host_alloc(&data, bytes, kPortable), "cuMemHostAlloc");
    return data;
  }

  void unpin(void* data) noexcept override {
    if (api_.ctx_set_current(context_) == kSuccess) api_.mem_free_host(data);
  }

  void copy(void* to, const void* from, size_t bytes, Way way, Queue queue) override {
    enter();
    const auto turn = my_turn(queue);
    Stream stream = streams_[static_cast<size_t>(queue)];
    if (way == Way::FromHost) {
      require(api_.memcpy_htod_async(address(to), from, bytes, stream), "cuMemcpyHtoDAsync");
    } else if (way == Way::ToHost) {
      require(api_.memcpy_dtoh_async(to, address(from), bytes, stream), "cuMemcpyDtoHAsync");
    } else {
      require(api_.memcpy_dtod_async(address(to), address(from), bytes, stream), "cuMemcpyDtoDAsync");
    }
  }

  std::string compile(const std::string& source) override { return compile_ptx(api_, source, architecture_); }

  ProgramHandle load(const std::string& binary) override {
    enter();
    Module module = nullptr;
    require(api_.module_load_data(&module, binary.c_str()), "cuModuleLoadData");
    std::lock_guard lock(mutex_);
    modules_.push_back(module);
    return module;
  }

  KernelHandle find(ProgramHandle program, const char* name) override {
    enter();
    Function function = nullptr;
    require(api_.module_get_function(&function, static_cast<Module>(program), name), "cuModuleGetFunction");
    return function;
  }

  // A buffer is an address and an offset, as the dialect has it; here the address is all.
  void launch(KernelHandle kernel, int groups, std::span<const Argument> arguments) override {
    constexpr size_t kMost = 96;
    Replay::Parameter parameters[kMost];
    const void* addresses[kMost];
    static constexpr uint64_t kNoOffset = 0;
    size_t count = 0;
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].bytes > 0) {
        parameters[count++] = {arguments[i].data, arguments[i].bytes};
      } else {
        addresses[i] = arguments[i].data;
        parameters[count++] = {&addresses[i], sizeof addresses[i]};
        parameters[count++] = {&kNoOffset, sizeof kNoOffset};
      }
    }
    enter();
    std::lock_guard lock(launch_mutex_);
    require(replay_->launch(static_cast<Function>(kernel), static_cast<unsigned>(groups), accelerator::kGroupItems,
                            {parameters, count}),
            "cuLaunchKernel");
  }

  bool multiply(const accelerator::Product& p, const void* a, const void* b, void* c) override {
    std::call_once(blas_asked_, [&] {
      const BlasApi* api = libraries_.blas ? libraries_.blas() : nullptr;
      enter();
      if (api) blas_ = std::make_unique<Blas>(*api, stream());
    });
    if (!blas_) return false;
    enter();
    const auto turn = my_turn(Queue::Compute);
    return blas_->multiply(p, a, b, c);
  }

  std::optional<size_t> convolution_scratch(const accelerator::Convolution& c) override {
    std::call_once(dnn_asked_, [&] {
      const DnnApi* api = libraries_.dnn ? libraries_.dnn() : nullptr;
      const auto most = static_cast<size_t>(std::min<int64_t>(info_.memory / 16, int64_t{1} << 30));
      enter();
      if (api) dnn_ = std::make_unique<Dnn>(*api, stream(), most);
    });
    if (!dnn_) return std::nullopt;
    enter();
    return dnn_->scratch(c);
  }

  bool convolve(const accelerator::Convolution& c, const void* first, const void* second, void* result,
                void* scratch) override {
    if (!convolution_scratch(c)) return false;
    const auto turn = my_turn(Queue::Compute);
    return dnn_->convolve(c, first, second, result, scratch);
  }

  EventHandle moment() override {
    enter();
    const auto turn = my_turn(Queue::Compute);
    Event event = nullptr;
    require(api_.event_create(&event, kTiming), "cuEventCreate");
    {
      std::lock_guard lock(mutex_);
      timed_.insert(event);
    }
    const int status = api_.event_record(event, stream());
    if (status != kSuccess) give_back(event);
    require(status, "cuEventRecord");
    return event;
  }

  int64_t nanoseconds(EventHandle from, EventHandle to) override {
    enter();
    float milliseconds = 0;
    require(api_.event_elapsed_time(&milliseconds, static_cast<Event>(from), static_cast<Event>(to)),
            "cuEventElapsedTime");
    return static_cast<int64_t>(static_cast<double>(milliseconds) * 1e6);
  }

  EventHandle record(Queue queue) override {
    enter();
    const auto turn = my_turn(queue);
    Event event = nullptr;
    {
      std::lock_guard lock(mutex_);
      if (!events_.empty()) {
        event = events_.back();
        events_.pop_back();
      }
    }
    if (!event) require(api_.event_create(&event, kNoTiming), "cuEventCreate");
    const int status = api_.event_record(event, streams_[static_cast<size_t>(queue)]);
    if (status != kSuccess) give_back(event);
    require(status, "cuEventRecord");
    return event;
  }

  void wait(EventHandle handle) override {
    enter();
    auto* event = static_cast<Event>(handle);
    const int status = api_.event_synchronize(event);
    give_back(event);
    require(status, "cuEventSynchronize");
  }

  void follow(Queue queue, EventHandle event) override {
    enter();
    const auto turn = my_turn(queue);
    require(api_.stream_wait_event(streams_[static_cast<size_t>(queue)], static_cast<Event>(event), 0),
            "cuStreamWaitEvent");
  }

  bool knows(const Driver& other) const override { return other.info().kind == info_.kind; }
  void forget(EventHandle event) noexcept override { give_back(static_cast<Event>(event)); }

 private:
  // For what is begun on a queue: launches that were gathered come before it, and nobody captures them meanwhile.
  std::unique_lock<std::mutex> my_turn(Queue queue) {
    if (queue != Queue::Compute) return {};
    std::unique_lock lock(launch_mutex_);
    require(replay_->flush(), "cuLaunchKernel");
    return lock;
  }
  Stream stream() const { return streams_[static_cast<size_t>(Queue::Compute)]; }

  void give_back(Event event) {
    std::lock_guard lock(mutex_);
    if (timed_.erase(event) > 0) {
      api_.event_destroy(event);
      return;
    }
    events_.push_back(event);
  }

  // Contexts belong to threads; those of a session come and go.
  void enter() const {
    thread_local Context entered = nullptr;
    if (entered == context_) return;
    require(api_.ctx_set_current(context_), "cuCtxSetCurrent");
    entered = context_;
  }

  void require(int status, const char* call) const {
    if (status == kSuccess) return;
    const char* text = nullptr;
    if (api_.get_error_string(status, &text) != kSuccess || !text) text = "unknown error";
    if (status == kOutOfMemory) {
      throw error(Code::ResourceExhausted, "{} on {}: {} (error {})", call, info_.name, text, status);
    }
    // Errors of kernels stay with the context: nothing on it works any more.
    const bool lost = status == kIllegalAddress || status == kLaunchFailed || status == kNoDevice || status >= 700;
    throw error(lost ? Code::Unavailable : Code::Internal, "{}: the device {} {}: {} (error {})", call, info_.name,
                lost ? "does not answer any more" : "refuses", text, status);
  }

  const Api& api_;
  const Libraries libraries_;
  DeviceId device_ = 0;
  std::string architecture_;
  Context context_ = nullptr;
  std::array<Stream, accelerator::kQueues> streams_{};
  std::mutex mutex_;
  std::vector<Event> events_;  // idle
  std::set<Event> timed_;      // moments, which are not used again
  std::vector<Module> modules_;
  std::mutex launch_mutex_;
  std::optional<Replay> replay_;
  std::once_flag blas_asked_, dnn_asked_;
  std::unique_ptr<Blas> blas_;
  std::unique_ptr<Dnn> dnn_;
};

}  // namespace

std::string compile_ptx(const Api& api, const std::string& source, const std::string& architecture) {
  struct Compiled {
    const Api& api;
    CompilerProgram program = nullptr;
    ~Compiled() {
      if (program) api.destroy_program(&program);
    }
  } compiled{api};
  if (api.create_program(&compiled.program, source.c_str(), "kernel.cu", 0, nullptr, nullptr) != kSuccess) {
    throw error(Code::Internal, "NVRTC makes no program");
  }
  const std::string target = "--gpu-architecture=" + architecture;
  const char* options[] = {target.c_str(), "--std=c++14"};
  const int status = api.compile_program(compiled.program, 2, options);
  if (status != kSuccess) {
    size_t bytes = 0;
    api.get_log_size(compiled.program, &bytes);
    std::string log(bytes, '\0');
    if (bytes > 0) api.get_log(compiled.program, log.data());
    throw invalid_argument("the CUDA compiler refuses a kernel for {} (error {}): {}", architecture, status,
                           log.c_str());
  }
  size_t bytes = 0;
  if (api.get_ptx_size(compiled.program, &bytes) != kSuccess) throw error(Code::Internal, "NVRTC gives no PTX");
  std::string ptx(bytes, '\0');
  if (api.get_ptx(compiled.program, ptx.data()) != kSuccess) throw error(Code::Internal, "NVRTC gives no PTX");
  return ptx;
}

std::vector<std::shared_ptr<accelerator::Driver>> find_drivers(const Api& api, const Libraries& libraries) {
  std::vector<std::shared_ptr<accelerator::Driver>> drivers;
  int count = 0;
  if (api.init(0) != kSuccess || api.device_get_count(&count) != kSuccess) return drivers;
  for (int i = 0; i < count; ++i) {
    try {
      drivers.push_back(std::make_shared<CudaDriver>(api, i, libraries));
    } catch (const Error&) {  // one that cannot be used is none
    }
  }
  return drivers;
}

std::vector<std::shared_ptr<accelerator::Driver>> find_drivers(const Libraries& libraries) {
  const Api* api = open_api();
  return api ? find_drivers(*api, libraries) : std::vector<std::shared_ptr<accelerator::Driver>>{};
}

}  // namespace weir::cuda
