#pragma once

#include <chrono>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "tensor/shared_blocks.h"
#include "weir/tensor.h"

namespace weir::distributed {

// Large values between tasks of one machine and user: they stay where they are (tensor/shared_blocks.h), and the answer
// says where that is. Who cannot map them, or is elsewhere, gets their bytes as always.

// The type of RecvTensor's transport_options, asking and answering.
inline const std::string kLendType = "weir/shared-memory";

// Where this process is: what a task that asks for a value says, and what only a task beside it says too.
const std::string& memory_place();  // "boot, user, namespace"
std::string lend_request();         // that, and the number of the process

// A block of this process, for others to try; "" when there are none. And the trying.
const std::string& memory_probe();
bool can_read(const std::string& probe);

// Values that others read in this process's memory. Thread-safe.
class Lender {
 public:
  // Says where the value is; "": it must be sent. `request` is what the other side asked with.
  std::string lend(const Tensor& value, const std::string& request);
  // Lets go of what was given back, or never fetched, or lent to a process that is gone.
  void collect();

 private:
  struct Loan {
    Tensor value;
    SharedBlock block;
    int slot = 0;
    int reader = 0;  // process
    std::chrono::steady_clock::time_point since;
  };
  std::mutex mutex_;
  std::list<Loan> loans_;  // guarded by mutex_
  std::atomic<int> count_ = 0;
};

// Values in others' memory that this process reads. Thread-safe.
class Borrower {
 public:
  // The value that an answer describes. Throws Unavailable when it cannot be read.
  Tensor borrow(const std::string& answer);
  // Gives back what nobody here uses any more. Nobody may write what is borrowed: this object counts as one of its
  // users.
  void collect();
  ~Borrower();

  struct Mapping;
  // Throws Unavailable.
  std::shared_ptr<Mapping> map(int process, int fd, uint64_t id, uint64_t bytes);

 private:
  struct Loan {
    Tensor value;
    std::shared_ptr<Mapping> mapping;
    int slot = 0;
  };
  std::mutex mutex_;
  std::map<uint64_t, std::shared_ptr<Mapping>> mappings_;  // by the block's id; all guarded by mutex_
  std::list<uint64_t> order_;                              // of mappings_: the oldest first
  std::list<Loan> loans_;
  std::atomic<int> count_ = 0;
};

}  // namespace weir::distributed
