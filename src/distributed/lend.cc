#include "distributed/lend.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <climits>
#include <cstring>
#include <fstream>

#include "base/errors.h"
#include "tensor/elements.h"
#include "tensor/tensor_proto.h"

namespace weir::distributed {
namespace {

constexpr std::chrono::seconds kUnfetched{60};
constexpr size_t kMostMappings = 256;
constexpr int kMostLoans = 1024;

bool is_gone(int process) { return kill(process, 0) != 0 && errno == ESRCH; }

// Numbers with spaces between them, and then a shape message.
std::string to_text(std::initializer_list<uint64_t> numbers, const Tensor& value) {
  std::string text;
  for (uint64_t number : numbers) text += fmt::format("{} ", number);
  proto::TensorShapeProto shape;
  shape_to_proto(value.shape(), shape);
  return text + shape.SerializeAsString();
}

uint64_t take_number(std::string_view& text) {
  uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr == text.data() + text.size() || *read.ptr != ' ') {
    throw error(Code::Internal, "a value in shared memory is described wrongly");
  }
  text.remove_prefix(static_cast<size_t>(read.ptr - text.data()) + 1);
  return number;
}

}  // namespace

const std::string& memory_place() {
  static const std::string place = [] {
    std::string boot;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
    char name[PATH_MAX] = "";
    const ssize_t length = readlink("/proc/self/ns/pid", name, sizeof(name) - 1);
    return fmt::format("{} {} {}", boot, geteuid(), std::string(name, length > 0 ? static_cast<size_t>(length) : 0));
  }();
  return place;
}

std::string lend_request() { return fmt::format("{} {}", getpid(), memory_place()); }

const std::string& memory_probe() {
  static const std::string probe = [] {
    void* data = allocate_shared(kSmallestSharedBlock);  // as long as the process lives
    const std::optional<SharedBlock> block = data ? find_shared(data) : std::nullopt;
    if (!block) return std::string();
    return fmt::format("{} {} {} {} {}", getpid(), block->fd, block->head->id, block->head->bytes, memory_place());
  }();
  return probe;
}

bool can_read(const std::string& probe) {
  try {
    std::string_view text = probe;
    const int process = static_cast<int>(take_number(text)), fd = static_cast<int>(take_number(text));
    const uint64_t id = take_number(text), bytes = take_number(text);
    if (text != memory_place() || bytes > (uint64_t{1} << 30)) return false;
    Borrower().map(process, fd, id, bytes);
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::string Lender::lend(const Tensor& value, const std::string& request) {
  if (!is_plain(value.dtype()) || value.bytes() < kSmallestSharedBlock) return {};
  const size_t space = request.find(' ');
  if (space == std::string::npos || request.compare(space + 1, std::string::npos, memory_place()) != 0) return {};
  int reader = 0;
  std::from_chars(request.data(), request.data() + space, reader);
  if (reader <= 0 || reader == getpid()) return {};
  collect();
  if (count_ >= kMostLoans) return {};
  Tensor kept = value;
  std::optional<SharedBlock> block = find_shared(kept.raw());
  if (!block) {
    kept = value.copy();
    block = find_shared(kept.raw());
    if (!block) return {};
  }
  std::lock_guard lock(mutex_);
  for (int slot = 0; slot < SharedBlock::kSlots; ++slot) {
    uint32_t free = SharedBlock::kFree;
    if (!block->head->slots[slot].compare_exchange_strong(free, SharedBlock::kLent)) continue;
    const std::string text =
        to_text({static_cast<uint64_t>(getpid()), static_cast<uint64_t>(block->fd), block->head->id, block->head->bytes,
                 static_cast<uint64_t>(slot), static_cast<uint64_t>(kept.dtype())},
                kept);
    loans_.push_back({std::move(kept), *block, slot, reader, std::chrono::steady_clock::now()});
    ++count_;
    return text;
  }
  return {};
}

void Lender::collect() {
  if (count_ == 0) return;
  std::list<Loan> ended;  // let go of without the lock
  std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  for (auto at = loans_.begin(); at != loans_.end();) {
    std::atomic<uint32_t>& slot = at->block.head->slots[at->slot];
    uint32_t state = slot.load(std::memory_order_acquire);
    const bool old = state != SharedBlock::kFree && now - at->since > kUnfetched;
    if (old && state == SharedBlock::kLent) {
      if (slot.compare_exchange_strong(state, SharedBlock::kFree)) state = SharedBlock::kFree;
    } else if (old && is_gone(at->reader)) {
      slot.store(SharedBlock::kFree);
      state = SharedBlock::kFree;
    }
    if (state == SharedBlock::kFree) {
      --count_;
      ended.splice(ended.end(), loans_, at++);
    } else {
      ++at;
    }
  }
}

struct Borrower::Mapping {
  SharedBlock::Head* head = nullptr;
  size_t bytes = 0;
  ~Mapping() {
    if (head) munmap(head, bytes);
  }
};

std::shared_ptr<Borrower::Mapping> Borrower::map(int process, int fd, uint64_t id, uint64_t bytes) {
  {
    std::lock_guard lock(mutex_);
    auto known = mappings_.find(id);
    if (known != mappings_.end()) return known->second;
  }
  auto refuse = [&](const char* why) {
    return error(Code::Unavailable, "memory of process {} cannot be read: {} ({})", process, why, std::strerror(errno));
  };
  const int file = open(fmt::format("/proc/{}/fd/{}", process, fd).c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) throw refuse("it cannot be opened");
  struct stat facts = {};
  const int seals = fcntl(file, F_GET_SEALS);
  const size_t whole = bytes + SharedBlock::kDataOffset;
  // Memory that could shrink would end whoever reads it.
  const bool fits = fstat(file, &facts) == 0 && facts.st_size >= 0 && static_cast<size_t>(facts.st_size) == whole &&
                    seals >= 0 && (seals & F_SEAL_SHRINK);
  void* at = fits ? mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  close(file);
  if (at == MAP_FAILED) throw refuse("it is not what was said");
  auto mapping = std::make_shared<Mapping>();
  mapping->head = static_cast<SharedBlock::Head*>(at);
  mapping->bytes = whole;
  if (mapping->head->magic != SharedBlock::kMagic || mapping->head->id != id) throw refuse("it is another");
  std::lock_guard lock(mutex_);
  mappings_[id] = mapping;
  order_.push_back(id);
  if (order_.size() > kMostMappings) {
    mappings_.erase(order_.front());  // values that are in use keep theirs
    order_.pop_front();
  }
  return mapping;
}

Tensor Borrower::borrow(const std::string& answer) {
  std::string_view text = answer;
  const int process = static_cast<int>(take_number(text)), fd = static_cast<int>(take_number(text));
  const uint64_t id = take_number(text), bytes = take_number(text), slot = take_number(text);
  const auto type = static_cast<DType>(take_number(text));
  proto::TensorShapeProto message;
  if (!message.ParseFromArray(text.data(), static_cast<int>(text.size())) || slot >= SharedBlock::kSlots ||
      dtype_size(type) == 0 || !is_plain(type) || bytes > (uint64_t{1} << 46)) {
    throw error(Code::Internal, "a value in shared memory is described wrongly");
  }
  const Shape shape = shape_from_proto(message);
  if (!shape.is_known() || static_cast<uint64_t>(shape.elements()) > bytes / dtype_size(type)) {
    throw error(Code::Internal, "a value in shared memory is described wrongly");
  }
  collect();
  const std::shared_ptr<Mapping> mapping = map(process, fd, id, bytes);
  uint32_t lent = SharedBlock::kLent;
  if (!mapping->head->slots[slot].compare_exchange_strong(lent, SharedBlock::kTaken)) {
    throw error(Code::Unavailable, "a value in the memory of process {} was not fetched in time", process);
  }
  void* data = reinterpret_cast<char*>(mapping->head) + SharedBlock::kDataOffset;
  Buffer* buffer = Buffer::borrow(data, bytes, [] {});
  Tensor value(type, shape, buffer, data);
  std::lock_guard lock(mutex_);
  loans_.push_back({value, mapping, static_cast<int>(slot)});
  ++count_;
  return value;
}

void Borrower::collect() {
  if (count_ == 0) return;
  std::lock_guard lock(mutex_);
  for (auto at = loans_.begin(); at != loans_.end();) {
    if (!at->value.buffer()->unique()) {
      ++at;
      continue;
    }
    at->mapping->head->slots[at->slot].store(SharedBlock::kFree, std::memory_order_release);
    at = loans_.erase(at);
    --count_;
  }
}

Borrower::~Borrower() {
  // Values that are still in use keep their memory; it is never given back.
  for (Loan& loan : loans_) {
    if (loan.value.buffer()->unique()) {
      loan.mapping->head->slots[loan.slot].store(SharedBlock::kFree, std::memory_order_release);
    } else {
      new std::shared_ptr<Mapping>(loan.mapping);
    }
  }
}

}  // namespace weir::distributed
