#pragma once

#include <array>
#include <mutex>

#include "devices/accelerator/allocator.h"
#include "devices/accelerator/driver.h"

namespace weir::accelerator {

// Copies between pinned memory of the host and the device's. Large ones go by way of pieces of the device's memory that
// are kept for this, over queues of their own: the bus is busy beside the kernels, and these see no more than a copy
// within the device, in its place in their order. Nobody has to know what else uses the memory. Thread-safe.
class Transfers {
 public:
  struct Options {
    size_t least = size_t{64} << 10;  // bytes of a copy that is worth it
    size_t piece = size_t{4} << 20;
  };
  Transfers(Driver& driver, Allocator& allocator, const Options& options);
  // REQUIRES: what was begun has ended, or the device is lost
  ~Transfers();
  Transfers(const Transfers&) = delete;
  Transfers& operator=(const Transfers&) = delete;

  // `behind`: the host's bytes are there when that mark, perhaps of another device, is reached; null: they are.
  void in(void* to, const void* pinned, size_t bytes, EventHandle behind = nullptr);
  void out(void* pinned, const void* from, size_t bytes);
  // A mark behind all that was copied out so far.
  EventHandle mark_out();

 private:
  struct Piece {
    char* data = nullptr;
    EventHandle last = nullptr;  // behind its last use
  };
  struct Pieces {
    std::array<Piece, 2> all;
    size_t next = 0;
    bool asked = false;
  };
  bool apart(Pieces& pieces, size_t bytes);  // REQUIRES: mutex_ is held
  Piece& next(Pieces& pieces, Queue user);
  void let_go(Pieces& pieces) noexcept;
  void behind(Queue queue, Queue other);

  Driver& driver_;
  Allocator& allocator_;
  const Options options_;
  std::mutex mutex_;
  Pieces in_, out_;
  bool out_used_ = false;
};

}  // namespace weir::accelerator
