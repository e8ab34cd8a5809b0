#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

// What carries collectives between processes: MPI, gloo, or a thread's neighbours in a test. A plugin is a shared
// library that implements Transport and is opened when a program asks for it, so that programs without collectives
// never load an MPI. This header is all that a plugin shares with libweir: it needs none of its symbols.
namespace weir::collectives {

enum class Element : uint8_t { Int8, UInt8, Int16, UInt16, Int32, UInt32, Int64, UInt64, Float32, Float64 };
enum class Combine : uint8_t { Sum, Min, Max, Product };

struct TransportOptions {
  int rank = 0, size = 1;
  // gloo: where rank 0 listens until all have found each other, "host:port"; and this machine's own address or network
  // interface, when the name of the machine does not say it.
  std::string rendezvous = {}, address = {}, interface = {};
  // How long the ranks look for each other, and how long a rank waits in a call for the others; zero: without end.
  std::chrono::milliseconds connect_timeout{300'000}, timeout{0};
};

// The processes of a group. All of them call the same functions in the same order, each from one thread, the one that
// made the transport. Functions return when the result is there; they throw std::exception when others are gone, and
// nothing can be called afterwards.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  // Among the processes of this machine.
  virtual int local_rank() const = 0;
  virtual int local_size() const = 0;
  virtual const char* name() const = 0;

  // `all` gets the bytes of every rank, in order. Waits without burning a processor: others may come much later.
  virtual void all_gather(const void* mine, void* all, size_t bytes) = 0;
  // The same for ranks that give different numbers of bytes; `bytes` has one for each.
  virtual void all_gather_varied(const void* mine, void* all, std::span<const size_t> bytes) = 0;
  // `out` may be `in`.
  virtual void all_reduce(const void* in, void* out, size_t count, Element element, Combine combine) = 0;
  virtual void broadcast(void* data, size_t bytes, int root) = 0;
};

// What a plugin exports as "weir_open_transport"; throws std::exception.
using OpenTransport = Transport* (*)(const TransportOptions& options);

}  // namespace weir::collectives
