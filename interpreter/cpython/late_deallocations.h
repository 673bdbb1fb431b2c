#pragma once

namespace multipy {

/// From now on objects that lose their last reference stay as they are. Python has ended.
void endDeallocations() noexcept;

}  // namespace multipy
