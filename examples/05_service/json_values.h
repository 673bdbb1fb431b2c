// JSON to what Python gets, and what Python returns to JSON.
//
//   null  true  3  0.5  "text"  [...]  {...}     None  True  3  0.5  "text"  list  dict
//
// Tuples become arrays, and tensors arrays of arrays. NaN and the infinities, which JSON has not,
// become null.
//
// Threads: plain functions.
#pragma once

#include <ATen/core/ivalue.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace service {

/// A request that cannot be answered as it is: 400.
class BadRequest : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws BadRequest for what is no JSON, is nested too deeply, or has an integer that does not fit
/// 64 bits with a sign.
at::IValue fromJson(std::string_view text);

/// Throws std::runtime_error for a value that has no form in JSON.
std::string toJson(const at::IValue& value);

}  // namespace service
