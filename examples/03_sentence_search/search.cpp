#include "search.h"

#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

namespace sentence_search {
namespace {

std::ifstream open(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return file;
}

}  // namespace

Sentences readSentences(const std::string& path) {
  auto file = open(path);
  Sentences sentences;
  for (std::string line; std::getline(file, line);)
    if (!line.empty()) sentences.push_back(line);
  if (sentences.empty()) throw std::runtime_error(path + " has no sentences");
  return sentences;
}

Reference readReference(const std::string& path) {
  auto file = open(path);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  const auto fields = torch::jit::pickle_load(bytes).toGenericDict();
  Reference reference{fields.at("sentences").toTensor(),
                      {},
                      fields.at("query_vectors").toTensor(),
                      fields.at("best").toTensor()};
  for (const at::IValue& query : fields.at("queries").toListRef())
    reference.queries.push_back(query.toStringRef());
  return reference;
}

at::Tensor encode(const multipy::runtime::ReplicatedObj& model, const std::string& sentence) {
  return model({c10::List<std::string>({sentence})}).toTensor()[0];
}

Encoded encodeAll(const multipy::runtime::ReplicatedObj& model, const Sentences& sentences,
                  int threads, const std::function<void()>& onSentence) {
  std::vector<at::Tensor> vectors(sentences.size());
  std::atomic<std::size_t> next = 0;
  std::vector<std::exception_ptr> errors(threads);
  const auto work = [&](int thread) {
    // The interpreters run side by side, so each operator keeps to its own core:
    // N interpreters with a team of N threads each would only be in each other's
    // way. OpenMP has this setting per thread, hence here and not once in main.
    at::set_num_threads(1);
    try {
      for (std::size_t i; (i = next++) < sentences.size(); onSentence())
        vectors[i] = encode(model, sentences[i]);
    } catch (...) {
      errors[thread] = std::current_exception();
      next = sentences.size();  // the others need not go on
    }
  };

  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> pool;
  for (int thread = 0; thread < threads; ++thread) pool.emplace_back(work, thread);
  for (auto& thread : pool) thread.join();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;

  for (const auto& error : errors)
    if (error) std::rethrow_exception(error);
  return {at::stack(vectors), elapsed.count()};
}

Found nearest(const at::Tensor& query, const at::Tensor& sentences, int count) {
  const auto [scores, rows] = at::mv(sentences, query).topk(count);
  return {scores, rows};
}

}  // namespace sentence_search
