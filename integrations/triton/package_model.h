// A torch.package file as a model: one pool of interpreters, one for each of the model's instances,
// and one copy of the weights for all.
//
// What is called is an object of the package (parameters PACKAGE and RESOURCE of the configuration;
// "model" and "model.pkl" unless told), with the inputs in the configuration's order. It returns a
// tensor, several in the order of the configured outputs, or a dict of them by name.
//
// Threads: every member from any thread.
#pragma once

#include <multipy/runtime/call_options.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "integrations/triton/rows.h"

namespace multipy::triton {

/// An input or an output of the configuration.
struct Port {
  std::string name;
  TRITONSERVER_DataType type = TRITONSERVER_TYPE_INVALID;
};

struct PackagePlace {
  std::string model, version;  // as the server calls them
  std::filesystem::path file;
  std::string package, resource;
  std::string prefix;  // of a Python environment; empty: the default one
  std::vector<Port> inputs, outputs;
};

class PackageModel {
 public:
  /// Loads the package, in an interpreter that the first instance gets. TritonError for inputs or
  /// outputs that are no tensors; what multipy throws for what cannot be loaded.
  explicit PackageModel(PackagePlace place);
  PackageModel(const PackageModel&) = delete;
  PackageModel& operator=(const PackageModel&) = delete;
  ~PackageModel();

  /// An instance's share of the pool: one interpreter, for as long as it lives.
  class Share {
   public:
    explicit Share(std::shared_ptr<PackageModel> model);
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    ~Share();

   private:
    const std::shared_ptr<PackageModel> model_;
  };

  /// The outputs of each of several requests; their memory stays as long as this.
  class Outputs {
   public:
    const std::vector<TensorRow>& of(std::size_t request) const { return rows_[request]; }

   private:
    friend class PackageModel;
    std::vector<std::vector<TensorRow>> rows_;
    std::shared_ptr<void> tensors_;
  };

  /// Calls the model once, with the requests' inputs, which are in the configuration's order. Those
  /// of several requests are joined along their first dimension, and the outputs taken apart again;
  /// those of one are looked at without a copy, and `keeps` of that request lives as long as
  /// tensors over them do. TritonError where what comes back is not what the configuration says.
  Outputs call(const std::vector<std::vector<TensorRow>>& requests,
               const std::vector<std::shared_ptr<void>>& keeps,
               const runtime::CallOptions& options);

  const PackagePlace& place() const noexcept { return place_; }

 private:
  void add();
  void remove() noexcept;

  const PackagePlace place_;
  struct Pool;  // what includes the library's and torch's headers, which take long to compile
  const std::unique_ptr<Pool> pool_;
  std::mutex mutex_;  // of the pool's size
  std::size_t instances_ = 0;
};

}  // namespace multipy::triton
