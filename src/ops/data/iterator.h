#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <optional>
#include <thread>

#include "ops/data/background.h"

namespace weir::ops {

// Where a pass stands: how many elements it has given, and the seeds that were drawn for it.
struct PassState {
  int64_t given = 0;
  std::map<std::string, Pipeline::Seeds> seeds = {};

  std::string encode() const;
  // Throws InvalidArgument for bytes that encode() does not give.
  static PassState decode(std::string_view bytes);
};

// One pass over a data set: a pipeline, and those who wait for its elements. Whoever finds the pipeline idle, and need
// not wait for other threads, pulls the element itself; others are served by a thread, in the order in which they came,
// and hold none. A run that is cancelled while the thread makes its element leaves that to the next. Thread-safe.
class Pass {
 public:
  // What becomes of an element, called once with it, the end (false) or an error.
  using Receive = std::function<void(bool, Element&&, std::exception_ptr)>;

  Pass(const std::shared_ptr<FunctionRunner>& runner, const DatasetPtr& dataset);
  // Goes on where another pass over an equal data set stood.
  Pass(const std::shared_ptr<FunctionRunner>& runner, const DatasetPtr& dataset, PassState state,
       const RunControl& control);
  ~Pass();
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  void next(const RunControl& control, Receive receive);
  PassState state();
  // Ends the pipeline; who waits gets Cancelled.
  void end() { pipeline_.end(); }

 private:
  struct Request;
  using RequestPtr = std::shared_ptr<Request>;

  bool pull(const IterateContext& c, Element& out);
  void serve();
  void cancel(Request& request);

  Pipeline pipeline_;
  RunControl control_;  // of the thread
  std::mutex pulling_;  // held while the iterator works
  IteratorPtr iterator_;
  bool ended_ = false;  // guarded by pulling_
  int64_t given_ = 0;   // guarded by pulling_

  std::mutex mutex_;
  std::condition_variable_any asked_;
  // Guarded by mutex_:
  std::deque<RequestPtr> requests_;
  std::deque<Made> left_;  // made for runs that were cancelled
  std::thread thread_;
};

// What an Iterator operation gives: a place for a pass over one data set after the other. Thread-safe.
class IteratorResource final : public Resource {
 public:
  IteratorResource(std::string container, std::string name, ElementSpec spec)
      : container_(std::move(container)), name_(std::move(name)), spec_(std::move(spec)) {}
  ~IteratorResource() override;

  std::string describe() const override { return "iterator '" + name_ + "'"; }
  const ElementSpec& spec() const { return spec_; }
  // By which IteratorFromStringHandle finds it again.
  std::string handle() const { return container_ + "\n" + name_; }

  // Begins at the first element. Throws InvalidArgument when the data set's elements are of other types or shapes.
  void initialize(const DatasetPtr& dataset, const std::shared_ptr<FunctionRunner>& runner);
  // Lets the first who asks begin, with the data set that this gives.
  void initialize_once(std::function<void(IteratorResource&, const RunControl&)> first);

  // Throws FailedPrecondition before the first initialisation.
  void next(const RunControl& control, Pass::Receive receive);
  // Where it stands, and how another begins there, with the data set that it was initialised with. The same.
  PassState save(const RunControl& control);
  void restore(PassState state, const RunControl& control, const std::shared_ptr<FunctionRunner>& runner);

 private:
  const std::string container_, name_;
  const ElementSpec spec_;
  // The pass that is under way, after the first initialisation. Throws FailedPrecondition when there was none.
  std::shared_ptr<Pass> current(const RunControl& control, std::string_view what);

  std::mutex mutex_;  // guards what follows
  std::shared_ptr<Pass> pass_;
  DatasetPtr dataset_;      // that the pass goes over
  std::mutex first_mutex_;  // guards first_ and is held while it runs
  std::function<void(IteratorResource&, const RunControl&)> first_;
};

// Throws InvalidArgument, in TensorFlow's words, when elements that are `given` cannot stand where these are `wanted`.
void require_compatible(const ElementSpec& wanted, const ElementSpec& given);
// An element as the outputs of a node that says what it wants by its attribute output_types.
void give_element(KernelContext& c, Element&& element);
const RunControl& control_of(const KernelContext& c);

// Calls visit with every element of a data set, in a pipeline of its own. REQUIRES: a session.
void for_each_element(const KernelContext& c, const std::shared_ptr<FunctionRunner>& runner, const Dataset& dataset,
                      FunctionRef<bool(const IterateContext&, Element&)> visit);

}  // namespace weir::ops
