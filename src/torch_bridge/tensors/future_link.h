// Futures that cross between an interpreter and C++ before they are completed.
//
// What crosses is a Future of its own, completed when the original is. That is
// always done by the interpreter's housekeeping thread: converting the result
// and running what Python hung on the Future takes the interpreter's GIL, for
// which the thread that completes the original, being perhaps inside another
// interpreter, must not wait.
//
// When the interpreter ends, Futures that C++ has from it get an error, and those
// that it has from C++ are given up.
//
// Threads: any.
#pragma once

#include <ATen/core/ivalue.h>

#include "abi/host_services.h"
#include "base/interpreter_id.h"

namespace multipy::bridge {

/// `original` crosses between the interpreter `slot` and C++: from whichever of them
/// `owner` says (InterpreterId::none(): C++). `transfer`, a function of that interpreter, converts
/// the result.
c10::intrusive_ptr<c10::ivalue::Future> linkFuture(
    const c10::intrusive_ptr<c10::ivalue::Future>& original, InterpreterId owner,
    InterpreterId slot, TransferValue transfer);

/// A part of teardown, with no GIL held: Futures that wait on one side for the other are
/// completed with an error.
void severFutures(InterpreterId slot) noexcept;

}  // namespace multipy::bridge
