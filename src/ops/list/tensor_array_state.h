#pragma once

#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/grad_context.h"
#include "graph/infer_context.h"
#include "ops/kernel.h"
#include "ops/list/run_handle.h"

namespace weir::ops {

// What the operations TensorArray, V2 and V3 work on: a list of tensors that changes in place, each element written
// once and read once, as TensorFlow's loops do it. It lives as long as a run uses its handle. Programs that call
// tf.TensorArray get lists that never change instead (tensor_list.h); this is for graphs that come from elsewhere or
// are made by hand. Thread-safe. Everything throws InvalidArgument in TensorFlow's words.
class TensorArrayState final : public Resource {
 public:
  struct Options {
    DType dtype = DType::Invalid;
    int64_t size = 0;
    Shape element_shape = Shape::unknown();
    bool identical_element_shapes = false;
    bool dynamic_size = false;
    bool clear_after_read = true;
    bool sums_writes = false;  // of a gradient: a second write to an element is added
    bool is_grad = false;
  };
  TensorArrayState(std::string name, Options options);

  std::string describe() const override { return "TensorArray '" + name_ + "'"; }
  const std::string& name() const { return name_; }
  DType dtype() const { return options_.dtype; }
  void require_dtype(DType dtype, bool writes) const;

  // Elements are written all or up to the first that cannot be.
  void write(std::span<const int32_t> indices, std::span<const Tensor> values);
  std::vector<Tensor> read(std::span<const int32_t> indices);

  int32_t size() const;
  int32_t size_to_join() const;  // how many elements pack and concat join
  void mark_size(int32_t size);  // what unpack and split gave it
  bool grows() const;
  Shape element_shape() const;
  void merge_element_shape(const Shape& shape);
  void close();
  // The array that the gradients of `source` add up in; made when it is asked for first. `prepended` are sizes that its
  // elements have before those of this one's.
  ResourcePtr<TensorArrayState> gradient(const std::string& source, const Shape& prepended);

 private:
  struct Element {
    Tensor tensor;  // invalid: zeros of `shape`
    Shape shape;
    bool written = false, read = false, cleared = false;
  };
  // REQUIRES for all of these: mutex_ is held.
  void require_open() const;
  void write_one(int32_t index, const Tensor& value);
  Tensor read_one(int32_t index);

  const std::string name_;
  Options options_;  // element_shape, dynamic_size: guarded by mutex_
  mutable std::mutex mutex_;
  bool closed_ = false, summed_ = false;
  int32_t marked_size_ = -1;
  std::vector<Element> elements_;
  std::map<std::string, ResourcePtr<TensorArrayState>> gradients_;
};

// The array behind input 0, by whichever kind of handle.
TensorArrayState& tensor_array(const KernelContext& c);

// For gradient rules: the array of gradients that belongs to the operation's own, seen after `flow`.
struct GradientArray {
  Output handle, flow;
};
GradientArray gradient_array(GradContext& c, const Output& flow);
// The name of this operation with the same version as the one that is being differentiated: "TensorArrayRead" of
// TensorArrayWriteV3 is "TensorArrayReadV3".
std::string same_version(const GradContext& c, std::string_view name);

}  // namespace weir::ops
