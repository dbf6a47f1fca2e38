"""Stand-ins that speak the real protocols on loopback: a MAVLink vehicle and an RTSP camera, fed by the simulator."""

from wayword.lazy_names import lazy_names

__all__ = [
    "MavlinkServer",
    "RtspServer",
]

__getattr__ = lazy_names(
    __name__,
    {
        "mavlink_server": ("MavlinkServer",),
        "rtsp_server": ("RtspServer",),
    },
)
