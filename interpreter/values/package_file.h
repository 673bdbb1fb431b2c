// A binary file object that reads through the host's ReadAdapterInterface: what
// torch.package.PackageImporter gets instead of a path, so that all
// interpreters read one and the same file, opened once.
#pragma once

#include <memory>

#include "interpreter/common/reference.h"

namespace caffe2::serialize {
class ReadAdapterInterface;
}

namespace multipy {

/// A file object (read, readinto, readline, seek, tell) over `reader`, which it keeps alive; null
/// with a Python error. Reading keeps the GIL.
Reference newPackageFile(std::shared_ptr<caffe2::serialize::ReadAdapterInterface> reader);

}  // namespace multipy
