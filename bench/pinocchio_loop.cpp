// Pinocchio's algorithms in a bare loop over a batch of states, which bench/derivatives.py builds and times.
#include <string>

#include "pinocchio/algorithm/aba-derivatives.hpp"
#include "pinocchio/algorithm/rnea-derivatives.hpp"
#include "pinocchio/multibody.hpp"
#include "pinocchio/serialization.hpp"

using namespace pinocchio;
typedef Eigen::Map<const Eigen::VectorXd> In;

struct Robot {
  Model model;
  Data* data;
};

extern "C" void* open_robot(const char* archive) {
  Robot* robot = new Robot;
  serialization::loadFromText(robot->model, std::string(archive));
  robot->data = new Data(robot->model);
  return robot;
}

// forward: derivatives of forward dynamics, else of inverse dynamics; results stay in Pinocchio's own matrices.
extern "C" void run(void* handle, int forward, long states, const double* q, const double* v, const double* x) {
  Robot& robot = *static_cast<Robot*>(handle);
  const long nq = robot.model.nq, nv = robot.model.nv;
  Eigen::VectorXd a(nq), b(nv), c(nv);
  for (long s = 0; s < states; ++s) {
    a = In(q + s * nq, nq);
    b = In(v + s * nv, nv);
    c = In(x + s * nv, nv);
    if (forward)
      computeABADerivatives(robot.model, *robot.data, a, b, c);
    else
      computeRNEADerivatives(robot.model, *robot.data, a, b, c);
  }
}
