"""Running on a Dask cluster."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any

from coebl.core.modules import require
from coebl.core.text import one_line
from coebl.study.errors import ClusterError

_SECONDS = 10  # within which a scheduler has to answer


@contextmanager
def dask_executor(address: str) -> Iterator[Executor]:
    """The workers of the Dask cluster at an address, as an executor."""
    client: Any = None
    distributed = require("distributed")
    logged = logging.root.manager.disable
    logging.disable()  # what the library logs, at length, about a cluster that is gone is reported in one line
    try:
        _knock(address)
        client = distributed.Client(address, timeout=_SECONDS)
        yield client.get_executor()
    except (OSError, ValueError, TypeError, RuntimeError, ImportError) as error:
        if client is not None:
            raise
        raise ClusterError(
            f"--dask {address}: no cluster answers there ({one_line(error)}); check the address."
        ) from None
    finally:
        if client is not None:
            client.close(timeout=_SECONDS)
        logging.disable(logged)


def _knock(address: str) -> None:
    """Refuse an address where something listens and says nothing: the client would wait forever.

    A scheduler greets whoever connects.
    """
    scheme, _, rest = address.rpartition("://")
    host, _, port = rest.rpartition(":")
    if scheme not in ("", "tcp") or not host or not port.isdigit():
        return  # the client knows about the others
    with socket.create_connection((host.strip("[]"), int(port)), timeout=_SECONDS) as connection:
        connection.settimeout(_SECONDS)
        if not connection.recv(1):
            raise OSError("the connection was closed")
