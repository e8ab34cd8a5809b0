"""Scenes: branches and loops made by hand, functions, checks, what is printed, variables by reference."""
import numpy as np

from scenes.scene import scene


@scene(True, False)
def switch_and_merge(s, side):
    x = s.fed([1.0, -2.0])
    false, true = s('Switch', data=x, pred=s.fed(np.bool_(side)))
    y, index = s('Merge', inputs=[s('Neg', x=false), s('Square', x=true)])
    s.run(y, s('Identity', input=index), gradient=[x])
    s.run(s('Identity', input=false))  # there on one side only


@scene(True, False)
def nested_switches(s, side):
    x, p, q = s.fed(3.0), s.fed(np.bool_(side)), s.fed(np.bool_(True))
    false, true = s('Switch', data=x, pred=p)
    inner_q = s('Switch', data=q, pred=p).output_true
    inner_false, inner_true = s('Switch', data=true, pred=inner_q)
    inner, _ = s('Merge', inputs=[inner_false + 1.0, inner_true * 10.0])
    y, index = s('Merge', inputs=[false - 5.0, inner])
    s.run(y, s('Identity', input=index), gradient=[x])


def _loop(s, start, limit, prefix):
    end = s('Enter', data=s.fed(np.float32(limit)), frame_name='frame', is_constant=True)
    begun = s(prefix + 'Enter', data=start, frame_name='frame')
    merged, _ = s(prefix + 'Merge', inputs=[begun, begun])
    condition = s('LoopCond', input=s('Less', x=merged, y=end))
    left, goes_on = s(prefix + 'Switch', data=merged, pred=condition)
    return merged, goes_on, s(prefix + 'Exit', data=left)


@scene(0, 1, 7)
def loop(s, limit):
    merged, goes_on, left = _loop(s, s.fed(0.0), limit, '')
    with s.after(goes_on):
        one = s.constant(1.0)
    s.rewire(merged, 1, s('NextIteration', data=goes_on + one))
    s.run(left)


@scene()
def loop_of_a_reference(s):
    variable = s('VariableV2', shape=[], dtype='float32', shared_name='v')
    s.run(s('Assign', ref=variable, value=s.fed(0.0)).op)
    merged, goes_on, left = _loop(s, variable, 3, 'Ref')
    with s.after(goes_on):
        one = s.constant(1.0)
    s.rewire(merged, 1, s('RefNextIteration', data=s('AssignAdd', ref=goes_on, value=one)))
    s.run(left)
    s.run(s('Identity', input=variable))


@scene(True, False)
def references(s, side):
    a = s('VariableV2', shape=[2], dtype='float32', shared_name='a')
    b = s('VariableV2', shape=[2], dtype='float32', shared_name='b')
    s.run(s('Assign', ref=a, value=s.fed([1.0, 2.0])).op, s('Assign', ref=b, value=s.fed([3.0, 4.0])).op)
    s.run(s('Identity', input=s('RefIdentity', input=a)))
    s.run(s('Identity', input=s('RefSelect', index=s.fed(np.int32(side)), inputs=[a, b])))
    false, true = s('RefSwitch', data=a, pred=s.fed(np.bool_(side)))
    chosen, index = s('RefMerge', inputs=[false, true])
    s.run(s('Identity', input=index), s('Identity', input=chosen))
    s.run(s('Identity', input=s('AssignAdd', ref=true if side else false, value=s.fed([10.0, 20.0]))))
    s.run(s('Identity', input=a))
    s.run(s('Identity', input=s('DebugGradientRefIdentity', input=a)))
    s.run(s('IsVariableInitialized', ref=a))
    s.run(s('Identity', input=s('Variable', shape=[2], dtype='float32', shared_name='never')))


@scene()
def no_values(s):
    x = s.fed([1.0, np.inf, 2.0])
    s.run(s('NoOp'), s('ControlTrigger'))
    yes, no = s.fed(np.bool_(True)), s.fed(np.bool_(False))
    s.run(s('Assert', condition=yes, data=[x]))
    s.run(s('Assert', condition=no, data=[x, s.fed(b'text')]))
    s.run(s('Print', input=x, data=[x], message='shown: ', summarize=2))
    s.run(s('PrintV2', input=s.fed(b'shown'), output_stream='stderr'))
    s.run(s('CheckNumerics', tensor=x, message='not finite'))
    y = s.fed([1.0, 2.0])
    s.run(s('CheckNumerics', tensor=y, message='not finite'), gradient=[y])
    s.run(s('Timestamp') > 1.5e9)
    s.run(s('Placeholder', dtype='float32', shape=[2]))  # nothing is fed


@scene()
def former_placeholder(s):
    place = s('PlaceholderV2', dtype='float32', shape=[2])
    s.run(place + 1.0)  # nothing is fed
    s.run(s.fed([1.0, 2.0]), compared=False)
    s.run(place + 1.0, carry={place: s.tf.get_default_graph().get_tensor_by_name(s.steps[-1]['fetches'][0])})


@scene(0, 1, 2, 5)
def cases(s, index):
    @s.function('float32')
    def double(x):
        return x * 2.0

    @s.function('float32')
    def square(x):
        return x * x

    @s.function('float32')
    def minus(x):
        return -x

    x = s.fed([1.0, 3.0])
    s.run(s('Case', branch_index=s.fed(np.int32(index)), input=[x], Tout=['float32'], branches=[double, square, minus]))
    for op in ('If', 'StatelessIf'):
        for cond in (np.bool_(index % 2), np.int32(index), np.array([index] * 2, np.float32)):
            s.run(s(op, cond=s.fed(cond), input=[x], Tout=['float32'], then_branch=double, else_branch=minus))


@scene('While', 'StatelessWhile')
def loops(s, op):
    @s.function('int32', 'float32')
    def condition(i, x):
        return i < 4

    @s.function('int32', 'float32')
    def body(i, x):
        return i + 1, x * 2.0

    x = s.fed([1.0, 3.0])
    for start in (0, 9):
        s.run(s(op, input=[s.fed(np.int32(start)), x], cond=condition, body=body))


@scene('PartitionedCall', 'StatefulPartitionedCall')
def calls(s, op):
    @s.function('float32', 'float32')
    def both(x, y):
        return x * y, x + y

    x, y = s.fed([1.0, 3.0]), s.fed([2.0, 5.0])
    s.run(s(op, args=[x, y], Tout=['float32', 'float32'], f=both))


@scene()
def remote_call(s):
    @s.function('float32')
    def double(x):
        return x * 2.0

    s.run(s('RemoteCall', target=s.fed(b'/job:localhost/replica:0/task:0/device:CPU:0'), args=[s.fed([1.0, 3.0])],
            Tout=['float32'], f=double))


@scene()
def symbolic_gradient(s):
    @s.function('float32', 'float32')
    def product(x, y):
        return x * y + s('Exp', x=x)

    s.run(s('SymbolicGradient', input=[s.fed([1.0, 3.0]), s.fed([2.0, 5.0]), s.fed([1.0, 10.0])],
            Tout=['float32', 'float32'], f=product))


@scene()
def function_of_each_row(s):
    @s.function('float32', 'float32')
    def weigh(x, w):
        return x * w, s('Sum', input=x, reduction_indices=s.constant([0]))

    s.run(s('MapDefun', arguments=[s.fed([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])], captured_inputs=[s.fed([10.0, 100.0])],
            output_types=['float32', 'float32'], output_shapes=[[2], []], f=weigh))


@scene()
def resources(s):
    made = s('VarHandleOp', shape=[2], dtype='float32', shared_name='v')
    read = s('ReadVariableOp', resource=made, dtype='float32')
    s.run(read)  # not initialised
    s.run(s('AssignVariableOp', resource=made, value=s.fed([1.0, 2.0])))
    s.run(read, s('VarIsInitializedOp', resource=made))
    s.run(s('DestroyResourceOp', resource=made))
    s.run(s('VarIsInitializedOp', resource=made))
    s.run(s('DestroyResourceOp', resource=made, ignore_lookup_error=True))
    s.run(s('DestroyResourceOp', resource=made, ignore_lookup_error=False))


@scene()
def temporary_variable(s):
    temporary = s('TemporaryVariable', shape=[2], dtype='float32', var_name='t')
    value = s('AssignAdd', ref=s('Assign', ref=temporary, value=s.fed([1.0, 2.0])), value=s.fed([10.0, 20.0]))
    s.run(s('DestroyTemporaryVariable', ref=value, var_name='t'))


@scene()
def session_handles(s):
    tf = s.tf
    x = s.fed([1.0, 2.0])
    handle = s('GetSessionHandle', value=x * 3.0)
    s.run(handle, compared=False)
    kept = tf.placeholder(tf.string, [])
    carry = {kept: handle}
    s.run(s('GetSessionTensor', handle=kept, dtype='float32') + 1.0, carry=carry)
    s.run(s('DeleteSessionTensor', handle=kept), carry=carry)
    s.run(s('GetSessionTensor', handle=kept, dtype='float32'), carry=carry)


@scene()
def session_handles_of_resources(s):
    s.run(s('DestroyResourceOp', resource=s('GetSessionHandleV2', value=s.fed([1.0, 2.0])), ignore_lookup_error=True))


@scene()
def mutex(s):
    lock = s('MutexLock', mutex=s('MutexV2', shared_name='mutex'))
    used = s('ConsumeMutexLock', mutex_lock=lock)
    with s.after(used):
        s.run(s('Identity', input=s.fed(1.0)))
    s.run(used)


@scene()
def formats(s):
    s.run(s('StringFormat', inputs=[s.fed([[1.5, 2.0], [3.0, -4.25]]), s.fed(np.arange(20, dtype=np.int32)), s.fed(b'text'),
                                    s.fed(np.bool_(True))], template='a %s b %s c %s d %s', summarize=3))
    s.run(s('StringFormat', inputs=[s.fed([1.0])], template='{} and', placeholder='{}', summarize=-1))
    s.run(s('StringFormat', inputs=[], template='nothing'))


@scene()
def joined_summaries(s):
    one, other = [s('ScalarSummary', tags=s.fed(tag), values=s.fed(value)) for tag, value in ((b'a', 1.0), (b'b', 2.0))]
    s.run(s('StringLength', input=s('MergeSummary', inputs=[one, other])))
    s.run(s('MergeSummary', inputs=[one, one]))  # a tag twice


@scene()
def ragged_variants(s):
    values, splits = s.fed([1.0, 2.0, 3.0, 4.0]), s.fed([0, 1, 4], 'int64')
    whole = s('RaggedTensorToVariant', rt_nested_splits=[splits], rt_dense_values=values, batched_input=False)
    s.run(s('RaggedTensorFromVariant', encoded_ragged=whole, input_ragged_rank=1, output_ragged_rank=1, Tvalues='float32',
            Tsplits='int64'))
    rows = s('RaggedTensorToVariant', rt_nested_splits=[splits], rt_dense_values=values, batched_input=True)
    s.run(s('Shape', input=rows))
    s.run(s('RaggedTensorFromVariant', encoded_ragged=s('Pack', values=[whole, whole]), input_ragged_rank=1,
            output_ragged_rank=2, Tvalues='float32', Tsplits='int64'))
    s.run(s('RaggedTensorFromVariant', encoded_ragged=whole, input_ragged_rank=1, output_ragged_rank=1, Tvalues='int32',
            Tsplits='int64'))


@scene()
def sdca(s):
    weights = [s('VariableV2', shape=[3], dtype='float32', shared_name='w%d' % i) for i in (0, 1)]
    s.run(*[s('Assign', ref=w, value=s.fed(v)).op for w, v in zip(weights, ([1.0, -0.2, 0.3], [-2.0, 0.05, 0.5]))])
    s.run(s('SdcaShrinkL1', weights=weights, l1=0.5, l2=2.0))
    s.run(*[s('Identity', input=w) for w in weights])


@scene()
def random_numbers_differ(s):
    numbers = s('NonDeterministicInts', shape=s.fed([1000], 'int32'), dtype='int64')
    s.run(s('Shape', input=numbers))
    s.run(s('Greater', x=s('Size', input=s('Unique', x=numbers)[0]), y=s.constant(990)))


@scene('', 'Batch')
def eigenvectors(s, batch):
    a = np.random.RandomState(1).uniform(-1, 1, (2, 3, 3) if batch else (3, 3))
    whole = s(batch + 'SelfAdjointEig', input=s.fed(a + np.swapaxes(a, -1, -2)))
    s.run(s('Abs', x=whole))  # their signs are nobody's
