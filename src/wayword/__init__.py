"""Wayword: tell a camera drone where to fly in plain language, about things it has never seen."""

__version__ = "0.1.0"
