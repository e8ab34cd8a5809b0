"""The command `weir run program.py` and `python -m weir program.py`: runs a TensorFlow program on Weir.

The program sees what Python itself would give it (sys.argv, sys.path[0], __main__, tracebacks, exit codes); in addition
`import tensorflow` is Weir, Python 2 is converted, and what old programs miss in today's libraries is filled in.
"""

import os
import sys
from importlib.machinery import PathFinder, SourceFileLoader
from types import ModuleType

import weir
from weir import (
    _weir,
    missing_packages,
    names,
    notebook_magics,
    notebooks,
    old_libraries,
    old_protos,
    python2,
    python2_runtime,
)

_USAGE = """\
usage: weir run [options] program.py [arguments of the program]
       weir run [options] notebook.ipynb
       weir run [options] -m module [arguments of the program]
       python -m weir [options] program.py [arguments of the program]

Runs a program that is written for TensorFlow 0.x or 1.x.

options:
  --virtual-gpus N  give the program N GPUs, "/gpu:0" and so on, that run on CPU cores
  --py2             take the program for Python 2 even if it does not look so
  --no-convert      never convert from Python 2
  --allow-pickle    numpy.load loads pickled objects by default, as it did until numpy 1.16 (they may run any code)
  --version         print the version
  --help            print this

`weir --help` lists the other commands: training, looking into files, servers.
"""


class _UsageError(Exception):
    pass


class _Options:
    mode = "auto"  # of python2.compile_source
    allow_pickle = False
    virtual_gpus = None
    action = None  # --help or --version
    module = False  # the program is named as a module: -m package.program


def main(argv=None):
    """The command line without the command's own name. Returns the exit code, or leaves by the program's exception."""
    args = list(sys.argv[1:] if argv is None else argv)
    if args[:1] == ["run"] and not os.path.isfile("run"):
        del args[0]
    elif not args or args[0] in ("--help", "-h"):
        return _weir.run_command(args)
    elif args[:1] == ["where"] and not os.path.isfile("where"):
        return names.at("weir.names.where:main")(args[1:])
    elif args and not os.path.isfile(args[0]) and args[0] in _weir.command_names():
        os.environ.setdefault("WEIR_PYTHON", sys.executable)  # which `weir launch` starts
        return _weir.run_command(args)
    try:
        options, args = _parse(args)
    except _UsageError as error:
        sys.stderr.write(f"weir: {error}\n{_USAGE}")
        return 2
    if options.action == "--help":
        print(_USAGE, end="")
        return 0
    if options.action == "--version":
        print(_version())
        return 0
    if not args:
        sys.stderr.write(_USAGE)
        return 2
    return (_run_module if options.module else _run_file)(args[0], args[1:], options)


def _version():
    from importlib import metadata

    try:
        version = metadata.version("weir")
    except metadata.PackageNotFoundError:
        version = "(not installed)"
    interface = getattr(weir, "__version__", "")  # programs expect TensorFlow's there
    return f"weir {version}, interface of TensorFlow {interface}, Python {sys.version.split()[0]}"


def _parse(args):
    options = _Options()
    while args and args[0].startswith("-") and args[0] != "-":
        option = args.pop(0)
        if option == "--":
            break
        if option == "--py2":
            options.mode = "python2"
        elif option == "--no-convert":
            options.mode = "off"
        elif option == "--allow-pickle":
            options.allow_pickle = True
        elif option == "--virtual-gpus" or option.startswith("--virtual-gpus="):
            count = option.partition("=")[2] or (args.pop(0) if args else "")
            if not count.isdigit():
                raise _UsageError(f"--virtual-gpus wants a number, not {count!r}")
            options.virtual_gpus = count
        elif option == "-m":
            if not args:
                raise _UsageError("-m wants the name of a module")
            options.module = True
            break
        elif option in ("--help", "-h"):
            options.action = "--help"
        elif option == "--version":
            options.action = "--version"
        else:
            raise _UsageError(f"there is no option {option}")
    return options, args


def _run_file(path, args, options):
    # A folder with a __main__.py is a program too, as for Python.
    folder = path if os.path.isdir(path) else os.path.dirname(os.path.realpath(path))
    file = os.path.abspath(os.path.join(path, "__main__.py") if os.path.isdir(path) else path)
    try:
        with open(file, "rb") as source:
            data = source.read()
    except OSError as error:
        is_word = isinstance(error, FileNotFoundError) and path.isidentifier()
        hint = "; nor is it a command: 'weir --help' lists them" if is_word else ""
        sys.stderr.write(f"weir: can't open file {path!r}: {error.strerror}{hint}\n")
        return 2

    finder = _prepare(folder, [path] + args, options)
    if notebooks.is_notebook(file):
        return _run_notebook(data, file, options, finder)
    _execute(data, file, None, options, finder)
    return 0


def _run_notebook(data, file, options, finder):
    module = _make_main(file)
    _install(options, finder)
    try:
        notebook = notebooks.Notebook(data, file, options.mode)
    except (notebooks.NotANotebook, python2.MissingConverter) as error:
        sys.stderr.write(f"weir: {file}: {error}\n")
        return 2
    if notebook.is_python2:
        _expect_python2(module, finder)
    notebooks.enter_folder(file)
    notebook.run(module.__dict__)
    return 0


def _run_module(name, args, options):
    """python -m: the module is looked for from the current folder, and its packages are imported first."""
    finder = _prepare(os.getcwd(), ["-m"] + args, options)
    _install(options, finder)
    import importlib.util

    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise  # something that the packages around it import
        spec = None
    if spec is None or spec.origin is None or not os.path.isfile(spec.origin):
        sys.stderr.write(f"weir: No module named {name!r}\n")
        return 1
    sys.argv[0] = spec.origin
    with open(spec.origin, "rb") as source:
        _execute(source.read(), spec.origin, spec, options, finder)
    return 0


def _prepare(folder, argv, options):
    """What the program sees of Python; the finder of its modules."""
    finder = _SourceFinder(options.mode)  # before the program's folder, whose modules may have names of Python's own
    if options.virtual_gpus is not None:
        os.environ["WEIR_VIRTUAL_GPUS"] = options.virtual_gpus  # for the programs that it starts, too
    sys.argv[:] = argv
    if getattr(sys.flags, "safe_path", False):
        sys.path.insert(0, folder)
    else:
        sys.path[0] = folder
    return finder


def _install(options, finder):
    weir.install_as_tensorflow()
    old_libraries.install(options.allow_pickle)
    sys.meta_path[:0] = [old_protos.Finder, finder]


def _make_main(file, spec=None):
    module = ModuleType("__main__")
    module.__file__ = file
    module.__spec__ = spec
    module.__loader__ = SourceFileLoader("__main__", file)
    module.__builtins__ = sys.modules["builtins"]
    if spec is not None:
        module.__package__ = spec.parent
    sys.modules["__main__"] = module
    sys.excepthook = _ExceptHook(file)
    return module


def _expect_python2(module, finder):
    # The files around a Python 2 program are Python 2 as well, even those that would compile as Python 3.
    finder.mode = "python2"
    old_libraries.install_python2()
    module.__dict__.update(python2_runtime.NAMES)


def _execute(data, file, spec, options, finder):
    module = _make_main(file, spec)
    if spec is None:
        _install(options, finder)
    if b"get_ipython(" in data:  # a notebook that Jupyter has exported as a script
        notebook_magics.shell.names = module.__dict__
        module.get_ipython = notebook_magics.get_ipython
    code, converted = python2.compile_source(data, file, options.mode, module.__package__ or "")
    if converted:
        _expect_python2(module, finder)
    exec(code, module.__dict__)


class _ExceptHook:
    """Shows tracebacks from the program's first line on, as Python does; not the lines of this module."""

    def __init__(self, file):
        self._file = file

    def __call__(self, kind, error, traceback):
        if issubclass(kind, python2.MissingConverter):
            sys.stderr.write(f"weir: {error}\n")
            return
        while traceback is not None and not self._is_of_program(traceback.tb_frame.f_code.co_filename):
            traceback = traceback.tb_next
        error = error.with_traceback(traceback)
        if notebooks.is_notebook(self._file):
            import traceback as printer

            printer.print_exception(kind, error, traceback)  # knows the lines of cells, which are in no file
        else:
            sys.__excepthook__(kind, error, traceback)
        sys.stderr.write(missing_packages.hint(error))

    def _is_of_program(self, file):
        return file == self._file or file.startswith(notebooks.cell_name(self._file, ""))


class _SourceFinder:
    """Finds the program's own modules, everything but installed packages, and loads them with conversion."""

    def __init__(self, mode):
        self.mode = mode
        import sysconfig

        paths = sysconfig.get_paths()
        roots = [paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib") if key in paths]
        roots.append(os.path.dirname(os.path.abspath(__file__)))
        self._installed = tuple(os.path.realpath(root) + os.sep for root in roots)

    def find_spec(self, fullname, path=None, target=None):
        if self.mode == "off":
            return None
        spec = PathFinder.find_spec(fullname, path)
        if spec is None or type(spec.loader) is not SourceFileLoader or self._is_installed(spec.origin):
            return None  # the usual finders take it
        spec.loader = _ConvertingLoader(fullname, spec.origin, self)
        spec.cached = None  # bytecode of Python 2 sources would mislead Python
        return spec

    def _is_installed(self, origin):
        origin = os.path.realpath(origin)
        return (
            origin.startswith(self._installed)
            or f"{os.sep}site-packages{os.sep}" in origin
            or (f"{os.sep}dist-packages{os.sep}" in origin)
        )


class _ConvertingLoader(SourceFileLoader):
    def __init__(self, fullname, path, finder):
        super().__init__(fullname, path)
        self._finder = finder

    def get_code(self, fullname):
        return self._compile(fullname)[0]

    def _compile(self, fullname):
        # A package is its own parent, any other module lives in one.
        package = fullname if self.is_package(fullname) else fullname.rpartition(".")[0]
        data = self.get_data(self.path)
        code, converted = python2.compile_source(data, self.path, self._finder.mode, package)
        if converted and self._finder.mode == "auto" and python2.is_only_python2(data, self.path, package):
            self._finder.mode = "python2"  # what else the program imports
        return code, converted

    def exec_module(self, module):
        code, converted = self._compile(module.__name__)
        if converted:
            old_libraries.install_python2()
            for name, value in python2_runtime.NAMES.items():
                module.__dict__.setdefault(name, value)
        exec(code, module.__dict__)
