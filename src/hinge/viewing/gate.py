"""Who may talk to a page: a browser that has it from this server, and programs that are no browsers.

Any page a browser shows may ask for a websocket to any address, this machine's own included, and so may move what is
shown here and read it. The browser says which page asks (Origin) and for which name (Host), and neither can be forged
by the page. So Origin has to be this server by the name it was asked for; and that name an address, or one this machine
has, since any other could have been made to lead here after a page from elsewhere was loaded under it.
"""

from __future__ import annotations

import http
import ipaddress
import socket
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

from hinge.errors import ViewError

_starting = Lock()


def refusal(host: str, hosts: list[str], origins: list[str]) -> str:
    """Why a request is not answered by a server on `host`, from its Host and Origin headers; empty if it is.

    >>> from hinge.viewing.gate import refusal
    >>> refusal("localhost", ["localhost:8080"], ["http://localhost:8080"])
    ''
    """
    if len(hosts) != 1 or not _ours(urlsplit(f"//{hosts[0]}").hostname or "", host):
        return f"The page is not served under the name {', '.join(hosts)!r}."
    if any(urlsplit(origin).netloc != hosts[0] for origin in origins):
        return f"A page of {', '.join(origins)!r} has no access to this one."
    return ""


def _ours(name: str, host: str) -> bool:
    """Whether a name is an address, or one of this machine's or the one it serves on."""
    try:
        return bool(ipaddress.ip_address(name))
    except ValueError:
        return name in {each.lower() for each in ("localhost", host, socket.gethostname(), socket.getfqdn())}


@contextmanager
def watched(host: str) -> Iterator[None]:
    """While this holds, a server of websockets that is started on `host` answers only those who may talk to it.

    viser starts one and hands nothing to it from outside: so what it calls is exchanged while it does.
    """
    from websockets.asyncio import server

    plain, started = server.serve, []

    def serve(*args: Any, process_request: Any, **options: Any) -> Any:
        def checked(connection: Any, request: Any) -> Any:
            wrong = refusal(host, request.headers.get_all("Host"), request.headers.get_all("Origin"))
            if wrong:
                return connection.respond(http.HTTPStatus.FORBIDDEN, wrong + "\n")
            return process_request(connection, request)

        started.append(host)
        return plain(*args, process_request=checked, **options)

    with _starting:
        server.serve = serve  # type: ignore[assignment,misc]
        try:
            yield
        finally:
            server.serve = plain  # type: ignore[misc]
    if not started:
        raise ViewError("this version of viser starts its server in a way that hinge cannot guard.\n"
                        "  Install another: hinge was tried with viser 1.1.")  # fmt: skip


def served(host: str, port: int, label: str) -> Any:
    """A server on that port, or a refusal that says what to do."""
    try:
        import viser
    except ImportError:
        raise ViewError('looking at robots needs the package viser.\n  pip install "hinge[view]"') from None
    if not host:
        what = "host is empty, which would open the page to every machine that can reach this one."
        raise ViewError(f'{what}\n  Write "localhost" for this one alone, or "0.0.0.0" if all of them may use it.')
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except (OSError, OverflowError) as wrong:
            why = getattr(wrong, "strerror", None) or wrong
            raise ViewError(
                f"port {port} of {host} cannot be used: {why}.\n  Give another port, or 0 for any."
            ) from None
        port = probe.getsockname()[1]
    with watched(host), redirect_stdout(StringIO()):  # it prints a box with its address, however quiet it is to be
        return viser.ViserServer(host=host, port=port, label=f"hinge: {label}", verbose=False)
