"""weir.show_graph's page in a real browser: what is drawn, and that clicking works."""

import pathlib

import pytest

import weir as tf

HOSTILE = [
    "</script><script>document.title='broken in'</script>",
    "<img src=x onerror=\"document.title='broken in'\">",
    "\"'><svg onload=document.title='broken_in'>",
    "__proto__/constructor",
    "${document.title='broken in'}",
    "a" * 500,
    "/".join("deep" * 30),
    "//",
]


def model():
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        for layer in ("layer1", "layer2"):
            with tf.name_scope(layer):
                w = tf.Variable(tf.ones([4, 4]), name="w")
                b = tf.Variable(tf.zeros([4]), name="b")
                x = tf.nn.relu(tf.matmul(x, w) + b)
        loss = tf.reduce_mean(tf.square(x), name="loss")
        tf.train.GradientDescentOptimizer(0.1).minimize(loss, name="train")
        with tf.control_dependencies([loss]):
            tf.no_op(name="done")
    return graph


@pytest.fixture
def show(open_page, tmp_path):
    def show_graph(graph, fragment=""):
        path = tmp_path / "graph.html"
        tf.show_graph(graph, title="A <graph>").save(path)
        page = open_page(path.as_uri() + fragment)
        page.wait_for("document.documentElement.dataset.ready !== undefined", 30)
        return page

    return show_graph


def boxes(page, kind="box"):
    return page.evaluate(f"[...document.querySelectorAll('.{kind}')].map(box => box.dataset.name)")


def assert_no_errors(page):
    assert page.errors == []
    assert page.evaluate("document.documentElement.dataset.error") is None


def test_scopes_start_closed(show):
    page = show(model())
    assert {"layer1", "layer2", "gradients"} <= set(boxes(page, "scope"))
    assert "x" in boxes(page, "op")
    assert not any("/" in name for name in boxes(page))
    assert page.evaluate("document.title") == "A <graph>"
    assert_no_errors(page)


def test_boxes_lie_apart_and_inside_the_window(show):
    page = show(model())
    places = page.evaluate(
        "[...document.querySelectorAll('.box')].map(box => box.getBoundingClientRect())"
        ".map(r => [r.left, r.top, r.right, r.bottom])"
    )
    assert all(right > left and bottom > top for left, top, right, bottom in places)
    assert all(left >= 0 and right <= 1200 and top >= 0 and bottom <= 800 for left, top, right, bottom in places)
    for i, a in enumerate(places):
        for b in places[:i]:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


def test_edges_are_counted_and_control_edges_dashed(show):
    page = show(model())
    edges = {
        (start, end): (count, kind)
        for start, end, count, kind in page.evaluate(
            "[...document.querySelectorAll('.edge')].map(e => [e.dataset.from, e.dataset.to, +e.dataset.count,"
            " getComputedStyle(e).strokeDasharray])"
        )
    }
    assert edges["x", "layer1"] == (1, "none")
    assert edges["layer1", "gradients"][0] > 1
    assert edges["loss", "done"][1] != "none"


def test_a_click_opens_a_scope_and_another_closes_it(show):
    page = show(model())
    page.click("[data-name=layer1]")
    assert "layer1/MatMul" in boxes(page, "op") and "layer1/w" in boxes(page, "closed")
    assert boxes(page, "open") == ["layer1"]
    page.click("[data-name='layer1/w']")
    assert "layer1/w/read" in boxes(page)
    page.click(".open[data-name=layer1]")
    assert "layer1/MatMul" not in boxes(page) and boxes(page, "open") == []
    assert_no_errors(page)


def test_the_address_opens_and_selects(show):
    page = show(model(), "#open=layer1&select=layer2/MatMul")
    assert set(boxes(page, "open")) == {"layer1", "layer2"}
    assert boxes(page, "selected") == ["layer2/MatMul"]
    details = page.evaluate("document.getElementById('details').innerText")
    for part in ("layer2/MatMul", "transpose_a", "false", "[?,4]", "layer2/w/read", "layer2/add"):
        assert part in details


def test_constants_and_variables_are_described(show):
    page = show(model(), "#select=layer1/ones")
    details = page.evaluate("document.getElementById('details').innerText")
    assert "Const" in details or "Fill" in details
    assert "[4,4]" in details


def test_buttons_open_and_close_everything(show):
    graph = model()
    page = show(graph)
    page.click("#expand")
    assert len(boxes(page, "op")) == len(graph.get_operations())
    page.click("#collapse")
    assert boxes(page, "open") == []
    page.click("#fit")
    assert_no_errors(page)


def test_the_search_box_finds_and_opens(show):
    page = show(model())
    page.click("#find")
    page.type("LAYER2/matmul")
    assert page.evaluate("document.querySelector('#matches button').textContent") == "layer2/MatMul"
    page.press_enter()
    assert boxes(page, "selected") == ["layer2/MatMul"]
    page.press_enter()
    assert boxes(page, "selected") != ["layer2/MatMul"]
    assert_no_errors(page)


def test_loops_are_drawn(show):
    graph_def = tf.GraphDef()
    for name, inputs in (("merge", ["enter", "next"]), ("enter", []), ("next", ["merge"]), ("self", ["self"])):
        graph_def.node.add(name=name, op="Unheard", input=inputs)
    page = show(graph_def)
    assert len(boxes(page)) == 4
    assert page.evaluate("document.querySelectorAll('.edge').length") == 3
    assert_no_errors(page)


def test_an_empty_graph_says_so(show):
    page = show(tf.Graph())
    assert "no nodes" in page.evaluate("document.getElementById('status').textContent")
    assert_no_errors(page)


def test_hostile_graphs_stay_text(show):
    graph_def = tf.GraphDef()
    for name in HOSTILE:
        node = graph_def.node.add(name=name, op=name, device=name, input=[name, "^" + name, "nowhere" + name])
        node.attr[name].s = name.encode() + b"\xff"
    page = show(graph_def, "#open=*")
    for name in HOSTILE:
        assert name in boxes(page, "op")
        page.evaluate(f"reveal(leaves[{HOSTILE.index(name)}])")
        assert name in page.evaluate("document.getElementById('details').textContent")
    assert page.evaluate("document.title") == "A <graph>"
    assert page.evaluate("document.querySelectorAll('script').length") == 2
    assert page.evaluate("document.querySelectorAll('img').length") == 0
    assert_no_errors(page)


def test_notebooks_show_it_in_a_frame(browser, open_page, tmp_path):
    path = tmp_path / "notebook.html"
    picture = tf.show_graph(model(), height=500)
    path.write_text(f"<!doctype html><meta charset=utf-8><title>notebook</title>{picture._repr_html_()}")
    page = open_page(path.as_uri())
    page.wait_for("document.querySelector('iframe')?.getBoundingClientRect().height >= 500")
    assert page.evaluate("document.querySelector('iframe').contentDocument") is None  # neither reaches the other
    frame = browser.sandboxed_frame()
    frame.wait_for("document.documentElement.dataset.ready !== undefined")
    assert {"layer1", "layer2", "x"} <= set(boxes(frame))
    assert_no_errors(frame)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_box(show, scheme):
    page = show(model())
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def luminance(expression):
        red, green, blue = page.evaluate(
            f"{expression}.match(/[\\d.]+/g).slice(0, 3).map(c => c / 255)"
            ".map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)"
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    for selector in (".scope", ".op"):
        text = luminance(f"getComputedStyle(document.querySelector('{selector} text')).fill")
        box = luminance(f"getComputedStyle(document.querySelector('{selector} rect')).fill")
        assert (max(text, box) + 0.05) / (min(text, box) + 0.05) > 4.5


def test_a_graph_of_tensorflow_is_drawn(show):
    data = pathlib.Path(__file__).parents[3] / "tests/data"
    page = show(data / "checkpoints/program/model.ckpt-2.meta")
    assert page.evaluate("document.documentElement.dataset.ready") == "47"
    page = show(data / "graphs/convnet.pb", "#open=*")
    assert len(boxes(page, "op")) == 209
    assert_no_errors(page)
