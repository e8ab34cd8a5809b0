"""SavedModels loaded step by step, and what trains them."""

import pytest

import weir as tf
from weir.saved_model import loader


@pytest.fixture
def model(tmp_path):
    """y is 7 once the model has run what it wants run."""
    folder = str(tmp_path / "model")
    builder = tf.saved_model.builder.SavedModelBuilder(folder)
    with tf.Graph().as_default(), tf.Session() as session:
        y = tf.Variable(5.0, name="y")
        session.run(tf.global_variables_initializer())
        train = tf.assign_add(y, 1.0, name="train")
        builder.add_meta_graph_and_variables(session, ["one"], init_op=tf.group(tf.assign(y, 7.0), name="start"),
                                             train_op=train)
    builder.save()
    return folder


def test_each_step_of_loading_can_be_taken_alone(model):
    steps = loader.SavedModelLoader(model)
    with tf.Graph().as_default() as graph, tf.Session() as session:
        saver, (y,) = steps.load_graph(graph, ["one"], import_scope="in", return_elements=["y:0"])
        with pytest.raises(ValueError, match="No tf.train.Saver object"):
            steps.restore_variables(session, None)
        steps.restore_variables(session, saver)
        assert session.run(y) == 5.0
        steps.run_init_ops(session, ["one"], import_scope="in")
        assert session.run(y) == 7.0
        with pytest.raises(tf.errors.NotFoundError):
            steps.run_init_ops(session, ["one"])
        with pytest.raises(ValueError, match="not found in graph"):
            steps.load_graph(graph, ["one"], return_elements=["nothing:0"])


def test_a_model_names_what_trains_it(model):
    with tf.Graph().as_default(), tf.Session() as session:
        meta_graph = tf.saved_model.loader.load(session, ["one"], model)
        assert session.run(loader.get_train_op(meta_graph)) == 8.0
