"""tf.estimator: training, evaluation, prediction and export of models, the program's own and the ready ones.

Numbers and names without a comment are those of TensorFlow 1.15.5 for the same program.
"""

import glob
import json
import os

import numpy as np
import pytest

import weir as tf
from weir.estimator.estimator import _close_unfinished

fc = tf.feature_column


def _data(count=100):
    random = np.random.RandomState(0)
    age = random.randint(18, 80, count).astype("f")
    job, edu = random.choice(["a", "b", "c", "zz"], count), random.choice(["x", "y"], count)
    num = random.randint(0, 5, count)
    return {"age": age, "job": job, "edu": edu, "num": num}, ((age > 40) & (job != "a")).astype("i4")


def _input_fn():
    return tf.data.Dataset.from_tensor_slices(_data()).repeat(2).batch(20)


def _wide_columns():
    age = fc.numeric_column("age", normalizer_fn=lambda x: x / 100.0)
    bucketized = fc.bucketized_column(fc.numeric_column("age"), [20, 30, 40.0, 50])
    job = fc.categorical_column_with_vocabulary_list("job", ["a", "b", "c"], num_oov_buckets=1)
    edu = fc.categorical_column_with_hash_bucket("edu", 10)
    return [job, edu, fc.categorical_column_with_identity("num", 5),
            fc.crossed_column([bucketized, "job", "edu"], 50), bucketized, age]


def _linear_fn(features, labels, mode, params):
    """A model whose variables begin at zero."""
    logits = tf.layers.dense(features["x"], 2, kernel_initializer=tf.zeros_initializer())
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"class": tf.argmax(logits, 1), "p": tf.nn.softmax(logits)})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, 1))}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    train_op = tf.train.GradientDescentOptimizer(params["rate"]).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def _points():
    x = np.random.RandomState(0).randn(64, 3).astype("f")
    return {"x": x}, (x[:, 0] > 0).astype("i4")


def _estimator(folder, **config):
    return tf.estimator.Estimator(_linear_fn, str(folder), tf.estimator.RunConfig(**config), params={"rate": 0.5})


def _points_fn(epochs=1):
    x, y = _points()
    return tf.estimator.inputs.numpy_input_fn(x, y, batch_size=16, num_epochs=epochs, shuffle=False)


def test_a_model_function_is_trained_evaluated_and_asked(tmp_path):
    estimator = _estimator(tmp_path, save_checkpoints_steps=5)
    estimator.train(_points_fn(None), steps=12)
    assert sorted(os.path.basename(path) for path in glob.glob(f"{tmp_path}/*.index")) == [
        "model.ckpt-0.index", "model.ckpt-10.index", "model.ckpt-12.index", "model.ckpt-5.index"]
    results = estimator.evaluate(_points_fn(), name="once")
    assert results["global_step"] == 12 and results["accuracy"] > 0.9 and results["loss"] < 0.4
    assert glob.glob(f"{tmp_path}/eval_once/events*")
    assert estimator.evaluate(_points_fn(None), steps=2)["global_step"] == 12
    found = list(estimator.predict(_points_fn(), predict_keys=["class"]))
    assert len(found) == 64 and set(found[0]) == {"class"}
    assert estimator.get_variable_names() == ["dense/bias", "dense/kernel", "global_step"]
    estimator.train(_points_fn(None), max_steps=12)  # is there already
    assert estimator.latest_checkpoint().endswith("-12")
    assert _estimator(tmp_path).train(_points_fn(1)).get_variable_value("global_step") == 16  # restored, to the end


def test_predictions_that_nobody_reads_are_closed_at_exit(tmp_path):
    estimator = _estimator(tmp_path)
    estimator.train(_points_fn(), steps=1)
    predictions = estimator.predict(_points_fn())
    next(predictions)
    _close_unfinished()
    assert not list(predictions)


def test_training_and_evaluation_take_turns_and_the_last_model_is_exported(tmp_path):
    receiver = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.placeholder(tf.float32, [None, 3], "x")})
    exporters = [tf.estimator.FinalExporter("last", receiver), tf.estimator.BestExporter("best", receiver),
                 tf.estimator.LatestExporter("latest", receiver, exports_to_keep=1)]
    metrics, exports = tf.estimator.train_and_evaluate(
        _estimator(tmp_path, save_checkpoints_steps=10), tf.estimator.TrainSpec(_points_fn(None), max_steps=20),
        tf.estimator.EvalSpec(_points_fn(), steps=None, throttle_secs=0, exporters=exporters))
    assert metrics["global_step"] == 20 and len(exports) == 3
    path = exports[0].decode()
    assert os.listdir(f"{tmp_path}/export/latest") == [os.path.basename(exports[2].decode())]
    with tf.Graph().as_default(), tf.Session() as session:
        graph = tf.saved_model.loader.load(session, ["serve"], path)
        outputs = graph.signature_def["serving_default"].outputs
        assert set(outputs) == {"class", "p"}
        x, y = _points()
        classes = session.run(outputs["class"].name, {graph.signature_def["serving_default"].inputs["x"].name: x["x"]})
        assert np.mean(classes == y) == pytest.approx(metrics["accuracy"])


def test_hooks_listeners_and_wrong_arguments(tmp_path):
    seen = []

    class Listener(tf.train.CheckpointSaverListener):
        def after_save(self, session, global_step_value):
            seen.append(global_step_value)

    estimator = _estimator(tmp_path)
    estimator.train(_points_fn(None), steps=3, saving_listeners=[Listener()])
    assert seen == [0, 3]
    with pytest.raises(ValueError, match="both steps and max_steps"):
        estimator.train(_points_fn(), steps=1, max_steps=1)
    with pytest.raises(TypeError, match="SessionRunHook"):
        estimator.train(_points_fn(), hooks=[1])
    with pytest.raises(ValueError, match="must include features"):
        tf.estimator.Estimator(lambda x: x)
    with pytest.raises(ValueError, match="Missing train_op"):
        tf.estimator.EstimatorSpec("train", loss=tf.constant(1.0))
    with pytest.raises(ValueError, match="shuffle must be provided"):
        tf.estimator.inputs.numpy_input_fn({})
    with pytest.raises(ValueError, match="Couldn't find trained model"):
        _estimator(tmp_path / "none").export_savedmodel(str(tmp_path), lambda: None)


def test_a_model_begins_with_the_values_of_another(tmp_path):
    first = _estimator(tmp_path / "first")
    first.train(_points_fn(None), steps=5)
    second = tf.estimator.Estimator(_linear_fn, str(tmp_path / "second"), params={"rate": 1e-9},
                                    warm_start_from=str(tmp_path / "first"))
    second.train(_points_fn(None), steps=1)
    np.testing.assert_allclose(first.get_variable_value("dense/kernel"), second.get_variable_value("dense/kernel"),
                               rtol=1e-5)


def test_run_config_reads_the_cluster_of_the_environment(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", json.dumps({
        "cluster": {"chief": ["a:1"], "ps": ["b:1", "b:2"], "worker": ["c:1"]}, "task": {"type": "worker", "index": 0}}))
    config = tf.estimator.RunConfig()
    assert (config.task_type, config.task_id, config.master, config.num_ps_replicas, config.num_worker_replicas,
            config.is_chief, config.global_id_in_cluster) == ("worker", 0, "grpc://c:1", 2, 2, False, 1)
    assert list(config.session_config.device_filters) == ["/job:ps", "/job:worker/task:0"]
    assert config.replace(save_checkpoints_steps=7).save_checkpoints_secs is None
    with pytest.raises(ValueError, match="Replacing task_id is not supported"):
        config.replace(task_id=1)


# (model, evaluation, first names of variables)
def _canned(folder):
    wide = _wide_columns()
    e = tf.estimator
    return {
        "linear": (e.LinearClassifier(wide, f"{folder}/1"),
                   {"accuracy": 1.0, "auc": 1.0, "average_loss": 0.24, "loss": 4.7991, "label/mean": 0.48,
                    "prediction/mean": 0.4829, "precision": 1.0, "recall": 1.0, "accuracy_baseline": 0.52,
                    "auc_precision_recall": 1.0, "global_step": 10}),
        "regressor": (e.LinearRegressor(wide, f"{folder}/2"),
                      {"average_loss": 0.0155, "loss": 0.3092, "label/mean": 0.48, "prediction/mean": 0.3826,
                       "global_step": 10}),
        "baseline": (e.BaselineClassifier(f"{folder}/3", n_classes=3),
                     {"accuracy": 0.52, "average_loss": 0.7726, "loss": 15.4528, "global_step": 10}),
        "classes": (e.LinearClassifier(wide, f"{folder}/4", n_classes=4),
                    {"accuracy": 1.0, "average_loss": 0.1452, "loss": 2.9048, "global_step": 10}),
    }


@pytest.mark.parametrize("name", ["linear", "regressor", "baseline", "classes"])
def test_ready_models_learn_as_tensorflows_do(name, tmp_path):
    estimator, expected = _canned(tmp_path)[name]
    estimator.train(_input_fn)
    results = estimator.evaluate(_input_fn)
    assert set(results) == set(expected)
    for key, value in expected.items():
        assert results[key] == pytest.approx(value, abs=2e-4), key
    if name == "linear":
        assert estimator.get_variable_names()[:4] == [
            "global_step", "linear/linear_model/age/weights", "linear/linear_model/age/weights/part_0/Ftrl",
            "linear/linear_model/age/weights/part_0/Ftrl_1"]


def test_deep_and_combined_models_have_tensorflows_variables(tmp_path):
    job, edu = _wide_columns()[:2]
    deep = [fc.indicator_column(job), fc.embedding_column(edu, 3)]
    model = tf.estimator.DNNLinearCombinedClassifier(
        str(tmp_path), [job], dnn_feature_columns=deep, dnn_hidden_units=[4], batch_norm=True, dnn_dropout=0.1)
    model.train(_input_fn)
    scope, layer = "dnn/input_from_feature_columns/input_layer/edu_embedding/embedding_weights", "dnn/hiddenlayer_0"
    assert set(model.get_variable_names()) == {
        "global_step", scope, f"{scope}/Adagrad", *(
            f"{layer}/{name}{slot}" for name in ("bias", "kernel", "batchnorm_0/beta", "batchnorm_0/gamma")
            for slot in ("", "/Adagrad")), f"{layer}/batchnorm_0/moving_mean", f"{layer}/batchnorm_0/moving_variance",
        "dnn/logits/bias", "dnn/logits/bias/Adagrad", "dnn/logits/kernel", "dnn/logits/kernel/Adagrad",
        *(f"linear/linear_model/{name}{slot}" for name in ("job/weights", "bias_weights")
          for slot in ("", "/Ftrl", "/Ftrl_1"))}
    predictions = next(model.predict(_input_fn))
    assert set(predictions) == {"logits", "logistic", "probabilities", "class_ids", "classes", "all_class_ids",
                                "all_classes"}


def test_heads_metrics_and_parsing(tmp_path):
    head = tf.estimator.MultiHead([tf.estimator.RegressionHead(name="a"), tf.estimator.MultiClassHead(3, name="b")])
    assert head.logits_dimension == 4
    spec = head.create_estimator_spec({}, "eval", tf.ones([2, 4]), {"a": [[1.0], [3.0]], "b": [[0], [2]]})
    with tf.Session() as session:
        session.run([tf.local_variables_initializer()])
        assert session.run(spec.loss) == pytest.approx((0 + 4) / 2 + np.log(3), abs=1e-5)
    assert {"average_loss/a", "accuracy/b", "loss/a", "loss/b"} <= set(spec.eval_metric_ops)
    base = tf.estimator.BaselineRegressor(str(tmp_path))
    more = tf.estimator.add_metrics(base, lambda labels: {"twice": tf.metrics.mean(2 * labels)})
    more.train(_input_fn, steps=1)
    assert more.evaluate(_input_fn)["twice"] == pytest.approx(0.96)
    found = tf.estimator.classifier_parse_example_spec([fc.numeric_column("a")], "y", weight_column="w")
    assert set(found) == {"a", "y", "w"} and found["y"].dtype == tf.int64


def test_tpu_estimators_run_without_tpus(tmp_path):
    tpu = tf.contrib.tpu

    def model_fn(features, labels, mode, params):
        assert params["batch_size"] == {"train": 8, "eval": 16}[mode]
        logits = tf.layers.dense(features["x"], 2, kernel_initializer=tf.zeros_initializer())
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        optimizer = tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(0.1))
        train_op = optimizer.minimize(loss, tf.train.get_global_step()) if mode == "train" else None
        return tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op, eval_metrics=(
            lambda labels, logits: {"accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, 1))}, [labels, logits]))

    def input_fn(params):
        return tf.data.Dataset.from_tensor_slices(_points()).batch(params["batch_size"], drop_remainder=True)

    config = tpu.RunConfig(model_dir=str(tmp_path), tpu_config=tpu.TPUConfig(
        iterations_per_loop=10, per_host_input_for_training=tpu.InputPipelineConfig.PER_HOST_V2))
    estimator = tpu.TPUEstimator(model_fn, config=config, use_tpu=False, train_batch_size=8, eval_batch_size=16)
    estimator.train(input_fn, max_steps=6)
    results = estimator.evaluate(input_fn, steps=3)
    assert results["accuracy"] == pytest.approx(0.9375) and results["loss"] == pytest.approx(0.5288141, abs=1e-5)
    with pytest.raises(NotImplementedError, match="use_tpu=False"):
        tpu.TPUEstimator(model_fn, config=config, train_batch_size=8)
