import cvxpy
import numpy

x = cvxpy.Variable(3)
for solver in ("CLARABEL", "OSQP", "SCS", "HIGHS"):
    objective = cvxpy.sum(x) if solver == "HIGHS" else cvxpy.sum_squares(x - numpy.array([1, 2, 3]))
    problem = cvxpy.Problem(cvxpy.Minimize(objective), [cvxpy.sum(x) == 3, x >= 0])
    print(solver, round(float(problem.solve(solver=solver)), 3), problem.status)
