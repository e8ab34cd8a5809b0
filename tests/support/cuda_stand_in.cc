#include "tests/support/cuda_stand_in.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <sstream>
#include <thread>
#include <vector>

namespace weir::testing {
namespace {

constexpr uint64_t kBias = uint64_t{1} << 62;  // no address of a processor has it

class Worker {
 public:
  Worker(uint32_t seed, int longest) : random_(seed), longest_(longest), thread_([this] { serve(); }) {}
  ~Worker() {
    add(nullptr);
    thread_.join();
  }
  void add(std::function<void()> work) {
    std::lock_guard lock(mutex_);
    if (captured_) return captured_->push_back(std::move(work));
    work_.push_back(std::move(work));
    changed_.notify_one();
  }
  // What is added is not done but kept, until the next call, with null.
  void capture(std::vector<std::function<void()>>* kept) {
    std::lock_guard lock(mutex_);
    captured_ = kept;
  }

 private:
  void serve() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return !work_.empty(); });
      const std::function<void()> next = std::move(work_.front());
      work_.pop_front();
      lock.unlock();
      if (!next) return;
      if (longest_ > 0 && random_() % 8 == 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(random_() % static_cast<unsigned>(longest_)));
      }
      next();
    }
  }

  std::mt19937 random_;
  const int longest_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  std::vector<std::function<void()>>* captured_ = nullptr;
  std::thread thread_;
};

// A place in a stream that was marked. An event is the last one that it was recorded for.
struct Place {
  std::mutex mutex;
  std::condition_variable changed;
  bool reached = false;
  std::chrono::steady_clock::time_point when;

  void reach() {
    std::lock_guard lock(mutex);
    reached = true;
    when = std::chrono::steady_clock::now();
    changed.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return reached; });
  }
};
struct Mark {
  std::mutex mutex;
  std::shared_ptr<Place> last;

  std::shared_ptr<Place> place() {
    std::lock_guard lock(mutex);
    return last;
  }
};

struct CapturedGraph {
  std::vector<std::function<void()>> work;
};

struct CompiledSource {
  std::string source, binary, log;
};

using KernelFn = void (*)(int, int, void**);
struct KernelFunction {
  KernelFn run = nullptr;
  std::vector<size_t> bytes;  // of its arguments
};

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

}  // namespace

struct CudaStandIn::State {
  Options options;
  cuda::Api api{};
  std::mutex mutex;
  std::map<std::string, std::pair<int, int>> failures;  // status, and how often the call still works
  std::vector<size_t> used;
  std::map<uint64_t, std::pair<int, size_t>> blocks;
  std::vector<std::unique_ptr<KernelFunction>> functions;
  std::atomic<int64_t> launches{0}, copies{0}, graphs{0};
  std::map<Worker*, CapturedGraph*> captures;
  std::string folder;
  int files = 0;
  uint32_t streams = 0;
};

namespace {

CudaStandIn::State* state = nullptr;
thread_local int current_device = 0;

int status_of(const char* call) {
  std::lock_guard lock(state->mutex);
  auto found = state->failures.find(call);
  if (found == state->failures.end() || found->second.second-- > 0) return cuda::kSuccess;
  return found->second.first;
}

#define WEIR_MAY_FAIL(call) \
  if (const int failed = status_of(call)) return failed

char* own(cuda::Address at) { return reinterpret_cast<char*>(at - kBias); }

int mem_alloc(cuda::Address* at, size_t bytes) {
  WEIR_MAY_FAIL("cuMemAlloc");
  std::lock_guard lock(state->mutex);
  size_t& used = state->used[static_cast<size_t>(current_device)];
  if (used + bytes > state->options.memory) return cuda::kOutOfMemory;
  void* data = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(data, 0xff, bytes);
  used += bytes;
  *at = reinterpret_cast<uint64_t>(data) + kBias;
  state->blocks[*at] = {current_device, bytes};
  return cuda::kSuccess;
}

int mem_free(cuda::Address at) {
  std::lock_guard lock(state->mutex);
  auto found = state->blocks.find(at);
  if (found == state->blocks.end()) return 1;
  state->used[static_cast<size_t>(found->second.first)] -= found->second.second;
  state->blocks.erase(found);
  std::free(own(at));
  return cuda::kSuccess;
}

int copy(void* to, const void* from, size_t bytes, cuda::Stream stream, const char* call) {
  WEIR_MAY_FAIL(call);
  ++state->copies;
  reinterpret_cast<Worker*>(stream)->add([=] { std::memcpy(to, from, bytes); });
  return cuda::kSuccess;
}

int compile(cuda::CompilerProgram program, int, const char* const*) {
  auto& compiled = *reinterpret_cast<CompiledSource*>(program);
  WEIR_MAY_FAIL("nvrtcCompileProgram");
  std::string base;
  {
    std::lock_guard lock(state->mutex);
    base = state->folder + "/" + std::to_string(state->files++);
  }
  std::ofstream(base + ".cc") << "#define MEMORY_BIAS " << kBias << "ull\n" << compiled.source;
  const std::string command =
      "c++ -std=c++17 -O1 -w -shared -fPIC " + base + ".cc -o " + base + ".so > " + base + ".log 2>&1";
  const int status = std::system(command.c_str());
  compiled.log = read_file(base + ".log");
  if (status == 0) compiled.binary = read_file(base + ".so");
  for (const char* ending : {".cc", ".so", ".log"}) std::remove((base + ending).c_str());
  return status == 0 ? cuda::kSuccess : 6;
}

int load(cuda::Module* module, const void* image) {
  WEIR_MAY_FAIL("cuModuleLoadData");
  // The image is hexadecimal text, because a PTX is a string that ends at its first 0.
  const std::string text = static_cast<const char*>(image);
  std::string path;
  {
    std::lock_guard lock(state->mutex);
    path = state->folder + "/" + std::to_string(state->files++) + ".so";
  }
  {
    std::ofstream file(path, std::ios::binary);
    auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
    for (size_t i = 0; i + 1 < text.size(); i += 2)
      file.put(static_cast<char>(digit(text[i]) * 16 + digit(text[i + 1])));
  }
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  std::remove(path.c_str());
  *module = reinterpret_cast<cuda::Module>(library);
  return library ? cuda::kSuccess : 200;
}

// Arguments are read when the kernel is begun, as CUDA does.
int launch(cuda::Function handle, unsigned groups, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
           cuda::Stream stream, void** parameters, void**) {
  WEIR_MAY_FAIL("cuLaunchKernel");
  ++state->launches;
  const auto* function = reinterpret_cast<KernelFunction*>(handle);
  struct Arguments {
    std::vector<std::vector<uint64_t>> values;
    std::vector<void*> list;
  };
  auto arguments = std::make_shared<Arguments>();
  for (size_t i = 0; i < function->bytes.size(); ++i) {
    arguments->values.emplace_back((function->bytes[i] + 7) / 8);
    std::memcpy(arguments->values.back().data(), parameters[i], function->bytes[i]);
    arguments->list.push_back(arguments->values.back().data());
  }
  reinterpret_cast<Worker*>(stream)->add([=, run = function->run] {
    for (unsigned g = 0; g < groups; ++g) run(static_cast<int>(g), static_cast<int>(groups), arguments->list.data());
  });
  return cuda::kSuccess;
}

int get_function(cuda::Function* function, cuda::Module module, const char* name) {
  auto* library = reinterpret_cast<void*>(module);
  auto kernel = std::make_unique<KernelFunction>();
  kernel->run = reinterpret_cast<KernelFn>(dlsym(library, name));
  auto bytes = reinterpret_cast<int (*)(int)>(dlsym(library, (std::string(name) + "_bytes").c_str()));
  if (!kernel->run || !bytes) return 500;
  for (int i = 0; bytes(i) > 0; ++i) kernel->bytes.push_back(static_cast<size_t>(bytes(i)));
  std::lock_guard lock(state->mutex);
  *function = reinterpret_cast<cuda::Function>(kernel.get());
  state->functions.push_back(std::move(kernel));
  return cuda::kSuccess;
}

std::string hexadecimal(const std::string& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

void fill(cuda::Api& api) {
  api.init = [](unsigned) { return status_of("cuInit"); };
  api.driver_get_version = [](int* version) { return *version = 12080, cuda::kSuccess + 0; };
  api.device_get_count = [](int* count) { return *count = state->options.devices, cuda::kSuccess + 0; };
  api.device_get = [](cuda::DeviceId* device, int number) { return *device = number, cuda::kSuccess + 0; };
  api.device_get_name = [](char* name, int bytes, cuda::DeviceId) {
    std::snprintf(name, static_cast<size_t>(bytes), "a stand-in for a GPU");
    return cuda::kSuccess + 0;
  };
  api.device_total_mem = [](size_t* bytes, cuda::DeviceId) {
    return *bytes = state->options.memory, cuda::kSuccess + 0;
  };
  api.device_get_attribute = [](int* value, int which, cuda::DeviceId) {
    *value = which == cuda::kMultiprocessors ? 4 : which == cuda::kMajor ? 8 : 0;
    return cuda::kSuccess + 0;
  };
  api.primary_ctx_retain = [](cuda::Context* context, cuda::DeviceId device) {
    *context = reinterpret_cast<cuda::Context>(static_cast<intptr_t>(device + 1));
    return status_of("cuDevicePrimaryCtxRetain");
  };
  api.ctx_set_current = [](cuda::Context context) {
    current_device = static_cast<int>(reinterpret_cast<intptr_t>(context)) - 1;
    return status_of("cuCtxSetCurrent");
  };
  api.mem_get_info = [](size_t* free, size_t* all) {
    std::lock_guard lock(state->mutex);
    *all = state->options.memory;
    *free = *all - state->used[static_cast<size_t>(current_device)];
    return cuda::kSuccess + 0;
  };
  api.mem_alloc = mem_alloc;
  api.mem_free = mem_free;
  api.mem_host_alloc = [](void** data, size_t bytes, unsigned) {
    *data = std::malloc(bytes);
    return cuda::kSuccess + 0;
  };
  api.mem_free_host = [](void* data) { return std::free(data), cuda::kSuccess + 0; };
  api.memcpy_htod_async = [](cuda::Address to, const void* from, size_t bytes, cuda::Stream stream) {
    return copy(own(to), from, bytes, stream, "cuMemcpyHtoDAsync");
  };
  api.memcpy_dtoh_async = [](void* to, cuda::Address from, size_t bytes, cuda::Stream stream) {
    return copy(to, own(from), bytes, stream, "cuMemcpyDtoHAsync");
  };
  api.memcpy_dtod_async = [](cuda::Address to, cuda::Address from, size_t bytes, cuda::Stream stream) {
    return copy(own(to), own(from), bytes, stream, "cuMemcpyDtoDAsync");
  };
  api.stream_create = [](cuda::Stream* stream, unsigned) {
    const auto& options = state->options;
    *stream =
        reinterpret_cast<cuda::Stream>(new Worker(options.seed * 977 + state->streams++, options.longest_delay_us));
    return cuda::kSuccess + 0;
  };
  api.stream_destroy = [](cuda::Stream stream) { return delete reinterpret_cast<Worker*>(stream), cuda::kSuccess + 0; };
  api.stream_wait_event = [](cuda::Stream stream, cuda::Event event, unsigned) -> int {
    WEIR_MAY_FAIL("cuStreamWaitEvent");
    if (auto place = reinterpret_cast<Mark*>(event)->place()) {
      reinterpret_cast<Worker*>(stream)->add([place] { place->wait(); });
    }
    return cuda::kSuccess;
  };
  api.event_create = [](cuda::Event* event, unsigned) {
    *event = reinterpret_cast<cuda::Event>(new Mark);
    return cuda::kSuccess + 0;
  };
  api.event_destroy = [](cuda::Event event) { return delete reinterpret_cast<Mark*>(event), cuda::kSuccess + 0; };
  api.event_elapsed_time = [](float* milliseconds, cuda::Event from, cuda::Event to) -> int {
    const auto first = reinterpret_cast<Mark*>(from)->place(), last = reinterpret_cast<Mark*>(to)->place();
    if (!first || !last || !first->reached || !last->reached) return 600;
    *milliseconds = std::chrono::duration<float, std::milli>(last->when - first->when).count();
    return cuda::kSuccess;
  };
  api.event_record = [](cuda::Event event, cuda::Stream stream) -> int {
    WEIR_MAY_FAIL("cuEventRecord");
    auto place = std::make_shared<Place>();
    {
      auto* mark = reinterpret_cast<Mark*>(event);
      std::lock_guard lock(mark->mutex);
      mark->last = place;
    }
    reinterpret_cast<Worker*>(stream)->add([place] { place->reach(); });
    return cuda::kSuccess;
  };
  api.event_synchronize = [](cuda::Event event) -> int {
    if (auto place = reinterpret_cast<Mark*>(event)->place()) place->wait();
    return status_of("cuEventSynchronize");
  };
  api.module_load_data = load;
  api.module_unload = [](cuda::Module) { return cuda::kSuccess + 0; };
  api.module_get_function = get_function;
  api.launch_kernel = launch;
  api.get_error_string = [](int status, const char** text) {
    *text = status == cuda::kOutOfMemory    ? "out of memory"
            : status == cuda::kLaunchFailed ? "unspecified launch failure"
                                            : "some error";
    return cuda::kSuccess + 0;
  };
  api.stream_begin_capture = [](cuda::Stream stream, int) -> int {
    WEIR_MAY_FAIL("cuStreamBeginCapture");
    auto* graph = new CapturedGraph;
    std::lock_guard lock(state->mutex);
    state->captures[reinterpret_cast<Worker*>(stream)] = graph;
    reinterpret_cast<Worker*>(stream)->capture(&graph->work);
    return cuda::kSuccess;
  };
  api.stream_end_capture = [](cuda::Stream stream, cuda::Graph* graph) {
    std::lock_guard lock(state->mutex);
    reinterpret_cast<Worker*>(stream)->capture(nullptr);
    *graph = reinterpret_cast<cuda::Graph>(state->captures[reinterpret_cast<Worker*>(stream)]);
    return cuda::kSuccess + 0;
  };
  api.graph_instantiate = [](cuda::GraphExec* exec, cuda::Graph graph, unsigned long long) -> int {
    WEIR_MAY_FAIL("cuGraphInstantiate");
    *exec = reinterpret_cast<cuda::GraphExec>(new CapturedGraph(*reinterpret_cast<CapturedGraph*>(graph)));
    return cuda::kSuccess;
  };
  api.graph_launch = [](cuda::GraphExec exec, cuda::Stream stream) -> int {
    WEIR_MAY_FAIL("cuGraphLaunch");
    ++state->graphs;
    for (const auto& work : reinterpret_cast<CapturedGraph*>(exec)->work) reinterpret_cast<Worker*>(stream)->add(work);
    return cuda::kSuccess;
  };
  api.graph_exec_destroy = [](cuda::GraphExec exec) {
    return delete reinterpret_cast<CapturedGraph*>(exec), cuda::kSuccess + 0;
  };
  api.graph_destroy = [](cuda::Graph graph) {
    return delete reinterpret_cast<CapturedGraph*>(graph), cuda::kSuccess + 0;
  };
  api.create_program = [](cuda::CompilerProgram* program, const char* source, const char*, int, const char* const*,
                          const char* const*) {
    *program = reinterpret_cast<cuda::CompilerProgram>(new CompiledSource{source, {}, {}});
    return cuda::kSuccess + 0;
  };
  api.compile_program = compile;
  api.get_log_size = [](cuda::CompilerProgram p, size_t* bytes) {
    return *bytes = reinterpret_cast<CompiledSource*>(p)->log.size() + 1, cuda::kSuccess + 0;
  };
  api.get_log = [](cuda::CompilerProgram p, char* log) {
    return std::strcpy(log, reinterpret_cast<CompiledSource*>(p)->log.c_str()), cuda::kSuccess + 0;
  };
  api.get_ptx_size = [](cuda::CompilerProgram p, size_t* bytes) {
    return *bytes = reinterpret_cast<CompiledSource*>(p)->binary.size() * 2 + 1, cuda::kSuccess + 0;
  };
  api.get_ptx = [](cuda::CompilerProgram p, char* ptx) {
    return std::strcpy(ptx, hexadecimal(reinterpret_cast<CompiledSource*>(p)->binary).c_str()), cuda::kSuccess + 0;
  };
  api.destroy_program = [](cuda::CompilerProgram* p) {
    return delete reinterpret_cast<CompiledSource*>(*p), *p = nullptr, cuda::kSuccess + 0;
  };
}

}  // namespace

CudaStandIn::CudaStandIn(const Options& options) : state_(new State) {
  state_->options = options;
  state_->used.resize(static_cast<size_t>(options.devices));
  char folder[] = "/tmp/weir_stand_in_XXXXXX";
  state_->folder = mkdtemp(folder) ? folder : "/tmp";
  fill(state_->api);
  state = state_;
}

CudaStandIn::~CudaStandIn() {
  rmdir(state_->folder.c_str());
  state = nullptr;
  delete state_;
}

void CudaStandIn::begin(cuda::Stream stream, std::function<void()> work) {
  reinterpret_cast<Worker*>(stream)->add(std::move(work));
}

char* CudaStandIn::find(const void* address) { return own(reinterpret_cast<cuda::Address>(address)); }

int CudaStandIn::status_of(const char* call) { return testing::status_of(call); }

const cuda::Api& CudaStandIn::api() const { return state_->api; }
int64_t CudaStandIn::launches() const { return state_->launches; }
int64_t CudaStandIn::graphs() const { return state_->graphs; }
int64_t CudaStandIn::copies() const { return state_->copies; }

void CudaStandIn::fail(const std::string& call, int status, int after) {
  std::lock_guard lock(state_->mutex);
  if (status == cuda::kSuccess) {
    state_->failures.erase(call);
  } else {
    state_->failures[call] = {status, after};
  }
}

}  // namespace weir::testing
