from kiwisolver import Solver, UnsatisfiableConstraint, Variable

left, width, right = Variable("left"), Variable("width"), Variable("right")
solver = Solver()
solver.addConstraint(left + width == right)
solver.addConstraint((width >= 100) | "strong")
solver.addEditVariable(right, "medium")
solver.suggestValue(right, 250)
solver.addConstraint(left == 20)
solver.updateVariables()
print(left.value(), width.value(), right.value())
try:
    solver.addConstraint(left == 30)
except UnsatisfiableConstraint as error:
    print(type(error).__name__)
