// Private or shared, and why, as lines for people.
#pragma once

#include <string>

#include "multipy/runtime/isolation.h"

namespace multipy::tools {

std::string isolationText(const runtime::ExplainedLibrary& library);
std::string isolationText(const runtime::LoadedLibrary& library);

}  // namespace multipy::tools
