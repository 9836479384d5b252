"""The problem of bench/optimal.py in Crocoddyl: a process that is asked by lines of JSON and answers by such lines.

The first line is the problem and its starts; each further one says how many iterations to take from how many of them.
None is one as it is later on: the derivatives, the way back and the way forward, without what only the first one needs.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import crocoddyl
import example_robot_data
import numpy as np
import pinocchio as pin


def solvers(said: dict[str, Any]) -> list[tuple[Any, list[np.ndarray], list[np.ndarray]]]:
    """A solver for each start, with the states and forces it begins with."""
    whole = example_robot_data.load("panda").model
    fingers = [whole.getJointId(name) for name in whole.names if "finger" in name]
    model = pin.buildReducedModel(whole, fingers, pin.neutral(whole))
    state, N, h, weights = crocoddyl.StateMultibody(model), said["horizon"], said["step"], said["weights"]
    hand, target = model.getFrameId(said["hand"]), np.array(said["target"])

    def node(at_hand: float, at_speed: float, force: float, step: float) -> Any:
        costs, n = crocoddyl.CostModelSum(state), model.nv
        terms = {
            "hand": (np.full(3, at_hand), crocoddyl.ResidualModelFrameTranslation(state, hand, target)),
            "speed": (np.r_[np.zeros(n), np.full(n, at_speed)], crocoddyl.ResidualModelState(state, np.zeros(2 * n))),
        }
        if force:
            terms["force"] = np.full(n, force), crocoddyl.ResidualModelControl(state)
        for name, (weight, residual) in terms.items():
            activation = crocoddyl.ActivationModelWeightedQuad(weight)
            costs.addCost(name, crocoddyl.CostModelResidual(state, activation, residual), 1.0)
        moving = crocoddyl.DifferentialActionModelFreeFwdDynamics(state, crocoddyl.ActuationModelFull(state), costs)
        return crocoddyl.IntegratedActionModelEuler(moving, step)

    # running costs are multiplied by the step there
    running = node(*(weights[name] / h for name in ("hand", "speed", "force")), h)
    final = node(weights["last hand"], weights["last speed"], 0.0, 0.0)
    made, data = [], model.createData()
    for q in map(np.array, said["starts"]):
        x, rest = np.r_[q, np.zeros(model.nv)], pin.computeGeneralizedGravity(model, data, q).copy()
        problem = crocoddyl.ShootingProblem(x, [running] * N, final)
        problem.nthreads = 1
        solver = crocoddyl.SolverFDDP(problem)
        solver.th_stop = 1e-13
        # where the forces lead, which is where it stays
        forces = [rest] * N
        made.append((solver, list(problem.rollout(forces)), forces))
    return made


def main() -> None:
    ready = solvers(json.loads(sys.stdin.readline()))
    print(json.dumps({}), flush=True)
    for line in sys.stdin:
        said = json.loads(line)
        some = ready[: said["count"]]
        if not said["iterations"]:
            for solver, _, _ in some:  # what the last step computed, as a search leaves it
                solver.problem.calc(solver.xs, solver.us)
        begun = time.process_time()
        for solver, states, forces in some:
            if said["iterations"]:
                solver.solve(states, forces, said["iterations"], True)
            else:
                solver.computeDirection(True)
                solver.tryStep(1.0)
        spent = time.process_time() - begun
        solver, states, forces = some[0]
        costs = []
        if len(some) == 1 and said["iterations"] > 1:
            log = crocoddyl.CallbackLogger()
            solver.setCallbacks([log])
            solver.solve(states, forces, said["iterations"], True)
            solver.setCallbacks([])
            costs = [float(x) for x in log.costs]
        print(json.dumps({"spent": spent, "costs": costs}), flush=True)


if __name__ == "__main__":
    main()
