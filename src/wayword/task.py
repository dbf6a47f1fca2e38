"""The task: the numbers that world, policy, training, flight and evaluation agree on, each in this one place.

A module that needs one imports it from here; a configuration that makes one a choice takes it as its default.
Changing one changes the task: weights are trained for these.
"""

from __future__ import annotations

ARENA_M = 4.7
"""Edge of the square arena, [0, 4.7] x [0, 4.7] m in the world frame."""
SUCCESS_RADIUS_M = 0.47
"""A flight succeeds if it ends strictly within this of the demonstration's end: a tenth of the arena's edge."""
DECISION_S = 0.5
"""A policy decides this often, and what it asks for is held this long."""
HORIZON = 50
"""Decisions after which an episode ends by itself."""
STOP_THRESHOLD = 0.5
"""The third number of an action above this ends the episode."""
MAX_SPEED_M_S = 0.7
"""Forward velocity is within 0 and this."""
MAX_YAW_RATE_RAD_S = 1.0
"""Yaw rate is within this either way, counter-clockwise positive."""
ALTITUDE_M = 0.7
"""Height of flight above the ground."""
IMAGE_WIDTH, IMAGE_HEIGHT = 128, 72
"""Pixels of the image a policy sees."""
HFOV_DEG = 84.0
"""Horizontal field of view of the camera."""
MOUNT_PITCH_DEG = 15.0
"""How far the camera looks down from the body's forward axis."""
