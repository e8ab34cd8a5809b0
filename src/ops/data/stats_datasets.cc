#include <chrono>

#include "ops/data/stats.h"
#include "ops/summary/summary_output.h"

namespace weir::ops {

proto::Summary StatsAggregator::summary() const {
  proto::Summary summary;
  std::lock_guard lock(mutex_);
  for (const auto& [tag, histogram] : histograms_) {
    proto::Summary::Value& value = *summary.add_value();
    value.set_tag(tag);
    histogram.encode(*value.mutable_histo());
  }
  return summary;
}

namespace {

// Puts an aggregator around the data sets below.
class SetStatsAggregatorDataset final : public UnaryDataset {
 public:
  SetStatsAggregatorDataset(DatasetPtr input, StatsScope scope)
      : UnaryDataset(std::move(input)), scope_(std::move(scope)) {}
  int64_t cardinality() const override { return input()->cardinality(); }
  IteratorPtr iterate(const IterateContext& c, const std::string& place) const override {
    c.pipeline.state<StatsScope>(place, [&] { return std::make_shared<StatsScope>(scope_); });
    return input()->iterate(c, place + "/");
  }

 private:
  StatsScope scope_;
};

// How long the next element takes, in microseconds.
struct Latency {
  Latency() : begin(std::chrono::steady_clock::now()) {}
  double of(const Element&) const {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
  }
  std::chrono::steady_clock::time_point begin;
};

// How large it is.
struct Bytes {
  static double of(const Element& element) {
    double bytes = 0;
    for (const Tensor& component : element) {
      bytes += static_cast<double>(component.bytes());
      if (component.dtype() != DType::String) continue;
      for (int64_t i = 0; i < component.elements(); ++i) {
        bytes += static_cast<double>(component.data<std::string>()[i].size());
      }
    }
    return bytes;
  }
};

// The same elements; measures each of them for the aggregator around, if there is one.
template <class Measure>
class MeasuredDataset final : public UnaryDataset {
 public:
  MeasuredDataset(DatasetPtr input, std::string tag) : UnaryDataset(std::move(input)), tag_(std::move(tag)) {}
  int64_t cardinality() const override { return input()->cardinality(); }

  IteratorPtr iterate(const IterateContext& c, const std::string& place) const override {
    std::shared_ptr<StatsScope> scope = c.pipeline.state_around<StatsScope>(place);
    if (!scope) return input()->iterate(c, place + "/");
    return std::make_unique<Iterator>(*this, c, place, std::move(scope));
  }

 private:
  class Iterator final : public UnaryIterator<MeasuredDataset> {
   public:
    Iterator(const MeasuredDataset& d, const IterateContext& c, const std::string& place,
             std::shared_ptr<StatsScope> scope)
        : UnaryIterator<MeasuredDataset>(d, c, place), scope_(std::move(scope)), tag_(scope_->prefix + d.tag_) {}
    bool next(const IterateContext& c, Element& out) override {
      const Measure measure;
      if (!this->input_->next(c, out)) return false;
      scope_->aggregator->add(tag_, measure.of(out));
      return true;
    }

   private:
    std::shared_ptr<StatsScope> scope_;
    std::string tag_;
  };

  std::string tag_;
};

template <class Measure>
void measure(KernelContext& c) {
  set_dataset(c, std::make_shared<const MeasuredDataset<Measure>>(dataset_input(c, 0), c.scalar<std::string>(1)));
}

// counter_prefix names counters of TensorFlow's monitoring service, which is not there.
void set_aggregator(KernelContext& c) {
  const auto& tag = c.scalar<std::string>(2);
  StatsScope scope{ResourcePtr(&c.resource<StatsAggregator>(1)), tag.empty() ? "" : tag + "::"};
  set_dataset(c, std::make_shared<const SetStatsAggregatorDataset>(dataset_input(c, 0), std::move(scope)));
}

struct State {
  ResourcePtr<StatsAggregator> aggregator;
};
State prepare(PrepareContext& c) {
  return {c.named_resource<StatsAggregator>([](const std::string&) { return make_resource<StatsAggregator>(); })};
}
void give(KernelContext& c) { c.set_resource(0, c.state<State>().aggregator.get()); }

void summarize(KernelContext& c) { set_summary(c, c.resource<StatsAggregator>(0).summary()); }

OpDef measured_row(std::string_view name, Kernel kernel) {
  return {.name = name,
          .inputs = "input_dataset:variant; tag:string",
          .outputs = "handle:variant",
          .attrs = kSpecAttrs,
          .host = "input_dataset, tag, handle",
          .infer = infer_dataset<0, 1>,
          .gradient = not_differentiable,
          .cpu = kernel,
          .host_only = true};
}

OpDef handle_row(std::string_view name) {
  return {.name = name,
          .outputs = "handle:resource",
          .attrs = "container:string=''; shared_name:string=''",
          .flags = "stateful",
          .host = "handle",
          .infer = infer::scalar,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<give>, .prepare = prepared<prepare>},
          .host_only = true};
}

}  // namespace

OpDef latency_stats_dataset_op() {
  return measured_row("LatencyStatsDataset", {.select = kernel_any<measure<Latency>>, .gives_outputs = true});
}
OpDef bytes_produced_stats_dataset_op() {
  return measured_row("BytesProducedStatsDataset", {.select = kernel_any<measure<Bytes>>, .gives_outputs = true});
}

OpDef set_stats_aggregator_dataset_op() {
  return {.name = "SetStatsAggregatorDataset",
          .inputs = "input_dataset:variant; stats_aggregator:resource; tag:string; counter_prefix:string",
          .outputs = "handle:variant",
          .attrs = kSpecAttrs,
          .flags = "stateful",
          .host = "input_dataset, stats_aggregator, tag, counter_prefix, handle",
          .infer = infer_dataset<0, 1, 2, 3>,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<set_aggregator>, .gives_outputs = true},
          .host_only = true};
}

OpDef stats_aggregator_handle_op() { return handle_row("StatsAggregatorHandle"); }
OpDef stats_aggregator_handle_v2_op() { return handle_row("StatsAggregatorHandleV2"); }

OpDef stats_aggregator_summary_op() {
  return {.name = "StatsAggregatorSummary",
          .inputs = "iterator:resource",
          .outputs = "summary:string",
          .flags = "stateful",
          .host = "iterator, summary",
          .infer = infer::scalar,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_any<summarize>},
          .effect = Effect::Other,
          .host_only = true};
}

}  // namespace weir::ops
