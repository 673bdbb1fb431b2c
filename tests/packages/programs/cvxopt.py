from cvxopt import matrix, solvers, spmatrix

solvers.options["show_progress"] = False
solution = solvers.lp(matrix([-4.0, -5.0]), matrix([[2.0, 1.0, -1.0, 0.0], [1.0, 2.0, 0.0, -1.0]]), matrix([3.0, 3.0, 0.0, 0.0]))
print(solution["status"], [round(v, 5) for v in solution["x"]], spmatrix([1.0, 2.0], [0, 1], [0, 1]) * matrix([3.0, 4.0]))
