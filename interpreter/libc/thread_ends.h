#pragma once

namespace multipy {

/// The function that a thread which Python or a C library started begins with (threads.cpp).
void* runInInterpreter(void* start);

}  // namespace multipy
