#include "base/errors.h"
#include "io/file.h"
#include "ops/data/data_resources.h"
#include "tensor/tensor_proto.h"
#include "weir/records.h"

namespace weir::ops {
namespace {

class MemoryCacheDataset final : public UnaryDataset {
 public:
  // Without a cache of the program's each pipeline has its own.
  MemoryCacheDataset(DatasetPtr input, MemoryCache* cache) : UnaryDataset(std::move(input)), cache_(cache) {}
  int64_t cardinality() const override { return input()->cardinality(); }

  IteratorPtr iterate(const IterateContext& c, const std::string& place) const override {
    struct Own {
      ResourcePtr<MemoryCache> cache = make_resource<MemoryCache>();
    };
    ResourcePtr<MemoryCache> cache = cache_;
    if (!cache) cache = c.pipeline.state<Own>(place, [] { return std::make_shared<Own>(); })->cache;
    return std::make_unique<Iterator>(*this, std::move(cache), place);
  }

 private:
  // The first that gets to the end fills the cache.
  class Iterator final : public IteratorOf<MemoryCacheDataset> {
   public:
    Iterator(const MemoryCacheDataset& d, ResourcePtr<MemoryCache> cache, std::string place)
        : IteratorOf(d), cache_(std::move(cache)), place_(std::move(place) + "/"), reads_(cache_->complete()) {}

    bool next(const IterateContext& c, Element& out) override {
      if (reads_) {
        if (at_ >= cache_->elements().size()) return false;
        out = cache_->elements()[at_++];
        return true;
      }
      if (!input_) input_ = dataset_.input()->iterate(c, place_);
      if (input_->next(c, out)) {
        elements_.push_back(out);
        return true;
      }
      cache_->fill(std::move(elements_));
      at_ = cache_->elements().size();
      reads_ = true;
      return false;
    }
    bool ready() const override { return !input_ || input_->ready(); }

   private:
    ResourcePtr<MemoryCache> cache_;
    std::string place_;
    bool reads_;
    size_t at_ = 0;
    IteratorPtr input_;
    std::vector<Element> elements_;
  };

  ResourcePtr<MemoryCache> cache_;
};

// The same in a file of records, each a component as a TensorProto: "<name>.data", which appears when it is whole.
class FileCacheDataset final : public UnaryDataset {
 public:
  FileCacheDataset(DatasetPtr input, const std::string& name)
      : UnaryDataset(std::move(input)), path_(name + ".data"), lock_path_(name + ".lockfile") {}
  int64_t cardinality() const override { return input()->cardinality(); }

  IteratorPtr iterate(const IterateContext& c, const std::string& place) const override {
    if (io::file_exists(path_)) return std::make_unique<Reader>(*this);
    return std::make_unique<Writer>(*this, c, place);
  }

 private:
  class Reader final : public IteratorOf<FileCacheDataset> {
   public:
    explicit Reader(const FileCacheDataset& d) : IteratorOf(d), records_(d.path_) {}
    bool next(const IterateContext&, Element& out) override {
      out.clear();
      for (DType wanted : dataset_.spec().types) {
        std::string record;
        if (!records_.next(record)) {
          if (out.empty()) return false;
          throw error(Code::DataLoss, "{}: the cache ends within an element", dataset_.path_);
        }
        proto::TensorProto message;
        if (!message.ParseFromString(record)) {
          throw error(Code::DataLoss, "{}: a record of the cache is no tensor", dataset_.path_);
        }
        ExpansionAllowance allowance;
        out.push_back(tensor_from_proto(message, allowance));
        if (out.back().dtype() != wanted) {
          throw error(Code::DataLoss, "{}: the cache is of elements of other types", dataset_.path_);
        }
      }
      return true;
    }

   private:
    RecordReader records_;
  };

  class Writer final : public UnaryIterator<FileCacheDataset> {
   public:
    using UnaryIterator::UnaryIterator;
    ~Writer() override {
      if (!records_) return;
      try {  // an iteration that ends early leaves nothing behind
        records_.reset();
        io::remove_file(temporary());
        io::remove_file(dataset_.lock_path_);
      } catch (const Error&) {
      }
    }
    bool next(const IterateContext& c, Element& out) override {
      if (done_) return false;
      if (!records_) open();
      if (input_->next(c, out)) {
        for (const Tensor& component : out) {
          proto::TensorProto message;
          tensor_to_proto(component, message);
          records_->write(message.SerializeAsString());
        }
        return true;
      }
      records_->close();
      records_.reset();
      io::rename_file(temporary(), dataset_.path_);
      io::remove_file(dataset_.lock_path_);
      done_ = true;
      return false;
    }

   private:
    std::string temporary() const { return dataset_.path_ + ".partial"; }
    void open() {
      if (io::file_exists(dataset_.lock_path_)) {
        throw error(Code::AlreadyExists,
                    "There appears to be a concurrent caching iterator running - cache lockfile already exists ('{}'). "
                    "If you are sure no other running TF computations are using this cache prefix, delete the lockfile "
                    "and re-initialize the iterator.",
                    dataset_.lock_path_);
      }
      io::write_file(dataset_.lock_path_, "");
      records_ = std::make_unique<RecordWriter>(temporary());
    }
    std::unique_ptr<RecordWriter> records_;
    bool done_ = false;
  };

  std::string path_, lock_path_;
};

template <bool has_cache>
void cpu(KernelContext& c) {
  const auto name = c.scalar<std::string>(1);
  DatasetPtr input = dataset_input(c, 0);
  if (name.empty()) {
    MemoryCache* cache = has_cache ? &c.resource<MemoryCache>(2) : nullptr;
    set_dataset(c, std::make_shared<const MemoryCacheDataset>(std::move(input), cache));
  } else {
    set_dataset(c, std::make_shared<const FileCacheDataset>(std::move(input), name));
  }
}

}  // namespace

OpDef cache_dataset_op() {
  return {.name = "CacheDataset",
          .inputs = "input_dataset:variant; filename:string",
          .outputs = "handle:variant",
          .attrs = kSpecAttrs,
          .host = "input_dataset, filename, handle",
          .infer = infer_dataset<0, 1>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu<false>>, .gives_outputs = true},
          .host_only = true};
}

OpDef cache_dataset_v2_op() {
  return {.name = "CacheDatasetV2",
          .inputs = "input_dataset:variant; filename:string; cache:resource",
          .outputs = "handle:variant",
          .attrs = kSpecAttrs,
          .flags = "stateful",
          .host = "input_dataset, filename, cache, handle",
          .infer = infer_dataset<0, 1, 2>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<cpu<true>>, .gives_outputs = true},
          .host_only = true};
}

}  // namespace weir::ops
