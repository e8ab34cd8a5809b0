"""tf.contrib.factorization: clustering by k-means, as a graph and as an estimator."""

import time

import numpy as np

import weir as tf
from weir import names as _names
from weir.estimator.estimator import Estimator as _Estimator

SQUARED_EUCLIDEAN_DISTANCE = "squared_euclidean"
COSINE_DISTANCE = "cosine"
RANDOM_INIT = "random"
KMEANS_PLUS_PLUS_INIT = "kmeans_plus_plus"
_KMC2_INIT = "kmc2"
_CENTERS = "clusters"  # the variable that estimators read


def _check(initial_clusters, distance_metric, known):
    if isinstance(initial_clusters, str) and initial_clusters not in known:
        raise ValueError(f"Unsupported initialization algorithm '{initial_clusters}'")
    if distance_metric not in (SQUARED_EUCLIDEAN_DISTANCE, COSINE_DISTANCE):
        raise ValueError(f"Unsupported distance metric '{distance_metric}'")


def _rows(x):
    return tf.shape(x)[0]


class KMeans:
    """The graph of k-means: ``training_graph()`` makes what chooses the first centers and what moves them.

    A full batch moves every center to the mean of its points. With ``use_mini_batch`` centers move towards the points of a
    batch, the less the more points they have had; points are compared with a copy of the centers that is brought up to date
    after ``mini_batch_steps_per_iteration`` batches.
    """

    def __init__(self, inputs, num_clusters, initial_clusters=RANDOM_INIT, distance_metric=SQUARED_EUCLIDEAN_DISTANCE,
                 use_mini_batch=False, mini_batch_steps_per_iteration=1, random_seed=0, kmeans_plus_plus_num_retries=2,
                 kmc2_chain_length=200):
        _check(initial_clusters, distance_metric, (RANDOM_INIT, KMEANS_PLUS_PLUS_INIT, _KMC2_INIT))
        self._inputs = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
        self._num_clusters, self._initial_clusters = num_clusters, initial_clusters
        self._cosine = distance_metric == COSINE_DISTANCE
        self._mini_batch, self._steps = use_mini_batch, int(mini_batch_steps_per_iteration)
        self._seed, self._retries, self._chain = random_seed, kmeans_plus_plus_num_retries, int(kmc2_chain_length)

    def training_graph(self):
        """(distances to all centers, index of the nearest, distance to it, whether all centers are chosen, an operation that
        chooses some, an operation that moves them). The first three are lists, a tensor for each of the inputs."""
        initial = self._initial_clusters
        if isinstance(initial, str) or callable(initial):
            count = tf.convert_to_tensor(self._num_clusters)
        else:
            initial = tf.convert_to_tensor(initial)
            count = _rows(initial)
        state = _State(count, self._mini_batch, self._steps)
        choose = tf.cond(tf.equal(count, _rows(state.centers)),
                         lambda: tf.assert_equal(state.initialized, True), lambda: self._choose(initial, count, state))
        inputs, centers = self._inputs, state.centers
        if self._cosine:
            inputs = [tf.nn.l2_normalize(x, 1) for x in inputs]
            if not self._normalized:
                centers = tf.nn.l2_normalize(centers, 1)
        distances, indices, nearest = zip(*[self._compared(x, centers) for x in inputs])
        if self._mini_batch:
            with tf.control_dependencies([state.synchronized(self._cosine)]):
                train = tf.group(*[state.moved(x, index) for x, index in zip(inputs, indices)])
        else:
            train = self._means(inputs, indices, count, state)
        return list(distances), list(indices), list(nearest), state.initialized, choose.op, train

    @property
    def _normalized(self):
        """Whether centers are kept at length 1."""
        return self._cosine and (not self._mini_batch or self._steps > 1)

    def _compared(self, x, centers):
        products = tf.matmul(x, centers, transpose_b=True)
        if self._cosine:
            distances = 1 - products
        else:
            distances = (tf.reduce_sum(tf.square(x), 1, keepdims=True) - 2 * products +
                         tf.transpose(tf.reduce_sum(tf.square(centers), 1, keepdims=True)))
        indices, nearest = tf.raw_ops.NearestNeighbors(points=x, centers=centers, k=1)
        nearest = tf.squeeze(nearest, [-1])  # squared; of vectors of length 1 it is twice the cosine distance
        return distances, tf.squeeze(indices, [-1]), nearest * 0.5 if self._cosine else nearest

    def _means(self, inputs, indices, count, state):
        sums = tf.add_n([tf.unsorted_segment_sum(x, index, count) for x, index in zip(inputs, indices)])
        counts = tf.add_n([tf.unsorted_segment_sum(tf.ones([_rows(x), 1], x.dtype), index, count)
                           for x, index in zip(inputs, indices)])
        centers = sums / (counts + tf.constant(1e-6, sums.dtype))
        centers = tf.nn.l2_normalize(centers, 1) if self._cosine else centers
        return tf.assign(state.centers, centers).op

    def _choose(self, initial, count, state):
        """Adds centers; one batch may not give all of them."""
        missing = count - _rows(state.centers)
        with tf.control_dependencies([tf.assert_positive(missing)]):
            new = self._new_centers(initial, missing, state)
            if self._cosine:
                new = tf.nn.l2_normalize(new, 1)
            # Without any center the variable has no rows of the points' length.
            centers = tf.cond(tf.equal(_rows(state.centers), 0), lambda: new,
                              lambda: tf.concat([state.centers, new], 0))
            assigned = state.assign_all(centers)
            return tf.assign(state.initialized, tf.equal(_rows(assigned), count))

    def _new_centers(self, initial, missing, state):
        points = tf.add_n([_rows(x) for x in self._inputs])
        if not isinstance(initial, str):
            if callable(initial):
                return initial(self._inputs, missing)
            with tf.control_dependencies([tf.assert_equal(missing, _rows(initial))]):
                return tf.identity(initial)
        if initial == RANDOM_INIT:
            return tf.cond(points <= missing, lambda: tf.concat(self._inputs, 0), lambda: self._random(points, missing))
        if initial == KMEANS_PLUS_PLUS_INIT:
            with tf.control_dependencies([tf.assert_greater_equal(points, missing)]):
                first = self._inputs[0]
                return tf.raw_ops.KmeansPlusPlusInitialization(
                    points=tf.nn.l2_normalize(first, 1) if self._cosine else first,
                    num_to_sample=tf.cast(missing, tf.int64), seed=self._seed, num_retries_per_sample=self._retries)
        return self._markov_chains(missing, state)

    def _random(self, points, missing):
        indices = tf.random_uniform(tf.reshape(missing, [1]), maxval=tf.cast(points, tf.int64), seed=self._seed,
                                    dtype=tf.int64)
        return tf.gather(tf.concat(self._inputs, 0), indices)

    def _markov_chains(self, missing, state):
        """k-MC2: each part of the batch gives one center, chosen by its distance from those before."""
        x = self._inputs[0]
        x = tf.nn.l2_normalize(x, 1) if self._cosine else x
        number = tf.maximum(tf.minimum(missing, _rows(x) // self._chain), 1)
        old = _rows(state.centers)

        def chosen(i, centers):
            part = x[i * self._chain:(i + 1) * self._chain]

            # Without any center the first point is one: it is chosen, and distances are measured from it.
            first = part[:tf.cast(tf.equal(_rows(centers), 0), tf.int32)]
            _, distances = tf.raw_ops.NearestNeighbors(points=part, centers=tf.concat([centers, first], 0), k=1)
            index = tf.raw_ops.KMC2ChainInitialization(distances=tf.reshape(distances, [-1]), seed=self._seed)
            new = tf.cond(tf.equal(_rows(centers), 0), lambda: part[:1], lambda: tf.gather(part, tf.reshape(index, [1])))
            return i + 1, tf.concat([centers, new], 0)

        width = tf.shape(x)[1]
        begin = tf.reshape(state.centers, tf.stack([old, width]))
        shapes = [tf.TensorShape([]), tf.TensorShape([None, None])]
        _, centers = tf.while_loop(lambda i, _: i < number, chosen, [0, begin], shape_invariants=shapes)
        return centers[old:]


class _State:
    """The variables: centers, whether they are all chosen, and, for small batches, how many points each has had."""

    def __init__(self, count, mini_batch, steps):
        nothing = tf.constant([], tf.float32)
        self.centers = tf.Variable(nothing, name=_CENTERS, validate_shape=False)
        self.initialized = tf.Variable(False, name="initialized", dtype=tf.bool)
        self.moving, self._left, self._steps = self.centers, None, steps
        if mini_batch and steps > 1:  # a copy is moved, and taken over when an iteration ends
            self.moving = tf.Variable(nothing, name="clusters_updated", validate_shape=False)
            self._left = tf.Variable(steps, name="update_in_steps", dtype=tf.int64)
            self.counts = tf.Variable(tf.zeros([count], tf.int64), validate_shape=False)
        elif mini_batch:
            self.counts = tf.Variable(tf.ones([count], tf.int64), validate_shape=False)

    def assign_all(self, centers):
        assigned = tf.assign(self.centers, centers, validate_shape=False)
        if self.moving is not self.centers:
            assigned = tf.assign(self.moving, assigned, validate_shape=False)
        return assigned

    def synchronized(self, normalize):
        """Takes the moved copy over at the end of an iteration."""
        if self._left is None:
            return tf.no_op()

        def take_over():
            with tf.control_dependencies([tf.assign(self._left, self._steps - 1)]):
                moved = tf.identity(self.moving)
                centers = tf.assign(self.centers, tf.nn.l2_normalize(moved, 1) if normalize else moved,
                                    validate_shape=False)
                with tf.control_dependencies([centers]):
                    return tf.assign(self.counts, tf.zeros_like(self.counts)).op

        return tf.cond(self._left <= 0, take_over, lambda: tf.assign_sub(self._left, 1).op)

    def moved(self, x, index):
        """Moves the centers of a batch: c += (sum of its points - k * c) / (points so far + k), k points in the batch."""
        ids, places = tf.unique(index)
        number = tf.size(ids)
        before = tf.gather(self.counts, ids)
        batch = tf.unsorted_segment_sum(tf.ones_like(places, dtype=tf.int64), places, number)
        weight = tf.expand_dims(tf.cast(batch, x.dtype), 1)
        rate = tf.expand_dims(tf.reciprocal(tf.cast(before + batch, x.dtype)), 1)
        change = (tf.unsorted_segment_sum(x, places, number) - weight * tf.gather(self.moving, ids)) * rate
        with tf.control_dependencies([change, batch]):
            return tf.group(tf.scatter_add(self.counts, ids, batch), tf.scatter_add(self.moving, ids, change))


class _StopWhenStill(tf.train.SessionRunHook):
    """Ends training when the loss changes by less than a part of itself."""

    def __init__(self, loss, tolerance):
        self._loss, self._tolerance, self._last = loss, tolerance, None

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self._loss)

    def after_run(self, run_context, run_values):
        loss = run_values.results
        if self._last and abs(loss - self._last) / (1 + abs(self._last)) < self._tolerance:
            run_context.request_stop()
        self._last = loss


class _ChooseCenters(tf.train.SessionRunHook):
    """The chief chooses centers until there are enough; others wait for them."""

    def __init__(self, choose, initialized, is_chief):
        self._choose, self._initialized, self._is_chief = choose, initialized, is_chief

    def after_create_session(self, session, coord):
        while not session.run(self._initialized):
            if self._is_chief:
                session.run(self._choose)
            else:
                time.sleep(1)


class KMeansClustering(_Estimator):
    """An estimator for k-means: inputs are points, or a dictionary of their coordinates."""

    SQUARED_EUCLIDEAN_DISTANCE, COSINE_DISTANCE = SQUARED_EUCLIDEAN_DISTANCE, COSINE_DISTANCE
    RANDOM_INIT, KMEANS_PLUS_PLUS_INIT = RANDOM_INIT, KMEANS_PLUS_PLUS_INIT
    SCORE = "score"  # the sum of the squared distances of points from their centers
    CLUSTER_INDEX = "cluster_index"
    ALL_DISTANCES = "all_distances"
    CLUSTER_CENTERS_VAR_NAME = _CENTERS

    def __init__(self, num_clusters, model_dir=None, initial_clusters=RANDOM_INIT,
                 distance_metric=SQUARED_EUCLIDEAN_DISTANCE, random_seed=0, use_mini_batch=True,
                 mini_batch_steps_per_iteration=1, kmeans_plus_plus_num_retries=2, relative_tolerance=None, config=None,
                 feature_columns=None):
        _check(initial_clusters, distance_metric, (RANDOM_INIT, KMEANS_PLUS_PLUS_INIT))
        self._tolerance = relative_tolerance

        def model_fn(features, mode, config):
            graph = KMeans(_points(features, feature_columns), num_clusters, initial_clusters, distance_metric,
                           use_mini_batch, mini_batch_steps_per_iteration, random_seed, kmeans_plus_plus_num_retries)
            distances, indices, nearest, initialized, choose, train = graph.training_graph()
            loss = tf.add_n([tf.reduce_sum(distance) for distance in nearest])
            tf.summary.scalar("loss/raw", loss)
            with tf.control_dependencies([train, tf.assign_add(tf.train.get_global_step(), 1)]):
                train = tf.identity(loss)
            hooks = [_ChooseCenters(choose, initialized, config.is_chief)]
            if self._tolerance is not None:
                hooks.append(_StopWhenStill(loss, self._tolerance))
            output = tf.estimator.export.PredictOutput
            return tf.estimator.EstimatorSpec(
                mode=mode, loss=loss, train_op=train, training_hooks=hooks,
                predictions={self.ALL_DISTANCES: distances[0], self.CLUSTER_INDEX: indices[0]},
                eval_metric_ops={self.SCORE: tf.metrics.mean(loss)},
                export_outputs={self.ALL_DISTANCES: output(distances[0]), self.CLUSTER_INDEX: output(indices[0]),
                                "serving_default": output(indices[0])})

        super().__init__(model_fn=model_fn, model_dir=model_dir, config=config)

    def _predicted(self, input_fn, key):
        for result in super().predict(input_fn=input_fn, predict_keys=[key]):
            yield result[key]

    def predict_cluster_index(self, input_fn):
        """The center of each point."""
        return self._predicted(input_fn, self.CLUSTER_INDEX)

    def transform(self, input_fn=None, x=None, batch_size=None):
        """The distances of each point from all centers."""
        input_fn, points = _input_or_points(input_fn, x)
        if points is not None:
            return np.array(list(self._predicted(_input_of(points, batch_size), self.ALL_DISTANCES)))
        return self._predicted(input_fn, self.ALL_DISTANCES)

    def score(self, input_fn=None, x=None, batch_size=None):
        """The sum of the distances of the first batch, or of points that are given."""
        input_fn, points = _input_or_points(input_fn, x)
        return self.evaluate(input_fn=input_fn or _input_of(points), steps=1)[self.SCORE]

    def cluster_centers(self):
        return self.get_variable_value(_CENTERS)

    # Before TensorFlow 1.3, with arrays of points.

    def fit(self, x=None, y=None, input_fn=None, steps=None, batch_size=None, monitors=None, max_steps=None,
            relative_tolerance=None):
        """Trains on points, in batches, or on what ``input_fn`` gives, until the loss stands still."""
        if relative_tolerance is not None:
            self._tolerance = relative_tolerance
        hooks = _names.at("weir.contrib.learn.monitors:replace_monitors_with_hooks")(monitors, self)
        return self.train(input_fn or _input_of(x, batch_size, None), hooks=hooks, steps=steps, max_steps=max_steps)

    def predict(self, input_fn=None, *args, x=None, batch_size=None, **kwargs):
        """The predictions of ``input_fn``; of points that are given the centers, an array of indices."""
        input_fn, points = _input_or_points(input_fn, x)
        if points is not None:
            return np.array(list(self._predicted(_input_of(points, batch_size), self.CLUSTER_INDEX)))
        return super().predict(input_fn, *args, **kwargs)

    def clusters(self):
        return self.cluster_centers()


def _input_or_points(input_fn, x):
    return (None, x if x is not None else input_fn) if x is not None or not callable(input_fn) else (input_fn, None)


def _input_of(points, batch_size=None, epochs=1):
    """An input function of points: in order once, or shuffled for as long as is asked."""
    points = np.asarray(points, np.float32)
    if batch_size is None or batch_size >= len(points):
        return lambda: tf.data.Dataset.from_tensors(points).repeat(epochs)

    def input_fn():
        data = tf.data.Dataset.from_tensor_slices(points)
        return (data.shuffle(len(points)) if epochs is None else data).repeat(epochs).batch(batch_size)

    return input_fn


def _points(features, feature_columns):
    if not isinstance(features, dict):
        return features
    if feature_columns:
        return tf.feature_column.input_layer(features, feature_columns)
    return tf.concat([features[key] for key in sorted(features)], axis=1)


__getattr__, __dir__ = _names.namespace(__name__)
