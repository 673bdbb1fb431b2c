#include "runtime/interpreter/value_makers.h"

#include <utility>

#include "abi/value_makers.h"

namespace multipy::runtime {
namespace {

c10::IValue makeTuple(std::vector<c10::IValue>&& elements, const c10::TupleTypePtr& type) {
  return type ? c10::ivalue::Tuple::createNamed(std::move(elements), type)
              : c10::ivalue::Tuple::create(std::move(elements));
}

c10::impl::GenericList makeList(const c10::TypePtr& elementType) {
  return c10::impl::GenericList(elementType);
}

c10::impl::GenericDict makeDict(const c10::TypePtr& keyType, const c10::TypePtr& valueType) {
  return c10::impl::GenericDict(keyType, valueType);
}

c10::IValue makeComplex(c10::complex<double> value) { return value; }

c10::IValue makeEnumMember(const std::string& className, const c10::TypePtr& valueType,
                           std::vector<c10::EnumNameValue>&& members, const std::string& name,
                           c10::IValue&& value) {
  auto type =
      c10::EnumType::create(c10::QualifiedName(className), valueType, std::move(members), {});
  return c10::IValue(
      c10::make_intrusive<c10::ivalue::EnumHolder>(std::move(type), name, std::move(value)));
}

c10::intrusive_ptr<c10::ivalue::Object> makeObject(c10::StrongTypePtr type,
                                                   std::size_t attributes) {
  return c10::ivalue::Object::create(std::move(type), attributes);
}

c10::intrusive_ptr<c10::ivalue::Future> makeFuture() {
  return c10::make_intrusive<c10::ivalue::Future>(c10::AnyType::get());
}

}  // namespace

const ValueMakers& valueMakers() noexcept {
  static constexpr ValueMakers kMakers{.tuple = makeTuple,
                                       .list = makeList,
                                       .dict = makeDict,
                                       .complexNumber = makeComplex,
                                       .enumMember = makeEnumMember,
                                       .object = makeObject,
                                       .future = makeFuture};
  return kMakers;
}

}  // namespace multipy::runtime
