"""tf.contrib.factorization: k-means."""

import numpy as np
import pytest

import weir as tf

_GENERATOR = np.random.RandomState(0)
_MEANS = np.array([[0, 0], [10, 10], [0, 10.]])
POINTS = np.concatenate([mean + 0.5 * _GENERATOR.randn(100, 2) for mean in _MEANS]).astype(np.float32)
_GENERATOR.shuffle(POINTS)


def _clustered(steps=8, **options):
    """(how often centers were chosen, sorted centers, the mean distance) after some steps over all points."""
    with tf.Graph().as_default():
        points = tf.placeholder(tf.float32, [None, 2])
        all_distances, indices, distances, initialized, choose, train = tf.contrib.factorization.KMeans(
            points, 3, random_seed=1, **options).training_graph()
        centers = next(v for v in tf.global_variables() if v.op.name == "clusters")
        feeds, chosen = {points: POINTS}, 0
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            while not sess.run(initialized):
                sess.run(choose, feeds)
                chosen += 1
            for _ in range(steps):
                sess.run(train, feeds)
            every, nearest, index = sess.run([all_distances[0], distances[0], indices[0]], feeds)
            np.testing.assert_allclose(every[np.arange(len(POINTS)), index], nearest, atol=1e-3)
            return chosen, sess.run(centers), nearest.mean()


@pytest.mark.parametrize("options", [
    {"initial_clusters": "kmeans_plus_plus"}, {"initial_clusters": "kmeans_plus_plus", "use_mini_batch": True},
    {"initial_clusters": "kmeans_plus_plus", "use_mini_batch": True, "mini_batch_steps_per_iteration": 2},
    {"initial_clusters": _MEANS.astype(np.float32)},
    {"initial_clusters": lambda inputs, missing: tf.constant(_MEANS, tf.float32)[3 - missing:4 - missing]},
])
def test_centers_move_to_the_means_of_their_points(options):
    chosen, centers, _ = _clustered(steps=30, **options)
    assert chosen == (3 if callable(options["initial_clusters"]) else 1)
    order = np.lexsort(np.round(centers).T)
    np.testing.assert_allclose(centers[order], _MEANS[np.lexsort(np.round(_MEANS).T)], atol=0.4)


def test_markov_chains_choose_a_center_for_each_part_of_a_batch():
    chosen, centers, _ = _clustered(initial_clusters="kmc2", kmc2_chain_length=150)
    assert chosen == 2 and centers.shape == (3, 2)  # 300 points: two centers, then one


def test_cosine_distances_keep_centers_at_length_one():
    _, centers, distance = _clustered(initial_clusters="kmeans_plus_plus", distance_metric="cosine")
    np.testing.assert_allclose(np.linalg.norm(centers, axis=1), 1, rtol=1e-5)
    assert 0 <= distance < 0.3


def test_a_mini_batch_moves_centers_by_the_points_they_have_had():
    _, centers, distance = _clustered(initial_clusters=POINTS[:3], use_mini_batch=True, steps=1)
    nearest = ((POINTS[:, None] - POINTS[None, :3]) ** 2).sum(2).argmin(1)
    # Each center counts as one point itself.
    expected = [(POINTS[i] + POINTS[nearest == i].sum(0)) / (1 + (nearest == i).sum()) for i in range(3)]
    np.testing.assert_allclose(centers, expected, rtol=1e-4)


def test_unknown_ways_are_refused():
    with pytest.raises(ValueError, match="Unsupported initialization"):
        tf.contrib.factorization.KMeans(tf.zeros([3, 2]), 2, initial_clusters="best")
    with pytest.raises(ValueError, match="Unsupported distance"):
        tf.contrib.factorization.KMeansClustering(2, distance_metric="taxi")


def test_the_estimator_clusters_and_predicts(tmp_path):
    def input_fn():
        return tf.train.limit_epochs(tf.convert_to_tensor(POINTS), num_epochs=1)

    kmeans = tf.contrib.factorization.KMeansClustering(3, model_dir=str(tmp_path), use_mini_batch=False,
                                                       initial_clusters=_MEANS.astype(np.float32))
    kmeans.train(input_fn)
    before = kmeans.score(input_fn)
    kmeans.train(input_fn)
    centers, indices = kmeans.cluster_centers(), np.array(list(kmeans.predict_cluster_index(input_fn)))
    np.testing.assert_allclose(centers, _MEANS, atol=0.2)
    assert (indices == ((POINTS[:, None] - _MEANS[None]) ** 2).sum(2).argmin(1)).all()
    assert kmeans.score(input_fn) <= before
    assert next(kmeans.transform(input_fn)).shape == (3,)


def test_clusters_of_arrays_are_fitted_predicted_and_measured():
    points = np.array([[0.0, 0.0], [0.0, 1.0], [10.0, 0.0], [10.0, 1.0]], np.float32)
    kmeans = tf.contrib.factorization.KMeansClustering(2, use_mini_batch=False, random_seed=1)
    assert kmeans.fit(x=points, steps=None, relative_tolerance=1e-4) is kmeans
    centers = kmeans.clusters()
    np.testing.assert_allclose(sorted(centers.tolist()), [[0.0, 0.5], [10.0, 0.5]], atol=1e-5)
    found = centers[kmeans.predict(points, batch_size=3)]
    np.testing.assert_allclose(found, [[0.0, 0.5]] * 2 + [[10.0, 0.5]] * 2, atol=1e-5)
    assert abs(kmeans.score(points) - 1.0) < 1e-4 and kmeans.transform(points).shape == (4, 2)
