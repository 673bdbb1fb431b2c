// What the host does with Python objects: look up, call, take apart, pickle.
// These are the functions of InterpreterApi under "with the GIL".
#pragma once

#include "abi/interpreter_api.h"

namespace multipy {

Handle globalObject(const char* module, const char* name, Failure& failure);
Handle objectFromIValue(const c10::IValue& value, Failure& failure);
Handle callObject(Handle callable, const Handle* args, std::size_t n, Failure& failure);
Handle callWithIValues(Handle callable, const c10::IValue* args, std::size_t n,
                       const KeywordArgument* kwargs, std::size_t nkw, Failure& failure);
bool callToIValue(Handle callable, const c10::IValue* args, std::size_t n,
                  const KeywordArgument* kwargs, std::size_t nkw, c10::IValue* out,
                  Failure& failure);
Handle objectAttribute(Handle object, const char* name, Failure& failure);
int objectHasAttribute(Handle object, const char* name, Failure& failure);
bool argumentNames(Handle callable, std::vector<std::string>* out, Failure& failure);

bool pickleObject(Handle object, Handle importer, Pickled* out, Failure& failure);
Handle unpickleObject(const Pickled& pickled, Handle importer, Failure& failure);
Handle openPackage(std::shared_ptr<caffe2::serialize::ReadAdapterInterface> reader,
                   const char* name, Failure& failure);
Handle loadPackagedPickle(Handle importer, const PackagedPickle& pickle,
                          const std::atomic<Handle>& present, Failure& failure);

}  // namespace multipy
