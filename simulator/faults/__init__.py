"""Fault switches: what goes wrong on the platforms, told through /sim/faults."""
