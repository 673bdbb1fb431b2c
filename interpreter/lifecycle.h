// Starting and ending this interpreter.
#pragma once

#include "interpreter/interpreter_api.h"

namespace multipy {

bool initializeInterpreter(const InterpreterConfig& config, Failure& failure);
void finalizeInterpreter();
bool closeInterpreter();

}  // namespace multipy
