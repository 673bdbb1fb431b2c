from ortools.linear_solver import pywraplp
from ortools.sat.python import cp_model

model = cp_model.CpModel()
queens = [model.new_int_var(0, 7, f"q{i}") for i in range(8)]
model.add_all_different(queens)
model.add_all_different(queen + i for i, queen in enumerate(queens))
model.add_all_different(queen - i for i, queen in enumerate(queens))
model.maximize(queens[0])
solver = cp_model.CpSolver()
solver.parameters.num_workers = 2
print(solver.status_name(solver.solve(model)), solver.objective_value)
linear = pywraplp.Solver.CreateSolver("GLOP")
x, y = linear.NumVar(0, 10, "x"), linear.NumVar(0, 10, "y")
linear.Add(x + 2 * y <= 14)
linear.Maximize(3 * x + 4 * y)
print(linear.Solve(), round(linear.Objective().Value(), 6))
