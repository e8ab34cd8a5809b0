"""What `weir run` gives back to matplotlib, pandas and scikit-learn: stand-ins with their interface of today."""

import pytest

_MATPLOTLIB = {
    "matplotlib/__init__.py": """
class RcParams(dict):
    def __setitem__(self, key, value):
        if key not in ("axes.prop_cycle", "image.cmap"): raise KeyError(key)
        dict.__setitem__(self, key, value)
class Maps(dict):
    def register(self, cmap, name=None, force=False): self[name] = cmap
class Map:
    def __init__(self, n=256): self.n = n
    def resampled(self, n): return Map(n)
class colors: Colormap = Map
colormaps = Maps(jet=Map(), nipy_spectral=Map())
rcParams = RcParams()
rcParams["image.cmap"] = "jet"
def use(backend, *, force=True): pass
class cm: pass
""",
    "matplotlib/style.py": "available = ['seaborn-v0_8', 'seaborn-v0_8-white', 'ggplot']\ndef use(style): print(style)",
    "matplotlib/mlab.py": "",
    "matplotlib/backend_bases.py": "class FigureCanvasBase: manager = None",
    "matplotlib/axes/__init__.py": "from . import _base\nfrom ._axes import Axes",
    "matplotlib/axes/_base.py": """
class Artist:
    def __init__(self, kept): self.kept = kept
    def remove(self): self.kept.remove(self)
class _AxesBase:
    class ArtistList:
        def __init__(self, kept): self.kept = kept
        def __iter__(self): return iter(self.kept)
        def __len__(self): return len(self.kept)
    def __init__(self): self.kept = []
    @property
    def lines(self): return self.ArtistList(self.kept)
    def set_facecolor(self, color): self.color = color
""",
    "matplotlib/axes/_axes.py": """
from . import _base
class Axes(_base._AxesBase):
    name = "rectilinear"
    def plot(self):
        self.kept.append(_base.Artist(self.kept))
        return self.kept[-1:]
    def hist(self, x, density=False): return density
    def grid(self, visible=None): return visible
    def annotate(self, text, xy): return text
    def set_yscale(self, value, *, nonpositive=None): return nonpositive
""",
    "matplotlib/figure.py": """
from . import axes as kinds
class FigureBase:
    def __init__(self): self.axes = []
    def add_subplot(self, *place, projection=None, facecolor=None):
        if projection == "3d":
            from mpl_toolkits.mplot3d.axes3d import Axes3D
            return self.add_axes(Axes3D(self))
        assert all(isinstance(n, int) for n in place)
        made = kinds.Axes()
        made.color = facecolor
        return self.add_axes(made)
    def add_axes(self, axes):
        self.axes.append(axes)
        return axes
    def gca(self): return self.axes[-1] if self.axes else self.add_subplot()
class Figure(FigureBase):
    def savefig(self, name, **options): return options
""",
    "matplotlib/pyplot.py": """
from . import figure, style, backend_bases
current = figure.Figure()
def gcf(): return current
def gca(): return current.gca()
def subplot(*place, **options): return current.add_subplot(*place, **options)
def hist(x, **options): return gca().hist(x, **options)
def annotate(text, xy): return gca().annotate(text, xy)
""",
    "mpl_toolkits/__init__.py": "",
    "mpl_toolkits/mplot3d/__init__.py": "from .axes3d import Axes3D",
    "mpl_toolkits/mplot3d/axes3d.py": """
from matplotlib.axes import Axes
class Axes3D(Axes):
    name = "3d"
    def __init__(self, fig):
        Axes.__init__(self)
        self.xaxis = "x"
""",
    "cycler.py": "def cycler(color): return color",
}


@pytest.fixture
def packages(weir, installed):
    """What a program prints where packages are installed: packages({file: text}, program)."""

    def run(files, program):
        result = weir({"p.py": program, **{f"site-packages/{name}": text for name, text in files.items()}}, "p.py")
        assert result.returncode == 0, result.stderr
        return result.stdout

    return run


def test_matplotlib_takes_arguments_by_their_old_names(packages):
    program = """
        import matplotlib
        matplotlib.use("Agg", warn=False)
        import matplotlib.pyplot as plt
        print(plt.hist([1], normed=True), plt.gca().grid(b=True), plt.annotate(s="text", xy=(0, 0)))
        print(plt.gca().set_yscale("log", nonposy="clip"), plt.subplot(2, 2 / 1, 1.0, axisbg="w").color)
        plt.hold(True), plt.gca().hold(False), plt.gca().set_axis_bgcolor("b")
        print(plt.gcf().savefig("a.png", frameon=False, dpi=3), plt.gca().color)
        matplotlib.rcParams["axes.color_cycle"] = ["r"]
        matplotlib.rcParams["text.latex.unicode"] = True
        print(dict(matplotlib.rcParams))
        try: matplotlib.rcParams["no.such"] = 1
        except KeyError as error: print(error)
    """
    assert packages(_MATPLOTLIB, program) == (
        "True True text\nclip w\n{'dpi': 3} b\n{'image.cmap': 'jet', 'axes.prop_cycle': ['r']}\n'no.such'\n"
    )


def test_matplotlib_has_its_old_colours_styles_and_functions(packages):
    program = """
        import matplotlib, matplotlib.pyplot as plt
        from matplotlib.mlab import normpdf, bivariate_normal
        print(matplotlib.cm.get_cmap("jet", 5).n, matplotlib.cm.get_cmap().n, matplotlib.cm.spectral.n)
        plt.style.use("seaborn-white"); plt.style.use(["ggplot", "seaborn"])
        print("%.4f %.4f" % (normpdf(0., 0., 1.), bivariate_normal(1., 1., 1., 2., sigmaxy=1.)))
        matplotlib.backend_bases.FigureCanvasBase().set_window_title("no window")
    """
    assert packages(_MATPLOTLIB, program) == "5 256 256\nseaborn-v0_8-white\n['ggplot', 'seaborn-v0_8']\n0.3989 0.0557\n"


def test_matplotlib_lists_of_artists_can_be_changed_and_axes_in_space_add_themselves(packages):
    program = """
        import matplotlib.pyplot as plt
        from mpl_toolkits.mplot3d import Axes3D
        axes = plt.gca()
        lines = [axes.plot()[0] for _ in range(4)]
        axes.lines.remove(lines[1])
        assert axes.lines.pop(0) is lines[0] and list(axes.lines) == lines[2:]
        del axes.lines[0]
        assert list(axes.lines) == lines[3:]
        space = Axes3D(plt.gcf())
        assert plt.gca(projection="3d") is space is plt.gcf().axes[-1] and space.w_xaxis == "x"
        assert plt.gcf().gca(projection="3d") is space and len(plt.gcf().axes) == 2
        plt.gcf().add_subplot(111, projection="3d")
        print(len(plt.gcf().axes))
    """
    assert packages(_MATPLOTLIB, program) == "3\n"


_PANDAS = {
    "pandas.py": """
import numpy as np
class Kind:
    def __init__(self, char): self.kind = char
class Index(list):
    def __init__(self, labels): super().__init__(labels); self.dtype = np.asarray(labels).dtype
class Loc:
    def __init__(self, of): self.of = of
    def __getitem__(self, key): return ("loc", key)
class Texts:
    def __init__(self, of): pass
    def replace(self, pat, repl, n=-1, case=None, flags=0, regex=False): return pat, regex
class Series:
    str = Texts
    def __init__(self, data, index): self.data, self.index = np.array(data), Index(index); self.axes = [self.index]
    def __getitem__(self, key):
        if isinstance(key, int) and self.index.dtype.kind not in "iu": raise KeyError(key)
        return self.data[self.index.index(key)]
    @property
    def iloc(self): return self.data
    @property
    def loc(self): return Loc(self)
    @property
    def values(self):
        view = self.data.view()
        view.flags.writeable = False
        return view
    def items(self): return zip(self.index, self.data)
    def drop(self, labels=None, *, axis=0, index=None): return labels, axis
    def fillna(self, value, *, axis=None): return "filled", value
    def ffill(self): return "ffill"
    def bfill(self): return "bfill"
class DataFrame(Series):
    columns = ["a", "b"]
    dtypes = [Kind("f"), Kind("O")]
    def mean(self, axis=0, numeric_only=False):
        if not numeric_only: raise TypeError("text")
        return "means"
    def map(self, f): return f(1)
def concat(objs, *, axis=0, ignore_index=False, **options): return objs, axis, ignore_index
def read_csv(path, *, sep=",", header=0, on_bad_lines="error"): return path, sep, header, on_bad_lines
read_csv_result = None
def get_dummies(data, dtype=None): return dtype
def set_option(name, value): print(name, value)
"""
}


def test_pandas_takes_what_it_took(packages):
    program = """
        import pandas as pd
        s = pd.Series([1., 2.], ["a", "b"])
        print(s[0], s["b"], s.ix[1], s.drop("a", 1), s.fillna(0), s.fillna(method="pad"), list(getattr(s, "iteritems")())[0][0])
        s.values[0] = 5
        print(s["a"], pd.concat([1], 1), pd.get_dummies(s), len(s.append(s, ignore_index=True)[0]))
        frame = pd.DataFrame([1], [3])
        print(frame.mean(), frame.ix[3], frame.applymap(float))
        print(pd.read_csv("f", delim_whitespace=True, error_bad_lines=False), pd.read_csv("f", ";", None))
        try: s[2]
        except IndexError as error: print("no such place")
        texts = s.str(s)
        print(texts.replace("a+", "b"), texts.replace(".", "b"), texts.replace(".", len), texts.replace("a+", "b", regex=False))
    """
    assert packages(_PANDAS, program).splitlines() == [
        "future.infer_string False",
        "1.0 2.0 ('loc', 'b') ('a', 1) ('filled', 0) ffill a",
        "1.0 ([1], 1, False) uint8 2",
        "means ('loc', 3) 1.0",
        "('f', '\\\\s+', 0, 'skip') ('f', ';', None, 'error')",
        "no such place",
        "('a+', True) ('.', False) ('.', True) ('a+', False)",
    ]


_SKLEARN = {
    "sklearn/__init__.py": "",
    "sklearn/manifold/__init__.py": "class TSNE:\n  def __init__(self, n_components=2, *, max_iter=None): self.n = max_iter",
    "sklearn/preprocessing/__init__.py": """
class OneHotEncoder:
    def __init__(self, *, sparse_output=True): self.sparse = sparse_output
""",
    "sklearn/impute.py": """
class SimpleImputer:
    def __init__(self, missing_values, strategy, copy): self.all = missing_values, strategy, copy
""",
    "sklearn/datasets/__init__.py": "def __getattr__(name): raise ImportError(name)",
    "sklearn/utils/__init__.py": "class Bunch(dict): __getattr__ = dict.get",
    "sklearn/metrics/__init__.py": "roc_curve = len",
    "scipy/__init__.py": "def __getattr__(name): raise AttributeError(name)",
    "scipy/optimize.py": "def linear_sum_assignment(costs): return [0, 1], [1, 0]",
}


def test_sklearn_takes_what_it_took(packages):
    program = """
        from sklearn.manifold import TSNE
        from sklearn.preprocessing import Imputer, OneHotEncoder
        from sklearn.metrics.ranking import roc_curve
        from sklearn.utils.linear_assignment_ import linear_assignment
        import sklearn.datasets
        print(TSNE(n_iter=250).n, OneHotEncoder(sparse=False).sparse, Imputer(strategy="median").all, roc_curve is len)
        print(linear_assignment([[1, 2]]).tolist())
        digits = sklearn.datasets.fetch_mldata("MNIST original")
        print(digits.data.shape, digits.data.dtype, digits.target[[0, 59999, 60000, -1]])
        try: sklearn.datasets.fetch_mldata("iris")
        except OSError as error: print(error)
        try: sklearn.datasets.load_boston
        except ImportError as error: print(error)
    """
    assert packages(_SKLEARN, program).splitlines() == [
        "250 False (nan, 'median', True) True",
        "[[0, 1], [1, 0]]",
        "(70000, 784) uint8 [0. 9. 0. 9.]",
        "mldata.org, where fetch_mldata('iris') would load from, is gone; see sklearn.datasets.fetch_openml",
        "load_boston",
    ]


def test_sklearn_takes_estimators_of_contrib_learn_into_pipelines(packages):
    program = """
        import tensorflow as tf
        tf.logging.set_verbosity(tf.logging.ERROR)
        learn = tf.contrib.learn
        model = learn.LinearClassifier([tf.contrib.layers.real_valued_column("", dimension=1)], model_dir="model")
        print(model.__sklearn_tags__(), model.__sklearn_is_fitted__())
    """
    base = "class BaseEstimator:\n  def __sklearn_tags__(self): return 'tags'"
    assert packages({"sklearn/__init__.py": "", "sklearn/base.py": base}, program) == "tags False\n"
