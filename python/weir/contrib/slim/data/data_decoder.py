"""What turns a record into items."""

import abc


class DataDecoder(abc.ABC):
    @abc.abstractmethod
    def decode(self, data, items):
        """The tensors of ``items`` in a record."""

    @abc.abstractmethod
    def list_items(self):
        """The names of the items that there are."""
