"""tensorflow.python.client.device_lib"""

from weir.framework.devices import list_local_devices  # noqa: F401
