#include "runtime/object_version.h"

#include "runtime/interpreter/failure.h"

namespace multipy::runtime {

BorrowedReference ObjectVersion::objectIn(const Entered& inside) {
  if (const BorrowedReference known = objects.find(inside)) [[likely]]
    return known;
  Failure failure;
  NewReference made = bringTo(inside, failure);
  if (!made) throwFailure(failure, wantedBy());
  return objects.keep(inside, std::move(made));
}

NewReference ObjectVersion::bringTo(const Entered& inside, Failure& failure) {
  const BorrowedReference importer = package ? package->importer(inside) : nullptr;
  if (const auto* packaged = std::get_if<PackagedPickle>(&origin))
    return inside.python().loadPickle(importer, *packaged, objects.place(inside), failure);
  return inside.python().unpickle(std::get<Pickled>(origin), importer, failure);
}

}  // namespace multipy::runtime
