#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ops/queue/batch.h"
#include "ops/queue/elements.h"
#include "ops/queue/meeting.h"

namespace weir::ops {

// Elements on their way from runs that put them in to runs that take them out. An element is a row of tensors, one for
// each component. Whoever finds no room, or too few elements, waits; both sides are served in the order in which they
// came.
//
// Thread-safe. Errors and their words are TensorFlow's.
class Queue final : public Meeting {
 public:
  using Row = std::vector<Tensor>;
  enum class Kind { Fifo, RandomShuffle, PaddingFifo, Priority };
  struct Options {
    Kind kind = Kind::Fifo;
    std::string name = {};
    int64_t capacity = -1;  // elements; negative: no limit
    std::vector<DType> types = {};
    std::vector<Shape> shapes = {};  // empty: any, and no batches can be taken
    int64_t min_after_dequeue = 0;   // elements that stay until the queue is closed
    int64_t seed = 0, seed2 = 0;     // of RandomShuffle
  };
  // Throws InvalidArgument for options that contradict each other.
  explicit Queue(Options options);

  std::string describe() const override;
  const Options& options() const { return options_; }
  // Throws InvalidArgument when another operation of the same shared name describes another queue.
  void require_same(const Options& other) const;

  // These throw InvalidArgument for elements that do not fit the queue. Each calls `done` once, perhaps much later.
  void enqueue(Row element, KernelContext& c, Completion done);
  void enqueue_many(Row batch, KernelContext& c, Completion done);
  // As the outputs of `c`.
  void dequeue(KernelContext& c, Completion done);
  // As one batch; with `up_to` those that are left of a closed queue are enough.
  void dequeue_many(int64_t count, bool up_to, KernelContext& c, Completion done);
  // Takes no further elements. What waits to be put in is refused at once if so wished; otherwise it still gets in, and
  // the queue is closed after it. Who waits for more elements than will come ends with OutOfRange.
  void close(bool cancel_pending_enqueues, KernelContext& c, Completion done);

  // For who keeps a queue of its own: puts in whatever the capacity says; closes at once.
  void put(Row element);
  void close_now(bool cancel_pending_enqueues);
  // Only who takes elements will bring further ones: who takes with `up_to` does not wait for more than there are.
  void end_soon();

  int64_t size() const;
  bool is_closed() const;

 private:
  class Enqueue;
  class Dequeue;
  class Close;

  void check_types(const Row& row) const;
  void check(const Row& element) const;
  void check_batch(const Row& batch) const;
  // These REQUIRE the lock.
  int64_t room() const;       // for elements
  int64_t available() const;  // elements that may be taken
  Error closed_error() const;
  Error empty_error(int64_t wanted) const;

  const Options options_;
  const std::unique_ptr<Elements> elements_;
  Batches batches_;
  bool closed_ = false, ends_soon_ = false;  // guarded by mutex_, as is
  int64_t put_in_ = 0;                       // elements, ever
};

// "FIFOQueue": as TensorFlow names them in messages.
std::string_view name_of(Queue::Kind kind);

}  // namespace weir::ops
