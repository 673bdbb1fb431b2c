"""torch.package, under the name that it had in torch::deploy's Python part.

What is written with it is what `InterpreterManager::loadPackage` reads.
"""

from torch.package import (
    EmptyMatchError,
    Importer,
    ObjMismatchError,
    ObjNotFoundError,
    OrderedImporter,
    PackageExporter,
    PackageImporter,
    PackagingError,
    sys_importer,
)

__all__ = [
    "EmptyMatchError",
    "Importer",
    "ObjMismatchError",
    "ObjNotFoundError",
    "OrderedImporter",
    "PackageExporter",
    "PackageImporter",
    "PackagingError",
    "sys_importer",
]
