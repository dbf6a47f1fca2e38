"""The paper's table: what is flown, by whom, under which conditions, and which stage loses a flight."""

from wayword.lazy_names import lazy_names

__all__ = [
    "SYSTEMS",
    "Attribution",
    "Cell",
    "Column",
    "Conditions",
    "Evidence",
    "System",
    "TableCase",
    "TableConfig",
    "attribute",
    "fly_drills",
    "fly_governed",
    "fly_table",
    "fly_vehicles",
    "load_cases",
    "shipped_database",
    "system_of",
]

__getattr__ = lazy_names(
    __name__,
    {
        "attribution": ("Attribution", "Evidence", "attribute"),
        "cells": ("Cell", "TableConfig", "fly_table"),
        "columns": ("Column", "TableCase", "load_cases", "shipped_database"),
        "conditions": ("Conditions", "fly_drills", "fly_vehicles"),
        "governed": ("fly_governed",),
        "systems": ("SYSTEMS", "System", "system_of"),
    },
)
