"""`plumbline doctor`: probes an operator's real tenant and settles the contracts' open marks."""
