"""Event files as TensorBoard's own reader sees them."""

import struct
import zlib

import numpy as np
import pytest

import weir as tf

event_accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator", reason="needs TensorBoard")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A training of three steps with everything that TensorBoard shows, read back."""
    logdir = str(tmp_path_factory.mktemp("run"))
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        with tf.name_scope("layer"):
            w = tf.Variable([[1.0], [2.0]], name="w")
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w)), name="loss")
        tf.summary.scalar("loss", loss)
        tf.summary.histogram("values", tf.constant([-1.0, 0.0, 0.5, 0.5, 2.0]))
        tf.summary.image("picture", tf.constant([[[[0], [100]], [[200], [255]]]], tf.uint8))
        tf.summary.text("note", tf.constant("*hello*"))
        merged = tf.summary.merge_all()
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        sess.run(tf.global_variables_initializer())
        metadata = tf.RunMetadata()
        losses = []
        with tf.summary.FileWriter(logdir, graph) as writer:
            for step in range(3):
                value, summary, _ = sess.run([loss, merged, train], {x: [[1, 0], [0, 1]]})
                losses.append(value)
                writer.add_summary(summary, step)
            options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
            sess.run(loss, {x: [[1, 1]]}, options=options, run_metadata=metadata)
            writer.add_run_metadata(metadata, "step_3", 3)
        graph_def = graph.as_graph_def(add_shapes=True)
    reader = event_accumulator.EventAccumulator(logdir)
    reader.Reload()
    return {"reader": reader, "losses": losses, "graph": graph_def, "metadata": metadata}


def test_every_tag_is_found(run):
    tags = run["reader"].Tags()
    assert tags["scalars"] == ["loss"]
    assert tags["histograms"] == ["values"]
    assert tags["images"] == ["picture/image/0"]
    assert tags["tensors"] == ["note"]
    assert tags["run_metadata"] == ["step_3"]
    assert tags["graph"] and tags["meta_graph"]


def test_scalars_have_steps_and_times_in_order(run):
    events = run["reader"].Scalars("loss")
    assert [event.step for event in events] == [0, 1, 2]
    np.testing.assert_allclose([event.value for event in events], run["losses"], rtol=1e-6)
    assert events[0].wall_time <= events[1].wall_time <= events[2].wall_time


def test_the_graph_has_the_shapes(run):
    graph = tf.GraphDef.FromString(run["reader"].Graph().SerializeToString())
    assert graph == run["graph"]
    shapes = {node.name: node.attr["_output_shapes"].list.shape for node in graph.node}
    assert [dim.size for dim in shapes["layer/MatMul"][0].dim] == [-1, 1]


def test_histograms_have_tensorflows_buckets(run):
    histogram = run["reader"].Histograms("values")[0].histogram_value
    assert (histogram.min, histogram.max, histogram.num, histogram.sum) == (-1, 2, 5, 2)
    assert histogram.sum_squares == 5.5
    assert list(histogram.bucket) == [0, 1, 0, 1, 0, 2, 0, 1, 0]
    assert list(histogram.bucket_limit) == [  # as TensorFlow 1.15 writes them
        -1.0089710279437536, -0.917246389039776, 0, 1e-12, 0.47069243095356195, 0.5177616740489182,
        1.9661990955585713, 2.1628190051144287, 1.7976931348623157e308]  # fmt: skip


def test_pictures_are_png_files_with_their_pixels(run):
    reader = run["reader"]
    event = reader.Images("picture/image/0")[0]
    assert (event.width, event.height) == (2, 2)
    data = event.encoded_image_string
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    packed, offset = b"", 8
    while offset < len(data):
        length, kind = struct.unpack_from(">I4s", data, offset)
        packed += data[offset + 8 : offset + 8 + length] if kind == b"IDAT" else b""
        offset += length + 12
    rows = zlib.decompress(packed)
    assert [rows[0], rows[3]] == [0, 0]  # rows as they are
    assert [*rows[1:3], *rows[4:6]] == [0, 100, 200, 255]


def test_text_is_a_tensor_of_the_text_plugin(run):
    reader = run["reader"]
    assert reader.SummaryMetadata("note").plugin_data.plugin_name == "text"
    assert reader.Tensors("note")[0].tensor_proto.string_val[0] == b"*hello*"


def test_run_metadata_tells_what_each_operation_took(run):
    metadata = tf.RunMetadata.FromString(run["reader"].RunMetadata("step_3").SerializeToString())
    assert metadata == run["metadata"]
    names = {node.node_name for device in metadata.step_stats.dev_stats for node in device.node_stats}
    assert any(name.startswith("layer/") for name in names)


def test_a_restart_makes_later_steps_void(tmp_path):
    for first, last in ((0, 5), (3, 6)):
        # Readers go by the names, which hold the second: the suffix orders files of the same one.
        with tf.summary.FileWriter(str(tmp_path), filename_suffix=f".{first}") as writer:
            writer.add_session_log(tf.SessionLog(status=tf.SessionLog.START), first)
            for step in range(first, last):
                writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="t", simple_value=first)]), step)
    reader = event_accumulator.EventAccumulator(str(tmp_path))
    reader.Reload()
    assert [(event.step, event.value) for event in reader.Scalars("t")] == [
        (0, 0), (1, 0), (2, 0), (3, 3), (4, 3), (5, 3)]  # fmt: skip


def test_tensorboards_projector_reads_what_is_written_for_it(tmp_path):
    from google.protobuf import text_format
    theirs = pytest.importorskip("tensorboard.plugins.projector.projector_config_pb2")
    projector = tf.contrib.tensorboard.plugins.projector

    config = projector.ProjectorConfig(model_checkpoint_path="model.ckpt-1")
    config.embeddings.add(tensor_name="words:0", metadata_path="words.tsv", tensor_shape=[5, 2], tensor_path="words.npy",
                          bookmarks_path="marks").sprite.CopyFrom(
        projector.SpriteMetadata(image_path="sprite.png", single_image_dim=[28, 28]))
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        projector.visualize_embeddings(writer, config)
    read = text_format.Parse((tmp_path / "projector_config.pbtxt").read_text(), theirs.ProjectorConfig())
    assert read == theirs.ProjectorConfig.FromString(config.SerializeToString())
    assert read.embeddings[0].sprite.single_image_dim == [28, 28]


def test_a_writer_takes_a_graph_or_its_message_and_writes_the_meta_graph_beside_it(tmp_path):
    with tf.Graph().as_default() as graph:
        tf.constant(1.0, name="one")
    for name, options in (("graph", {"graph": graph}), ("message", {"graph_def": graph.as_graph_def()})):
        tf.summary.FileWriter(str(tmp_path / name), **options).close()
        path, = (tmp_path / name).iterdir()
        kinds = [event.WhichOneof("what") for event in tf.train.summary_iterator(str(path))]
        assert kinds == ["file_version", "graph_def", "meta_graph_def"]
    with pytest.raises(ValueError, match="not both"):
        tf.summary.FileWriter(str(tmp_path / "both"), graph, graph_def=graph.as_graph_def())
