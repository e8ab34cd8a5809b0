"""Writes or reads files of every kind, on whatever `import tensorflow` gives.

  file_worker.py write FOLDER          each kind in a function write_<kind>
  file_worker.py read FOLDER RESULTS   {kind: {name: array}} as read_<kind> finds them
"""
import glob
import os
import sys

import numpy as np
import tensorflow as tf

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import arrays  # noqa: E402
import checkpoint_exchange  # noqa: E402
import graph_exchange  # noqa: E402
import record_exchange  # noqa: E402

raw_ops = checkpoint_exchange.raw_ops


def tensors(numbers):
    items = [(name, '', value) for name, value in sorted(checkpoint_exchange.values(numbers).items())]
    names, places, values = zip(*(items + checkpoint_exchange.slices()))
    return list(names), list(places), [tf.constant(value) for value in values]


def read_tensors(path):
    """Every tensor of a checkpoint, except those of types that TensorFlow's reader does not know in a V1 file."""
    reader = tf.train.NewCheckpointReader(path)
    found = {}
    for name, shape in reader.get_variable_to_shape_map().items():
        found[name + ' shape'] = np.array(shape)
        try:
            found[name] = reader.get_tensor(name)
        except tf.errors.UnimplementedError:
            pass
    return found


def write_checkpoint_v2(folder):
    names, places, data = tensors(checkpoint_exchange.NUMBERS)
    with tf.Session() as session:
        session.run(raw_ops.SaveV2(prefix=os.path.join(folder, 'v2'), tensor_names=names, shape_and_slices=places,
                                   tensors=data))


def read_checkpoint_v2(folder):
    return read_tensors(os.path.join(folder, 'v2'))


def write_checkpoint_v1(folder):
    names, places, data = tensors(checkpoint_exchange.OLD_NUMBERS)
    with tf.Session() as session:
        session.run(raw_ops.SaveSlices(filename=os.path.join(folder, 'v1'), tensor_names=names,
                                       shapes_and_slices=places, data=data))


def read_checkpoint_v1(folder):
    return read_tensors(os.path.join(folder, 'v1'))


def write_saver(folder, version=2):
    w = tf.Variable([1.0, 2.0], name='w')
    tf.get_variable('r', initializer=np.float32(3), use_resource=True)
    step = tf.Variable(0, trainable=False, name='global_step')
    loss = tf.reduce_sum(tf.square(w), name='loss')
    train = tf.train.AdamOptimizer(0.1).minimize(loss, global_step=step, name='train')
    tf.add_to_collection('losses', loss)
    tf.add_to_collection('words', 'word')
    saver = tf.train.Saver(max_to_keep=2, write_version=version)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(train)
            saver.save(session, os.path.join(folder, 'model.ckpt'), global_step=session.run(step))


def read_saver(folder):
    """Goes on with the training of a checkpoint through its meta graph."""
    latest = tf.train.latest_checkpoint(folder)
    state = tf.train.get_checkpoint_state(folder)
    found = {'kept ' + os.path.basename(path): np.array(1) for path in state.all_model_checkpoint_paths}
    saver = tf.train.import_meta_graph(latest + '.meta')
    with tf.Session() as session:
        saver.restore(session, latest)
        for variable in tf.global_variables():
            found[variable.op.name] = session.run(variable)
        session.run('train')
        found['loss'] = session.run(tf.get_collection('losses')[0])
        found['trainable'] = np.array([v.op.name.encode() for v in tf.trainable_variables()], object)
    return found


def write_saver_v1(folder):
    write_saver(folder, version=1)


read_saver_v1 = read_saver


def write_graph(folder):
    for build in graph_exchange.GRAPHS:
        with tf.Graph().as_default() as graph:
            build()
            with open(os.path.join(folder, build.__name__ + '.pb'), 'wb') as f:
                f.write(graph.as_graph_def().SerializeToString())


def read_graph(folder):
    """Imports and runs each: training steps of the networks, every constant."""
    found, random = {}, np.random.RandomState(1)
    feeds = {'mlp': {'x:0': random.rand(5, 12), 'y:0': np.eye(3)[[0, 1, 2, 1, 0]]},
             'convnet': {'images:0': random.rand(5, 64), 'labels:0': [0, 1, 2, 3, 4]},
             'shapes': {'x:0': random.rand(2, 4, 3), 'dynamic:0': random.rand(2, 2)}, 'constants': {}}
    for name, feed in feeds.items():
        graph_def = tf.GraphDef()
        with open(os.path.join(folder, name + '.pb'), 'rb') as f:
            graph_def.ParseFromString(f.read())
        with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
            tf.import_graph_def(graph_def, name='')
            if name == 'constants':
                found.update(session.run({n.name: n.name + ':0' for n in graph_def.node if 'bfloat16' not in n.name}))
            elif name == 'shapes':
                found['shapes gradient'] = session.run('grad:0', feed)
            else:
                session.run('init')
                for step in range(3):
                    found['%s loss %d' % (name, step)] = session.run('loss:0', feed)
                    session.run('train', feed)
    return found


def write_record(folder):
    record_exchange.main('make', folder)


def read_record(folder):
    found = {}
    for name, compression in record_exchange.COMPRESSION.items():
        options = tf.python_io.TFRecordOptions(compression)
        records = list(tf.python_io.tf_record_iterator(os.path.join(folder, name + '.tfrecord'), options))
        example = tf.train.Example.FromString(records[0])
        found[name] = np.array(records[1:], object)
        for key, feature in example.features.feature.items():
            values = [list(getattr(feature, kind).value) for kind in ('bytes_list', 'float_list', 'int64_list')]
            found['%s %s' % (name, key)] = np.array(repr(values).encode(), object)
    return found


def write_event(folder):
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [4], name='x')
        tf.summary.scalar('loss', tf.reduce_sum(x))
        tf.summary.histogram('weights', x)
        tf.summary.image('picture', tf.reshape(x, [1, 2, 2, 1]))
        tf.summary.text('note', tf.constant('hello'))
        merged = tf.summary.merge_all()
        with tf.Session() as session:
            writer = tf.summary.FileWriter(folder, graph)
            for step in range(3):
                writer.add_summary(session.run(merged, {x: [0.0, 0.25, 0.5, 1.0 + step]}), step)
            writer.add_session_log(tf.SessionLog(status=tf.SessionLog.START), 3)
            writer.close()


def read_event(folder):
    path, = glob.glob(os.path.join(folder, 'events.out.tfevents.*'))
    found = {}
    for event in tf.train.summary_iterator(path):
        kind = event.WhichOneof('what')
        found['%s of step %d' % (kind, event.step)] = np.array(1)
        for value in event.summary.value:
            key = '%s of step %d' % (value.tag, event.step)
            if value.HasField('simple_value'):
                found[key] = np.array(value.simple_value)
            elif value.HasField('histo'):
                found[key] = np.array(list(value.histo.bucket) + [value.histo.sum, value.histo.num])
            elif value.HasField('image'):
                found[key] = np.array([value.image.width, value.image.height, value.image.colorspace])
            else:
                found[key] = np.array(value.tensor.string_val[0], object)
        if kind == 'graph_def':
            with tf.Graph().as_default():
                tf.import_graph_def(tf.GraphDef.FromString(event.graph_def), name='')
    return found


KINDS = ['checkpoint_v2', 'checkpoint_v1', 'saver', 'saver_v1', 'graph', 'record', 'event']


def main(command, folder, results=None):
    found = {}
    for kind in KINDS:
        place = os.path.join(folder, kind)
        if command == 'write':
            os.makedirs(place)
        try:
            with tf.Graph().as_default():
                found[kind] = globals()[command + '_' + kind](place)
        except Exception as error:
            found[kind] = '%s: %s' % (type(error).__name__, str(error).split('\n')[0])
            sys.stderr.write('%s %s: %s\n' % (command, kind, found[kind]))
    if results:
        arrays.store(results, {kind: found[kind] if isinstance(found[kind], str) else {
            name: arrays.pack(value) for name, value in found[kind].items()} for kind in KINDS})


if __name__ == '__main__':
    main(*sys.argv[1:])
