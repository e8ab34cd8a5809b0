"""The devices of this machine."""


class DeviceAttributes:
    """One device of a session: name, device_type, memory_limit_bytes."""

    def __init__(self, name, device_type, memory_limit_bytes, incarnation=1):
        self.name, self.device_type = name, device_type
        self.memory_limit_bytes = self.memory_limit = memory_limit_bytes
        self.incarnation, self.physical_device_desc = incarnation, ""

    def __repr__(self):
        return f"_DeviceAttributes({self.name}, {self.device_type}, {self.memory_limit_bytes}, {self.incarnation})"


_MEMORY_LIMIT = 256 << 20  # what TensorFlow says of every CPU, whatever the machine has


def session_devices(session):
    return [DeviceAttributes("/job:localhost/replica:0/task:0/device:CPU:0", "CPU", _MEMORY_LIMIT)]


def list_local_devices(session_config=None):
    return [DeviceAttributes("/device:CPU:0", "CPU", _MEMORY_LIMIT)]
