"""The rigid-body model: four motors under a cascade of controllers at 500 Hz.

    velocity error -> acceleration (jerk-limited) -> tilt -> body rates -> torques -> motor thrusts

The airframe is a generic 0.25 kg quadcopter in X configuration. Its inner loops are fixed; the outer
loop is set from the wanted time constant by ``outer_loop``. Compared with the lag model it adds what
a camera on a real drone sees: the lean builds up, peaks at 9 degrees (time constant 0.5 s, from hover to
full speed) and swings back; the height wanders by less than a millimetre.

Body frame: x forward, y left, z up. Motors in the order front left, front right, back left, back right.
"""

from __future__ import annotations

import math

from wayword.compiled import compiled
from wayword.sim.vehicle.arrays import BoolArray, FloatArray, IntArray
from wayword.sim.vehicle.config import DRAG_PER_S, GRAVITY_M_S2
from wayword.sim.vehicle.contact import push_out
from wayword.task import MAX_SPEED_M_S

RATE_HZ = 500.0
MASS_KG = 0.25
INERTIA_XY = 2.5e-4  # kg m^2, roll and pitch
INERTIA_Z = 4.5e-4  # kg m^2, yaw
ARM_M = 0.06  # motor offset along x and along y
TORQUE_PER_THRUST_M = 0.012  # propeller drag torque per newton of thrust
MOTOR_TIME_S = 0.02
MAX_MOTOR_N = 0.5 * MASS_KG * GRAVITY_M_S2  # thrust-to-weight ratio 2

RATE_GAIN = 30.0  # 1/s, body rate error to angular acceleration
TILT_GAIN = 12.0  # 1/s, tilt error to body rate
HEIGHT_GAIN = 9.0  # 1/s^2, height error to vertical acceleration
CLIMB_GAIN = 6.0  # 1/s, vertical speed to vertical acceleration (critically damped)
FULL_SPEED_M_S = MAX_SPEED_M_S  # the step at which the time constant is stated
MAX_ACCELERATION = GRAVITY_M_S2 * math.tan(math.radians(25.0))


def outer_loop(time_constant_s: float) -> tuple[float, float]:
    """Velocity loop time (s) and jerk limit (m/s^3) for a wanted time from hover to 63 % of 0.7 m/s."""
    # The jerk limit shapes the start, the velocity loop the end; 0.06 s is the inner loops' share.
    # Fitted to steps to FULL_SPEED_M_S: the time to 63 % comes out within 1 % for 0.3 to 1.0 s. Smaller
    # steps meet the jerk limit less and are quicker (to 0.2 m/s about a sixth).
    jerk = 2.35 * FULL_SPEED_M_S / (time_constant_s - 0.06) ** 2
    return 0.75 * time_constant_s, jerk


@compiled(nogil=True)
def fly_rigid(
    pose: FloatArray,
    velocity: FloatArray,
    rates: FloatArray,
    attitude: FloatArray,
    motors: FloatArray,
    acceleration: FloatArray,
    contacts: IntArray,
    touching: BoolArray,
    track: FloatArray,
    outer: FloatArray,
    setpoints: FloatArray,
    wind: FloatArray,
    columns: FloatArray,
    sub_step_s: float,
    yaw_time_constant_s: float,
    altitude_m: float,
    radius_m: float,
) -> None:
    """Advance N vehicles by S sub-steps in place.

    As ``fly_lag``, with more state: attitude (N, 4) unit quaternions w x y z, rates (N, 3) in the body
    frame, motors (N, 4) thrusts in newtons, acceleration (N, 2) the jerk-limited command; outer (N, 2)
    holds what ``outer_loop`` returned for each vehicle.
    """
    inner = math.ceil(sub_step_s * RATE_HZ - 1e-6)
    dt = sub_step_s / inner
    motor_step = 1.0 - math.exp(-dt / MOTOR_TIME_S)
    # A quarter of the motors' lag adds to the time to 63 % (fitted; within 4 % from 0.06 to 0.3 s).
    yaw_gain = 1.0 / (yaw_time_constant_s - 0.25 * MOTOR_TIME_S)
    for i in range(pose.shape[0]):
        loop_gain, jerk = 1.0 / outer[i, 0], outer[i, 1]
        x, y, z = pose[i, 0], pose[i, 1], pose[i, 2]
        vx, vy, vz = velocity[i, 0], velocity[i, 1], velocity[i, 2]
        p, q, r = rates[i, 0], rates[i, 1], rates[i, 2]
        qw, qx, qy, qz = attitude[i, 0], attitude[i, 1], attitude[i, 2], attitude[i, 3]
        fl, fr, bl, br = motors[i, 0], motors[i, 1], motors[i, 2], motors[i, 3]
        ax, ay = acceleration[i, 0], acceleration[i, 1]
        for s in range(setpoints.shape[1]):
            speed, turn = setpoints[i, s, 0], setpoints[i, s, 1]
            wx, wy = 0.0, 0.0
            if wind.shape[1] > 0:
                wx, wy = wind[i, s, 0], wind[i, s, 1]
            for _ in range(inner):
                # Body axes in the world frame: columns of the rotation matrix.
                ahead_x = 1.0 - 2.0 * (qy * qy + qz * qz)
                ahead_y = 2.0 * (qx * qy + qw * qz)
                ahead_z = 2.0 * (qx * qz - qw * qy)
                left_x = 2.0 * (qx * qy - qw * qz)
                left_y = 1.0 - 2.0 * (qx * qx + qz * qz)
                left_z = 2.0 * (qy * qz + qw * qx)
                up_x = 2.0 * (qx * qz + qw * qy)
                up_y = 2.0 * (qy * qz - qw * qx)
                up_z = 1.0 - 2.0 * (qx * qx + qy * qy)

                # Velocity -> acceleration, cancelling the drag the autopilot knows of.
                level = speed / math.sqrt(ahead_x * ahead_x + ahead_y * ahead_y)
                want_x = (level * ahead_x - vx) * loop_gain + DRAG_PER_S * vx
                want_y = (level * ahead_y - vy) * loop_gain + DRAG_PER_S * vy
                size = math.sqrt(want_x * want_x + want_y * want_y)
                if size > MAX_ACCELERATION:
                    want_x *= MAX_ACCELERATION / size
                    want_y *= MAX_ACCELERATION / size
                change_x, change_y = want_x - ax, want_y - ay
                change = math.sqrt(change_x * change_x + change_y * change_y)
                slower = jerk * dt / change if change > jerk * dt else 1.0
                ax += change_x * slower
                ay += change_y * slower
                az = GRAVITY_M_S2 + HEIGHT_GAIN * (altitude_m - z) - CLIMB_GAIN * vz

                # Acceleration -> tilt error (the wanted thrust direction seen from the body) -> body rates.
                # A turn about +y carries body z towards +x, a turn about +x carries it towards -y.
                unit = TILT_GAIN / math.sqrt(ax * ax + ay * ay + az * az)
                turn_q = unit * (ahead_x * ax + ahead_y * ay + ahead_z * az)
                turn_p = -unit * (left_x * ax + left_y * ay + left_z * az)

                # Body rates -> torques; thrust carries the weight at the present tilt.
                torque_x = INERTIA_XY * RATE_GAIN * (turn_p - p)
                torque_y = INERTIA_XY * RATE_GAIN * (turn_q - q)
                torque_z = INERTIA_Z * yaw_gain * (turn - r)
                share = 0.25 * MASS_KG * az / max(up_z, 0.5)

                # Torques -> motors (r x F for each corner; diagonal pairs spin the same way).
                tx = torque_x * (0.25 / ARM_M)
                ty = torque_y * (0.25 / ARM_M)
                tz = torque_z * (0.25 / TORQUE_PER_THRUST_M)
                fl += (min(max(share + tx - ty + tz, 0.0), MAX_MOTOR_N) - fl) * motor_step
                fr += (min(max(share - tx - ty - tz, 0.0), MAX_MOTOR_N) - fr) * motor_step
                bl += (min(max(share + tx + ty - tz, 0.0), MAX_MOTOR_N) - bl) * motor_step
                br += (min(max(share - tx + ty + tz, 0.0), MAX_MOTOR_N) - br) * motor_step

                # Newton and Euler, semi-implicit: rates before attitude, velocity before position.
                gyro = (INERTIA_Z / INERTIA_XY - 1.0) * r
                p_dot = (ARM_M / INERTIA_XY) * (fl - fr + bl - br) - gyro * q
                q_dot = (ARM_M / INERTIA_XY) * (bl + br - fl - fr) + gyro * p
                r_dot = (TORQUE_PER_THRUST_M / INERTIA_Z) * (fl - fr - bl + br)
                p += dt * p_dot
                q += dt * q_dot
                r += dt * r_dot
                dw = -qx * p - qy * q - qz * r
                dx = qw * p + qy * r - qz * q
                dy = qw * q + qz * p - qx * r
                dz = qw * r + qx * q - qy * p
                qw += 0.5 * dt * dw
                qx += 0.5 * dt * dx
                qy += 0.5 * dt * dy
                qz += 0.5 * dt * dz
                # One Newton step towards 1 / |q|, exact to rounding this close to unit length.
                scale = 1.5 - 0.5 * (qw * qw + qx * qx + qy * qy + qz * qz)
                qw, qx, qy, qz = qw * scale, qx * scale, qy * scale, qz * scale

                lift = (fl + fr + bl + br) / MASS_KG
                vx += dt * (lift * up_x - DRAG_PER_S * (vx - wx))
                vy += dt * (lift * up_y - DRAG_PER_S * (vy - wy))
                vz += dt * (lift * up_z - GRAVITY_M_S2 - DRAG_PER_S * vz)
                free_x, free_y = x, y
                x += dt * vx
                y += dt * vy
                z += dt * vz
                x, y, vx, vy, began = push_out(x, y, vx, vy, free_x, free_y, radius_m, columns[i], touching[i])
                contacts[i] += began
            track[i, s, 0] = x
            track[i, s, 1] = y
            track[i, s, 2] = math.atan2(2.0 * (qx * qy + qw * qz), 1.0 - 2.0 * (qy * qy + qz * qz))
        pose[i, 0], pose[i, 1], pose[i, 2] = x, y, z
        # Angles of Rz(yaw) Ry(pitch) Rx(roll).
        pose[i, 3] = math.atan2(2.0 * (qy * qz + qw * qx), 1.0 - 2.0 * (qx * qx + qy * qy))
        pose[i, 4] = math.asin(min(1.0, max(-1.0, 2.0 * (qw * qy - qx * qz))))
        pose[i, 5] = math.atan2(2.0 * (qx * qy + qw * qz), 1.0 - 2.0 * (qy * qy + qz * qz))
        velocity[i, 0], velocity[i, 1], velocity[i, 2] = vx, vy, vz
        rates[i, 0], rates[i, 1], rates[i, 2] = p, q, r
        attitude[i, 0], attitude[i, 1], attitude[i, 2], attitude[i, 3] = qw, qx, qy, qz
        motors[i, 0], motors[i, 1], motors[i, 2], motors[i, 3] = fl, fr, bl, br
        acceleration[i, 0], acceleration[i, 1] = ax, ay
