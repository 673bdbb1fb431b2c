// Which multipy a program is compiled with. docs/compatibility.md says what stays the same between
// versions.
#pragma once

/// Something that was there may have gone.
#define MULTIPY_VERSION_MAJOR 0
/// Something is new.
#define MULTIPY_VERSION_MINOR 1
/// Faults have been repaired.
#define MULTIPY_VERSION_PATCH 0

/// The three as one number that can be compared: 100 for 0.1.0, 10203 for 1.2.3.
#define MULTIPY_VERSION \
  (MULTIPY_VERSION_MAJOR * 10000 + MULTIPY_VERSION_MINOR * 100 + MULTIPY_VERSION_PATCH)
