"""Pictures for people: maps, flight videos, contact sheets."""
