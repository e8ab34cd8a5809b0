"""Scenes: data sets, by the elements that an iterator gives, and iterators themselves."""
import numpy as np

from scenes.queues import words
from scenes.scene import scene

NUMBERS = dict(output_types=['int64'], output_shapes=[[]])
VECTORS = dict(output_types=['int64'], output_shapes=[[None]])
TEXT = dict(output_types=['string'], output_shapes=[[]])


def dataset(*prefixes, **options):
    """A decorator: the elements of a data set are compared. The function gives it with its types and shapes; as an argument
    it gets each of `prefixes`, those of the operation's name."""
    def register(function):
        def elements(s, prefix=''):
            made, spec = function(s, prefix) if prefixes else function(s)
            read(s, made, spec, options.get('limit', 12))
        elements.__name__, elements.__module__ = function.__name__, function.__module__
        scene(*prefixes)(elements)
        return function
    return register


EXPERIMENTAL = dataset('', 'Experimental')


def iterator(s, spec, name='iterator'):
    return s('IteratorV2', shared_name=name, container='', **spec)


def read(s, made, spec, limit=12):
    """Steps that read elements to the end, which is compared as well."""
    place = iterator(s, spec, 'i%d' % len(s.steps))
    s.run(s('MakeIterator', dataset=made, iterator=place))
    following = [s('DeserializeSparse', serialized_sparse=part, dtype='int64') if part.dtype == s.tf.variant else part
                 for part in s('IteratorGetNext', iterator=place, **spec)]
    for _ in range(limit):
        s.run(following)


def number(s, value):
    return s.constant(np.int64(value))


def numbers(s, stop, start=0, step=1):
    return s('RangeDataset', start=number(s, start), stop=number(s, stop), step=number(s, step), **NUMBERS)


def rows_of(s, *values):
    """Vectors of several lengths."""
    @s.function('int64')
    def filled(n):
        return s('Fill', dims=s('ExpandDims', input=n, dim=s.constant(0)), value=n)

    return s('MapDataset', input_dataset=slices(s, np.array(values, np.int64)), other_arguments=[], f=filled, **VECTORS)


def slices(s, *components):
    components = [s.constant(c) for c in components]
    return s('TensorSliceDataset', components=components, output_shapes=[c.shape.as_list()[1:] for c in components])


@scene((5, 0, 1), (1, 7, 3), (7, 1, -2), (1, 7, -1), (1, 7, 0))
def range_dataset(s, bounds):
    read(s, numbers(s, bounds[1], bounds[0], bounds[2]), NUMBERS, 4)


@dataset()
def whole_tensor(s):
    return (s('TensorDataset', components=[s.constant([1.0, 2.0]), s.constant(b'a')], output_shapes=[[2], []]),
            dict(output_types=['float32', 'string'], output_shapes=[[2], []]))


@dataset()
def slices_of_tensors(s):
    return (slices(s, np.array([[1, 2], [3, 4]], np.float32), words('a', 'b')),
            dict(output_types=['float32', 'string'], output_shapes=[[2], []]))


@dataset()
def slices_of_a_sparse_tensor(s):
    made = s('SparseTensorSliceDataset', indices=s.constant([[0, 1], [2, 0], [2, 2]], 'int64'), values=s.constant([1.0, 2.0, 3.0]),
             dense_shape=s.constant([3, 3], 'int64'))
    return made, dict(output_types=['int64', 'float32', 'int64'], output_shapes=[[None, 1], [None], [1]])


@dataset('Concatenate', 'Zip', 'ZipThree')
def several(s, how):
    a, b = numbers(s, 3), numbers(s, 14, 10)
    if how == 'Concatenate':
        return s('ConcatenateDataset', input_dataset=a, another_dataset=b, **NUMBERS), NUMBERS
    count = 2 if how == 'Zip' else 3
    spec = dict(output_types=['int64'] * count, output_shapes=[[]] * count)
    return s('ZipDataset', input_datasets=[a, b, a][:count], **spec), spec


@dataset(('Repeat', 3), ('Repeat', 0), ('Take', 2), ('Take', 0), ('Take', -1), ('Skip', 2), ('Skip', -1), ('Skip', 9))
def counted(s, what):
    return s(what[0] + 'Dataset', input_dataset=numbers(s, 4), count=number(s, what[1]), **NUMBERS), NUMBERS


@dataset('', 'V2', 'V2 dropping')
def batches(s, version):
    inputs = dict(input_dataset=numbers(s, 7), batch_size=number(s, 3))
    if version:
        inputs['drop_remainder'] = s.constant('dropping' in version)
    return s('BatchDataset' + version[:2], **dict(inputs, **VECTORS)), VECTORS


@dataset()
def batches_of_several_shapes(s):
    spec = dict(output_types=['int64'], output_shapes=[[None, None]])
    return s('BatchDataset', input_dataset=rows_of(s, 1, 2), batch_size=number(s, 2), **spec), spec


@dataset('', 'V2', 'V2 dropping', 'V2 short')
def padded_batches(s, version):
    inputs = dict(input_dataset=rows_of(s, 1, 3, 2, 4, 1), batch_size=number(s, 2), padding_values=[number(s, -1)],
                  padded_shapes=[s.constant([3 if 'short' in version else -1], 'int64')])
    if version:
        inputs['drop_remainder'] = s.constant('dropping' in version)
    spec = dict(output_types=['int64'], output_shapes=[[None, None]])
    return s('PaddedBatchDataset' + version[:2], output_shapes=[[None, None]], **inputs), spec


@EXPERIMENTAL
def sparse_batches(s, prefix):
    made = s(prefix + 'DenseToSparseBatchDataset', input_dataset=rows_of(s, 1, 3, 2), batch_size=number(s, 2),
             row_shape=s.constant([4], 'int64'), output_types=['int64'], output_shapes=[[None, 4]])
    return made, dict(output_types=['variant'], output_shapes=[[3]])


@EXPERIMENTAL
def rebatched(s, prefix):
    whole = s('BatchDatasetV2', input_dataset=numbers(s, 10), batch_size=number(s, 4), drop_remainder=s.constant(False), **VECTORS)
    return s(prefix + 'RebatchDataset', input_dataset=whole, num_replicas=number(s, 2), **VECTORS), VECTORS


@EXPERIMENTAL
def unbatched(s, prefix):
    whole = s('BatchDataset', input_dataset=numbers(s, 5), batch_size=number(s, 2), **VECTORS)
    return s(prefix + 'UnbatchDataset', input_dataset=whole, **NUMBERS), NUMBERS


@EXPERIMENTAL
def unique(s, prefix):
    return s(prefix + 'UniqueDataset', input_dataset=slices(s, np.array([3, 1, 3, 2, 1], np.int64)), **NUMBERS), NUMBERS


@dataset((3, 2, 1, False), (3, 3, 2, True), (2, 1, 1, False))
def windows(s, how):
    size, shift, stride, drop = how

    @s.function('variant')
    def whole(window):
        return s('BatchDataset', input_dataset=window, batch_size=number(s, 10), **VECTORS)

    made = s('WindowDataset', input_dataset=numbers(s, 7), size=number(s, size), shift=number(s, shift), stride=number(s, stride),
             drop_remainder=s.constant(drop), output_types=['variant'], output_shapes=[[]])
    return s('FlatMapDataset', input_dataset=made, other_arguments=[], f=whole, **VECTORS), VECTORS


@EXPERIMENTAL
def sliding_windows(s, prefix):
    return s(prefix + 'SlidingWindowDataset', input_dataset=numbers(s, 7), window_size=number(s, 3), window_shift=number(s, 2),
             window_stride=number(s, 1), **VECTORS), VECTORS


@dataset('', 'Parallel', 'Experimental', 'AndBatch', 'ExperimentalAndBatch')
def mapped(s, kind):
    @s.function('int64', 'int64')
    def weigh(x, weight):
        return x * weight

    inputs = dict(input_dataset=numbers(s, 5), other_arguments=[s.constant(np.int64(10))], f=weigh)
    if kind == 'Parallel':
        return s('ParallelMapDataset', num_parallel_calls=s.constant(3), **dict(inputs, **NUMBERS)), NUMBERS
    if kind.endswith('AndBatch'):
        inputs.update(batch_size=number(s, 2), num_parallel_calls=number(s, 2), drop_remainder=s.constant(False), **VECTORS)
        return s(kind.replace('AndBatch', 'MapAndBatchDataset'), **inputs), VECTORS
    return s(kind + 'MapDataset', **dict(inputs, **NUMBERS)), NUMBERS


@scene()
def errors_of_functions(s):
    @s.function('int64')
    def divide(x):
        return s('CheckNumerics', tensor=1.0 / s('Cast', x=x, DstT='float32'), message='zero')

    floats = dict(output_types=['float32'], output_shapes=[[]])
    source = slices(s, np.array([1, 0, 2], np.int64))
    read(s, s('MapDataset', input_dataset=source, other_arguments=[], f=divide, **floats), floats, 4)
    for prefix in ('', 'Experimental'):
        made = s('MapDataset', input_dataset=source, other_arguments=[], f=divide, **floats)
        read(s, s(prefix + 'IgnoreErrorsDataset', input_dataset=made, **floats), floats, 3)


@dataset('', 'Experimental', limit=4)
def taken_while(s, prefix):
    # TensorFlow 1.15 goes on behind the end.
    @s.function('int64')
    def small(x):
        return s('Less', x=x, y=number(s, 3))

    return s(prefix + 'TakeWhileDataset', input_dataset=numbers(s, 9), other_arguments=[], predicate=small, **NUMBERS), NUMBERS


@dataset('Filter', 'FilterByLastComponent')
def chosen(s, kind):
    @s.function('int64')
    def small(x):
        return s('Less', x=s('FloorMod', x=x, y=number(s, 5)), y=number(s, 3))

    if kind == 'FilterByLastComponent':
        two = slices(s, np.arange(4), np.array([True, False, True, False]))
        return s('FilterByLastComponentDataset', input_dataset=two, **NUMBERS), NUMBERS
    return s(kind + 'Dataset', input_dataset=numbers(s, 9), other_arguments=[], predicate=small, **NUMBERS), NUMBERS


@dataset('FlatMap', 'Interleave', 'ParallelInterleave V2', 'ParallelInterleave', 'ExperimentalParallelInterleave')
def joined(s, kind):
    @s.function('int64')
    def repeated(x):
        one = s('TensorDataset', components=[x], output_shapes=[[]])
        return s('RepeatDataset', input_dataset=one, count=number(s, 3), **NUMBERS)

    kind, _, version = kind.partition(' ')
    inputs = dict(input_dataset=numbers(s, 3), other_arguments=[], f=repeated)
    if kind != 'FlatMap':
        inputs.update(cycle_length=number(s, 2), block_length=number(s, 2))
    if version:
        inputs.update(num_parallel_calls=number(s, 2))
    elif 'Parallel' in kind:
        inputs.update(sloppy=s.constant(False), buffer_output_elements=number(s, 2), prefetch_input_elements=number(s, 1))
    return s(kind + 'Dataset' + version, **dict(inputs, **NUMBERS)), NUMBERS


@EXPERIMENTAL
def scanned(s, prefix):
    @s.function('int64', 'int64')
    def add(state, x):
        return state + x, state * 10

    return s(prefix + 'ScanDataset', input_dataset=numbers(s, 5), initial_state=[number(s, 1)], other_arguments=[], f=add,
             **NUMBERS), NUMBERS


@EXPERIMENTAL
def groups_reduced(s, prefix):
    @s.function('int64')
    def key(x):
        return s('FloorMod', x=x, y=number(s, 3))

    @s.function('int64')
    def begin(k):
        return k * 100

    @s.function('int64', 'int64')
    def add(state, x):
        return state + x

    @s.function('int64')
    def end(state):
        return -state

    none = dict(key_func_other_arguments=[], init_func_other_arguments=[], reduce_func_other_arguments=[],
                finalize_func_other_arguments=[])
    return s(prefix + 'GroupByReducerDataset', input_dataset=numbers(s, 8), key_func=key, init_func=begin, reduce_func=add,
             finalize_func=end, **dict(none, **NUMBERS)), NUMBERS


@EXPERIMENTAL
def groups_in_windows(s, prefix):
    @s.function('int64')
    def key(x):
        return s('FloorMod', x=x, y=number(s, 2))

    @s.function('int64', 'variant')
    def reduced(k, window):
        return s('BatchDataset', input_dataset=window, batch_size=number(s, 10), **VECTORS)

    @s.function('int64')
    def size(k):
        return k + 2

    none = dict(key_func_other_arguments=[], reduce_func_other_arguments=[], window_size_func_other_arguments=[])
    return s(prefix + 'GroupByWindowDataset', input_dataset=numbers(s, 9), key_func=key, reduce_func=reduced,
             window_size_func=size, **dict(none, **VECTORS)), VECTORS


@dataset('', 'AndRepeat')
def shuffled(s, kind):
    inputs = dict(input_dataset=numbers(s, 8), buffer_size=number(s, 5), seed=number(s, 3), seed2=number(s, 4))
    if kind == 'AndRepeat':
        return s('ShuffleAndRepeatDataset', count=number(s, 2), **dict(inputs, **NUMBERS)), NUMBERS
    made = s('ShuffleDataset', **dict(inputs, **NUMBERS))
    return s('RepeatDataset', input_dataset=made, count=number(s, 2), **NUMBERS), NUMBERS


@EXPERIMENTAL
def random_numbers(s, prefix):
    made = s(prefix + 'RandomDataset', seed=number(s, 3), seed2=number(s, 4), **NUMBERS)
    return s('TakeDataset', input_dataset=made, count=number(s, 5), **NUMBERS), NUMBERS


@dataset()
def sampled(s):
    return s('SamplingDataset', input_dataset=numbers(s, 20), rate=s.constant(0.4), seed=number(s, 3), seed2=number(s, 4),
             **NUMBERS), NUMBERS


@EXPERIMENTAL
def dealt(s, prefix):
    turns = slices(s, np.array([0, 1, 1, 0, 0, 1, 0], np.int64))
    return s(prefix + 'DirectedInterleaveDataset', selector_input_dataset=turns,
             data_input_datasets=[numbers(s, 3), numbers(s, 19, 10)], **NUMBERS), NUMBERS


@dataset('Shard', 'AutoShard', 'ExperimentalAutoShard')
def sharded(s, kind):
    count = dict(num_shards=number(s, 3)) if kind == 'Shard' else dict(num_workers=number(s, 3))
    return s(kind + 'Dataset', input_dataset=numbers(s, 8), index=number(s, 1), **dict(count, **NUMBERS)), NUMBERS


PASSED_ON = {  # what changes no element: the inputs besides the data set
    'Prefetch': dict(buffer_size=2), 'Model': {}, 'NonSerializable': {}, 'ExperimentalNonSerializable': {},
    'Sleep': dict(sleep_microseconds=10), 'ExperimentalSleep': dict(sleep_microseconds=10),
    'MaxIntraOpParallelism': dict(max_intra_op_parallelism=1), 'ExperimentalMaxIntraOpParallelism': dict(max_intra_op_parallelism=1),
    'PrivateThreadPool': dict(num_threads=2), 'ExperimentalPrivateThreadPool': dict(num_threads=2),
    'LatencyStats': dict(tag=b't'), 'ExperimentalLatencyStats': dict(tag=b't'),
    'BytesProducedStats': dict(tag=b't'), 'ExperimentalBytesProducedStats': dict(tag=b't'),
    'AssertNext': dict(transformations=words()), 'ExperimentalAssertNext': dict(transformations=words()),
    'Optimize': dict(optimizations=words()),
}


@dataset(*sorted(PASSED_ON))
def passed_on(s, kind):
    more = {name: number(s, value) if isinstance(value, int) else s.constant(value, 'string')
            for name, value in PASSED_ON[kind].items()}
    return s(kind + 'Dataset', input_dataset=numbers(s, 4), **dict(more, **NUMBERS)), NUMBERS


@EXPERIMENTAL
def thread_pool(s, prefix):
    pool = s(prefix + 'ThreadPoolHandle', num_threads=2, display_name='pool')
    return s(prefix + 'ThreadPoolDataset', input_dataset=numbers(s, 4), thread_pool=pool, **NUMBERS), NUMBERS


@EXPERIMENTAL
def fastest(s, prefix):
    return s(prefix + 'ChooseFastestDataset', input_datasets=[numbers(s, 4), numbers(s, 4)], num_experiments=2, **NUMBERS), NUMBERS


@dataset()
def fastest_branch(s):
    @s.function('variant')
    def branch(source):
        return s('SkipDataset', input_dataset=source, count=number(s, 0), **NUMBERS)

    return s('ChooseFastestBranchDataset', input_dataset=numbers(s, 4), ratio_numerator=number(s, 1),
             ratio_denominator=number(s, 1), other_arguments=[], branches=[branch, branch], other_arguments_lengths=[0, 0],
             num_elements_per_branch=1, **NUMBERS), NUMBERS


@dataset('', 'in a file')
def cached(s, kind):
    made = s('CacheDataset', input_dataset=numbers(s, 3), filename=s.constant(b'cache' if kind else b''), **NUMBERS)
    return s('RepeatDataset', input_dataset=made, count=number(s, 2), **NUMBERS), NUMBERS


@dataset()
def wrapped(s):
    return s('UnwrapDatasetVariant', input_handle=s('WrapDatasetVariant', input_handle=numbers(s, 3))), NUMBERS


@dataset('TextLine', 'FixedLengthRecord', 'FixedLengthRecord V2', 'TFRecord', 'TFRecord ZLIB', 'TextLine GZIP')
def files(s, kind):
    kind, _, more = kind.partition(' ')
    inputs = dict(buffer_size=number(s, 100))
    names = {'TextLine': words('input/lines.txt', 'input/more.txt'), 'FixedLengthRecord': words('input/fixed.bin'),
             'TFRecord': words('input/records')}[kind]
    if kind == 'FixedLengthRecord':
        inputs.update(header_bytes=number(s, 2), record_bytes=number(s, 2), footer_bytes=number(s, 1))
    if kind != 'FixedLengthRecord' or more:
        inputs['compression_type'] = s.constant(b'' if more == 'V2' else more.encode())
    if more in ('ZLIB', 'GZIP'):
        names = words('input/records.z' if more == 'ZLIB' else 'input/lines.gz')
    version = 'V2' if more == 'V2' else ''
    return s(kind + 'Dataset' + version, filenames=s.constant(names), **inputs), TEXT


@dataset('TextLine', 'TFRecord', 'FixedLengthRecord', limit=1)
def missing_file(s, kind):
    sizes = dict(header_bytes=number(s, 2), record_bytes=number(s, 2), footer_bytes=number(s, 1))
    more = sizes if kind == 'FixedLengthRecord' else dict(compression_type=s.constant(b''))
    return s(kind + 'Dataset', filenames=s.constant(words('input/missing')), buffer_size=number(s, 0), **more), TEXT


@EXPERIMENTAL
def rows_of_text(s, prefix):
    spec = dict(output_types=['int32', 'float32'], output_shapes=[[], []])
    made = s(prefix + 'CSVDataset', filenames=s.constant(words('input/numbers.csv')), compression_type=s.constant(b''),
             buffer_size=number(s, 100), header=s.constant(True), field_delim=s.constant(b','),
             use_quote_delim=s.constant(True), na_value=s.constant(b''), select_cols=s.constant(np.zeros([0], np.int64)),
             record_defaults=[s.constant(np.array([-1], np.int32)), s.constant(np.zeros([0], np.float32))], output_shapes=[[], []])
    return made, spec


@dataset('', 'Experimental')
def matching_files(s, prefix):
    return s(prefix + 'MatchingFilesDataset', patterns=s.constant(words('input/*.txt'))), TEXT


@scene('', 'Experimental')
def written_to_a_file(s, prefix):
    s.run(s(prefix + 'DatasetToTFRecord', input_dataset=slices(s, words('a', 'bc')), filename=s.fed(b'written'),
            compression_type=s.fed(b'')))
    read(s, s('TFRecordDataset', filenames=s.constant(words('written')), compression_type=s.constant(b''),
              buffer_size=number(s, 100)), TEXT, 3)


@EXPERIMENTAL
def parsed_examples(s, prefix):
    from cases.parsing import example
    source = slices(s, np.array([example(a=[1.0, 2.0], b=[3]), example(a=[4.0, 5.0], c=[b'x'])], object))
    made = s(prefix + 'ParseExampleDataset',
             input_dataset=s('BatchDataset', input_dataset=source, batch_size=number(s, 2), output_types=['string'],
                             output_shapes=[[None]]),
             num_parallel_calls=number(s, 1), dense_defaults=[s.constant(np.zeros([0], np.float32))], sparse_keys=['b'],
             dense_keys=['a'], sparse_types=['int64'], dense_shapes=[[2]], output_types=['float32', 'variant'],
             output_shapes=[[None, 2], [3]])
    return made, dict(output_types=['float32', 'variant'], output_shapes=[[None, 2], [3]])


@scene('', 'Experimental')
def sizes(s, prefix):
    for made in (numbers(s, 7), s('RepeatDataset', input_dataset=numbers(s, 7), count=number(s, -1), **NUMBERS),
                 s('BatchDataset', input_dataset=numbers(s, 7), batch_size=number(s, 2), **VECTORS),
                 s('TextLineDataset', filenames=s.constant(words('input/lines.txt')), compression_type=s.constant(b''),
                   buffer_size=number(s, 0))):
        s.run(s(prefix + 'DatasetCardinality', input_dataset=made))


@scene()
def one_element_and_sums(s):
    @s.function('int64', 'int64')
    def add(state, x):
        return state + x

    for count in (1, 0, 2):
        s.run(s('DatasetToSingleElement', dataset=numbers(s, count), **NUMBERS))
    s.run(s('ReduceDataset', input_dataset=numbers(s, 5), initial_state=[number(s, 100)], other_arguments=[], f=add, **NUMBERS))


@dataset()
def generated(s):
    @s.function('int64')
    def begin(x):
        return x

    @s.function('int64')
    def following(x):
        return x * 2

    made = s('GeneratorDataset', init_func_other_args=[number(s, 21)], next_func_other_args=[], finalize_func_other_args=[],
             init_func=begin, next_func=following, finalize_func=begin, **NUMBERS)
    return s('TakeDataset', input_dataset=made, count=number(s, 2), **NUMBERS), NUMBERS


@scene('Iterator', 'IteratorV2')
def iterators(s, op):
    place = s(op, shared_name='it', container='', **NUMBERS)
    following = s('IteratorGetNext', iterator=place, **NUMBERS)
    s.run(following)  # not initialised
    s.run(s('MakeIterator', dataset=slices(s, np.array([1.0])), iterator=place))  # another type
    make = s('MakeIterator', dataset=numbers(s, 3), iterator=place)
    s.run(make)
    s.run(following)
    s.run(s('IteratorGetNextSync', iterator=place, **NUMBERS))
    s.run(make)
    s.run(following)
    s.run(s('IteratorGetDevice', resource=place))
    s.run(s('ExperimentalIteratorGetDevice', resource=place))
    for version in ('', 'V2'):
        text = s('IteratorToStringHandle', resource_handle=place)
        s.run(text, compared=False)
        kept = s.tf.placeholder(s.tf.string, [])
        same = s('IteratorFromStringHandle' + version, string_handle=kept, **NUMBERS)
        s.run(s('IteratorGetNext', iterator=same, **NUMBERS), carry={kept: text})
    s.run(following)


@scene()
def one_shot_iterator(s):
    @s.function()
    def factory():
        return numbers(s, 2)

    following = s('IteratorGetNext', iterator=s('OneShotIterator', dataset_factory=factory, **NUMBERS), **NUMBERS)
    for _ in range(3):
        s.run(following)


@scene()
def saved_iterator(s):
    place = iterator(s, NUMBERS)
    s.run(s('MakeIterator', dataset=numbers(s, 5), iterator=place))
    following = s('IteratorGetNext', iterator=place, **NUMBERS)
    s.run(following)
    saved = s('SerializeIterator', resource_handle=place)
    other = iterator(s, NUMBERS, 'other')
    s.run(s('DeserializeIterator', resource_handle=other, serialized=saved))
    s.run(s('IteratorGetNext', iterator=other, **NUMBERS))
    s.run(following)


@scene('', 'V2')
def anonymous_iterator(s, version):
    made = s('AnonymousIterator' + version, **NUMBERS)
    place = made.handle if version else made
    with s.after(s('MakeIterator', dataset=numbers(s, 5, 3), iterator=place)):
        first = s('IteratorGetNext', iterator=place, **NUMBERS)[0]
    with s.after(first):
        second = s('IteratorGetNext', iterator=place, **NUMBERS)[0]
    if version:
        with s.after(second):
            s.run(first, second, s('DeleteIterator', handle=place, deleter=made.deleter))
    else:
        s.run(first, second)


@scene()
def optional_values(s):
    some, none = s('OptionalFromValue', components=[s.fed([1.0, 2.0]), s.fed(b'a')]), s('OptionalNone')
    spec = dict(output_types=['float32', 'string'], output_shapes=[[2], []])
    s.run(s('OptionalHasValue', optional=some), s('OptionalHasValue', optional=none))
    s.run(s('OptionalGetValue', optional=some, **spec))
    s.run(s('OptionalGetValue', optional=none, **spec))
    place = iterator(s, NUMBERS)
    s.run(s('MakeIterator', dataset=numbers(s, 1), iterator=place))
    following = s('IteratorGetNextAsOptional', iterator=place, **NUMBERS)
    has = s('OptionalHasValue', optional=following)
    s.run(has, s('OptionalGetValue', optional=following, **NUMBERS))
    s.run(has)


@scene('ShuffleDatasetV2', 'CacheDatasetV2')
def resources_of_one_run(s, op):
    # What an anonymous operation makes goes with its deleter.
    if op == 'ShuffleDatasetV2':
        made = s('AnonymousRandomSeedGenerator', seed=number(s, 3), seed2=number(s, 4))
        delete, inputs = 'DeleteRandomSeedGenerator', dict(buffer_size=number(s, 5), seed_generator=made.handle)
    else:
        made = s('AnonymousMemoryCache')
        delete, inputs = 'DeleteMemoryCache', dict(filename=s.constant(b''), cache=made.handle)
    once = s(op, input_dataset=numbers(s, 8), **dict(inputs, **NUMBERS))
    place = iterator(s, NUMBERS)
    last = s('MakeIterator', dataset=s('RepeatDataset', input_dataset=once, count=number(s, 2), **NUMBERS), iterator=place)
    elements = []
    for _ in range(12):
        with s.after(last):
            elements += s('IteratorGetNext', iterator=place, **NUMBERS)
        last = elements[-1]
    with s.after(last):
        s.run(elements, s(delete, handle=made.handle, deleter=made.deleter))


@scene()
def iterator_of_several_devices(s):
    spec = dict(devices=['/cpu:0', '/cpu:0'], **NUMBERS)
    place = s('MultiDeviceIterator', shared_name='multi', container='', **spec)
    begin = s('MultiDeviceIteratorInit', dataset=numbers(s, 5), multi_device_iterator=place, max_buffer_size=s.fed(10, 'int64'))
    s.run(begin)
    kept = s.tf.placeholder(s.tf.int64, [])
    text = s('MultiDeviceIteratorToStringHandle', multi_device_iterator=place)
    s.run(text, compared=False)
    name = s.tf.placeholder(s.tf.string, [])
    same = s('MultiDeviceIteratorFromStringHandle', string_handle=name, **NUMBERS)
    for source, shard in ((place, 0), (place, 1), (same, 0), (place, 1), (place, 0), (place, 1), (place, 0)):
        s.run(s('MultiDeviceIteratorGetNextFromShard', multi_device_iterator=source, shard_num=s.fed(np.int32(shard)),
                incarnation_id=kept, **NUMBERS), carry={kept: begin, name: text})


@scene()
def anonymous_iterator_of_several_devices(s):
    made = s('AnonymousMultiDeviceIterator', devices=['/cpu:0'], **NUMBERS)
    begin = s('MultiDeviceIteratorInit', dataset=numbers(s, 5, 3), multi_device_iterator=made.handle, max_buffer_size=s.fed(10, 'int64'))
    following = s('MultiDeviceIteratorGetNextFromShard', multi_device_iterator=made.handle, shard_num=s.fed(np.int32(0)),
                  incarnation_id=begin, **NUMBERS)
    with s.after(following[0]):
        s.run(following, s('DeleteMultiDeviceIterator', multi_device_iterator=made.handle, iterators=[], deleter=made.deleter))


@scene('', 'V2', 'Experimental')
def statistics(s, kind):
    prefix = 'Experimental' if kind == 'Experimental' else ''
    handle = s(prefix + 'StatsAggregatorHandle' + kind.replace('Experimental', ''))
    counted_bytes = s(prefix + 'BytesProducedStatsDataset', input_dataset=numbers(s, 3), tag=s.constant(b'bytes'), **NUMBERS)
    made = s(prefix + 'SetStatsAggregatorDataset', input_dataset=counted_bytes, stats_aggregator=handle, tag=s.constant(b'tag'),
             counter_prefix=s.constant(b'prefix'), **NUMBERS)
    read(s, made, NUMBERS, 4)
    if kind != 'V2':
        s.run(s('StringLength', input=s(prefix + 'StatsAggregatorSummary', iterator=handle)))
