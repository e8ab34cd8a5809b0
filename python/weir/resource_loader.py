"""tf.resource_loader: files beside the program."""

import os as _os
import sys as _sys


def get_data_files_path():
    """The folder of the file that calls."""
    return _os.path.dirname(_os.path.abspath(_sys._getframe(1).f_code.co_filename))


def get_path_to_datafile(path):
    return _os.path.join(_os.path.dirname(_os.path.abspath(_sys._getframe(1).f_code.co_filename)), path)


def get_root_dir_with_all_resources():
    return get_data_files_path()


def load_resource(path):
    with open(_os.path.join(_os.path.dirname(_os.path.abspath(_sys._getframe(1).f_code.co_filename)), path), "rb") as file:
        return file.read()


def readahead_file_path(path, readahead="128M"):
    return path
