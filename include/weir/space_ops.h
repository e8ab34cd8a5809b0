#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "weir/export.h"
#include "weir/graph.h"

// Rearrangements of images, sequences and bytes.
namespace weir {

// Cuts the dimensions behind the batch into blocks; elements at one place of a block become one batch. `paddings` has a
// pair for each block size.
WEIR_API Output space_to_batch_nd(const In& input, const In& block_shape, const In& paddings,
                                  std::string_view name = {});
WEIR_API Output batch_to_space_nd(const In& input, const In& block_shape, const In& crops, std::string_view name = {});
// Blocks of pixels become channels, and back.
WEIR_API Output space_to_depth(const In& input, int64_t block_size, const std::string& data_format = "NHWC",
                               std::string_view name = {});
WEIR_API Output depth_to_space(const In& input, int64_t block_size, const std::string& data_format = "NHWC",
                               std::string_view name = {});

// Pads with the tensor's own elements, mirrored at its borders.
enum class MirrorMode { Reflect, Symmetric };  // without and with the border itself
WEIR_API Output mirror_pad(const In& tensor, const In& paddings, MirrorMode mode, std::string_view name = {});

// The first seq_lengths[i] elements along seq_axis of batch i backwards, the others as they are.
WEIR_API Output reverse_sequence(const In& input, const In& seq_lengths, int64_t seq_axis, int64_t batch_axis = 0,
                                 std::string_view name = {});

// Shifts elements along axes; those that leave at one end come in at the other. `shift` and `axis` are scalars or
// vectors of one length.
WEIR_API Output roll(const In& input, const In& shift, const In& axis, std::string_view name = {});
// The same bytes as elements of another type: smaller ones get a new last dimension, larger ones take the last one up.
WEIR_API Output bitcast(const In& input, DType type, std::string_view name = {});

}  // namespace weir
