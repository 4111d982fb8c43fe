"""Where the course can be opened, said in the terminal."""

from socket import AF_INET, SOCK_DGRAM, socket

import streamlit as st

EVERYWHERE = (None, "", "0.0.0.0", "::")


def say_where() -> None:
    """Print the addresses of this server: the machine's own, and the one for a class."""
    port, address = st.get_option("server.port"), st.get_option("server.address")
    if address not in EVERYWHERE:
        _say(f"The course is open at http://{address}:{port}")
        return
    _say(f"The course is open at http://localhost:{port}")
    class_address = _address_in_the_network()
    if class_address is not None:
        _say(f"For other machines of this network: http://{class_address}:{port}")


def _address_in_the_network() -> str | None:
    """This machine's address as others see it. Connecting a datagram socket sends nothing."""
    with socket(AF_INET, SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address reserved for examples
        except OSError:
            return None
        address: str = probe.getsockname()[0]
        return address


def _say(sentence: str) -> None:
    print(sentence, flush=True)
