#include "base/errors.h"
#include "ops/data/dataset.h"

namespace weir::ops {
namespace {

// Elements that are kept whole.
class GroupDataset final : public Dataset {
 public:
  GroupDataset(std::vector<Element> elements, ElementSpec spec)
      : Dataset(std::move(spec)), elements_(std::move(elements)) {}
  int64_t cardinality() const override { return static_cast<int64_t>(elements_.size()); }
  IteratorPtr iterate(const IterateContext&, const std::string&) const override {
    struct Iterator final : IteratorOf<GroupDataset> {
      using IteratorOf::IteratorOf;
      bool next(const IterateContext&, Element& out) override {
        if (at >= dataset_.elements_.size()) return false;
        out = dataset_.elements_[at++];
        return true;
      }
      size_t at = 0;
    };
    return std::make_unique<Iterator>(*this);
  }

 private:
  std::vector<Element> elements_;
};

int64_t integer_of(const Element& results, std::string_view what) {
  if (results.size() == 1 && results[0].dtype() == DType::Int64 && results[0].elements() == 1) {
    return results[0].scalar<int64_t>();
  }
  throw invalid_argument("`{}` must return a scalar int64.", what);
}

// Collects elements of equal keys; when there are as many as a function says of the key, another function makes a data
// set of them, whose elements come next. At the end it does so with what is left, in the order of the keys.
class GroupByWindowDataset final : public UnaryDataset {
 public:
  GroupByWindowDataset(DatasetPtr input, CalledFunction key, CalledFunction reduce, CalledFunction size,
                       ElementSpec spec)
      : UnaryDataset(std::move(input), std::move(spec)),
        key_(std::move(key)),
        reduce_(std::move(reduce)),
        size_(std::move(size)) {}

  IteratorPtr iterate(const IterateContext& c, const std::string& place) const override {
    return std::make_unique<Iterator>(*this, c, place);
  }

 private:
  class Iterator final : public UnaryIterator<GroupByWindowDataset> {
   public:
    Iterator(const GroupByWindowDataset& d, const IterateContext& c, const std::string& place)
        : UnaryIterator(d, c, place), place_(place) {}

    bool next(const IterateContext& c, Element& out) override {
      for (;;) {
        if (current_ && current_->next(c, out)) return true;
        current_.reset();
        c.check();
        if (!ended_) {
          collect(c);
        } else if (!groups_.empty()) {
          const auto first = groups_.begin();
          std::vector<Element> elements = std::move(first->second);
          const int64_t key = first->first;
          groups_.erase(first);
          reduce(c, key, std::move(elements));
        } else {
          return false;
        }
      }
    }

   private:
    void collect(const IterateContext& c) {
      Element element, result;
      if (!input_->next(c, element)) {
        ended_ = true;
        return;
      }
      dataset_.key_(c, element, result);
      const int64_t key = integer_of(result, "key_func");
      auto [size, is_new] = sizes_.try_emplace(key, 0);
      if (is_new) {
        try {
          dataset_.size_(c, {Tensor(key)}, result);
          size->second = integer_of(result, "window_size_func");
        } catch (...) {
          sizes_.erase(size);
          throw;
        }
        if (size->second <= 0) {
          sizes_.erase(size);
          throw invalid_argument("Window size must be greater than zero, but got {}.",
                                 integer_of(result, "window_size_func"));
        }
      }
      std::vector<Element>& group = groups_[key];
      group.push_back(std::move(element));
      if (static_cast<int64_t>(group.size()) < size->second) return;
      std::vector<Element> elements = std::move(group);
      groups_.erase(key);
      reduce(c, key, std::move(elements));
    }

    void reduce(const IterateContext& c, int64_t key, std::vector<Element> elements) {
      Element result;
      auto group = std::make_shared<const GroupDataset>(std::move(elements), dataset_.input()->spec());
      dataset_.reduce_(c, {Tensor(key), variant_tensor(std::move(group))}, result);
      current_ = dataset_of(result, "GroupByWindowDataset")->iterate(c, place_ + "{" + std::to_string(made_++) + "}");
    }

    std::string place_;
    std::map<int64_t, std::vector<Element>> groups_;
    std::map<int64_t, int64_t> sizes_;
    IteratorPtr current_;
    int64_t made_ = 0;
    bool ended_ = false;
  };

  CalledFunction key_, reduce_, size_;
};

void cpu(KernelContext& c) {
  const int key = types_of_list(c, "Tkey_func_other_arguments"),
            reduce = types_of_list(c, "Treduce_func_other_arguments"),
            size = types_of_list(c, "Twindow_size_func_other_arguments");
  set_dataset(c, std::make_shared<const GroupByWindowDataset>(
                     dataset_input(c, 0), function_input(c, "key_func", 1, key),
                     function_input(c, "reduce_func", 1 + key, reduce),
                     function_input(c, "window_size_func", 1 + key + reduce, size), declared_spec(c)));
}

}  // namespace

OpDef group_by_window_dataset_op() {
  return {.name = "GroupByWindowDataset",
          .inputs =
              "input_dataset:variant; key_func_other_arguments:Tkey_func_other_arguments; "
              "reduce_func_other_arguments:Treduce_func_other_arguments; "
              "window_size_func_other_arguments:Twindow_size_func_other_arguments",
          .outputs = "handle:variant",
          .attrs =
              "key_func:func; reduce_func:func; window_size_func:func; Tkey_func_other_arguments:list(type)>=0; "
              "Treduce_func_other_arguments:list(type)>=0; Twindow_size_func_other_arguments:list(type)>=0; "
              "output_types:list(type)>=1; output_shapes:list(shape)>=1",
          .host =
              "input_dataset, key_func_other_arguments, reduce_func_other_arguments, "
              "window_size_func_other_arguments, handle",
          .infer = infer_dataset<0>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
