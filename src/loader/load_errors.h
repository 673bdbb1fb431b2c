// Turning what dlerror() says into what a user can act upon.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "loader/library_graph.h"

namespace multipy::loader {

/// The text of a LoadError for `library`. `originals`: file name or soname of
/// each private copy → its original, which is what the user knows.
std::string loadErrorText(const std::filesystem::path& library, std::string dlError,
                          const std::map<std::string, std::string>& originals);

/// What dlerror() says, never null.
std::string takeDlError();

/// For the libraries among those that `library` needs, at any depth, that were found
/// nowhere and that `error` names: who needs them and where they were looked for.
std::string whereMissingWereSearched(const std::string& error, const Library& library,
                                     const LibraryGraph& graph);

}  // namespace multipy::loader
