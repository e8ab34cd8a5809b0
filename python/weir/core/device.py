"""Device names: "/job:worker/replica:0/task:1/device:CPU:0" in parts."""

from weir import _weir


class DeviceSpec(_weir.DeviceSpec):
    """What is said of a device, each part of it or not."""

    def __init__(self, job=None, replica=None, task=None, device_type=None, device_index=None):
        super().__init__()
        self.job, self.replica, self.task = job, replica, task
        self.device_type, self.device_index = device_type, device_index

    def parse_from_string(self, spec):
        self._parse(spec)
        return self

    @classmethod
    def from_string(cls, spec):
        return cls().parse_from_string(spec)

    def merge_from(self, dev):
        self._merge(dev)

    def make_merged_spec(self, dev):
        merged = type(self)()
        merged.merge_from(self)
        merged.merge_from(dev)
        return merged

    def replace(self, **parts):
        names = ("job", "replica", "task", "device_type", "device_index")
        return type(self)(**{**{name: getattr(self, name) for name in names}, **parts})

    def __hash__(self):
        return hash(self.to_string())


def check_valid(spec):
    """Raises ValueError when ``spec`` is no device's name."""
    DeviceSpec.from_string(spec)


def canonical_name(device):
    if device is None:
        return ""
    return (device if isinstance(device, DeviceSpec) else DeviceSpec.from_string(device)).to_string()


def merge_device(spec):
    """A device function that adds ``spec`` to what a node says."""
    spec = spec if isinstance(spec, DeviceSpec) else DeviceSpec.from_string(spec or "")
    return lambda node: spec.make_merged_spec(DeviceSpec.from_string(node.device or "")).to_string()
