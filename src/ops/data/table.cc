#include "ops/table_rows.h"

// clang-format off
#define ROWS(row) \
  row(tensor_dataset) row(tensor_slice_dataset) row(sparse_tensor_slice_dataset) row(range_dataset) \
  row(random_dataset) row(generator_dataset) row(tf_record_dataset) row(text_line_dataset) \
  row(fixed_length_record_dataset) row(fixed_length_record_dataset_v2) row(csv_dataset) row(matching_files_dataset) \
  row(batch_dataset) row(batch_dataset_v2) row(padded_batch_dataset) row(padded_batch_dataset_v2) \
  row(dense_to_sparse_batch_dataset) row(unbatch_dataset) row(window_dataset) row(sliding_window_dataset) \
  row(shuffle_dataset) row(shuffle_and_repeat_dataset) row(repeat_dataset) row(take_dataset) row(skip_dataset) \
  row(shard_dataset) row(prefetch_dataset) row(cache_dataset) row(ignore_errors_dataset) row(sampling_dataset) \
  row(unique_dataset) row(concatenate_dataset) row(zip_dataset) row(directed_interleave_dataset) \
  row(map_dataset) row(parallel_map_dataset) row(map_and_batch_dataset) row(filter_dataset) row(take_while_dataset) \
  row(filter_by_last_component_dataset) row(flat_map_dataset) row(interleave_dataset) \
  row(parallel_interleave_dataset) row(parallel_interleave_dataset_v2) row(scan_dataset) \
  row(group_by_window_dataset) row(group_by_reducer_dataset) \
  row(optimize_dataset) row(model_dataset) row(max_intra_op_parallelism_dataset) row(private_thread_pool_dataset) \
  row(non_serializable_dataset) row(assert_next_dataset) row(latency_stats_dataset) row(bytes_produced_stats_dataset) \
  row(iterator) row(iterator_v2) row(one_shot_iterator) row(make_iterator) row(iterator_get_next) \
  row(iterator_get_next_sync) row(iterator_get_next_as_optional) row(iterator_to_string_handle) \
  row(iterator_from_string_handle) row(iterator_from_string_handle_v2) row(iterator_get_device) \
  row(optional_from_value) row(optional_none) row(optional_has_value) row(optional_get_value) \
  row(serialize_sparse) row(serialize_many_sparse) row(deserialize_sparse) \
  row(reduce_dataset) row(dataset_to_single_element) row(dataset_to_tf_record) row(dataset_cardinality)
// clang-format on
WEIR_OP_TABLE(data_ops, ROWS)
