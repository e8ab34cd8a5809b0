"""What matplotlib had and did when TensorFlow 1 was current (1.5 to 3.0).

Part of `weir run` (old_libraries.py installs it). What still exists is left alone.
"""

import contextlib
import functools
import importlib

from weir.old_numpy import add_missing

# Functions of pyplot and methods of Axes: {argument: its name today, or None for one that has gone without replacement}.
_ARGUMENTS = {
    "annotate": {"s": "text"},
    "boxplot": {"labels": "tick_labels"},
    "grid": {"b": "visible"},
    "hist": {"normed": "density"},
    "imshow": {"shape": None},
    "loglog": {"basex": "base", "basey": "base", "nonposx": "nonpositive", "nonposy": "nonpositive"},
    "semilogx": {"basex": "base", "nonposx": "nonpositive"},
    "semilogy": {"basey": "base", "nonposy": "nonpositive"},
    "stem": {"use_line_collection": None},
}
_SCALES = {
    "set_xscale": {"basex": "base", "nonposx": "nonpositive", "linthreshx": "linthresh", "subsx": "subs"},
    "set_yscale": {"basey": "base", "nonposy": "nonpositive", "linthreshy": "linthresh", "subsy": "subs"},
}
_COLORMAPS = {"spectral": "nipy_spectral", "Vega10": "tab10", "Vega20": "tab20", "Vega20b": "tab20b", "Vega20c": "tab20c"}
# Settings that may be made and mean nothing any more.
_SETTINGS = {
    "animation.html_args", "backend.qt4", "datapath", "examples.directory", "keymap.all_axes", "savefig.frameon",
    "text.latex.preview", "text.latex.unicode", "verbose.fileo", "verbose.level",
}  # fmt: skip


def taking(function, names):
    """The function, called with the arguments' old names as well: {old: new, or None where it is left out}."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        for old in names.keys() & kwargs.keys():
            value = kwargs.pop(old)
            if names[old] is not None:
                kwargs.setdefault(names[old], value)
        return function(*args, **kwargs)

    return call


def _take(owner, table):
    for function, names in table.items():
        if hasattr(owner, function):
            setattr(owner, function, taking(getattr(owner, function), names))


def _patch_matplotlib(matplotlib):
    matplotlib.use = taking(matplotlib.use, {"warn": None})
    _patch_colormaps(matplotlib)
    set_item = matplotlib.RcParams.__setitem__

    def set_setting(self, key, value):
        if key == "axes.color_cycle":
            return set_item(self, "axes.prop_cycle", importlib.import_module("cycler").cycler(color=value))
        return None if key in _SETTINGS and key not in self else set_item(self, key, value)

    matplotlib.RcParams.__setitem__ = set_setting


def _patch_colormaps(matplotlib):
    def get_cmap(name=None, lut=None):
        if isinstance(name, matplotlib.colors.Colormap):
            return name
        found = matplotlib.colormaps[matplotlib.rcParams["image.cmap"] if name is None else name]
        return found if lut is None else found.resampled(lut)

    def register_cmap(name=None, cmap=None):
        matplotlib.colormaps.register(cmap, name=name, force=True)

    add_missing(matplotlib.cm, get_cmap=get_cmap, register_cmap=register_cmap)
    for old, new in _COLORMAPS.items():
        for old_name, new_name in ((old, new), (old + "_r", new + "_r")):
            if old_name not in matplotlib.colormaps and new_name in matplotlib.colormaps:
                matplotlib.colormaps.register(matplotlib.colormaps[new_name], name=old_name)
                add_missing(matplotlib.cm, **{old_name: matplotlib.colormaps[new_name]})


def _patch_style(style):
    """The styles "seaborn-..." of matplotlib 1.4 to 3.5 are called "seaborn-v0_8-..."."""
    use = style.use

    def today(name):
        renamed = name.replace("seaborn", "seaborn-v0_8", 1) if isinstance(name, str) else name
        return renamed if name not in style.available and renamed in style.available else name

    @functools.wraps(use)
    def use_style(style):
        use([today(name) for name in style] if isinstance(style, (list, tuple)) else today(style))

    style.use = use_style


def _patch_mlab(mlab):
    def normpdf(x, mu, sigma):
        import numpy

        return numpy.exp(-0.5 * ((x - mu) / sigma) ** 2) / (numpy.sqrt(2 * numpy.pi) * sigma)

    def bivariate_normal(X, Y, sigmax=1.0, sigmay=1.0, mux=0.0, muy=0.0, sigmaxy=0.0):
        import numpy

        x, y, rho = (X - mux) / sigmax, (Y - muy) / sigmay, sigmaxy / (sigmax * sigmay)
        exponent = (x**2 + y**2 - 2 * rho * x * y) / (1 - rho**2)
        return numpy.exp(-exponent / 2) / (2 * numpy.pi * sigmax * sigmay * numpy.sqrt(1 - rho**2))

    add_missing(mlab, normpdf=normpdf, bivariate_normal=bivariate_normal)


class _Adding:
    """Counts the figure's own functions that make axes and add them: Axes3D(figure) alone used to add itself, too."""

    depth = 0

    @contextlib.contextmanager
    def within(self):
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1


_adding = _Adding()


def _patch_figure(figure):
    base = getattr(figure, "FigureBase", figure.Figure)
    for name in ("add_subplot", "add_axes"):
        setattr(base, name, _making_axes(getattr(base, name)))
    figure.Figure.savefig = taking(figure.Figure.savefig, {"frameon": None, "papertype": None, "quality": None})
    gca = base.gca

    @functools.wraps(gca)
    def gca_or_add(self, **options):
        if not options:
            return gca(self)
        current = gca(self) if self.axes else None
        if current is not None and getattr(current, "name", None) == options.get("projection", "rectilinear"):
            return current
        return self.add_subplot(**options)

    base.gca = gca_or_add


def _making_axes(function):
    named = taking(function, {"axisbg": "facecolor", "axis_bgcolor": "facecolor"})

    @functools.wraps(function)
    def make(self, *args, **kwargs):
        with _adding.within():
            return named(self, *_whole(args), **kwargs)

    return make


def _whole(numbers):
    """Whole floats, which Python 3's division gives, as places of a subplot."""
    return tuple(int(n) if isinstance(n, float) and n.is_integer() else n for n in numbers)


def _patch_axes(axes):
    Axes = axes.Axes
    _take(Axes, {**_ARGUMENTS, **_SCALES})
    add_missing(
        axes._base._AxesBase,
        hold=lambda self, b=None: None,
        ishold=lambda self: True,
        set_axis_bgcolor=lambda self, color: self.set_facecolor(color),
        get_axis_bgcolor=lambda self: self.get_facecolor(),
        set_color_cycle=lambda self, colors: self.set_prop_cycle(None if colors is None else _color_cycle(colors)),
    )
    artists = getattr(axes._base._AxesBase, "ArtistList", None)  # a plain list until 3.5
    if artists is not None:
        add_missing(artists, remove=_remove, pop=_pop, clear=_clear, __delitem__=_delete)


def _color_cycle(colors):
    return importlib.import_module("cycler").cycler(color=colors)


def _remove(self, artist):
    if artist not in list(self):
        raise ValueError("list.remove(x): x not in list")
    artist.remove()


def _pop(self, index=-1):
    artist = list(self)[index]
    artist.remove()
    return artist


def _delete(self, index):
    found = list(self)[index]
    for artist in found if isinstance(index, slice) else [found]:
        artist.remove()


def _clear(self):
    _delete(self, slice(None))


def _patch_axes3d(axes3d):
    Axes3D = axes3d.Axes3D
    for name in "xyz":
        if not hasattr(Axes3D, f"w_{name}axis"):
            setattr(Axes3D, f"w_{name}axis", property(lambda self, name=name: getattr(self, f"{name}axis")))
    init = Axes3D.__init__

    @functools.wraps(init)
    def init_and_add(self, fig, *args, **kwargs):
        kwargs.pop("auto_add_to_figure", None)
        init(self, fig, *args, **kwargs)
        if _adding.depth == 0 and self not in fig.axes:
            fig.add_axes(self)

    Axes3D.__init__ = init_and_add


def _patch_backends(bases):
    def set_window_title(self, title):
        if self.manager is not None:
            self.manager.set_window_title(title)

    add_missing(bases.FigureCanvasBase, set_window_title=set_window_title)


def _patch_pyplot(pyplot):
    _take(pyplot, _ARGUMENTS)
    add_missing(pyplot, hold=lambda b=None: None, ishold=lambda: True)
    add_missing(pyplot, spectral=lambda: pyplot.set_cmap("nipy_spectral"))
    subplot = pyplot.subplot

    @functools.wraps(subplot)
    def subplot_at(*args, **kwargs):
        return subplot(*_whole(args), **kwargs)

    pyplot.subplot = taking(subplot_at, {"axisbg": "facecolor", "axis_bgcolor": "facecolor"})

    def gca(**options):
        return pyplot.gcf().gca(**options)

    pyplot.gca = gca


PATCHES = {
    "matplotlib": _patch_matplotlib,
    "matplotlib.axes": _patch_axes,
    "matplotlib.backend_bases": _patch_backends,
    "matplotlib.figure": _patch_figure,
    "matplotlib.mlab": _patch_mlab,
    "matplotlib.pyplot": _patch_pyplot,
    "matplotlib.style": _patch_style,
    "mpl_toolkits.mplot3d.axes3d": _patch_axes3d,
}
