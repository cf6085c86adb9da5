"""tinker: where a list of training examples is cut, by their sizes."""

from unittest import mock

from tinker.lib.public_interfaces import training_client as module

from originals import training_client

CASES = 1_200
DEFAULTS = (module.MAX_CHUNK_LEN, module.MAX_CHUNK_BYTES_COUNT)


def record(source):
    return [_case(source, is_default=number % 12 == 0) for number in range(CASES)]


def _case(source, is_default):
    max_items, max_bytes = DEFAULTS if is_default else (source.randint(1, 8), source.randint(1, 200))
    count = source.randint(0, 2_500 if is_default else 40)
    # Sizes around the cap, and small ones that fill a chunk exactly; few different ones: short files.
    sizes = [max_bytes, max_bytes + 1, max_bytes // 2, max_bytes // 3, max_bytes // 1000, 1, 0]
    weights = [1, 1, 2, 4, 40, 20, 10] if is_default else [1, 1, 2, 3, 3, 3, 3]
    if not is_default:
        sizes += [source.randint(0, max_bytes) for _ in range(3)]
        weights += [3, 3, 3]
    items = source.choices(sizes, weights, k=count)
    client = training_client(lambda size: size)
    with (
        mock.patch.object(module, "MAX_CHUNK_LEN", max_items),
        mock.patch.object(module, "MAX_CHUNK_BYTES_COUNT", max_bytes),
    ):
        lengths = [len(chunk) for chunk in client._chunked_requests_generator(items)]
    return {"maxItems": max_items, "maxBytes": max_bytes, "sizes": items, "lengths": lengths}
