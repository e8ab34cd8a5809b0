#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "base/errors.h"
#include "ops/run_control.h"
#include "ops/sequence/ctc.h"
#include "ops/types.h"
#include "weir/sequence_ops.h"

namespace weir::ops {
namespace {

void infer(InferContext& c) {
  const Shape inputs = infer_ctc(c, 1);
  const int64_t paths = c.attr<int64_t>("top_paths");
  if (paths > c.attr<int64_t>("beam_width")) {
    throw invalid_argument("requested more paths than the beam width: {} of {}", paths, c.attr<int64_t>("beam_width"));
  }
  for (int i = 0; i < static_cast<int>(paths); ++i) {
    c.set_output(i, {kUnknown, 2});
    c.set_output(i + static_cast<int>(paths), {kUnknown});
    c.set_output(i + 2 * static_cast<int>(paths), {2});
  }
  c.set_output(3 * static_cast<int>(paths), {inputs[1], paths});
}

struct State {
  int64_t beam_width, top_paths;
  bool merge_repeated;
};

State prepare(PrepareContext& c) {
  return {c.attr<int64_t>("beam_width"), c.attr<int64_t>("top_paths"), c.attr<bool>("merge_repeated")};
}

// Log probabilities that a prefix was read so far, ending in its last label or in a blank.
struct Probability {
  double total = kLogZero, blank = kLogZero, label = kLogZero;
};

// A prefix: a node of the tree of all prefixes that were ever in the beam.
struct Prefix {
  Prefix(Prefix* parent_prefix, int64_t last) : parent(parent_prefix), label(last) {}
  Prefix* parent;
  int64_t label;  // -1 at the root
  Probability before, now;
  std::map<int64_t, std::unique_ptr<Prefix>> longer;

  bool in_beam() const { return now.total != kLogZero; }
};

// The beam of one sequence, the likeliest prefix first.
class Beam {
 public:
  Beam(int64_t width, int64_t classes) : width_(static_cast<size_t>(width)), classes_(classes) {
    root_.now = {0, 0, kLogZero};
    beam_.push_back(&root_);
  }

  template <class T>
  void step(const T* logits) {
    const double norm = log_normalizer(logits, classes_);
    auto log_y = [&](int64_t k) { return static_cast<double>(logits[k]) - norm; };
    const double blank = log_y(classes_ - 1);
    const std::vector<Prefix*> held = beam_;
    for (Prefix* prefix : held) prefix->before = prefix->now;
    for (Prefix* prefix : held) stay(*prefix, prefix->parent ? log_y(prefix->label) : 0, blank);
    sort();
    for (Prefix* prefix : held) {
      if (!fits(prefix->before.total)) continue;
      for (int64_t label = 0; label < classes_ - 1; ++label) extend(*prefix, label, log_y(label));
    }
  }

  const std::vector<Prefix*>& best() const { return beam_; }

 private:
  // The prefix read once more: its last label again, or a blank.
  static void stay(Prefix& prefix, double log_label, double log_blank) {
    if (const Prefix* parent = prefix.parent) {
      if (parent->in_beam()) {
        // Two equal labels in a row are one unless a blank stands between them.
        const double previous = prefix.label == parent->label ? parent->before.blank : parent->before.total;
        prefix.now.label = log_sum_exp(prefix.now.label, previous);
      }
      prefix.now.label += log_label;
    }
    prefix.now.blank = prefix.before.total + log_blank;
    prefix.now.total = log_sum_exp(prefix.now.blank, prefix.now.label);
  }

  void extend(Prefix& prefix, int64_t label, double log_y) {
    const auto known = prefix.longer.find(label);
    Prefix* longer = known == prefix.longer.end() ? nullptr : known->second.get();
    if (longer && longer->in_beam()) return;
    const double probability = log_y + (label == prefix.label ? prefix.before.blank : prefix.before.total);
    if (!fits(probability)) return;
    if (!longer) longer = (prefix.longer[label] = std::make_unique<Prefix>(&prefix, label)).get();
    longer->now = {probability, kLogZero, probability};
    if (beam_.size() == width_) {
      beam_.back()->now = {};
      beam_.pop_back();
    }
    beam_.insert(std::upper_bound(beam_.begin(), beam_.end(), longer, likelier), longer);
  }

  bool fits(double probability) const {
    return probability > kLogZero && (beam_.size() < width_ || probability > beam_.back()->now.total);
  }
  static bool likelier(const Prefix* a, const Prefix* b) { return a->now.total > b->now.total; }
  void sort() { std::stable_sort(beam_.begin(), beam_.end(), likelier); }

  size_t width_;
  int64_t classes_;
  Prefix root_{nullptr, -1};
  std::vector<Prefix*> beam_;
};

std::vector<int64_t> labels_of(const Prefix* prefix, bool merge_repeated) {
  std::vector<int64_t> labels;
  int64_t later = -1;
  for (; prefix->parent; prefix = prefix->parent) {
    if (!merge_repeated || prefix->label != later) labels.push_back(prefix->label);
    later = prefix->label;
  }
  std::reverse(labels.begin(), labels.end());
  return labels;
}

struct Cpu {
  template <class T>
  static void run(KernelContext& c) {
    const CtcShape shape = checked_ctc(c, 1);
    const auto& state = c.state<State>();
    const auto paths = static_cast<size_t>(state.top_paths);
    std::vector<std::vector<std::vector<int64_t>>> decoded(
        paths, std::vector<std::vector<int64_t>>(static_cast<size_t>(shape.batch)));
    T* log_probability = c.output<T>(3 * static_cast<int>(paths));
    c.pool().parallel_for(shape.batch, 1, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        Beam beam(state.beam_width, shape.classes);
        for (int64_t t = 0; t < c.input<int32_t>(1)[b]; ++t) {
          if (c.control()) c.control()->check();
          beam.step(c.input<T>(0) + (t * shape.batch + b) * shape.classes);
        }
        if (beam.best().size() < paths) throw invalid_argument("Less leaves in the beam search than requested.");
        for (size_t path = 0; path < paths; ++path) {
          const Prefix* prefix = beam.best()[path];
          decoded[path][static_cast<size_t>(b)] = labels_of(prefix, state.merge_repeated);
          log_probability[b * state.top_paths + static_cast<int64_t>(path)] = static_cast<T>(prefix->now.total);
        }
      }
    });
    for (size_t path = 0; path < paths; ++path) {
      set_sparse_labels(c, static_cast<int>(path), static_cast<int>(paths), decoded[path]);
    }
  }
};

}  // namespace

OpDef ctc_beam_search_decoder_op() {
  return {.name = "CTCBeamSearchDecoder",
          .inputs = "inputs:T; sequence_length:int32",
          .outputs =
              "decoded_indices:top_paths*int64; decoded_values:top_paths*int64; decoded_shape:top_paths*int64; "
              "log_probability:T",
          .attrs = "beam_width:int>=1; top_paths:int>=1; merge_repeated:bool=True; T:type{float,double}=float",
          .infer = infer,
          .gradient = not_differentiable,
          .cpu = {.select = kernel_for<Types<float, double>, Cpu>, .prepare = prepared<prepare>}};
}

}  // namespace weir::ops

namespace weir::nn {

CtcBeamSearchDecoding ctc_beam_search_decoder(const In& inputs, const In& sequence_length,
                                              const CtcBeamSearchOptions& options, std::string_view name) {
  Operation op = NodeBuilder("CTCBeamSearchDecoder", name, inputs.where())
                     .input(inputs)
                     .input(sequence_length)
                     .attr("beam_width", options.beam_width)
                     .attr("top_paths", options.top_paths)
                     .attr("merge_repeated", options.merge_repeated)
                     .build();
  CtcBeamSearchDecoding result;
  const int paths = static_cast<int>(options.top_paths);
  for (int i = 0; i < paths; ++i) {
    result.decoded.push_back({op.output(i), op.output(i + paths), op.output(i + 2 * paths)});
  }
  result.log_probability = op.output(3 * paths);
  return result;
}

}  // namespace weir::nn
