#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "graph/infer_context.h"
#include "ops/function_runner.h"
#include "ops/kernel.h"
#include "ops/run_control.h"
#include "ops/types.h"
#include "tensor/variant.h"

// Input pipelines. An operation gives a Dataset, a variant that says how elements are made and never changes; iterating
// over it makes an ElementIterator, which pulls from the iterators of its inputs. A Pipeline is what all iterators
// below one Iterator resource share.
namespace weir::ops {

using Element = std::vector<Tensor>;  // the components, flat

inline constexpr int64_t kInfiniteCardinality = -1, kUnknownCardinality = -2;

class Pipeline;

// Who asks for an element. Cheap to make; lives for one call, or as long as a thread of the pipeline.
struct IterateContext {
  Pipeline& pipeline;
  const RunControl& control;    // of the run that waits for the element, or of the pipeline's own thread
  const std::stop_token& stop;  // of the pipeline, or of the part of it that the thread works for

  // Throws Cancelled or DeadlineExceeded. Whoever may go on without giving an element calls it.
  void check() const {
    if (stop.stop_requested()) end();
    control.check();
  }
  [[noreturn]] void end() const;
};

// For one thread at a time. When next() throws, the element is lost and the next call goes on behind it.
class ElementIterator {
 public:
  virtual ~ElementIterator() = default;
  // False at the end, and from then on.
  virtual bool next(const IterateContext& c, Element& out) = 0;
  // Does without the next `count` elements, as if they had been asked for, those that fail too; gives how many there
  // were. Cheaper than to ask where what is left out need not be made.
  virtual int64_t skip(const IterateContext& c, int64_t count);
  // Whether next() would find what it needs without waiting for threads of the pipeline.
  virtual bool ready() const { return true; }
};
using IteratorPtr = std::unique_ptr<ElementIterator>;

struct ElementSpec {
  std::vector<DType> types;
  std::vector<Shape> shapes;
};

class Dataset : public VariantObject, public std::enable_shared_from_this<Dataset> {
 public:
  explicit Dataset(ElementSpec spec) : spec_(std::move(spec)) {}
  const ElementSpec& spec() const { return spec_; }
  // `place` tells this iterator from others of the pipeline: state that outlives it (the seeds of a shuffle, a cache)
  // is found by that.
  virtual IteratorPtr iterate(const IterateContext& c, const std::string& place) const = 0;
  // The number of elements, when that is known without iterating.
  virtual int64_t cardinality() const { return kUnknownCardinality; }
  // The same `count` times (-1: without end), for kinds that repeat by themselves; null: for others.
  virtual std::shared_ptr<const Dataset> repeated(int64_t) const { return nullptr; }

 private:
  ElementSpec spec_;
};
using DatasetPtr = std::shared_ptr<const Dataset>;

// What the iterators of one pipeline share. It ends with its session.
class Pipeline {
 public:
  explicit Pipeline(const std::shared_ptr<FunctionRunner>& runner);
  ~Pipeline() { end(); }

  GraphFunction& function(const std::string& name) { return functions_->find(name); }
  const std::stop_token& stop() const { return token_; }
  void end() { source_.request_stop(); }

  // Whether a shuffle that is repeated draws across epochs from one buffer (ShuffleAndRepeatDataset), as TensorFlow's
  // optimizer has it unless a program forbids that. It decides the order of the elements.
  std::atomic<bool> fuses_repeated_shuffles{false};

  // The seeds of the iterator at a place: those of its data set, unless the pipeline goes on where another was saved,
  // which drew its own.
  using Seeds = std::pair<uint64_t, uint64_t>;
  Seeds seeds(const std::string& place, Seeds given);
  std::map<std::string, Seeds> saved_seeds() const;
  void restore_seeds(std::map<std::string, Seeds> seeds);

  // State that outlives the iterators at a place, until the pipeline ends.
  template <class S>
  std::shared_ptr<S> state(const std::string& place, FunctionRef<std::shared_ptr<S>()> make) {
    std::lock_guard lock(mutex_);
    std::shared_ptr<void>& found = states_[place + typeid(S).name()];
    if (!found) found = make();
    return std::static_pointer_cast<S>(found);
  }
  // The state of the nearest place around this one that has such a state; null: none has.
  template <class S>
  std::shared_ptr<S> state_around(std::string place) {
    std::lock_guard lock(mutex_);
    while (true) {
      const auto found = states_.find(place + typeid(S).name());
      if (found != states_.end()) return std::static_pointer_cast<S>(found->second);
      if (place.empty()) return nullptr;
      place.pop_back();
    }
  }

 private:
  std::shared_ptr<GraphFunctions> functions_;
  std::stop_source source_;
  const std::stop_token token_ = source_.get_token();
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<void>> states_;  // guarded by mutex_
  std::map<std::string, Seeds> seeds_;                   // guarded by mutex_
  struct End {
    std::stop_source source;
    void operator()() noexcept { source.request_stop(); }
  };
  std::stop_callback<End> with_session_;
};

// An iterator of a kind of data set, which it keeps alive.
template <class D>
class IteratorOf : public ElementIterator {
 public:
  explicit IteratorOf(const D& dataset) : keep_(dataset.shared_from_this()), dataset_(dataset) {}

 private:
  DatasetPtr keep_;

 protected:
  const D& dataset_;
};

// The commonest kind: elements of one other data set, changed, left out or repeated.
class UnaryDataset : public Dataset {
 public:
  UnaryDataset(DatasetPtr input, ElementSpec spec) : Dataset(std::move(spec)), input_(std::move(input)) {}
  explicit UnaryDataset(DatasetPtr input) : Dataset(input->spec()), input_(std::move(input)) {}
  const DatasetPtr& input() const { return input_; }

 private:
  DatasetPtr input_;
};

template <class D>
class UnaryIterator : public IteratorOf<D> {
 public:
  UnaryIterator(const D& dataset, const IterateContext& c, const std::string& place)
      : IteratorOf<D>(dataset), input_(dataset.input()->iterate(c, place + "/")) {}
  bool ready() const override { return input_->ready(); }

 protected:
  IteratorPtr input_;
};

// ---- What kernels of data sets read and give.

// The data set that an input is; throws InvalidArgument when it is none.
DatasetPtr dataset_input(const KernelContext& c, int index);
void set_dataset(KernelContext& c, DatasetPtr dataset, int output = 0);
// The attributes output_types and output_shapes.
ElementSpec declared_spec(const KernelContext& c);

// A function of the graph and what it takes from around it.
struct CalledFunction {
  std::string name;
  Element captured;  // invalid tensors in the places of resources

  // Whether a call does more, or gives something else, than its arguments tell.
  bool stateful(const IterateContext& c) const { return c.pipeline.function(name).stateful(); }
  // Calls it with `arguments` followed by what is captured.
  void operator()(const IterateContext& c, const Element& arguments, Element& results) const;
};
// The function that the attribute names, with the inputs [first, first + count).
CalledFunction function_input(const KernelContext& c, std::string_view attr, int first, int count);
// The number of inputs that a list of types stands for.
int types_of_list(const KernelContext& c, std::string_view attr);

// Seeds as TensorFlow understands them: two zeros ask for others every time.
std::pair<uint64_t, uint64_t> seed_inputs(const KernelContext& c, int index);

// Shape function of an operation that gives one variant: these inputs are scalars.
template <int... inputs>
void infer_dataset(InferContext& c) {
  (c.require_scalar(inputs), ...);
  for (int i = 0; i < c.outputs(); ++i) c.set_output(i, Shape{});
}

inline constexpr std::string_view kSpecAttrs = "output_types:list(type)>=1; output_shapes:list(shape)>=1";

// ---- Elements.

// Elements stacked along a new first axis, one component after the other; their memory is used again once nobody holds
// a batch any more.
class BatchMaker {
 public:
  // Throws InvalidArgument when elements differ in shape.
  Element batch(std::vector<Element>& elements);
  // A tensor to be written whole: its numbers are not initialised, its strings may be old ones.
  Tensor take(size_t component, DType dtype, const Shape& shape);

 private:
  static constexpr size_t kKept = 8;
  std::vector<std::vector<Tensor>> kept_;  // by component
};

// The bytes from one element of a tensor to the next, of any type.
inline size_t element_bytes(DType dtype) { return dtype == DType::Variant ? sizeof(Variant) : dtype_size(dtype); }
// Row `index` of a tensor, which shares its memory.
Tensor shared_row(const Tensor& tensor, int64_t index);
// Rows [begin, end) of a tensor, which share its memory.
Tensor shared_rows(const Tensor& tensor, int64_t begin, int64_t end);
// A scalar truth value that a function gave; throws InvalidArgument when it is none.
bool truth_of(const Element& results);
// The number of rows that all components have; throws InvalidArgument when they differ or one has none.
int64_t common_rows(const Element& components);

// The data set that a function gave; throws InvalidArgument when it is none.
DatasetPtr dataset_of(const Element& results, std::string_view op);

}  // namespace weir::ops
