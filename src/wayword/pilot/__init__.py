"""One drone and one instruction, from Python: load, reset, act; and where an instruction of one's own is flown."""

from wayword.pilot.pilot import Action, Pilot, check_instruction, check_pose, open_database

__all__ = ["Action", "Pilot", "check_instruction", "check_pose", "open_database"]
