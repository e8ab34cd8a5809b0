#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weir/events.h"
#include "weir/export.h"
#include "weir/graph.h"

// What TensorBoard shows: operations that turn values into summaries. The writer that puts them into event files is in
// events.h.
//
//   Output cost_summary = summary::scalar("cost", cost);
//   Output all = summary::merge_all(g);
//   summary::FileWriter events("runs/linear", g);
//   events.add(session.run(all, feeds), step);
namespace weir::summary {

struct Options {
  std::string family = {};                               // a prefix of the tag: TensorBoard's section
  std::vector<std::string> collections = {"summaries"};  // where merge_all() finds the summary
};
struct ImageOptions {
  int64_t max_outputs = 3;
  std::string family = {};
  std::vector<std::string> collections = {"summaries"};
};
using AudioOptions = ImageOptions;
struct TensorOptions {
  std::string description = {}, display_name = {};
  std::string metadata = {};  // a serialised SummaryMetadata, which says what part of TensorBoard shows the tensor
  std::string family = {};
  std::vector<std::string> collections = {"summaries"};
};

// Each makes a node of that name, whose tag is its full name with scopes ("tower_0/loss"), and returns a string scalar:
// a serialised Summary. Characters that names cannot have become '_'. The value must belong to a graph.
WEIR_API Output scalar(std::string_view name, const In& value, const Options& options = {});
// Fails, when it runs, with InvalidArgument for values that are not finite.
WEIR_API Output histogram(std::string_view name, const In& values, const Options& options = {});
// uint8 or floating [batch, height, width, channels] with 1, 3 or 4 channels. Floating pictures are scaled: the largest
// value becomes 255; with negative values around, 0 becomes 128.
WEIR_API Output image(std::string_view name, const In& images, const ImageOptions& options = {});
// float [batch, frames] or [batch, frames, channels] within [-1, 1].
WEIR_API Output audio(std::string_view name, const In& audio, const In& sample_rate, const AudioOptions& options = {});
// Strings, shown as Markdown.
WEIR_API Output text(std::string_view name, const In& text, const Options& options = {});
WEIR_API Output tensor(std::string_view name, const In& value, const TensorOptions& options = {});

struct MergeOptions {
  std::string name = {};
  std::vector<std::string> collections = {};
};
// One summary of many. Fails, when it runs, with InvalidArgument when two have a tag in common.
WEIR_API Output merge(const InList& summaries, const MergeOptions& options = {});
// Everything in a collection of the graph; an empty handle when that is nothing.
WEIR_API Output merge_all(Graph& graph, std::string_view key = "summaries", std::string_view name = {},
                          Graph::Where where = Graph::Where::current());

// The functions of TensorFlow 0.x, whose tags are given as tensors and do not follow the node's name.
namespace v0 {
struct Options {
  std::string name = {};  // of the node; empty: "ScalarSummary", "HistogramSummary", ...
  std::vector<std::string> collections = {"summaries"};
};
WEIR_API Output scalar_summary(const In& tags, const In& values, const Options& options = {});
WEIR_API Output histogram_summary(const In& tag, const In& values, const Options& options = {});
WEIR_API Output image_summary(const In& tag, const In& images, int64_t max_images = 3, const Options& options = {});
WEIR_API Output audio_summary(const In& tag, const In& audio, const In& sample_rate, int64_t max_outputs = 3,
                              const Options& options = {});
WEIR_API Output merge_summary(const InList& summaries, const MergeOptions& options = {});
WEIR_API Output merge_all_summaries(Graph& graph, std::string_view key = "summaries",
                                    Graph::Where where = Graph::Where::current());
}  // namespace v0

}  // namespace weir::summary
