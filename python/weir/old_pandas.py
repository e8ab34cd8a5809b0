"""What pandas had and did when TensorFlow 1 was current (0.17 to 0.25).

Part of `weir run` (old_libraries.py installs it). What still exists is left alone.
"""

import functools
import inspect
import warnings

from weir.old_matplotlib import taking
from weir.old_numpy import add_missing

# What took its arguments by position as well; by name only since pandas 2.
_BY_POSITION = {
    "DataFrame": ("drop", "dropna", "drop_duplicates", "fillna", "reset_index", "set_index", "sort_values", "sort_index",
                  "replace", "interpolate", "to_csv", "reindex", "set_axis", "where", "mask", "clip"),
    "Series": ("drop", "dropna", "fillna", "reset_index", "sort_values", "sort_index", "replace", "interpolate", "to_csv",
               "where", "mask", "clip"),
}  # fmt: skip
# Statistics that left out columns that are no numbers.
_STATISTICS = ("mean", "std", "var", "median", "sem", "skew", "kurt", "quantile", "corr", "cov", "prod")


def _patch_pandas(pandas):
    add_missing(pandas, datetime=__import__("datetime").datetime)
    for kind in (pandas.DataFrame, pandas.Series):
        _patch_both(pandas, kind)
        for name in _BY_POSITION[kind.__name__]:
            if hasattr(kind, name):
                setattr(kind, name, _by_position(getattr(kind, name)))
    _patch_frames(pandas)
    _patch_series(pandas)
    if hasattr(pandas, "Index") and not hasattr(pandas.Index, "as_matrix"):
        pandas.Index.as_matrix = _as_matrix
    for name in ("read_csv", "read_table", "concat", "read_excel"):
        if hasattr(pandas, name):
            setattr(pandas, name, _by_position(getattr(pandas, name)))
    for name in ("read_csv", "read_table"):
        if hasattr(pandas, name):
            setattr(pandas, name, _reading(getattr(pandas, name)))
    if hasattr(pandas, "get_dummies"):
        pandas.get_dummies = _numbers_of_classes(pandas.get_dummies)
    with warnings.catch_warnings():  # texts are objects, which programs compare dtypes with, as long as that can be had
        warnings.simplefilter("ignore")
        try:
            pandas.set_option("future.infer_string", False)
        except (AttributeError, KeyError):
            pass


def _as_matrix(self, columns=None):
    return (self if columns is None else self[columns]).to_numpy()


def _by_position(function):
    """The function, with arguments that are given by name only today taken by position as well."""
    parameters = list(inspect.signature(function).parameters.values())
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    limit = sum(p.kind in (p.POSITIONAL_OR_KEYWORD, p.POSITIONAL_ONLY) for p in parameters)
    if any(p.kind == p.VAR_POSITIONAL for p in parameters) or limit == len(names):
        return function

    @functools.wraps(function)
    def call(*args, **kwargs):
        return function(*args[:limit], **dict(zip(names[limit:], args[limit:], strict=False)), **kwargs)

    return call


def _reading(function):
    """read_csv with the options that have gone."""
    named = taking(function, {"warn_bad_lines": None, "mangle_dupe_cols": None, "tupleize_cols": None, "prefix": None})

    @functools.wraps(function)
    def read(*args, squeeze=False, delim_whitespace=False, error_bad_lines=True, **kwargs):
        if delim_whitespace:
            kwargs["sep"] = r"\s+"
        if not error_bad_lines:
            kwargs.setdefault("on_bad_lines", "skip")
        table = named(*args, **kwargs)
        return table.iloc[:, 0] if squeeze and len(table.columns) == 1 else table

    return read


def _numbers_of_classes(get_dummies):
    """Ones and zeros, as until pandas 2, rather than truths, which do not subtract."""

    @functools.wraps(get_dummies)
    def get_numbers(*args, dtype=None, **kwargs):
        return get_dummies(*args, dtype="uint8" if dtype is None else dtype, **kwargs)

    return get_numbers


class _Places:
    """`table.ix[key]`: by label, and by position where the labels are no integers."""

    def __init__(self, table):
        self._table = table

    def _labels(self, key):
        keys = key if isinstance(key, tuple) else (key,)
        axes = self._table.axes
        if len(keys) > len(axes):
            return key
        labels = tuple(_labels_at(k, axis) for k, axis in zip(keys, axes, strict=False))
        return labels if isinstance(key, tuple) else labels[0]

    def __getitem__(self, key):
        return self._table.loc[self._labels(key)]

    def __setitem__(self, key, value):
        self._table.loc[self._labels(key)] = value


def _labels_at(key, axis):
    import numpy

    def is_place(value):
        return isinstance(value, (int, numpy.integer)) and not isinstance(value, (bool, numpy.bool_))

    if getattr(axis.dtype, "kind", "O") in "iu":
        return key
    if isinstance(key, slice):
        ends = [end for end in (key.start, key.stop, key.step) if end is not None]
        return list(axis[key]) if ends and all(is_place(end) for end in ends) else key
    if is_place(key):
        return axis[key]
    if isinstance(key, (list, numpy.ndarray)) and len(key) and all(is_place(k) for k in key):
        return list(axis[list(key)])
    return key


def _patch_both(pandas, kind):
    add_missing(kind, as_matrix=_as_matrix)
    if not hasattr(kind, "ix"):
        kind.ix = property(_Places)
    if not hasattr(kind, "iteritems") and hasattr(kind, "items"):
        kind.iteritems = kind.items
    if hasattr(kind, "values"):
        values = kind.values

        def writable(self):
            """A view of what pandas keeps, until 3.0 one that could be written to; a copy where it cannot."""
            found = values.fget(self)
            return found if getattr(getattr(found, "flags", None), "writeable", True) else found.copy()

        if isinstance(values, property):
            kind.values = property(writable)
    if hasattr(kind, "fillna"):
        fillna = kind.fillna

        @functools.wraps(fillna)
        def fill(self, value=None, *args, method=None, **kwargs):
            if method is None:
                return fillna(self, value, *args, **kwargs)
            inplace = kwargs.pop("inplace", False)
            filled = self.ffill(**kwargs) if method in ("ffill", "pad") else self.bfill(**kwargs)
            return self._update_inplace(filled) if inplace else filled

        kind.fillna = fill


def _patch_frames(pandas):
    Frame = pandas.DataFrame

    def append(self, other, ignore_index=False, verify_integrity=False, sort=False):
        """The rows of `other` below; a dictionary or a Series is one row."""
        if isinstance(other, (dict, pandas.Series)):
            if isinstance(other, dict):
                if not ignore_index:
                    raise TypeError("Can only append a dict if ignore_index=True")
                other = pandas.Series(other)
            other = Frame([other], index=None if other.name is None else [other.name])
        others = other if isinstance(other, (list, tuple)) else [other]
        others = [o if isinstance(o, Frame) else Frame([o]) for o in others]
        if not len(self.columns) or not len(self):  # the columns' order, and no say in their types
            tables = [o.reindex(columns=self.columns.union(o.columns, sort=False)) for o in others]
        else:
            tables = [self, *others]
        return pandas.concat(tables, ignore_index=ignore_index, verify_integrity=verify_integrity, sort=sort)

    def sort(self, columns=None, axis=0, ascending=True, inplace=False, **options):
        if columns is None:
            return self.sort_index(axis=axis, ascending=ascending, inplace=inplace)
        return self.sort_values(columns, axis=axis, ascending=ascending, inplace=inplace)

    def set_value(self, index, col, value):
        self.loc[index, col] = value
        return self

    add_missing(Frame, append=append, sort=sort, set_value=set_value)
    add_missing(Frame, get_value=lambda self, index, col: self.loc[index, col], irow=lambda self, i: self.iloc[i])
    add_missing(Frame, icol=lambda self, i: self.iloc[:, i])
    if hasattr(Frame, "map"):
        add_missing(Frame, applymap=Frame.map)
    for name in _STATISTICS:
        if hasattr(Frame, name):
            setattr(Frame, name, _of_numbers(getattr(Frame, name)))


def _of_numbers(statistic):
    """Until pandas 2 columns that are no numbers were left out; they are an error unless one asks for that."""

    @functools.wraps(statistic)
    def of_numbers(self, *args, **kwargs):
        try:
            return statistic(self, *args, **kwargs)
        except (TypeError, ValueError):
            if kwargs.get("numeric_only") or all(kind.kind in "biufc" for kind in self.dtypes):
                raise
            return statistic(self, *args, **{**kwargs, "numeric_only": True})

    return of_numbers


def _patch_texts(accessor):
    replace = accessor.replace

    @functools.wraps(replace)
    def replace_patterns(self, pat, repl, n=-1, case=None, flags=0, regex=True):
        """Until pandas 2 what is replaced was a regular expression unless the program said otherwise."""
        if regex and case is None and not flags and isinstance(pat, str) and len(pat) == 1:
            regex = callable(repl)  # a single letter never was one
        return replace(self, pat, repl, n=n, case=case, flags=flags, regex=regex)

    accessor.replace = replace_patterns


def _patch_series(pandas):
    Series = pandas.Series
    if isinstance(getattr(Series, "str", None), type):
        _patch_texts(Series.str)

    def append(self, to_append, ignore_index=False, verify_integrity=False):
        others = list(to_append) if isinstance(to_append, (list, tuple)) else [to_append]
        return pandas.concat([self, *others], ignore_index=ignore_index, verify_integrity=verify_integrity)

    add_missing(Series, append=append)
    if hasattr(Series, "sort_values"):
        add_missing(Series, order=lambda self, *args, **kwargs: self.sort_values(*args, **kwargs))
    if not hasattr(Series, "__getitem__"):
        return
    get = Series.__getitem__

    @functools.wraps(get)
    def getitem(self, key):
        """A label, or else a place: until pandas 3 integers were places where the labels are no integers."""
        try:
            return get(self, key)
        except KeyError:
            label = _labels_at(key, self.index)
            if label is key:
                raise
            return self.iloc[key]

    Series.__getitem__ = getitem


PATCHES = {"pandas": _patch_pandas}
