"""The simulated world: objects, camera, renderer, quadcopter, arena."""

from wayword.camera import Camera
from wayword.sim.arena import Arena, ArenaConfig, Situation
from wayword.sim.gym import ArenaEnv, ArenaVectorEnv, register
from wayword.sim.models.mesh import Mesh
from wayword.sim.render.bank import MeshBank
from wayword.sim.render.look import Light, Look, random_light, random_look
from wayword.sim.render.renderer import Frames, RenderConfig, Renderer, Scene
from wayword.sim.vehicle import Fleet, VehicleConfig

__all__ = [
    "Arena",
    "ArenaConfig",
    "ArenaEnv",
    "ArenaVectorEnv",
    "Camera",
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
