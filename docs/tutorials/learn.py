"""PPO learns one plain goal on `wayword/Arena-v0`; docs/tutorials/learn.md explains it block by block.

    python docs/tutorials/learn.py --steps 30000 --seed 0 --out out/learn

writes out/learn/curve.csv and out/learn/curve.svg. Needs `pip install stable-baselines3`.
"""

import argparse
import csv
import time
from pathlib import Path

import gymnasium
from gymnasium.wrappers import FilterObservation
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_checker import check_env

import wayword.sim  # noqa: F401  (makes wayword/Arena-v0 known)
from wayword.episodes import examples, load_natural
from wayword.pictures import svg

goal = examples(load_natural("dev")[0], 1)[0]


def make_world():
    """One goal, always from the same start."""
    world = gymnasium.make("wayword/Arena-v0", examples=[goal], reward="shaped", text="encoded")
    return FilterObservation(world, ["pose", "instruction"])  # without the picture: one goal needs no eyes


class Curve(BaseCallback):
    """Share of the last hundred flights that arrived, with the seconds it took."""

    def __init__(self):
        super().__init__()
        self.arrived, self.points, self.begin = [], [], time.monotonic()

    def _on_step(self):
        for done, info in zip(self.locals["dones"], self.locals["infos"], strict=True):
            if done:
                self.arrived.append(bool(info["success"]))
        return True

    def _on_rollout_end(self):
        last = self.arrived[-100:]
        seconds = round(time.monotonic() - self.begin, 1)
        self.points.append((self.num_timesteps, seconds, len(self.arrived), sum(last) / max(len(last), 1)))


def learn(steps, seed):
    """Learn, and return the curve."""
    curve = Curve()
    agent = PPO(
        "MultiInputPolicy",
        make_world(),
        n_steps=min(512, steps),
        batch_size=64,
        gamma=0.98,
        ent_coef=0.001,
        learning_rate=1e-3,
        policy_kwargs={"log_std_init": -1.0},
        seed=seed,
        device="cpu",
    )
    agent.learn(steps, callback=curve)
    return curve


def draw(points, title):
    """The curve as a picture."""
    most = points[-1][0]
    places = [(60 + 560 * steps / most, 200 - 170 * share) for steps, _, _, share in points]
    parts = [svg.element("rect", width=640, height=250, fill="#ffffff")]
    for percent in (0, 25, 50, 75, 100):
        y = 200 - 1.7 * percent
        parts += [svg.line(60, y, 620, y, stroke="#dddddd"), svg.text(52, y + 4, f"{percent} %", "end")]
    for part in range(7):
        parts.append(svg.text(60 + 560 * part / 6, 220, f"{most * part / 6:,.0f}", "middle"))
    parts.append(svg.text(340, 242, "steps", "middle"))
    parts.append(svg.polyline(places, fill="none", stroke="#1971c2", stroke_width=2))
    words = f"{points[-1][3]:.0%} after {points[-1][0]} steps and {points[-1][1]:.0f} s"
    look = {"xmlns": "http://www.w3.org/2000/svg", "font_family": "sans-serif", "font_size": 13}
    return svg.image(title, words, 640, 250, parts, width=640, height=250, **look)


def main():
    """Check the environment, learn, write the curve."""
    parser = argparse.ArgumentParser(description="PPO learns one plain goal on wayword/Arena-v0")
    parser.add_argument("--steps", type=int, default=30_000, help="on two cores a minute, or five if they are busy")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("out/learn"), help="the folder for curve.csv and curve.svg")
    options = parser.parse_args()

    check_env(gymnasium.make("wayword/Arena-v0", reward="shaped", text="encoded").unwrapped)
    print(goal.instruction)
    curve = learn(options.steps, options.seed)
    for steps, seconds, _, share in curve.points[:: max(len(curve.points) // 10, 1)]:
        print(f"{steps:7d} steps {seconds:5.0f} s  {share:5.0%} of the last hundred flights arrived")
    options.out.mkdir(parents=True, exist_ok=True)
    with (options.out / "curve.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["steps", "seconds", "flights", "arrived"])
        rows.writerows(curve.points)
    title = "Share of the last hundred flights that arrived, over the steps of learning"
    (options.out / "curve.svg").write_text(draw(curve.points, title), encoding="utf-8")
    print(options.out / "curve.csv", options.out / "curve.svg", sep="\n")


if __name__ == "__main__":
    main()
