"""tensorflow.python.client.device_lib"""

from weir.core.devices import list_local_devices  # noqa: F401
