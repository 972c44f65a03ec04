"""The core: values, ports, the turn, the loop, citations. It knows no platform and no vendor."""
