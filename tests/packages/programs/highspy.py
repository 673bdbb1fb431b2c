import highspy

solver = highspy.Highs()
solver.silent()
x, y = solver.addVariable(lb=0, ub=10), solver.addIntegral(lb=0, ub=10)
solver.addConstr(x + 2 * y <= 13)
solver.maximize(3 * x + 4 * y)
print(solver.getModelStatus(), round(solver.getObjectiveValue(), 6), solver.val(y))
