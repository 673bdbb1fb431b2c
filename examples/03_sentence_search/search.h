// The search itself: vectors of sentences, computed by interpreters, and the
// nearest ones to a query.
#pragma once

#include <ATen/core/Tensor.h>
#include <multipy/runtime/deploy.h>

#include <functional>
#include <string>
#include <vector>

namespace sentence_search {

using Sentences = std::vector<std::string>;

/// The lines of a text file that are not empty. Throws if there are none.
Sentences readSentences(const std::string& path);

/// What export.py saw in plain Python.
struct Reference {
  at::Tensor sentences;  // [sentences, 384]
  Sentences queries;
  at::Tensor queryVectors;  // [queries, 384]
  at::Tensor best;          // [queries, 5]: the rows of `sentences` nearest to each query
};
Reference readReference(const std::string& path);

/// One call of the model: one sentence, one vector [384].
at::Tensor encode(const multipy::runtime::ReplicatedObj& model, const std::string& sentence);

struct Encoded {
  at::Tensor vectors;  // [sentences, 384]
  double seconds;
};
/// All sentences, one per call, by `threads` threads that each take the next one
/// that no thread has taken; `onSentence` is called by them after each.
Encoded encodeAll(const multipy::runtime::ReplicatedObj& model, const Sentences& sentences,
                  int threads, const std::function<void()>& onSentence);

struct Found {
  at::Tensor scores;  // cosines, best first
  at::Tensor rows;
};
Found nearest(const at::Tensor& query, const at::Tensor& sentences, int count);

}  // namespace sentence_search
