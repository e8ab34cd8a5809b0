// libweir_mpi.so: collectives over MPI. Whoever started the processes (mpirun, srun) gives them their numbers.

#define OMPI_SKIP_MPICXX 1
#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "collectives/transport.h"

namespace weir::collectives {
namespace {

// MPI counts elements with an int.
constexpr size_t kMaxCount = 1 << 30;

void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw std::runtime_error(std::string(what) + ": " + std::string(text, static_cast<size_t>(length)));
}

MPI_Datatype type_of(Element element) {
  switch (element) {
    case Element::Int8:
      return MPI_INT8_T;
    case Element::UInt8:
      return MPI_UINT8_T;
    case Element::Int16:
      return MPI_INT16_T;
    case Element::UInt16:
      return MPI_UINT16_T;
    case Element::Int32:
      return MPI_INT32_T;
    case Element::UInt32:
      return MPI_UINT32_T;
    case Element::Int64:
      return MPI_INT64_T;
    case Element::UInt64:
      return MPI_UINT64_T;
    case Element::Float32:
      return MPI_FLOAT;
    case Element::Float64:
      return MPI_DOUBLE;
  }
  throw std::invalid_argument("unknown type of elements");
}

MPI_Op op_of(Combine combine) {
  switch (combine) {
    case Combine::Sum:
      return MPI_SUM;
    case Combine::Min:
      return MPI_MIN;
    case Combine::Max:
      return MPI_MAX;
    case Combine::Product:
      return MPI_PROD;
  }
  throw std::invalid_argument("unknown reduction");
}

class MpiTransport final : public Transport {
 public:
  explicit MpiTransport(const TransportOptions& options) : timeout_(options.timeout) {
    int initialized = 0;
    check(MPI_Initialized(&initialized), "MPI_Initialized");
    int level = MPI_THREAD_SINGLE;
    if (initialized) {
      check(MPI_Query_thread(&level), "MPI_Query_thread");
      if (level < MPI_THREAD_MULTIPLE) {
        throw std::runtime_error(
            "the program has initialized MPI without MPI_THREAD_MULTIPLE, which collectives need beside it");
      }
    } else {
      // This thread alone will call MPI.
      check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level), "MPI_Init_thread");
      own_ = true;
    }
    check(MPI_Comm_dup(MPI_COMM_WORLD, &world_), "MPI_Comm_dup");
    check(MPI_Comm_set_errhandler(world_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_rank(world_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(world_, &size_), "MPI_Comm_size");
    MPI_Comm machine = MPI_COMM_NULL;
    check(MPI_Comm_split_type(world_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine), "MPI_Comm_split_type");
    check(MPI_Comm_rank(machine, &local_rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(machine, &local_size_), "MPI_Comm_size");
    MPI_Comm_free(&machine);
  }

  ~MpiTransport() override {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized) return;
    MPI_Comm_free(&world_);
    if (own_) MPI_Finalize();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int local_rank() const override { return local_rank_; }
  int local_size() const override { return local_size_; }
  const char* name() const override { return "mpi"; }

  void all_gather(const void* mine, void* all, size_t bytes) override {
    const int count = count_of(bytes);
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Iallgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, world_, &request), "MPI_Iallgather");
    wait(request);
  }

  void all_gather_varied(const void* mine, void* all, std::span<const size_t> bytes) override {
    std::vector<int> counts, places;
    size_t at = 0;
    for (size_t part : bytes) {
      counts.push_back(count_of(part));
      places.push_back(count_of(at));
      at += part;
    }
    check(MPI_Allgatherv(mine, counts[static_cast<size_t>(rank_)], MPI_BYTE, all, counts.data(), places.data(),
                         MPI_BYTE, world_),
          "MPI_Allgatherv");
  }

  void all_reduce(const void* in, void* out, size_t count, Element element, Combine combine) override {
    const MPI_Datatype type = type_of(element);
    int width = 0;
    MPI_Type_size(type, &width);
    for (size_t at = 0; at < count; at += kMaxCount) {
      const size_t bytes = at * static_cast<size_t>(width);
      const void* from = in == out ? MPI_IN_PLACE : static_cast<const char*>(in) + bytes;
      check(MPI_Allreduce(from, static_cast<char*>(out) + bytes, static_cast<int>(std::min(kMaxCount, count - at)),
                          type, op_of(combine), world_),
            "MPI_Allreduce");
    }
  }

  void broadcast(void* data, size_t bytes, int root) override {
    for (size_t at = 0; at < bytes; at += kMaxCount) {
      check(MPI_Bcast(static_cast<char*>(data) + at, static_cast<int>(std::min(kMaxCount, bytes - at)), MPI_BYTE, root,
                      world_),
            "MPI_Bcast");
    }
  }

 private:
  static int count_of(size_t bytes) {
    if (bytes > kMaxCount * 2 - 1) throw std::length_error("more than 2 GB cannot be gathered at once");
    return static_cast<int>(bytes);
  }

  // MPI's own waits turn in circles for as long as it takes. The others are usually there at once; who is not may be
  // away for an epoch.
  void wait(MPI_Request& request) const {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    auto pause = std::chrono::microseconds(20);
    for (;;) {
      int done = 0;
      check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      if (done) return;
      const Clock::duration waited = Clock::now() - begin;
      if (timeout_.count() > 0 && waited > timeout_) throw std::runtime_error("the other ranks did not come in time");
      if (waited < std::chrono::microseconds(100)) {
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(pause);
        pause = std::min(pause * 2, std::chrono::microseconds(500));
      }
    }
  }

  const std::chrono::milliseconds timeout_;
  bool own_ = false;
  MPI_Comm world_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1, local_rank_ = 0, local_size_ = 1;
};

}  // namespace
}  // namespace weir::collectives

extern "C" __attribute__((visibility("default"))) weir::collectives::Transport* weir_open_transport(
    const weir::collectives::TransportOptions& options) {
  // Open MPI's components look for its symbols among those that everybody sees.
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&MPI_Init_thread), &info) && info.dli_fname) {
    dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
  }
  return new weir::collectives::MpiTransport(options);
}
