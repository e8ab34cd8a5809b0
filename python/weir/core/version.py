"""The release of TensorFlow whose interface this is; programs compare with it."""

__version__ = VERSION = "1.15.5"
__git_version__ = GIT_VERSION = "weir"
__compiler_version__ = COMPILER_VERSION = "C++20"
GRAPH_DEF_VERSION, GRAPH_DEF_VERSION_MIN_CONSUMER, GRAPH_DEF_VERSION_MIN_PRODUCER = 134, 0, 0
