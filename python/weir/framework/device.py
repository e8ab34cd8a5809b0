"""Device names: "/job:worker/replica:0/task:1/device:CPU:0" in parts."""


class DeviceSpec:
    """What is said of a device, each part of it or not."""

    def __init__(self, job=None, replica=None, task=None, device_type=None, device_index=None):
        self.job = job
        self.replica = None if replica is None else int(replica)
        self.task = None if task is None else int(task)
        self.device_type = device_type.upper() if device_type in ("cpu", "gpu") else device_type
        self.device_index = None if device_index is None else int(device_index)

    def parse_from_string(self, spec):
        self.__init__()
        for part in spec.split("/"):
            if not part:
                continue
            key, *rest = part.split(":")
            if key == "job" and len(rest) == 1:
                self.job = rest[0]
            elif key in ("replica", "task") and len(rest) == 1 and rest[0].isdigit():
                setattr(self, key, int(rest[0]))
            elif key == "device" and rest:
                self.device_type = rest[0].upper() if rest[0] in ("cpu", "gpu") else rest[0]
                self.device_index = None if len(rest) < 2 or rest[1] == "*" else int(rest[1])
            elif key.upper() in ("CPU", "GPU") and len(rest) <= 1:
                self.device_type = key.upper()
                self.device_index = None if not rest or rest[0] == "*" else int(rest[0])
            else:
                raise ValueError(f"Unknown attribute: '{key}' in '{spec}'")
        return self

    @classmethod
    def from_string(cls, spec):
        return cls().parse_from_string(spec)

    def merge_from(self, dev):
        for name in ("job", "replica", "task", "device_type", "device_index"):
            if getattr(dev, name) is not None:
                setattr(self, name, getattr(dev, name))

    def to_string(self):
        parts = []
        if self.job is not None:
            parts.append(f"/job:{self.job}")
        if self.replica is not None:
            parts.append(f"/replica:{self.replica}")
        if self.task is not None:
            parts.append(f"/task:{self.task}")
        if self.device_type is not None:
            index = "*" if self.device_index is None else self.device_index
            parts.append(f"/device:{self.device_type}:{index}")
        return "".join(parts)

    def _key(self):
        return self.job, self.replica, self.task, self.device_type, self.device_index

    def __eq__(self, other):
        return isinstance(other, DeviceSpec) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())


def canonical_name(device):
    return "" if device is None else (device if isinstance(device, DeviceSpec) else
                                      DeviceSpec.from_string(device)).to_string()


def merge_device(spec):
    """A device function that adds ``spec`` to what a node says."""
    spec = spec if isinstance(spec, DeviceSpec) else DeviceSpec.from_string(spec or "")

    def merge(node):
        merged = DeviceSpec()
        merged.merge_from(spec)
        merged.merge_from(DeviceSpec.from_string(node.device or ""))
        return merged.to_string()

    return merge
