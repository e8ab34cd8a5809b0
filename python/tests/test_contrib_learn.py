"""tf.contrib.learn: estimators of arrays and input functions, monitors, experiments and documents.

Numbers and names are TensorFlow 1.15.5's for the same program.
"""

import numpy as np
import pytest

import weir as tf

learn, layers = tf.contrib.learn, tf.contrib.layers


def _arrays():
    x = np.random.RandomState(0).randn(120, 4).astype("f")
    return x, ((x[:, 0] > 0).astype(int) + (x[:, 1] > 0)).astype(np.int64)


def _input_fn():
    x, y = _arrays()
    sparse = tf.SparseTensor([[i, 0] for i in range(120)], [str(int(v > 0)) for v in x[:, 1]], [120, 1])
    return {"a": tf.constant(x[:, :1]), "b": sparse}, tf.constant(y % 2)


def test_classifiers_take_arrays(tmp_path):
    x, y = _arrays()
    columns = learn.infer_real_valued_columns_from_input(x)
    assert columns == [layers.real_valued_column("", dimension=4)]
    model = learn.LinearClassifier(feature_columns=columns, n_classes=3, model_dir=str(tmp_path))
    model.fit(x, y, steps=40, batch_size=30)
    assert set(model.evaluate(x, y)) == {"accuracy", "loss", "global_step"}
    classes, probabilities = list(model.predict(x)), np.array(list(model.predict_proba(x)))
    assert np.mean(np.array(classes) == y) > 0.65 and np.array_equal(probabilities.argmax(1), classes)
    assert model.get_variable_names()[:2] == ["global_step", "linear//weight"]


def test_wide_and_deep_models_have_tensorflows_variables_and_metrics(tmp_path):
    a, b = layers.real_valued_column("a"), layers.sparse_column_with_keys("b", ["0", "1"])
    model = learn.DNNLinearCombinedClassifier(
        model_dir=str(tmp_path), linear_feature_columns=[b, a], dnn_feature_columns=[a, layers.embedding_column(b, 2)],
        dnn_hidden_units=[3], fix_global_step_increment_bug=True, config=learn.RunConfig(save_checkpoints_steps=10))
    model.fit(input_fn=_input_fn, steps=20)
    results = model.evaluate(input_fn=_input_fn, steps=1)
    assert results["global_step"] == 20 and {
        "accuracy", "accuracy/baseline_label_mean", "accuracy/threshold_0.500000_mean", "auc", "auc_precision_recall",
        "labels/actual_label_mean", "labels/prediction_mean", "loss", "precision/positive_threshold_0.500000_mean",
        "recall/positive_threshold_0.500000_mean"} <= set(results)
    assert {"dnn/hiddenlayer_0/weights", "dnn/input_from_feature_columns/b_embedding/weights", "linear/a/weight",
            "linear/b/weights/ear/linear/b/weights/part_0/Ftrl", "linear/bias_weight",
            "binary_logistic_head/dnn/learning_rate"} <= set(model.get_variable_names())


def test_an_estimator_like_scikit_learns(tmp_path):
    x, y = _arrays()
    y = y.astype("f")

    def model_fn(features, labels, mode, params):
        predicted = tf.layers.dense(features, 1, kernel_initializer=tf.zeros_initializer())[:, 0]
        loss = tf.losses.mean_squared_error(labels, predicted)
        return {"p": predicted}, loss, layers.optimize_loss(loss, tf.train.get_global_step(), params["rate"], "SGD")

    model = learn.SKCompat(learn.Estimator(model_fn, str(tmp_path), params={"rate": 0.1}))
    model.fit(x, y, steps=50, batch_size=60)
    assert model.score(x, y)["loss"] == pytest.approx(0.17872654, abs=1e-5)
    np.testing.assert_allclose(model.predict(x)["p"][:3], [1.8514444, 1.2678694, 1.1120617], atol=1e-4)


def test_regressors_and_metrics_of_the_program(tmp_path):
    x, y = _arrays()
    model = learn.LinearRegressor(feature_columns=[layers.real_valued_column("", dimension=4)], model_dir=str(tmp_path))
    model.fit(x, y.astype("f"), steps=20)
    mean_error = learn.MetricSpec(tf.contrib.metrics.streaming_mean_absolute_error, prediction_key="scores")
    results = model.evaluate(x, y.astype("f"), metrics={"mae": mean_error})
    assert results["loss"] == pytest.approx(0.18312274, abs=1e-5) and results["mae"] == pytest.approx(0.348442, abs=1e-4)
    assert len(list(model.predict(x))) == 120
    with pytest.raises(learn.NotFittedError):
        learn.LinearRegressor([layers.real_valued_column("")], model_dir=str(tmp_path / "none")).evaluate(x, y)


def test_a_monitor_validates_and_stops(tmp_path):
    x, y = _arrays()
    model = learn.DNNClassifier(hidden_units=[4], feature_columns=[layers.real_valued_column("", dimension=4)],
                                n_classes=3, model_dir=str(tmp_path), config=learn.RunConfig(save_checkpoints_steps=5))
    monitor = learn.monitors.ValidationMonitor(x, y, every_n_steps=5, early_stopping_rounds=10, check_interval_secs=0,
                                               early_stopping_metric_minimize=False, early_stopping_metric="loss")
    model.fit(x, y, steps=200, batch_size=20, monitors=[monitor])  # the loss never grows
    assert monitor.early_stopped and model.get_variable_value("global_step") < 40


def test_experiments_run_a_schedule(tmp_path):
    def experiment_fn(output_dir):
        estimator = learn.LinearClassifier(feature_columns=[layers.real_valued_column("a")], model_dir=output_dir)
        return learn.Experiment(estimator, _input_fn, _input_fn, train_steps=10, eval_steps=1)

    results, exports = learn.learn_runner.run(experiment_fn, output_dir=str(tmp_path))
    assert results["global_step"] == 10 and exports == []
    with pytest.raises(ValueError, match="non-existent task"):
        learn.learn_runner.run(experiment_fn, output_dir=str(tmp_path), schedule="dance")


def test_documents_become_numbers(tmp_path):
    processor = learn.preprocessing.VocabularyProcessor(5, min_frequency=1)
    assert [row.tolist() for row in processor.fit_transform(["a b c a", "b c d e f g a"])] == [[1, 2, 3, 1, 0],
                                                                                               [2, 3, 0, 0, 0]]
    processor.save(str(tmp_path / "words"))
    restored = learn.preprocessing.VocabularyProcessor.restore(str(tmp_path / "words"))
    assert list(restored.reverse(restored.transform(["c b a"]))) == ["c b a <UNK> <UNK>"]
    byte_processor = learn.preprocessing.ByteProcessor(4)
    rows = list(byte_processor.transform(["hé", "abcdef"]))
    assert rows[0].tolist() == [104, 195, 169, 0] and list(byte_processor.reverse(rows)) == ["hé", "abcd"]


def test_a_model_that_does_not_count_its_steps_is_trained_for_as_many_runs(tmp_path):
    runs = []

    def model_fn(features, labels):
        w = tf.Variable(0.0, name="w")
        return features, tf.abs(w - 9.0), tf.py_func(lambda: runs.append(1) or 0.0, [], tf.float64)

    model = tf.contrib.learn.Estimator(model_fn=model_fn, model_dir=str(tmp_path))
    model.fit(input_fn=lambda: (tf.constant([1.0]), tf.constant([1.0])), steps=3)
    assert len(runs) == 3


def test_keys_are_in_modules_of_0_12():
    learn = tf.contrib.learn
    assert learn.prediction_key.PredictionKey is learn.PredictionKey and learn.metric_key.MetricKey is learn.MetricKey
