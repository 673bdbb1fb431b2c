// Starting and ending this interpreter.
#pragma once

#include "abi/interpreter_api.h"

namespace multipy {

bool initializeInterpreter(const InterpreterConfig& config, Failure& failure);
void finalizeInterpreter();
bool closeInterpreter();

}  // namespace multipy
