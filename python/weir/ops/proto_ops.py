"""Messages of protocol buffers as tensors: tf.io.decode_proto and tf.io.encode_proto."""

from weir.core.op_functions import apply


def decode_proto(bytes, message_type, field_names, output_types, descriptor_source="local://", message_format="binary", sanitize=False, name=None):
    """How many elements each message has of each field, and the elements: a tensor for each field."""
    if isinstance(descriptor_source, (list, tuple)) or hasattr(descriptor_source, "SerializeToString"):
        descriptor_source = b"bytes://" + descriptor_source.SerializeToString()
    sizes, values = apply("DecodeProtoV2", (bytes,), {
        "message_type": message_type, "field_names": list(field_names), "output_types": list(output_types), "descriptor_source": descriptor_source,
        "message_format": message_format, "sanitize": sanitize}, name)
    return sizes, values


def encode_proto(sizes, values, field_names, message_type, descriptor_source="local://", name=None):
    return apply("EncodeProto", (sizes, list(values)), {
        "field_names": list(field_names), "message_type": message_type, "descriptor_source": descriptor_source}, name)
