"""Exchanges checkpoints with TensorFlow (which is no dependency: run this by hand in an environment that has it, with
TensorFlow 2 through tensorflow_driver.py).

  checkpoint_exchange.py make DIRECTORY   writes the checkpoints of tests/data/checkpoints (TensorFlow 1.15)
  checkpoint_exchange.py check DIRECTORY  reads those that Weir wrote, with TensorFlow 1.15 or 2, and compares the values
                                          (the checkpoint tests leave them in the system's temporary directory as
                                          weir_checkpoints)
"""
import os
import sys

import numpy as np
import tensorflow as tf

try:
    raw_ops = tf.raw_ops
except AttributeError:
    from weir.core.op_functions import RawOps

    raw_ops = RawOps()

NUMBERS = ['half', 'float', 'double', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64', 'bool',
           'complex64', 'complex128', 'bfloat16']
# TensorFlow's V1 writer knows no more.
OLD_NUMBERS = ['half', 'float', 'double', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'bool', 'complex64',
               'complex128']


def values(numbers):
    """Name -> array; the C++ tests have the same."""
    result = {'type/' + name: np.array([0, 1, 1], tf.as_dtype(name).as_numpy_dtype) for name in numbers}
    result['scalar'] = np.float32(1.5)
    result['matrix'] = np.arange(6, dtype=np.float32).reshape(2, 3) / 4
    result['empty'] = np.zeros([0, 3], np.float32)
    result['strings'] = np.array([[b'a', b'bc'], [b'', b'x' * 300]], object)
    result['layer/weights'] = np.arange(2000, dtype=np.int32).reshape(40, 50)
    return result


def slices():
    """(name, shape and slice, array) of two tensors that are kept in parts."""
    rows, columns = np.arange(12, dtype=np.float32).reshape(6, 2), np.arange(10, dtype=np.int64).reshape(2, 5)
    return [('rows', '6 2 0,2:-', rows[0:2]), ('rows', '6 2 2,3:-', rows[2:5]), ('rows', '6 2 5,1:-', rows[5:6]),
            ('columns', '2 5 -:0,3', columns[:, 0:3]), ('columns', '2 5 -:3,2', columns[:, 3:5])]


def make(directory):
    def tensors(numbers):
        items = [(name, '', value) for name, value in sorted(values(numbers).items())] + slices()
        names, places, arrays = zip(*items)
        return list(names), list(places), [tf.constant(array) for array in arrays]

    def path(name):
        return os.path.join(directory, name)

    with tf.Session() as session:
        names, places, data = tensors(NUMBERS)
        session.run(raw_ops.SaveV2(prefix=path('v2'), tensor_names=names, shape_and_slices=places, tensors=data))
        names, places, data = tensors(OLD_NUMBERS)
        session.run(raw_ops.SaveSlices(filename=path('v1'), tensor_names=names, shapes_and_slices=places, data=data))
    # Two devices save a file each.
    with tf.Graph().as_default(), tf.Session(config=tf.ConfigProto(device_count={'CPU': 2})) as session:
        with tf.device('/cpu:0'):
            tf.get_variable('a', initializer=np.arange(3, dtype=np.float32))
        with tf.device('/cpu:1'):
            tf.get_variable('b', initializer=np.arange(4, dtype=np.int32))
        session.run(tf.global_variables_initializer())
        for name, version in [('sharded_v2', tf.train.SaverDef.V2), ('sharded_v1', tf.train.SaverDef.V1)]:
            saver = tf.train.Saver(sharded=True, write_version=version)
            saver.save(session, path(name), write_meta_graph=False, write_state=False)
    # A program's own: three variables (one partitioned), its state file and its meta graph.
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable('w', initializer=np.float32([1, 2]))
        tf.get_variable('r', initializer=np.float32(3), use_resource=True)
        tf.get_variable('p', shape=[4, 2], initializer=tf.ones_initializer(), partitioner=tf.fixed_size_partitioner(2))
        step = tf.train.get_or_create_global_step()
        tf.add_to_collection('losses', tf.identity(1.0, name='loss'))
        tf.add_to_collection('numbers', 7)
        tf.add_to_collection('words', 'word')
        session.run(tf.global_variables_initializer())
        saver = tf.train.Saver(max_to_keep=2)
        for i in range(3):
            session.run(tf.assign(step, i))
            saver.save(session, path('program/model.ckpt'), global_step=step, write_meta_graph=(i == 2))


def same(name, found, expected):
    assert found.dtype == np.asarray(expected).dtype or expected.dtype == object, '%s: %s' % (name, found.dtype)
    assert found.shape == expected.shape and found.tolist() == expected.tolist(), '%s: %s' % (name, found)


def check(directory):
    def compare(path, numbers):
        reader = tf.train.NewCheckpointReader(path)
        whole = values(numbers)
        for name, place, array in slices():
            whole.setdefault(name, []).append(array)
        whole['rows'], whole['columns'] = np.concatenate(whole['rows'], 0), np.concatenate(whole['columns'], 1)
        unread = []
        assert sorted(reader.get_variable_to_shape_map()) == sorted(whole), path
        for name, expected in whole.items():
            assert list(reader.get_variable_to_shape_map()[name]) == list(expected.shape), name
            try:
                same(name, np.asarray(reader.get_tensor(name)), expected)
            except tf.errors.UnimplementedError:  # TensorFlow's reader knows less of V1 files than its writer
                assert numbers == OLD_NUMBERS and (name.startswith('type/') or name in ('rows', 'columns')), name
                unread.append(name)
        with tf.Graph().as_default(), tf.Session() as session:
            for name, place, array in slices():
                same(name, session.run(raw_ops.RestoreSlice(
                    file_pattern=path, tensor_name=name, shape_and_slice=place, dt=array.dtype)) if numbers == OLD_NUMBERS
                     else session.run(raw_ops.RestoreV2(
                         prefix=path, tensor_names=[name], shape_and_slices=[place], dtypes=[array.dtype]))[0], array)
        print('%s: %d tensors, all the same%s' % (path, len(whole) - len(unread),
                                                 '; not read as a whole: %s' % unread if unread else ''))

    compare(os.path.join(directory, 'v2'), NUMBERS)
    compare(os.path.join(directory, 'v1'), OLD_NUMBERS)

    program = os.path.join(directory, 'program')
    state = tf.train.get_checkpoint_state(program)
    assert [os.path.basename(p) for p in state.all_model_checkpoint_paths] == ['model.ckpt-1', 'model.ckpt-2'], state
    latest = tf.train.latest_checkpoint(program)
    with tf.Graph().as_default(), tf.Session() as session:
        saver = tf.train.import_meta_graph(latest + '.meta')
        saver.restore(session, latest)
        names = [v.op.name for v in tf.global_variables()]
        assert names == ['w', 'r', 'global_step'], names
        w, r, step = session.run(tf.global_variables())
        assert w.tolist() == [1, 2] and r == 3 and step == 2, (w, r, step)
        assert [v.op.name for v in tf.trainable_variables()] == ['w', 'r']
        assert tf.get_collection('losses')[0].name == 'loss:0'
        assert list(tf.get_collection('numbers')) == [7]
        saver.save(session, os.path.join(directory, 'again/model.ckpt'))
    print('%s: restored through its meta graph' % latest)


if __name__ == '__main__':
    {'make': make, 'check': check}[sys.argv[1]](*sys.argv[2:])
