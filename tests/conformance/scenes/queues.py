"""Scenes: queues, stages, barriers, accumulators, batches."""
import numpy as np

from scenes.scene import scene

PAIR = ['float32', 'string']


def words(*values):
    result = np.empty(len(values), object)
    result[:] = [value.encode() for value in values]
    return result


def queue(s, kind, version, **attrs):
    """The operations of one queue, by what they do."""
    types = attrs['component_types']
    q = s(kind + version, **attrs)

    def op(name, **inputs):
        return s('Queue%s%s' % (name, version), handle=q, **inputs)

    return {
        'put': lambda *values: s.run(op('Enqueue', components=list(values))),
        'put many': lambda *values: s.run(op('EnqueueMany', components=list(values))),
        'get': lambda: s.run(op('Dequeue', component_types=types)),
        'get many': lambda n: s.run(op('DequeueMany', n=s.fed(np.int32(n)), component_types=types)),
        'get up to': lambda n: s.run(op('DequeueUpTo', n=s.fed(np.int32(n)), component_types=types)),
        'look': lambda: s.run(op('Size'), op('IsClosed')),
        'close': lambda: s.run(op('Close', cancel_pending_enqueues=True)),
    }


@scene('', 'V2')
def first_in_first_out(s, version):
    q = queue(s, 'FIFOQueue', version, component_types=PAIR, shapes=[[2], []], capacity=10)
    q['put'](s.fed([1, 2], 'float32'), s.fed(b'a'))
    q['put many'](s.fed([[3, 4], [5, 6], [7, 8]], 'float32'), s.fed(words('b', 'c', 'd')))
    q['look']()
    q['get']()
    q['get many'](2)
    q['get many'](0)
    q['put'](s.fed([1, 2, 3], 'float32'), s.fed(b'a'))  # another shape
    q['close']()
    q['look']()
    q['put'](s.fed([1, 2], 'float32'), s.fed(b'a'))
    q['get many'](2)
    q['get up to'](5)
    q['get']()
    q['get many'](-1)


@scene('', 'V2')
def shapes_of_their_own(s, version):
    q = queue(s, 'FIFOQueue', version, component_types=['int64'])
    q['put'](s.fed([1, 2], 'int64'))
    q['put'](s.fed([3], 'int64'))
    q['get many'](1)  # needs shapes
    q['get']()
    q['get']()


@scene('', 'V2')
def padding(s, version):
    q = queue(s, 'PaddingFIFOQueue', version, component_types=['float32', 'string'], shapes=[[None, 2], [None]], capacity=10)
    for rows, text in ((1, words('a')), (3, words('b', 'c')), (2, words())):
        q['put'](s.fed(np.arange(2 * rows).reshape(rows, 2) + 1.0), s.fed(text))
    q['get many'](2)
    q['put'](s.fed([1.0, 2.0]), s.fed(words('a')))  # another rank
    q['close']()
    q['get up to'](2)
    q['get']()


@scene('', 'V2')
def shuffled(s, version):
    q = queue(s, 'RandomShuffleQueue', version, component_types=['int32'], shapes=[[]], capacity=100, min_after_dequeue=3,
              seed=5, seed2=7)
    q['put many'](s.fed(np.arange(20, dtype=np.int32)))
    for _ in range(3):
        q['get']()
    q['get many'](4)
    q['put many'](s.fed(np.arange(20, 40, dtype=np.int32)))
    q['get many'](9)
    q['close']()
    q['get up to'](30)
    q['get']()


@scene('', 'V2')
def by_priority(s, version):
    types = ['string']
    handle = s('PriorityQueue' + version, component_types=types, shapes=[[]], capacity=10)

    def op(name, **inputs):
        return s('Queue%s%s' % (name, version), handle=handle, **inputs)

    s.run(op('EnqueueMany', components=[s.fed([5, 1, 3], 'int64'), s.fed(words('e', 'a', 'c'))]))
    s.run(op('Enqueue', components=[s.fed(2, 'int64'), s.fed(b'b')]))
    s.run(op('Dequeue', component_types=['int64'] + types))
    s.run(op('DequeueMany', n=s.fed(np.int32(2)), component_types=['int64'] + types))
    s.run(op('Size'))


@scene()
def fake_queue(s):
    q = s('FIFOQueueV2', component_types=['int32'], shapes=[[]])
    s.run(s('QueueEnqueueV2', handle=q, components=[s.fed(np.int32(3))]))
    s.run(s('QueueDequeue', handle=s('FakeQueue', resource=q), component_types=['int32']))


@scene()
def stage(s):
    limits = dict(shared_name='stage', capacity=5)
    attrs = dict(limits, dtypes=PAIR)
    for i in range(3):
        s.run(s('Stage', values=[s.fed([i, i + 0.5]), s.fed(b'%d' % i)], **limits))
    s.run(s('StageSize', **attrs))
    s.run(s('StagePeek', index=s.fed(np.int32(1)), **attrs))
    s.run(s('Unstage', **attrs))
    s.run(s('StageSize', **attrs))
    s.run(s('StageClear', **attrs))
    s.run(s('StageSize', **attrs))


@scene('', 'Ordered')
def map_stage(s, ordered):
    attrs = dict(dtypes=PAIR, shared_name='map', capacity=5)

    def op(name, **inputs):
        return s(ordered + 'Map' + name, **dict(attrs, **inputs))

    def put(key, indices, *values):
        s.run(op('Stage', key=s.fed(key, 'int64'), indices=s.fed(indices, 'int32'), values=[s.fed(v) for v in values]))

    both = s.fed([0, 1], 'int32')
    put(7, [0, 1], [1.0, 2.0], b'seven')
    put(3, [1], b'three')
    s.run(op('Size'), op('IncompleteSize'))
    put(3, [0], [3.0])
    put(5, [0, 1], [5.0], b'five')
    s.run(op('Size'), op('IncompleteSize'))
    s.run(op('Peek', key=s.fed(7, 'int64'), indices=both))
    s.run(op('Unstage', key=s.fed(5, 'int64'), indices=both))
    put(7, [0, 1], [1.0, 2.0], b'again')
    if ordered:
        s.run(op('UnstageNoKey', indices=both))
        s.run(op('UnstageNoKey', indices=both))
    else:
        s.run(op('Unstage', key=s.fed(3, 'int64'), indices=both))
        s.run(op('UnstageNoKey', indices=both))
    put(9, [0], [3.0])
    s.run(op('Clear'))
    s.run(op('Size'), op('IncompleteSize'))


@scene()
def barrier(s):
    b = s('Barrier', component_types=PAIR, shapes=[[], []])

    def insert(component, keys, values):
        s.run(s('BarrierInsertMany', handle=b, keys=s.fed(words(*keys)), values=s.fed(values), component_index=component))

    def look():
        s.run(s('BarrierReadySize', handle=b), s('BarrierIncompleteSize', handle=b))

    def take(n, **attrs):
        s.run(s('BarrierTakeMany', handle=b, num_elements=s.fed(np.int32(n)), component_types=PAIR, **attrs))

    insert(0, ['a', 'b', 'c'], [1.0, 2.0, 3.0])
    insert(1, ['c'], words('C'))
    look()
    insert(1, ['a'], words('A'))
    insert(1, ['a'], words('A'))  # again
    take(2)
    look()
    s.run(s('BarrierClose', handle=b))
    insert(0, ['new'], [1.0])
    insert(1, ['b'], words('B'))
    take(3, allow_small_batch=True)
    take(1)
    s.run(s('BarrierClose', handle=b, cancel_pending_enqueues=True))
    look()


@scene('', 'Resource')
def accumulator(s, resource):
    for reduction in ('MEAN', 'SUM'):
        handle = s(resource + 'ConditionalAccumulator', dtype='float32', shape=[2], reduction_type=reduction,
                   shared_name=reduction)

        def apply(step, gradient):
            s.run(s(resource + 'AccumulatorApplyGradient', handle=handle, local_step=s.fed(step, 'int64'),
                    gradient=s.fed(gradient, 'float32')))

        apply(0, [1, 2])
        apply(0, [3, 5])
        s.run(s(resource + 'AccumulatorNumAccumulated', handle=handle))
        s.run(s(resource + 'AccumulatorTakeGradient', handle=handle, num_required=s.fed(np.int32(2)), dtype='float32'))
        apply(0, [9, 9])  # is old
        s.run(s(resource + 'AccumulatorNumAccumulated', handle=handle))
        s.run(s(resource + 'AccumulatorSetGlobalStep', handle=handle, new_global_step=s.fed(5, 'int64')))
        apply(5, [1, 1])
        apply(5, [1, 1, 1])
        s.run(s(resource + 'AccumulatorTakeGradient', handle=handle, num_required=s.fed(np.int32(1)), dtype='float32'))
        s.run(s(resource + 'AccumulatorSetGlobalStep', handle=handle, new_global_step=s.fed(1, 'int64')))


@scene('MEAN', 'SUM')
def sparse_accumulator(s, reduction):
    handle = s('SparseConditionalAccumulator', dtype='float32', shape=[None, 2], reduction_type=reduction)

    def apply(indices, values, shape=(4, 2)):
        s.run(s('SparseAccumulatorApplyGradient', handle=handle, local_step=s.fed(0, 'int64'),
                gradient_indices=s.fed(indices, 'int64'), gradient_values=s.fed(values, 'float32'),
                gradient_shape=s.fed(shape, 'int64'), has_known_shape=True))

    apply([0, 2], [[1, 2], [3, 4]])
    apply([2, 3], [[5, 6], [7, 8]])
    apply([2, 3], [[5, 6, 7], [7, 8, 9]], (4, 3))
    s.run(s('AccumulatorNumAccumulated', handle=handle))
    s.run(s('SparseAccumulatorTakeGradient', handle=handle, num_required=s.fed(np.int32(2)), dtype='float32'))
    s.run(s('AccumulatorSetGlobalStep', handle=handle, new_global_step=s.fed(5, 'int64')))
    s.run(s('AccumulatorNumAccumulated', handle=handle))


BATCH = dict(num_batch_threads=1, max_batch_size=4, batch_timeout_micros=1000)


@scene()
def batch_function(s):
    @s.function('float32', 'float32')
    def double(x, captured):
        return x * 2 + captured, s('Square', x=x)

    s.run(s('BatchFunction', in_tensors=[s.fed([[1.0], [2.0]])], captured_tensors=[s.fed(10.0)], f=double,
            Tout=['float32', 'float32'], allowed_batch_sizes=[2, 4], **BATCH))


@scene()
def batch_and_back(s):
    x = s.fed([[1.0, 2.0], [3.0, 4.0]])
    batched, index, number = s('Batch', in_tensors=[x], grad_timeout_micros=1000, batching_queue='queue', **BATCH)
    s.run(batched)
    s.run(s('Unbatch', batched_tensor=batched[0] * 3.0, batch_index=index, id=number, timeout_micros=1000000))
    s.run(s('UnbatchGrad', original_input=batched[0], batch_index=index, grad=s.fed([[5.0, 6.0], [7.0, 8.0]]), id=number))
