// A pool's figures as Python objects.
//
// Threads: with the program's GIL.
#pragma once

#include <Python.h>
#include <multipy/runtime/pool_stats.h>

namespace multipy::host {

/// A dict: a new reference; null with a Python exception.
PyObject* figuresOf(const runtime::PoolStats& stats);
/// (ready, reasons): a new reference; null with a Python exception.
PyObject* healthOf(const runtime::PoolHealth& health);

}  // namespace multipy::host
