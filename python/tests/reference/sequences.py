"""Labels of sequences: CTC, conditional random fields, sets, samplers; and the metrics of tf.contrib.metrics."""

### ctc
rng = np.random.RandomState(3)
logits = tf.constant(rng.randn(6, 3, 5), tf.float32)
labels = tf.SparseTensor([[0, 0], [0, 1], [0, 2], [1, 0], [2, 0], [2, 1]], tf.constant([1, 1, 3, 0, 2, 3]), [3, 3])
lengths = tf.constant([6, 4, 5])
with tf.Session() as s:
    for options in ({}, {'ctc_merge_repeated': False}, {'preprocess_collapse_repeated': True}):
        loss = tf.nn.ctc_loss(labels, logits, lengths, **options)
        show(s.run([loss, tf.gradients(loss * [1., 2., 3.], logits)[0]]))
    show(s.run(tf.nn.ctc_loss(labels, tf.transpose(logits, [1, 0, 2]), lengths, time_major=False)))
    show(s.run(tf.nn.ctc_loss(labels, logits, [2, 4, 5], ignore_longer_outputs_than_inputs=True)))
    for blank in (4, 0, -1, 2):
        dense = tf.nn.ctc_loss_v2(tf.constant([[1, 1, 3], [1, 0, 0], [3, 3, 0]]), logits, [3, 1, 2], [6, 6, 6], blank_index=blank)
        show(s.run([dense, tf.gradients(dense, logits)[0]]))
    for merge in (True, False):
        (decoded,), score = tf.nn.ctc_greedy_decoder(logits, lengths, merge_repeated=merge)
        show(s.run([decoded.indices, decoded.values, decoded.dense_shape, score]))
        paths, scores = tf.nn.ctc_beam_search_decoder(logits, lengths, beam_width=6, top_paths=2, merge_repeated=merge)
        show(s.run([scores] + [part for path in paths for part in (path.indices, path.values, path.dense_shape)]))
    show(s.run(tf.nn.collapse_repeated([[1, 1, 2, 2], [3, 4, 4, 0]], [4, 3])))
    show(s.run(tf.nn.ctc_unique_labels([[1, 1, 2], [3, 4, 3]])))
fails(lambda: tf.nn.ctc_loss(tf.constant([1]), logits, lengths))
fails(lambda: tf.nn.ctc_loss_v2(labels, logits, None, lengths))

### crf
crf = tf.contrib.crf
x = tf.constant(np.sin(np.arange(24)).reshape(2, 4, 3), tf.float32)
transitions = tf.constant(np.cos(np.arange(9)).reshape(3, 3), tf.float32)
tags, n = tf.constant([[0, 2, 1, 1], [2, 2, 0, 1]]), tf.constant([3, 4])
bitmap = tf.constant(np.arange(24).reshape(2, 4, 3) % 5 != 0)
with tf.Session() as s:
    for i in (4, 1):
        a, t = x[:, :i], tags[:, :i]
        m = tf.minimum(n, i)
        likelihood, params = crf.crf_log_likelihood(a, t, m, transitions)
        show(s.run([crf.crf_sequence_score(a, t, m, transitions), crf.crf_log_norm(a, m, transitions), likelihood,
                    crf.crf_multitag_sequence_score(a, bitmap[:, :i], m, transitions)]))
        show(s.run(tf.gradients(likelihood, [x, transitions])[0]))
        show(s.run(list(crf.crf_decode(a, transitions, m))))
    show(s.run([crf.crf_unary_score(tags, n, x), crf.crf_binary_score(tags, n, transitions)]))
    show(crf.viterbi_decode(s.run(x)[0], s.run(transitions)))
    _, made = crf.crf_log_likelihood(x, tags, n)
    show(made.name, made.shape.as_list())
    outputs, last = tf.nn.dynamic_rnn(crf.CrfForwardRnnCell(transitions), x, dtype=tf.float32)
    show(s.run([outputs, last]))
    unknown = tf.placeholder(tf.float32, [None, None, 3])
    show(s.run(list(crf.crf_decode(unknown, transitions, n)), {unknown: s.run(x)}))

### sets
dense, other = tf.constant([[1, 2, 2], [3, 4, 5]]), tf.constant([[2, 9], [3, 4]])
sparse = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], tf.constant([2, 5, 7]), [2, 2])
with tf.Session() as s:
    for a, b in ((dense, other), (dense, sparse), (sparse, dense), (sparse, sparse)):
        for function in (tf.sets.set_intersection, tf.sets.set_union, tf.sets.set_difference):
            show(s.run(function(a, b)))
        show(s.run(tf.contrib.metrics.set_difference(a, b, aminusb=False)))
    show(s.run(tf.sets.set_size(sparse)))
fails(lambda: tf.sets.set_size(dense))
fails(lambda: tf.sets.set_union(dense, tf.constant([[1.]])))

### samplers
with tf.Graph().as_default(), tf.Session() as s:
    labels = tf.constant([[1], [4], [0]], tf.int64)
    for unique in (True, False):
        show(s.run(tf.nn.fixed_unigram_candidate_sampler(labels, 1, 4, unique, 6, unigrams=[5., 1., 3., 2., 2., 7.], distortion=.75, seed=3)))
        show(s.run(tf.nn.learned_unigram_candidate_sampler(labels, 1, 4, unique, 6, seed=3)))
    show(s.run(tf.nn.fixed_unigram_candidate_sampler(labels, 1, 3, False, 6, unigrams=[5., 1., 3., 2.], num_reserved_ids=2, seed=3)))
    show(s.run(tf.nn.all_candidate_sampler(labels, 1, 5, True)))
    learned = tf.nn.learned_unigram_candidate_sampler(labels, 1, 3, False, 6, seed=9)
    for _ in range(3):
        show(s.run(learned))

### metrics
metrics = tf.contrib.metrics
predictions = [np.array([.1, .8, .4, .35]), np.array([.9, .2, .6, .5])]
labels = [np.array([0, 1, 1, 0]), np.array([1, 0, 0, 1])]
weights = [np.array([1., 2., 1., .5]), np.array([.5, 1., 1., 2.])]
def run(name, build):
    with tf.Graph().as_default(), tf.Session() as s:
        p, l = tf.placeholder(tf.float32, [4]), tf.placeholder(tf.int64, [4])
        w = tf.placeholder(tf.float32, [4])
        value, update = build(p, l, w)
        s.run(tf.local_variables_initializer())
        for each in zip(predictions, labels, weights):
            s.run(update, dict(zip((p, l, w), each)))
        show(name, [v.name for v in tf.local_variables()] if 'dynamic' not in name and 'concat' not in name and 'confidence' not in name else '',
             s.run(value, dict(zip((p, l, w), each))))
hard = lambda p: tf.cast(p > .45, tf.int64)
for name in ('true_positives', 'false_positives', 'true_negatives', 'false_negatives', 'precision', 'recall', 'accuracy',
             'false_positive_rate', 'false_negative_rate'):
    run(name, lambda p, l, w: getattr(metrics, 'streaming_' + name)(hard(p), l))
    run(name, lambda p, l, w: getattr(metrics, 'streaming_' + name)(hard(p), l, weights=w))
for name in ('true_positives_at_thresholds', 'false_positives_at_thresholds', 'true_negatives_at_thresholds',
             'false_negatives_at_thresholds', 'precision_at_thresholds', 'recall_at_thresholds',
             'false_positive_rate_at_thresholds', 'false_negative_rate_at_thresholds'):
    run(name, lambda p, l, w: getattr(metrics, 'streaming_' + name)(p, l, [.2, .5], weights=w))
for name in ('mean_absolute_error', 'mean_squared_error', 'root_mean_squared_error', 'covariance', 'pearson_correlation'):
    run(name, lambda p, l, w: getattr(metrics, 'streaming_' + name)(p, tf.cast(l, tf.float32)))
    run(name, lambda p, l, w: getattr(metrics, 'streaming_' + name)(p, tf.cast(l, tf.float32), weights=w))
run('mean', lambda p, l, w: metrics.streaming_mean(p, w))
run('mean_tensor', lambda p, l, w: metrics.streaming_mean_tensor(p, w))
run('percentage', lambda p, l, w: metrics.streaming_percentage_less(p, .5, w))
run('relative', lambda p, l, w: metrics.streaming_mean_relative_error(p, tf.cast(l, tf.float32), w))
run('cosine', lambda p, l, w: metrics.streaming_mean_cosine_distance(p, tf.cast(l, tf.float32), 0))
run('iou', lambda p, l, w: metrics.streaming_mean_iou(hard(p), l, 2))
run('auc', lambda p, l, w: metrics.streaming_auc(p, l, w))
run('auc_pr', lambda p, l, w: metrics.streaming_auc(p, l, curve='PR', num_thresholds=20))
run('dynamic_auc', lambda p, l, w: metrics.streaming_dynamic_auc(l, p))
run('dynamic_auc_pr', lambda p, l, w: metrics.streaming_dynamic_auc(l, p, curve='PR', weights=w))
run('confidence', lambda p, l, w: metrics.auc_with_confidence_intervals(l, p))
run('confidence_weighted', lambda p, l, w: metrics.auc_with_confidence_intervals(l, p, w, alpha=.9, logit_transformation=False))
run('curve', lambda p, l, w: metrics.streaming_curve_points(l, p, num_thresholds=5))
run('curve_pr', lambda p, l, w: metrics.streaming_curve_points(l, p, w, num_thresholds=5, curve='PR'))
run('f1', lambda p, l, w: metrics.f1_score(l, p, w))
run('recall_at_precision', lambda p, l, w: metrics.recall_at_precision(l, p, .6, w))
run('recall_at_precision_strict', lambda p, l, w: metrics.recall_at_precision(l, p, .6, strict_mode=True))
run('precision_at_recall', lambda p, l, w: metrics.precision_at_recall(l, p, .6, w))
run('equal_thresholds', lambda p, l, w: metrics.precision_recall_at_equal_thresholds(tf.cast(l, tf.bool), p, w, num_thresholds=5))
run('specificity', lambda p, l, w: metrics.streaming_specificity_at_sensitivity(p, l, .6, w))
run('sensitivity', lambda p, l, w: metrics.streaming_sensitivity_at_specificity(p, l, .6))
run('concat', lambda p, l, w: metrics.streaming_concat(p))
run('concat_limited', lambda p, l, w: metrics.streaming_concat(tf.stack([p, w]), axis=1, max_size=6))
run('count', lambda p, l, w: metrics.count(p, w))
run('kappa', lambda p, l, w: metrics.cohen_kappa(l, hard(p), 2))
run('kappa_weighted', lambda p, l, w: metrics.cohen_kappa(l, hard(p), 2, w))
run('histogram', lambda p, l, w: metrics.auc_using_histogram(tf.cast(l, tf.bool), p, [0., 1.], nbins=8))
scores = lambda p: tf.stack([p, 1. - p, p * p], 1)
run('recall_at_k', lambda p, l, w: metrics.streaming_recall_at_k(scores(p), l, 2, w))
run('sparse_recall_at_k', lambda p, l, w: metrics.streaming_sparse_recall_at_k(scores(p), l[:, None], 2))
run('sparse_precision_at_k', lambda p, l, w: metrics.streaming_sparse_precision_at_k(scores(p), l[:, None], 2, class_id=1))
run('sparse_average', lambda p, l, w: metrics.streaming_sparse_average_precision_at_k(scores(p), l[:, None], 2))
best = lambda p: tf.nn.top_k(scores(p), 2).indices
run('precision_at_top_k', lambda p, l, w: metrics.streaming_sparse_precision_at_top_k(best(p), l[:, None]))
run('recall_at_top_k', lambda p, l, w: metrics.sparse_recall_at_top_k(l[:, None], best(p), class_id=0))
run('average_at_top_k', lambda p, l, w: metrics.streaming_sparse_average_precision_at_top_k(best(p), l[:, None]))
with tf.Session() as s:
    show(s.run(metrics.accuracy(tf.constant([1, 2]), tf.constant([1, 3]))))
    show(s.run(metrics.accuracy(tf.constant([1, 2]), tf.constant([1, 3]), weights=[1., 3.])))
    show(metrics.aggregate_metrics(('a', 'b'), ('c', 'd')), metrics.aggregate_metric_map({'x': ('a', 'b')}))
fails(lambda: metrics.aggregate_metrics())
