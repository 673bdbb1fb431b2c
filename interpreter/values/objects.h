// What the host does with Python objects: look up, call, take apart, pickle.
// These are functions of InterpreterApi::WithGil.
#pragma once

#include "abi/interpreter_api.h"

namespace multipy {

NewReference globalObject(const char* module, const char* name, Failure& failure);
NewReference objectFromIValue(const c10::IValue& value, Failure& failure);
bool objectToIValue(BorrowedReference object, c10::IValue* out, Failure& failure);
bool takeIValue(NewReference object, c10::IValue* out, Failure& failure);
NewReference callObject(BorrowedReference callable, const BorrowedReference* args, std::size_t n,
                        Failure& failure);
NewReference callWithIValues(BorrowedReference callable, const c10::IValue* args, std::size_t n,
                             const KeywordArgument* kwargs, std::size_t nkw, Failure& failure);
bool callToIValue(BorrowedReference callable, const c10::IValue* args, std::size_t n,
                  const KeywordArgument* kwargs, std::size_t nkw, c10::IValue* out,
                  Failure& failure);
NewReference objectAttribute(BorrowedReference object, const char* name, Failure& failure);
int objectHasAttribute(BorrowedReference object, const char* name, Failure& failure);
bool argumentNames(BorrowedReference callable, std::vector<std::string>* out, Failure& failure);

bool pickleObject(BorrowedReference object, BorrowedReference importer, Pickled* out,
                  Failure& failure);
NewReference unpickleObject(const Pickled& pickled, BorrowedReference importer, Failure& failure);
NewReference openPackage(std::shared_ptr<caffe2::serialize::ReadAdapterInterface> reader,
                         const char* name, Failure& failure);
NewReference loadPackagedPickle(BorrowedReference importer, const PackagedPickle& pickle,
                                const std::atomic<BorrowedReference>& present, Failure& failure);

}  // namespace multipy
