"""Examples and comma-separated values, from Python."""

import gzip

import numpy as np
import pytest

import weir as tf

T = tf.train


def feature(values):
    if isinstance(values[0], float):
        return T.Feature(float_list=T.FloatList(value=values))
    if isinstance(values[0], int):
        return T.Feature(int64_list=T.Int64List(value=values))
    return T.Feature(bytes_list=T.BytesList(value=values))


def example(**features):
    message = T.Example(features=T.Features(feature={k: feature(v) for k, v in features.items()}))
    return message.SerializeToString()


@pytest.fixture
def sess():
    tf.reset_default_graph()
    with tf.Session() as session:
        yield session


def test_parse_example_gives_dense_sparse_and_padded_features(sess):
    out = tf.parse_example([example(x=[1.0, 2.0], v=[7], s=[b"a"]), example(x=[3.0, 4.0], v=[8, 9])], {
        "x": tf.FixedLenFeature([2], tf.float32), "v": tf.VarLenFeature(tf.int64),
        "s": tf.FixedLenFeature([], tf.string, default_value="none"),
        "w": tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True, default_value=-1)})
    assert out["x"].get_shape().as_list() == [2, 2]
    assert out["x"].op.name == "ParseExample/ParseExample"
    values = sess.run(out)
    np.testing.assert_array_equal(values["x"], [[1, 2], [3, 4]])
    np.testing.assert_array_equal(values["v"].values, [7, 8, 9])
    np.testing.assert_array_equal(values["v"].indices, [[0, 0], [1, 0], [1, 1]])
    assert list(values["s"]) == [b"a", b"none"]
    assert values["w"].shape == (2, 0)


def test_parse_single_example_with_and_without_a_name(sess):
    features = {"x": tf.FixedLenFeature([], tf.int64), "v": tf.VarLenFeature(tf.string)}
    for names in ({}, {"example_names": "n"}):
        out = sess.run(tf.parse_single_example(example(x=[5], v=[b"p", b"q"]), features, **names))
        assert out["x"] == 5
        np.testing.assert_array_equal(out["v"].indices, [[0], [1]])
        assert list(out["v"].dense_shape) == [2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Name: n, Feature: x .* is required"):
        sess.run(tf.parse_single_example(b"", features, example_names="n"))


def test_bad_descriptions_of_features_are_value_errors():
    for features, message in (({}, "Missing"), ({"a": tf.FixedLenFeature(None, tf.float32)}, "Missing shape for feature a"),
                              ({"a": tf.FixedLenFeature([None], tf.float32)}, "First dimension of shape for feature a"),
                              ({"a": tf.FixedLenFeature([2, None], tf.float32)}, "All dimensions of shape"),
                              ({"a": tf.FixedLenSequenceFeature([], tf.float32)}, "requires allow_missing"),
                              ({"a": tf.VarLenFeature(None)}, "Missing type for feature a"), ({"a": 3}, "Invalid feature a:3")):
        with pytest.raises(ValueError, match=message):
            tf.parse_example([b""], features)


def test_parse_single_sequence_example(sess):
    steps = T.FeatureLists(feature_list={"l": T.FeatureList(feature=[feature([1.0, 2.0]), feature([3.0, 4.0])]),
                                         "r": T.FeatureList(feature=[feature([1]), feature([2, 3])])})
    message = T.SequenceExample(context=T.Features(feature={"c": feature([b"x"])}), feature_lists=steps)
    context, sequence = sess.run(tf.parse_single_sequence_example(
        message.SerializeToString(), {"c": tf.FixedLenFeature([], tf.string)},
        {"l": tf.FixedLenSequenceFeature([2], tf.float32), "r": tf.VarLenFeature(tf.int64)}))
    assert context["c"] == b"x"
    np.testing.assert_array_equal(sequence["l"], [[1, 2], [3, 4]])
    np.testing.assert_array_equal(sequence["r"].indices, [[0, 0], [1, 0], [1, 1]])
    whole, lists, lengths = sess.run(tf.io.parse_sequence_example(
        [message.SerializeToString()] * 2, {"c": tf.FixedLenFeature([], tf.string)},
        {"l": tf.FixedLenSequenceFeature([2], tf.float32)}))
    assert list(whole["c"]) == [b"x", b"x"] and lists["l"].shape == (2, 2, 2) and list(lengths["l"]) == [2, 2]


def test_decode_csv(sess):
    columns = tf.decode_csv(["1,a,", '2,"b, c",3.5'], record_defaults=[[0], ["x"], [9.0]])
    assert isinstance(columns, list)
    numbers, texts, floats = sess.run(columns)
    assert list(numbers) == [1, 2] and list(texts) == [b"a", b"b, c"] and list(floats) == [9.0, 3.5]
    with pytest.raises(ValueError, match="strictly increasing"):
        tf.decode_csv(["1,2"], [[0], [0]], select_cols=[1, 0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Field 0 is required but missing in record 0!"):
        sess.run(tf.decode_csv([",1"], [tf.constant([], tf.int32), [0]]))


def test_decode_raw_json_compressed_and_tensors(sess):
    assert list(sess.run(tf.decode_raw(b"\1\0\2\0", tf.uint16))) == [1, 2]
    assert list(sess.run(tf.decode_raw(bytes=b"\1", out_type=tf.uint8))) == [1]
    assert sess.run(tf.decode_compressed(gzip.compress(b"text"), "GZIP")) == b"text"
    json = sess.run(tf.decode_json_example('{"features":{"feature":{"x":{"int64List":{"value":["3"]}}}}}'))
    assert T.Example.FromString(json).features.feature["x"].int64_list.value[0] == 3
    assert sess.run(tf.parse_tensor(tf.serialize_tensor([[1.0, 2.0]]), tf.float32)).tolist() == [[1, 2]]


def test_options_of_record_files_are_checked(tmp_path):
    with pytest.raises(ValueError, match="Not a valid compression_type"):
        tf.python_io.TFRecordOptions("LZ4")
    with pytest.raises(tf.errors.InvalidArgumentError, match="zlib takes no level"):
        tf.python_io.TFRecordWriter(str(tmp_path / "r"), tf.python_io.TFRecordOptions("GZIP", compression_level=77))


def test_a_sparse_feature_is_made_of_its_indices_and_values():
    example = tf.train.Example()
    example.features.feature["i"].int64_list.value.extend([1, 3])
    example.features.feature["v"].float_list.value.extend([0.5, 2.0])
    described = {"s": tf.SparseFeature("i", "v", tf.float32, 5)}
    one = tf.parse_single_example(example.SerializeToString(), described)["s"]
    two = tf.parse_example([example.SerializeToString()] * 2, described)["s"]
    with tf.Session() as sess:
        one, two = sess.run([one, two])
    assert one.indices.tolist() == [[1], [3]] and one.values.tolist() == [0.5, 2] and one.dense_shape.tolist() == [5]
    assert two.indices.tolist() == [[0, 1], [0, 3], [1, 1], [1, 3]] and two.dense_shape.tolist() == [2, 5]
