"""The simulated world: objects, camera, renderer, quadcopter, arena."""

from wayword.sim.arena import Arena, ArenaConfig, Situation
from wayword.sim.bank import MeshBank
from wayword.sim.camera import CameraConfig
from wayword.sim.gym import ArenaEnv, ArenaVectorEnv, register
from wayword.sim.look import Light, Look, random_light, random_look
from wayword.sim.mesh import Mesh
from wayword.sim.renderer import Frames, RenderConfig, Renderer, Scene
from wayword.sim.vehicle import Fleet, VehicleConfig

__all__ = [
    "Arena",
    "ArenaConfig",
    "ArenaEnv",
    "ArenaVectorEnv",
    "CameraConfig",
    "Fleet",
    "Frames",
    "Light",
    "Look",
    "Mesh",
    "MeshBank",
    "RenderConfig",
    "Renderer",
    "Scene",
    "Situation",
    "VehicleConfig",
    "random_light",
    "random_look",
]

register()
