// Tensors of all sizes and kinds.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <array>

#include "acts.h"
#include "checks.h"

namespace multipy::soak {
namespace {

at::Tensor twice(const runtime::InterpreterSession& session, const at::Tensor& x) {
  return call(session, "soak_tensors", "twice", x).toTensor();
}

void large(World& world, Random& random) {
  const at::Tensor x = random.tensor({10, 1 << 18});  // 10 MB
  expectSame(twice(world.session(random), x), x + x, "twice a large tensor");
}

void dataTypes(World& world, Random& random) {
  static constexpr std::array kTypes{at::kByte,   at::kChar,         at::kShort,        at::kInt,
                                     at::kLong,   at::kHalf,         at::kBFloat16,     at::kFloat,
                                     at::kDouble, at::kComplexFloat, at::kComplexDouble};
  const auto session = world.session(random);
  const at::ScalarType type = kTypes[random.next() % kTypes.size()];
  const at::Tensor x = at::arange(12).reshape({3, 4}).to(type);
  expectSame(twice(session, x), x + x, "twice a tensor");
}

// What Python writes is in C++'s tensor.
void writtenInPlace(World& world, Random& random) {
  const auto session = world.session(random);
  const at::Tensor x = random.tensor({3, 5}), before = x.clone();
  const auto version = x._version();
  call(session, "soak_tensors", "increment", x, 3);
  expectSame(x, before + 3, "the tensor that Python wrote to");
  expect(x._version() > version, "the version counter has moved");
}

void views(World& world, Random& random) {
  const auto session = world.session(random);
  const at::Tensor x = random.tensor({6, 4});
  const at::Tensor view = x.t().slice(1, 1, 5);
  const at::IValue form = call(session, "soak_tensors", "form", view);
  expectEqual(at::IValue(form.toListRef()[0]).toIntVector(), view.sizes().vec(),
              "the view's sizes");
  expectEqual(at::IValue(form.toListRef()[1]).toIntVector(), view.strides().vec(),
              "the view's strides");
  expectEqual(form.toListRef()[3].toInt(), view.storage_offset(), "the view's offset");
  const at::Tensor rows = call(session, "soak_tensors", "every_other_row", x).toTensor();
  expectSame(rows, x.slice(0, 1, 6, 2), "every other row");
  expectEqual(rows.data_ptr(), x[1].data_ptr(), "the address of a view");
}

void masks(World& world, Random& random) {
  const auto session = world.session(random);
  const at::Tensor x = random.tensor({5, 7}), mask = x.gt(0);
  expectSame(call(session, "soak_tensors", "masked", x, mask).toTensor(), x.masked_select(mask),
             "what a mask selects");
  expectSame(call(session, "soak_tensors", "inverted", mask).toTensor(), mask.logical_not(),
             "the inverted mask");
}

void emptyAndScalar(World& world, Random& random) {
  const auto session = world.session(random);
  for (const at::Tensor& x : {at::zeros({0}), at::zeros({3, 0, 2}), at::scalar_tensor(2.5)})
    expectSame(twice(session, x), x + x, "twice an empty or scalar tensor");
}

void sparse(World& world, Random& random) {
  const auto session = world.session(random);
  const at::Tensor x = random.tensor({4, 6});
  expectSame(call(session, "soak_tensors", "dense", x.to_sparse()).toTensor(), x,
             "a sparse tensor");
  expectSame(call(session, "soak_tensors", "dense", x.to_sparse_csr()).toTensor(), x,
             "a CSR tensor");
}

void listsAndDicts(World& world, Random& random) {
  const auto session = world.session(random);
  const std::vector<at::Tensor> parts{random.tensor({2, 3}), random.tensor({1, 3})};
  c10::Dict<std::string, at::Tensor> named;
  named.insert("b", random.tensor({3, 3}));
  named.insert("a", random.tensor({2, 3}));
  const at::Tensor joined = call(session, "soak_tensors", "joined", parts, named).toTensor();
  expectSame(joined, at::cat({parts[0], parts[1], named.at("a"), named.at("b")}),
             "the joined tensors");
  const auto split = call(session, "soak_tensors", "split", joined, 3).toTensorVector();
  const auto expected = joined.chunk(3);
  expectEqual(split.size(), expected.size(), "the number of parts");
  for (std::size_t i = 0; i < split.size(); ++i) expectSame(split[i], expected[i], "a part");
}

// The array's memory is the tensor's, which C++ has dropped when another thread looks.
void arrayKept(World& world, Random& random) {
  KeptArray kept{world.session(random), "array " + std::to_string(world.unique())};
  {
    const at::Tensor x = random.tensor({64, 64});
    kept.sum = x.sum().item<double>();
    call(kept.session, "soak_tensors", "keep_as_array", kept.key, x);
  }
  auto old = world.arrays.exchange(random.next(), std::move(kept));
  if (old)
    expectEqual(call(old->session, "soak_tensors", "take_array", old->key).toDouble(), old->sum,
                "the sum of an array that was kept");
}

void fromNumpy(World& world, Random& random) {
  const double number = static_cast<double>(random.number(0, 100));
  at::Tensor x;
  {
    const auto session = world.session(random);
    x = call(session, "soak_tensors", "from_numpy", random.number(1, 5000), number).toTensor();
  }
  expectSame(x, at::full_like(x, number), "the memory of a numpy array");
}

void randomBySeed(World& world, Random& random) {
  const std::int64_t seed = random.number(0, 1 << 30);
  const at::Tensor found =
      call(world.session(random), "soak_tensors", "random_by_seed", seed, 40).toTensor();
  expectSame(found, at::rand({40}, at::detail::createCPUGenerator(seed)),
             "random numbers by a seed");
}

void savedAndLoaded(World& world, Random& random) {
  const at::Tensor x = random.tensor({20, 20});
  expectSame(call(world.session(random), "soak_tensors", "saved_and_loaded", x).toTensor(), x,
             "a tensor that was saved and loaded");
}

void dataLoader(World& world, Random& random) {
  const at::Tensor x = random.tensor({10, 4});
  const auto batches =
      call(world.session(random), "soak_tensors", "batches", x, 4).toTensorVector();
  expectEqual(batches.size(), 3u, "the number of batches");
  expectSame(at::cat(batches), x, "all batches");
}

// One tensor from interpreter to interpreter: each adds to the same memory.
void wanders(World& world, Random& random) {
  const at::Tensor x = random.tensor({8}), before = x.clone();
  at::Tensor seen = x;
  for (int i = 0; i < 3; ++i) {
    const auto session = world.session(random);
    const auto inside = session.fromIValue(seen);
    inside.attr("add_")({1});
    seen = inside.toIValue().toTensor();
  }
  expectEqual(seen.data_ptr(), x.data_ptr(),
              "the address of a tensor that has been in three interpreters");
  expectSame(x, before + 3, "the tensor that three interpreters wrote to");
}

}  // namespace

Acts tensorActs() {
  return {
      {"tensors.large", 3, large, 4},
      {"tensors.data_types", 10, dataTypes},
      {"tensors.written_in_place", 10, writtenInPlace},
      {"tensors.views", 10, views},
      {"tensors.masks", 10, masks},
      {"tensors.empty_and_scalar", 10, emptyAndScalar},
      {"tensors.sparse", 5, sparse},
      {"tensors.lists_and_dicts", 10, listsAndDicts},
      {"tensors.array_kept", 10, arrayKept},
      {"tensors.from_numpy", 10, fromNumpy},
      {"tensors.random_by_seed", 5, randomBySeed},
      {"tensors.saved_and_loaded", 3, savedAndLoaded},
      {"tensors.data_loader", 2, dataLoader},
      {"tensors.wanders", 10, wanders},
  };
}

}  // namespace multipy::soak
