"""Stand-ins that speak the real protocols on loopback: a MAVLink vehicle and an RTSP camera, fed by the simulator."""
