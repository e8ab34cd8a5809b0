// libweir_gloo.so: collectives over gloo, for processes that nobody but a shell, Kubernetes or Slurm has started. They
// find each other at an address of rank 0 (meeting_point.h).

#include <gloo/allgather.h>
#include <gloo/allgatherv.h>
#include <gloo/allreduce.h>
#include <gloo/broadcast.h>
#include <gloo/rendezvous/context.h>
#include <gloo/transport/tcp/device.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <stdexcept>

#include "collectives/plugins/meeting_point.h"
#include "collectives/transport.h"

namespace weir::collectives {
namespace {

using Reduce = std::function<void(void*, const void*, const void*, size_t)>;

template <class T, class F>
Reduce each(F f) {
  return [f](void* to, const void* a, const void* b, size_t count) {
    T* z = static_cast<T*>(to);
    const T* x = static_cast<const T*>(a);
    const T* y = static_cast<const T*>(b);
    for (size_t i = 0; i < count; ++i) z[i] = f(x[i], y[i]);
  };
}

template <class T>
Reduce reduce_of(Combine combine) {
  switch (combine) {
    case Combine::Sum:
      return each<T>([](T x, T y) { return static_cast<T>(x + y); });
    case Combine::Min:
      return each<T>([](T x, T y) { return std::min(x, y); });
    case Combine::Max:
      return each<T>([](T x, T y) { return std::max(x, y); });
    case Combine::Product:
      return each<T>([](T x, T y) { return static_cast<T>(x * y); });
  }
  throw std::invalid_argument("unknown reduction");
}

// How long gloo waits when no limit is given: it has none without a limit.
constexpr std::chrono::milliseconds kWithoutEnd = std::chrono::hours(24 * 365);

class GlooTransport final : public Transport {
 public:
  explicit GlooTransport(const TransportOptions& options) {
    gloo::transport::tcp::attr attr;
    attr.hostname = options.address;
    attr.iface = options.interface;
    MeetingPoint meeting({.address = options.rendezvous,
                          .serves = options.rank == 0,
                          .size = options.size,
                          .timeout = options.connect_timeout});
    std::shared_ptr<gloo::transport::Device> device = gloo::transport::tcp::CreateDevice(attr);
    auto context = std::make_shared<gloo::rendezvous::Context>(options.rank, options.size);
    context->setTimeout(options.connect_timeout.count() > 0 ? options.connect_timeout : kWithoutEnd);
    if (options.size > 1) context->connectFullMesh(meeting, device);
    context->setTimeout(options.timeout.count() > 0 ? options.timeout : kWithoutEnd);
    context_ = context;
    meeting.leave();
    find_neighbours();
  }

  int rank() const override { return context_->rank; }
  int size() const override { return context_->size; }
  int local_rank() const override { return local_rank_; }
  int local_size() const override { return local_size_; }
  const char* name() const override { return "gloo"; }

  void all_gather(const void* mine, void* all, size_t bytes) override {
    gloo::AllgatherOptions options(context_);
    options.setInput(static_cast<char*>(const_cast<void*>(mine)), bytes);
    options.setOutput(static_cast<char*>(all), bytes * static_cast<size_t>(size()));
    options.setTag(next_tag());
    gloo::allgather(options);
  }

  void all_gather_varied(const void* mine, void* all, std::span<const size_t> bytes) override {
    // gloo wants pointers and bytes even of ranks that give nothing.
    char none = 0;
    void* from = const_cast<void*>(mine);
    gloo::AllgathervOptions options(context_);
    options.setInput(from ? static_cast<char*>(from) : &none, bytes[static_cast<size_t>(rank())]);
    options.setOutput(static_cast<char*>(all), std::vector<size_t>(bytes.begin(), bytes.end()));
    options.setTag(next_tag());
    gloo::allgatherv(options);
  }

  void all_reduce(const void* in, void* out, size_t count, Element element, Combine combine) override {
    switch (element) {
      case Element::Int8:
        return reduce<int8_t>(in, out, count, combine);
      case Element::UInt8:
        return reduce<uint8_t>(in, out, count, combine);
      case Element::Int16:
        return reduce<int16_t>(in, out, count, combine);
      case Element::UInt16:
        return reduce<uint16_t>(in, out, count, combine);
      case Element::Int32:
        return reduce<int32_t>(in, out, count, combine);
      case Element::UInt32:
        return reduce<uint32_t>(in, out, count, combine);
      case Element::Int64:
        return reduce<int64_t>(in, out, count, combine);
      case Element::UInt64:
        return reduce<uint64_t>(in, out, count, combine);
      case Element::Float32:
        return reduce<float>(in, out, count, combine);
      case Element::Float64:
        return reduce<double>(in, out, count, combine);
    }
  }

  void broadcast(void* data, size_t bytes, int root) override {
    if (bytes == 0) return;
    gloo::BroadcastOptions options(context_);
    options.setOutput(static_cast<char*>(data), bytes);
    options.setRoot(root);
    options.setTag(next_tag());
    gloo::broadcast(options);
  }

 private:
  template <class T>
  void reduce(const void* in, void* out, size_t count, Combine combine) {
    if (count == 0) return;
    gloo::AllreduceOptions options(context_);
    if (in != out) options.setInput(static_cast<T*>(const_cast<void*>(in)), count);
    options.setOutput(static_cast<T*>(out), count);
    options.setReduceFunction(reduce_of<T>(combine));
    options.setTag(next_tag());
    gloo::allreduce(options);
  }

  uint32_t next_tag() { return ++tag_ & 0x7fffffff; }

  // Processes with the same host name are on one machine.
  void find_neighbours() {
    char mine[256] = {};
    gethostname(mine, sizeof mine - 1);
    std::vector<char> all(sizeof mine * static_cast<size_t>(size()));
    all_gather(mine, all.data(), sizeof mine);
    for (int r = 0; r < size(); ++r) {
      if (std::string_view(all.data() + sizeof mine * static_cast<size_t>(r)) != mine) continue;
      if (r < rank()) ++local_rank_;
      ++local_size_;
    }
  }

  std::shared_ptr<gloo::Context> context_;
  int local_rank_ = 0, local_size_ = 0;
  uint32_t tag_ = 0;
};

}  // namespace
}  // namespace weir::collectives

extern "C" __attribute__((visibility("default"))) weir::collectives::Transport* weir_open_transport(
    const weir::collectives::TransportOptions& options) {
  return new weir::collectives::GlooTransport(options);
}
