#include "weir/summary.h"

#include <algorithm>

#include "base/errors.h"
#include "graph/graph_impl.h"
#include "ops/array/array_util.h"
#include "proto/summary.pb.h"

namespace weir::summary {
namespace {

// A node's name made of a tag: characters that names cannot have become '_', slashes at its beginning vanish.
std::string clean_tag(std::string_view tag) {
  tag.remove_prefix(std::min(tag.find_first_not_of('/'), tag.size()));
  std::string name(tag);
  std::replace_if(
      name.begin(), name.end(),
      [](char c) {
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        return !letter && c != '_' && c != '.' && c != '-' && c != '/';
      },
      '_');
  return name;
}

Output collect(const Output& summary, const std::vector<std::string>& collections) {
  for (const std::string& key : collections) summary.graph().add_to_collection(key, summary);
  return summary;
}

// Opens the scope that the node takes its name from, calls make(tag, node_name) and collects the result.
template <class O, class Make>
Output tagged(std::string_view name, const In& value, const O& options, Make make) {
  Graph& g = ops::graph_of({&value});
  LineScope line(g, source_line(value.where()));
  const std::string family = clean_tag(options.family);
  Scope scope = g.name_scope(family.empty() ? clean_tag(name) : family + "/" + clean_tag(name));
  std::string tag = g.current_name_scope();
  if (!family.empty()) tag = family + "/" + tag;
  return collect(make(tag, scope.name()), options.collections);
}

Output tensor_with_metadata(std::string_view name, const In& value, const proto::SummaryMetadata& metadata,
                            const Options& options) {
  return tagged(name, value, options, [&](const std::string& tag, const std::string& node) {
    return NodeBuilder("TensorSummaryV2", node).input(tag).input(value).input(metadata.SerializeAsString()).output();
  });
}

Output merge_as(const InList& summaries, const MergeOptions& options, std::string_view scope_name) {
  Graph& g = ops::graph_of(summaries);
  LineScope line(g, source_line(summaries.values()[0].where()));
  const std::string name = clean_tag(options.name);
  Scope scope = g.name_scope(name.empty() ? scope_name : name);
  return collect(NodeBuilder("MergeSummary", name).input(summaries).output(), options.collections);
}

InList collected(Graph& graph, std::string_view key, Graph::Where where) {
  std::vector<In> summaries;
  for (const std::any& item : graph.collection(key)) {
    const Output* summary = std::any_cast<Output>(&item);
    if (!summary) throw invalid_argument("collection '{}' holds something that is no summary", key);
    summaries.emplace_back(*summary, where);
  }
  return summaries;
}

}  // namespace

Output scalar(std::string_view name, const In& value, const Options& options) {
  return tagged(name, value, options, [&](const std::string& tag, const std::string& node) {
    return NodeBuilder("ScalarSummary", node).input(tag).input(value).output();
  });
}

Output histogram(std::string_view name, const In& values, const Options& options) {
  return tagged(name, values, options, [&](const std::string& tag, const std::string& node) {
    return NodeBuilder("HistogramSummary", node).input(tag).input(values).output();
  });
}

Output image(std::string_view name, const In& images, const ImageOptions& options) {
  return tagged(name, images, options, [&](const std::string& tag, const std::string& node) {
    return NodeBuilder("ImageSummary", node).input(tag).input(images).attr("max_images", options.max_outputs).output();
  });
}

Output audio(std::string_view name, const In& audio, const In& sample_rate, const AudioOptions& options) {
  return tagged(name, audio, options, [&](const std::string& tag, const std::string& node) {
    Output rate = ops::to_output(ops::graph_of({&audio}), sample_rate, "sample_rate", float32);
    return NodeBuilder("AudioSummaryV2", node)
        .input(tag)
        .input(audio)
        .input(rate)
        .attr("max_outputs", options.max_outputs)
        .output();
  });
}

Output text(std::string_view name, const In& text, const Options& options) {
  if (text.output() && text.output().dtype() != DType::String) {
    throw invalid_argument("Expected tensor {} to have dtype string, got {}", text.output().name(),
                           dtype_name(text.output().dtype()));
  }
  proto::SummaryMetadata metadata;
  metadata.mutable_plugin_data()->set_plugin_name("text");
  return tensor_with_metadata(name, text, metadata, options);
}

Output tensor(std::string_view name, const In& value, const TensorOptions& options) {
  proto::SummaryMetadata metadata;
  if (!metadata.ParseFromString(options.metadata)) throw invalid_argument("metadata is no SummaryMetadata message");
  if (!options.description.empty()) metadata.set_summary_description(options.description);
  if (!options.display_name.empty()) metadata.set_display_name(options.display_name);
  return tensor_with_metadata(name, value, metadata, {.family = options.family, .collections = options.collections});
}

Output merge(const InList& summaries, const MergeOptions& options) { return merge_as(summaries, options, "Merge"); }

Output merge_all(Graph& graph, std::string_view key, std::string_view name, Graph::Where where) {
  InList summaries = collected(graph, key, where);
  return summaries.values().empty() ? Output() : merge(summaries, {.name = std::string(name), .collections = {}});
}

namespace v0 {
namespace {

template <class Make>
Output named(std::initializer_list<const In*> arguments, std::string_view usual_name, const Options& options,
             Make make) {
  Graph& g = ops::graph_of(arguments);
  LineScope line(g, source_line((*arguments.begin())->where()));
  Scope scope = g.name_scope(options.name.empty() ? usual_name : options.name);
  return collect(make(g, scope.name()), options.collections);
}

}  // namespace

Output scalar_summary(const In& tags, const In& values, const Options& options) {
  return named({&tags, &values}, "ScalarSummary", options, [&](Graph&, const std::string& node) {
    return NodeBuilder("ScalarSummary", node).input(tags).input(values).output();
  });
}

Output histogram_summary(const In& tag, const In& values, const Options& options) {
  return named({&tag, &values}, "HistogramSummary", options, [&](Graph&, const std::string& node) {
    return NodeBuilder("HistogramSummary", node).input(tag).input(values).output();
  });
}

Output image_summary(const In& tag, const In& images, int64_t max_images, const Options& options) {
  return named({&tag, &images}, "ImageSummary", options, [&](Graph&, const std::string& node) {
    return NodeBuilder("ImageSummary", node).input(tag).input(images).attr("max_images", max_images).output();
  });
}

Output audio_summary(const In& tag, const In& audio, const In& sample_rate, int64_t max_outputs,
                     const Options& options) {
  return named({&tag, &audio, &sample_rate}, "AudioSummary", options, [&](Graph& g, const std::string& node) {
    Output rate = ops::to_output(g, sample_rate, "sample_rate", float32);
    return NodeBuilder("AudioSummaryV2", node)
        .input(tag)
        .input(audio)
        .input(rate)
        .attr("max_outputs", max_outputs)
        .output();
  });
}

Output merge_summary(const InList& summaries, const MergeOptions& options) {
  return merge_as(summaries, options, "MergeSummary");
}

Output merge_all_summaries(Graph& graph, std::string_view key, Graph::Where where) {
  InList summaries = collected(graph, key, where);
  return summaries.values().empty() ? Output() : merge_summary(summaries);
}

}  // namespace v0
}  // namespace weir::summary
