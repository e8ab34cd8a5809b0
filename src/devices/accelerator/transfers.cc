#include "devices/accelerator/transfers.h"

#include <algorithm>
#include <utility>

namespace weir::accelerator {

using Way = DeviceMemory::Way;

Transfers::Transfers(Driver& driver, Allocator& allocator, const Options& options)
    : driver_(driver), allocator_(allocator), options_(options) {}

Transfers::~Transfers() {
  let_go(in_);
  let_go(out_);
}

void Transfers::let_go(Pieces& pieces) noexcept {
  for (Piece& piece : pieces.all) {
    if (piece.last) driver_.forget(piece.last);
    if (piece.data) allocator_.give_back(piece.data);
  }
}

// Where memory is short, copies go among the kernels.
bool Transfers::apart(Pieces& pieces, size_t bytes) {
  if (bytes < options_.least || options_.piece < options_.least) return false;
  if (!pieces.asked) {
    pieces.asked = true;
    for (Piece& piece : pieces.all) {
      piece.data = allocator_.take(options_.piece);
      if (piece.data) piece.last = driver_.record(Queue::Compute);  // kernels may use the block still
    }
  }
  return std::all_of(pieces.all.begin(), pieces.all.end(), [](const Piece& piece) { return piece.data; });
}

// The piece whose use is the longest ago, as soon as that has ended.
Transfers::Piece& Transfers::next(Pieces& pieces, Queue user) {
  Piece& piece = pieces.all[pieces.next++ % pieces.all.size()];
  if (EventHandle last = std::exchange(piece.last, nullptr)) {
    driver_.follow(user, last);
    driver_.forget(last);
  }
  return piece;
}

void Transfers::behind(Queue queue, Queue other) {
  EventHandle mark = driver_.record(other);
  driver_.follow(queue, mark);
  driver_.forget(mark);
}

void Transfers::in(void* to, const void* pinned, size_t bytes, EventHandle theirs) {
  std::lock_guard lock(mutex_);
  const bool aside = apart(in_, bytes);
  if (theirs) driver_.follow(aside ? Queue::In : Queue::Compute, theirs);
  if (!aside) return driver_.copy(to, pinned, bytes, Way::FromHost);
  for (size_t at = 0; at < bytes; at += options_.piece) {
    const size_t some = std::min(options_.piece, bytes - at);
    Piece& piece = next(in_, Queue::In);
    driver_.copy(piece.data, static_cast<const char*>(pinned) + at, some, Way::FromHost, Queue::In);
    behind(Queue::Compute, Queue::In);
    driver_.copy(static_cast<char*>(to) + at, piece.data, some, Way::Within);
    piece.last = driver_.record(Queue::Compute);
  }
}

void Transfers::out(void* pinned, const void* from, size_t bytes) {
  std::lock_guard lock(mutex_);
  if (!apart(out_, bytes)) return driver_.copy(pinned, from, bytes, Way::ToHost);
  out_used_ = true;
  for (size_t at = 0; at < bytes; at += options_.piece) {
    const size_t some = std::min(options_.piece, bytes - at);
    Piece& piece = next(out_, Queue::Compute);
    driver_.copy(piece.data, static_cast<const char*>(from) + at, some, Way::Within);
    behind(Queue::Out, Queue::Compute);
    driver_.copy(static_cast<char*>(pinned) + at, piece.data, some, Way::ToHost, Queue::Out);
    piece.last = driver_.record(Queue::Out);
  }
}

EventHandle Transfers::mark_out() {
  std::lock_guard lock(mutex_);
  if (!out_used_) return driver_.record(Queue::Compute);
  // Small ones are among the kernels.
  behind(Queue::Out, Queue::Compute);
  return driver_.record(Queue::Out);
}

}  // namespace weir::accelerator
