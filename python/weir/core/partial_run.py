"""A run in parts: what is fed and fetched comes bit by bit, and every operation runs once.

Each part runs the operations that its fetches need and that have not run. What later parts need of them is fetched
beside and fed to the parts that follow.
"""

import itertools

from weir import nest
from weir.core.tensor import Operation, Tensor
from weir.errors import InvalidArgumentError

_numbers = itertools.count()


class _PartialRun:
    """``fetches`` and ``feeds`` are all that the parts will ask for and give.

    The functions take apart what stands for several tensors: see Session.run.
    """

    def __init__(self, session, fetches, feeds, expand_fetch, expand_feed):
        self._session, self._expand_fetch, self._expand_feed = session, expand_fetch, expand_feed
        self._fetches = {id(element): element for element in self._elements(fetches)}
        self._feeds = {id(element): element for element in self._elements(feeds or [])}
        if not self._fetches:
            raise InvalidArgumentError(None, None, "Specify at least one target to fetch or execute.")
        self.handle = f"partial_run_{next(_numbers)}"
        self._known = {}  # tensor -> value, fed or computed
        self._done = set()  # operations that have run
        self._needed = self._ancestors(self._fetches.values())

    def _elements(self, structure):
        """The tensors and operations that fetches or feeds are made of."""
        flat = []
        for item in nest.flatten(structure):
            expanded = None if isinstance(item, (str, bytes, Tensor, Operation)) else self._expand_fetch(item)
            flat += self._elements(expanded[0]) if expanded is not None else [self._session.graph.as_graph_element(item)]
        return flat

    def _ancestors(self, elements):
        """The operations that these depend on, in any order, as far as nothing is known instead."""
        found, open_ = set(), list(elements)
        while open_:
            element = open_.pop()
            if isinstance(element, Tensor) and element in self._known:
                continue
            op = element.op if isinstance(element, Tensor) else element
            if op in found or op in self._done:
                continue
            found.add(op)
            open_ += list(op.inputs) + list(op.control_inputs)
        return found

    def run(self, fetches, feed_dict):
        for key, value in (feed_dict or {}).items():
            expanded = None if isinstance(key, (str, bytes, Tensor)) else self._expand_feed(key, value)
            for part, part_value in expanded if expanded is not None else [(key, value)]:
                tensor = self._session.graph.as_graph_element(part, allow_operation=False)
                if id(tensor) not in self._feeds:
                    raise InvalidArgumentError(None, None, f"The feed {tensor.name} was not declared in partial_run_setup.")
                if tensor in self._known:
                    raise InvalidArgumentError(None, None, f"The feed {tensor.name} was fed before.")
                self._known[tensor] = part_value
        elements = self._elements(fetches)
        for element in elements:
            if id(element) not in self._fetches:
                raise InvalidArgumentError(None, None, f"The fetch {element.name} was not declared in partial_run_setup.")
            if element in self._done:
                raise InvalidArgumentError(None, None, f"The fetch {element.name} was fetched before.")
        now = self._ancestors(elements)
        for op in now:
            missing = [tensor for tensor in op.outputs if id(tensor) in self._feeds and tensor not in self._known]
            if op.type == "Placeholder" and missing:
                raise InvalidArgumentError(None, op, f"You must feed a value for placeholder tensor '{op.name}'")
        # What stands between what runs now and what runs later.
        between = {tensor: None for op in self._needed - now - self._done for tensor in op.inputs
                   if tensor.op in now and tensor not in self._known}
        values, carried = self._session.run([fetches, list(between)], self._known)
        self._known.update(zip(between, carried))
        self._done |= now | {element for element in elements if isinstance(element, Operation)}
        for tensor in (element for element in elements if isinstance(element, Tensor)):
            self._done.add(tensor)
        return values
