// Finds the sentences nearest to a query, with MiniLM in Python run by several
// interpreters at once, and measures what they bring over one.
//
//   python export.py models
//   03_sentence_search models/sentence_encoder.pt models/reference.pt corpus.txt
//       --query "how do I grow tomatoes?"
//
// Every vector is compared with the one that plain Python computed (reference.pt).
// Progress goes to standard error, results to standard output; the exit code is
// 1 after any error or difference.
#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <multipy/runtime/deploy.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>

#include "options.h"
#include "progress.h"
#include "search.h"

namespace sentence_search {
namespace {

using multipy::runtime::InterpreterManager;
using multipy::runtime::ReplicatedObj;

constexpr double kTolerance = 1e-5;

/// Imports what the model needs and unpickles it in every interpreter, all at
/// once, so that no timed call pays for it.
void prepare(InterpreterManager& manager, const ReplicatedObj& model) {
  const auto interpreters = manager.allInstances();
  Progress progress("preparing interpreters", interpreters.size());
  std::vector<std::exception_ptr> errors(interpreters.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < interpreters.size(); ++i) {
    threads.emplace_back([&, i] {
      try {
        at::set_num_threads(1);
        auto session = model.acquireSession(&interpreters[i]);
        session.self({c10::List<std::string>({"Good morning."})}).toIValue();
        progress.advance();
      } catch (...) {
        errors[i] = std::current_exception();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& error : errors)
    if (error) std::rethrow_exception(error);
}

double largestDifference(const at::Tensor& vectors, const at::Tensor& expected) {
  if (vectors.sizes() != expected.sizes())
    throw std::runtime_error("the reference was made for another corpus; run export.py again");
  return (vectors - expected).abs().max().item<double>();
}

/// One way of doing the work: so many interpreters, so many threads.
struct Way {
  int interpreters;
  int threads;
  double seconds = 0;     // over all passes
  double difference = 0;  // largest to plain Python, over all passes
  at::Tensor vectors{};   // of the last pass

  std::string name() const {
    return std::to_string(interpreters) +
           (interpreters == 1 ? " interpreter, " : " interpreters, ") + std::to_string(threads) +
           (threads == 1 ? " thread" : " threads");
  }
};

void doPass(InterpreterManager& manager, const ReplicatedObj& model, const Sentences& sentences,
            const at::Tensor& expected, Way& way) {
  manager.debugLimitInterpreters(way.interpreters);
  Progress progress(way.name(), sentences.size());
  const Encoded encoded = encodeAll(model, sentences, way.threads, [&] { progress.advance(); });
  way.seconds += encoded.seconds;
  way.difference = std::max(way.difference, largestDifference(encoded.vectors, expected));
  way.vectors = encoded.vectors;
}

void check(const Way& way) {
  std::printf("%s: largest difference to plain Python %.1e\n", way.name().c_str(), way.difference);
  if (!(way.difference <= kTolerance))
    throw std::runtime_error(way.name() + ": the vectors differ from plain Python's");
}

/// The queries that plain Python answered get the same answers here.
void checkQueries(const ReplicatedObj& model, const at::Tensor& vectors,
                  const Reference& reference) {
  for (std::size_t i = 0; i < reference.queries.size(); ++i) {
    const at::Tensor query = encode(model, reference.queries[i]);
    const auto found = nearest(query, vectors, static_cast<int>(reference.best.size(1)));
    // Not the rows: two sentences that are equally near may change places.
    const at::Tensor expected =
        at::mv(reference.sentences, reference.queryVectors[i]).index_select(0, reference.best[i]);
    if (!at::allclose(found.scores, expected, 0, kTolerance))
      throw std::runtime_error("\"" + reference.queries[i] +
                               "\" is answered differently than by plain Python");
  }
  std::printf("%zu queries are answered as by plain Python\n", reference.queries.size());
}

void answer(const ReplicatedObj& model, const std::string& query, const Sentences& sentences,
            const at::Tensor& vectors) {
  std::printf("\n%s\n", query.c_str());
  const auto found = nearest(encode(model, query), vectors, 5);
  for (int64_t i = 0; i < found.rows.size(0); ++i)
    std::printf("  %.3f  %s\n", found.scores[i].item<double>(),
                sentences[found.rows[i].item<int64_t>()].c_str());
  std::printf("\n");
}

void run(const Options& options) {
  const Sentences sentences = readSentences(options.corpus);
  const Reference reference = readReference(options.reference);
  at::set_num_threads(1);

  InterpreterManager manager(options.interpreters);
  auto package = manager.loadPackage(options.package);
  const ReplicatedObj model = package.loadPickle("model", "model.pkl");
  prepare(manager, model);

  // In turns, so that other load on the machine meets both ways alike.
  Way one{.interpreters = 1, .threads = 1};
  Way many{.interpreters = options.interpreters, .threads = options.threads};
  for (int pass = 0; pass < options.passes; ++pass) {
    doPass(manager, model, sentences, reference.sentences, one);
    doPass(manager, model, sentences, reference.sentences, many);
  }
  check(one);
  check(many);
  checkQueries(model, many.vectors, reference);
  answer(model, options.query.empty() ? reference.queries.at(0) : options.query, sentences,
         many.vectors);

  const double work = static_cast<double>(options.passes * sentences.size());
  std::printf("sentences/s: 1 interpreter %.1f, %d interpreters %.1f, ratio %.2f\n",
              work / one.seconds, many.interpreters, work / many.seconds,
              one.seconds / many.seconds);
}

}  // namespace
}  // namespace sentence_search

int main(int argc, char** argv) try {
  sentence_search::run(sentence_search::parseOptions(argc, argv));
  return 0;
} catch (const std::exception& error) {
  std::fflush(stdout);
  std::fprintf(stderr, "03_sentence_search: %s\n", error.what());
  return 1;
}
