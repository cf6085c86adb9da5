"""Parts of the originals without what they need a network for."""

import asyncio

from tinker.lib.internal_client_holder import BytesSemaphore, InternalClientHolder
from tinker.lib.public_interfaces.sampling_client import SamplingClient
from tinker.lib.public_interfaces.training_client import TrainingClient


def holder(slots=400, throttled_slots=10, max_bytes=5 * 1024 * 1024):
    """tinker's limits on sampling, without its connection. Must be made inside a loop."""
    made = _Holder.__new__(_Holder)
    made._sample_backoff_until = None
    made._sample_dispatch_semaphore = asyncio.Semaphore(slots)
    made._sample_dispatch_throttled_semaphore = asyncio.Semaphore(throttled_slots)
    made._sample_dispatch_bytes_semaphore = BytesSemaphore(max_bytes)
    return made


class _Holder(InternalClientHolder):
    def __del__(self):
        """Nothing was opened."""

    async def execute_with_retries(self, func, *args):
        return await func(*args)


def sampling_client(client_holder, send):
    """tinker's loop around one sampling request; `send` answers False for a 429."""
    made = SamplingClient.__new__(SamplingClient)
    made.holder = client_holder
    made._send_asample_request = send
    return made


def training_client(estimate):
    """tinker's chunking, of items whose size `estimate` tells."""
    made = TrainingClient.__new__(TrainingClient)
    made._estimate_bytes_count = estimate
    return made
