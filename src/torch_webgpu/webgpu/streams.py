"""Streams and events. The device has one stream, which runs in order."""

from __future__ import annotations

from typing import Any

import torch

from torch_webgpu.webgpu._utils import DeviceLike, _get_device_index


class Stream(torch.Stream):
    """The device's stream; all objects of this class mean the same one."""

    def __new__(
        cls, device: DeviceLike = None, priority: int = 0, **kwargs: Any
    ) -> Stream:
        if kwargs:
            return super().__new__(cls, priority=priority, **kwargs)
        index = _get_device_index(device)
        return super().__new__(
            cls, device=torch.device("webgpu", index), priority=priority
        )

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *exc_info: object) -> None:
        pass


class _EventType(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return (
            isinstance(instance, torch.Event)
            and instance.device.type == "webgpu"
        )


class Event(metaclass=_EventType):
    """A point of the stream, as a torch.Event (torch takes no subclass of it).

    With enable_timing, record() waits for the work before it and reads the
    host's clock, because WebGPU has no timestamp at a point of a queue.
    """

    def __new__(  # type: ignore[misc]
        cls,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
    ) -> torch.Event:
        return torch.Event(
            device="webgpu",
            enable_timing=enable_timing,
            blocking=blocking,
            interprocess=interprocess,
        )


class StreamContext:
    """Selects a stream, of which there is one."""

    def __init__(self, stream: torch.Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc_info: object) -> None:
        pass


def stream(stream: torch.Stream | None) -> StreamContext:
    return StreamContext(stream)


def set_stream(stream: torch.Stream) -> None:
    pass


def current_stream(device: DeviceLike = None) -> Stream:
    return Stream(device)


def default_stream(device: DeviceLike = None) -> Stream:
    return Stream(device)
