"""The devices of this machine."""

from weir import _weir
from weir.core.config import session_options
from weir.core.device import canonical_name


class _DeviceAttributes:
    """One device of a session: name, device_type, memory_limit_bytes."""

    def __init__(self, name, device_type, memory_limit_bytes, incarnation=1, physical_device_desc=""):
        self.name, self.device_type = canonical_name(name), device_type
        self.memory_limit_bytes = self.memory_limit = memory_limit_bytes
        self.incarnation, self.physical_device_desc = incarnation, physical_device_desc

    def __repr__(self):
        return f"_DeviceAttributes({self.name}, {self.device_type}, {self.memory_limit_bytes}, {self.incarnation})"


_CPU_MEMORY_LIMIT = 256 << 20  # what TensorFlow says of every CPU, whatever the machine has
_HOST = "/job:localhost/replica:0/task:0"


def device_list(rows):
    """Rows of the extension, (name, kind, memory limit, description), as a program sees devices."""
    return [_DeviceAttributes(name, kind, limit or _CPU_MEMORY_LIMIT,
                              physical_device_desc="" if kind == "CPU" else description)
            for name, kind, limit, description in rows]


def session_devices(options):
    """The devices of a session with these options (see session.py)."""
    return device_list(_weir.list_local_devices(options))


def list_local_devices(session_config=None):
    devices = session_devices(session_options(session_config))
    for device in devices:
        device.name = device.name[len(_HOST):]
    return devices
