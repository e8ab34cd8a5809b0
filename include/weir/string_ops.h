#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"

// Text, and the numbers that are written in it.
namespace weir {

WEIR_API Output string_join(const InList& inputs, const std::string& separator = "", std::string_view name = {});
// Fails with InvalidArgument for a text that is no number of that type: float, double, int32 or int64.
WEIR_API Output string_to_number(const In& text, DType out_type = float32, std::string_view name = {});

struct AsStringOptions {
  int64_t precision = -1;  // digits behind the point; -1: six
  bool scientific = false, shortest = false;
  int64_t width = -1;
  std::string fill = "";  // ' ', '0' or '-' (left-aligned) when the number is narrower
};
WEIR_API Output as_string(const In& input, const AsStringOptions& options = {}, std::string_view name = {});

// The bytes of each string as numbers, in a new last dimension. All strings have one length.
WEIR_API Output decode_raw(const In& bytes, DType out_type, bool little_endian = true, std::string_view name = {});

// Base64 with the alphabet that is safe in addresses and file names, with or without padding.
WEIR_API Output encode_base64(const In& input, bool pad = false, std::string_view name = {});
// Fails with InvalidArgument for what encode_base64() cannot have written.
WEIR_API Output decode_base64(const In& input, std::string_view name = {});

// Pieces of the strings of a vector between any of the delimiter's characters, as a sparse matrix.
struct SplitStrings {
  Output indices, values, shape;
};
WEIR_API SplitStrings string_split(const In& source, const In& delimiter = " ", bool skip_empty = true,
                                   std::string_view name = {});
// The same as Python's str.split: by runs of white space when `sep` is empty; at most `maxsplit` cuts when it is
// positive.
WEIR_API SplitStrings string_split_v2(const In& input, const In& sep = "", int64_t maxsplit = -1,
                                      std::string_view name = {});
WEIR_API Output string_strip(const In& input, std::string_view name = {});
WEIR_API Output string_length(const In& input, std::string_view name = {});  // in bytes
// `len` bytes from `pos` on; a negative pos counts from the end.
WEIR_API Output substr(const In& input, const In& pos, const In& len, std::string_view name = {});
// Joins along dimensions, of which the first listed varies fastest.
struct ReduceJoinOptions {
  bool keep_dims = false;
  std::string separator = "";
};
WEIR_API Output reduce_join(const In& inputs, const In& axes, const ReduceJoinOptions& options = {},
                            std::string_view name = {});

// Of letters A to Z, or of all letters when the encoding is "utf-8".
WEIR_API Output string_lower(const In& input, const std::string& encoding = "", std::string_view name = {});
WEIR_API Output string_upper(const In& input, const std::string& encoding = "", std::string_view name = {});

// A number below num_buckets for each string, the same on all machines; with a secret key nobody can choose strings
// that meet.
WEIR_API Output string_to_hash_bucket_fast(const In& input, int64_t num_buckets, std::string_view name = {});
WEIR_API Output string_to_hash_bucket_strong(const In& input, int64_t num_buckets, const std::vector<int64_t>& key,
                                             std::string_view name = {});

// Regular expressions in RE2's syntax. Throws InvalidArgument for a pattern that is none.
WEIR_API Output regex_full_match(const In& input, const In& pattern, std::string_view name = {});
// "\\1" in `rewrite` stands for the first group; all matches are replaced, or the first.
WEIR_API Output regex_replace(const In& input, const In& pattern, const In& rewrite, bool replace_global = true,
                              std::string_view name = {});

}  // namespace weir
