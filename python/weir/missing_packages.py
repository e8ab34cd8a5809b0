"""What to install for a module that a program imports and Python does not find: `weir run` says it below the traceback."""

import sys

# Modules whose package has another name.
_PACKAGES = {
    "Bio": "biopython",
    "IPython": "ipython",
    "OpenSSL": "pyopenssl",
    "PIL": "pillow",
    "attr": "attrs",
    "baselines": None,
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python-headless",
    "dateutil": "python-dateutil",
    "docx": "python-docx",
    "gym": "'gym==0.17.3'",  # the last whose step() gives four values, as programs of the time expect
    "jwt": "pyjwt",
    "keras": "'keras==2.3.1'",  # the last that runs on TensorFlow 1
    "mpl_toolkits": "matplotlib",
    "past": "future",
    "pylab": "matplotlib",
    "serial": "pyserial",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "tensorflow_hub": None,
    "yaml": "pyyaml",
    "zmq": "pyzmq",
}
# Modules whose package has their name.
_SAME = {
    "absl", "cycler", "editdistance", "edward", "ftfy", "gensim", "h5py", "imageio", "jieba", "joblib", "librosa", "lmdb",
    "lxml", "matplotlib", "mock", "moviepy", "mpi4py", "nibabel", "networkx", "nltk", "nose", "pandas", "parameterized",
    "progressbar", "prettytensor", "psutil", "pycocotools", "pydot", "pydub", "pyglet", "pygame", "pyparsing", "pytest",
    "regex", "requests", "rouge", "scipy", "seaborn", "sentencepiece", "six", "spacy", "sympy", "tabulate", "tensorboard",
    "termcolor", "tflearn", "toolz", "tqdm", "unidecode", "visdom", "wget", "xlrd", "openpyxl", "xlwt",
}  # fmt: skip


def hint(error):
    """One line for a ModuleNotFoundError that a package to install would mend, else ""."""
    name = getattr(error, "name", None)
    if not isinstance(error, ModuleNotFoundError) or not name:
        return ""
    top = name.partition(".")[0]
    package = _PACKAGES.get(top) or (top if top in _SAME else None)
    if package is None or top in sys.modules:  # another version of what is there: nobody knows which
        return ""
    return f"weir: the program needs the package {top}: {_pip()} install {package}\n"


def _pip():
    import os

    folder = os.path.dirname(sys.executable)
    on_path = any(os.path.realpath(p) == os.path.realpath(folder) for p in os.environ.get("PATH", "").split(os.pathsep) if p)
    return "pip" if on_path else f"{sys.executable} -m pip"
