"""tf.sysconfig: where the C++ headers and the library are, for programs that compile against them."""

import os as _os

CXX11_ABI_FLAG = 1
MONOLITHIC_BUILD = 0


def get_include():
    return _os.path.join(_os.path.dirname(_os.path.abspath(__file__)), "include")


def get_lib():
    return _os.path.dirname(_os.path.abspath(__file__))


def get_compile_flags():
    return [f"-I{get_include()}", "-std=c++20"]


def get_link_flags():
    return [f"-L{get_lib()}", "-lweir"]
