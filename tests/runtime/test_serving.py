"""Where a server listens."""

import socket
import sys
from pathlib import Path

import pytest

from faqsvc_embed.runtime.serving import Address


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse a connection that has to wait")
def test_the_socket_of_a_server_that_is_busy_is_not_removed(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(str(path))
        server.listen(0)
        client.connect(str(path))  # it waits, and no other may
        with pytest.raises(OSError, match="temporarily unavailable"):
            Address(unix=path).checked()
    assert path.exists()
    assert Address(unix=path).checked() == Address(unix=path)
    assert not path.exists()
