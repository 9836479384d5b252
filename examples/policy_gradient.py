"""A policy gradient of a page, in NumPy: proximal policy optimisation (Schulman and others, 2017), for any `VectorEnv`.

A network of two hidden layers sees an observation, and gives the mean of an action and the value of being there. After
every so many steps it is changed so that actions that led to more than was expected become likelier, though never by
much at a time: where their likelihood has changed by CLIP already, they pull no more.
"""

import numpy as np

STEPS, EPOCHS, PARTS, RATE, DISCOUNT, TRACE, CLIP = 64, 4, 32, 2e-3, 0.99, 0.95, 0.2
WIDTH = 64


class Policy:
    """A network, which is called with observations (n, seen) and gives actions (n, actions)."""

    def __init__(self, env, scale, seed=0):
        self.rng, self.scale, self.count = np.random.default_rng(seed), np.float32(scale), 0
        self.actions = env.single_action_space.shape[0]
        sizes = (len(scale), WIDTH), (WIDTH, WIDTH), (WIDTH, self.actions + 1)
        layers = [self.rng.normal(0.0, a**-0.5, (a + 1, b)) for a, b in sizes]  # the last row is added
        noise = np.full((1, self.actions), -0.5)  # its logarithm
        self.weights = [w.astype(np.float32) for w in (*layers[:2], 0.1 * layers[2], noise)]
        self.moments = [(0.0 * w, 0.0 * w) for w in self.weights]

    def __call__(self, seen):
        return self.outputs(seen)[1][:, :-1]

    def outputs(self, seen):
        """What each layer is given, and the actions and values that come out."""
        one = np.ones((len(seen), 1), np.float32)
        rows = [np.hstack([seen * self.scale, one])]
        for w in self.weights[:2]:
            rows.append(np.hstack([np.tanh(rows[-1] @ w), one]))
        return rows, rows[-1] @ self.weights[2]

    def turn(self, env, seen, rate):
        """So many steps of the environments and what is learned from them: where they are now, and the mean reward."""
        kept, rewards, (*_, noise) = [], [], self.weights
        for _ in range(STEPS):
            out, off = self.outputs(seen)[1], self.rng.normal(size=(len(seen), self.actions)).astype(np.float32)
            action = out[:, :-1] + np.exp(noise) * off
            kept.append((seen, action, np.sum(-0.5 * off**2 - noise, axis=1), out[:, -1]))
            seen, reward, ended, cut, infos = env.step(action)
            after = np.where(cut & ~ended, self.outputs(infos["final_obs"])[1][:, -1], 0.0)
            rewards.append(((1.0 - DISCOUNT) * reward + DISCOUNT * after, ~(ended | cut), reward))
        ahead, gain, gains = self.outputs(seen)[1][:, -1], 0.0, []
        for (*_, value), (reward, goes, _) in zip(reversed(kept), reversed(rewards), strict=True):
            gain = reward + DISCOUNT * goes * (ahead + TRACE * gain) - value
            ahead, gains = value, [gain, *gains]
        seen_then, action, likely, value = (np.concatenate(x) for x in zip(*kept, strict=True))
        gain = np.concatenate(gains).astype(np.float32)
        batch = seen_then, action, likely, (gain - gain.mean()) / gain.std(), gain + value
        for _ in range(EPOCHS):
            for rows in np.array_split(self.rng.permutation(len(gain)), PARTS):
                self.learn(rate, *(x[rows] for x in batch))
        return seen, np.mean([reward for *_, reward in rewards])

    def learn(self, rate, seen, action, likely, gain, worth):
        """A step of Adam along the gradient of the clipped gain, and of the square error of the value."""
        (rows, out), noise = self.outputs(seen), self.weights[3]
        off = (action - out[:, :-1]) / np.exp(noise)
        ratio = np.exp(np.sum(-0.5 * off**2 - noise, axis=1) - likely)
        free = np.where(gain > 0.0, ratio < 1.0 + CLIP, ratio > 1.0 - CLIP)
        pull = (-gain * ratio * free / len(gain))[:, None]
        slope, slopes = np.hstack([pull * off / np.exp(noise), (out[:, -1] - worth)[:, None] / len(gain)]), []
        for k in (2, 1, 0):
            slopes.insert(0, rows[k].T @ slope)
            slope = (slope @ self.weights[k].T * (1.0 - rows[k] ** 2))[:, :-1]
        slopes.append(np.sum(pull * (off**2 - 1.0), axis=0, keepdims=True))
        self.count += 1
        for w, g, (m, v) in zip(self.weights, slopes, self.moments, strict=True):
            m += 0.1 * (g - m)
            v += 0.001 * (g * g - v)
            w -= rate * m / (1.0 - 0.9**self.count) / (np.sqrt(v / (1.0 - 0.999**self.count)) + 1e-8)

    def train(self, env, turns, steps):
        """The mean reward of each turn, one after the other; episodes have so many steps, and are all at others."""
        seen, _ = env.reset(seed=0, options={"step": self.rng.integers(steps, size=env.num_envs)})
        for k in range(turns):
            seen, reward = self.turn(env, seen, RATE * (1.0 - k / turns))
            yield reward
