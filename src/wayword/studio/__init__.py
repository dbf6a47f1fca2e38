"""Studio: a live page in the browser. What is decided in it is plain Python; only ``page`` and ``stage`` know viser."""
