#include "ops/table_rows.h"

// clang-format off
#define ROWS(row) \
  row(tensor_dataset) row(tensor_slice_dataset) row(sparse_tensor_slice_dataset) row(range_dataset) \
  row(random_dataset) row(generator_dataset) row(tf_record_dataset) row(text_line_dataset) \
  row(fixed_length_record_dataset) row(fixed_length_record_dataset_v2) row(csv_dataset) row(lmdb_dataset) \
  row(parse_example_dataset) row(matching_files_dataset) \
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
  row(set_stats_aggregator_dataset) row(stats_aggregator_handle) row(stats_aggregator_handle_v2) \
  row(stats_aggregator_summary) \
  row(iterator) row(iterator_v2) row(one_shot_iterator) row(make_iterator) row(iterator_get_next) \
  row(iterator_get_next_sync) row(iterator_get_next_as_optional) row(iterator_to_string_handle) \
  row(iterator_from_string_handle) row(iterator_from_string_handle_v2) row(iterator_get_device) \
  row(optional_from_value) row(optional_none) row(optional_has_value) row(optional_get_value) \
  row(serialize_sparse) row(serialize_many_sparse) row(deserialize_sparse) \
  row(shuffle_dataset_v2) row(cache_dataset_v2) row(sleep_dataset) row(rebatch_dataset) row(auto_shard_dataset) \
  row(choose_fastest_dataset) row(choose_fastest_branch_dataset) row(thread_pool_handle) row(thread_pool_dataset) \
  row(wrap_dataset_variant) row(unwrap_dataset_variant) \
  row(anonymous_iterator) row(anonymous_iterator_v2) row(delete_iterator) row(anonymous_memory_cache) \
  row(delete_memory_cache) row(anonymous_random_seed_generator) row(delete_random_seed_generator) \
  row(multi_device_iterator) row(anonymous_multi_device_iterator) row(delete_multi_device_iterator) \
  row(serialize_iterator) row(deserialize_iterator) \
  row(multi_device_iterator_init) row(multi_device_iterator_get_next_from_shard) \
  row(multi_device_iterator_to_string_handle) row(multi_device_iterator_from_string_handle) \
  row(reduce_dataset) row(dataset_to_single_element) row(dataset_to_tf_record) row(dataset_cardinality)
// clang-format on
WEIR_OP_TABLE(data_ops, ROWS)
