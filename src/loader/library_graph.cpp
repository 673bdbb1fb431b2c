#include "loader/library_graph.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "loader/c_api_names.h"
#include "loader/loaded_objects.h"

namespace multipy::loader {

LibraryGraph::LibraryGraph(std::shared_ptr<const IsolationPolicy> policy,
                           LibraryCatalogue& catalogue)
    : policy_(std::move(policy)), catalogue_(catalogue) {}

void LibraryGraph::addRoot(const std::filesystem::path& root) {
  if (policy_->covers(root)) return;
  auto wider = std::make_shared<IsolationPolicy>(*policy_);
  wider->addRoot(root);
  policy_ = std::move(wider);
}

void LibraryGraph::makePrivate(const std::filesystem::path& library) {
  std::string pattern;
  for (const char c : library.string()) {
    if (std::string_view("*?[\\").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  auto policy = std::make_shared<IsolationPolicy>(*policy_);
  policy->override(std::move(pattern), Isolation::Private);
  policy_ = std::move(policy);
}

Library& LibraryGraph::add(const std::filesystem::path& file, const Requester* loader) {
  const auto absolute = std::filesystem::absolute(file);
  const FileIdentity identity = FileIdentity::of(absolute);
  if (auto known = byIdentity_.find(identity); known != byIdentity_.end()) return *known->second;

  auto library = std::make_unique<Library>();
  library->file = absolute;
  library->identity = identity;
  library->requester.directory = absolute.parent_path();
  library->requester.loader = loader;
  if (auto verdict = policy_->decideByName(absolute)) {
    library->isolation = verdict->isolation;
    library->reason = verdict->reason;
    library->stays = verdict->stays;
  } else {
    Inspected inspected = catalogue_.inspect(absolute);
    library->facts = std::move(inspected.facts);
    library->object = std::move(inspected.object);
    library->requester.rpath = library->facts->rpath;
    library->requester.runpath = library->facts->runpath;
    library->requester.noDefaultLibraries = library->facts->noDefaultLibraries;
  }
  // First of all where it is owned: without memory for the others it is forgotten again.
  libraries_.push_back(std::move(library));
  Library& added = *libraries_.back();
  if (added.facts && !added.facts->soname.empty()) byName_.emplace(added.facts->soname, &added);
  byIdentity_.emplace(identity, &added);
  return added;
}

Library* LibraryGraph::find(const std::string& name, const Requester& requester, bool* inherited) {
  if (auto known = byName_.find(name); known != byName_.end()) return known->second;
  Library* library = nullptr;
  if (const auto found = search_.find(name, requester)) {
    if (inherited) *inherited = found->inherited;
    library = &add(found->file, &requester);
  } else if (const auto file = fileLoadedAs(name); !file.empty()) {
    library = &add(file, nullptr);
  }
  if (library) byName_.emplace(name, library);
  return library;
}

const Library* LibraryGraph::findPresent(const std::string& name,
                                         const Requester& requester) const {
  const auto present = [](const Library* library) { return library->present ? library : nullptr; };
  if (auto known = byName_.find(name); known != byName_.end()) return present(known->second);
  const auto found = search_.find(name, requester);
  if (!found) return nullptr;
  const auto known = byIdentity_.find(FileIdentity::of(found->file));
  return known == byIdentity_.end() ? nullptr : present(known->second);
}

const Library* LibraryGraph::libraryOfCopy(const std::string& copy) const {
  for (const auto& library : libraries_) {
    if (library->present && library->copy && library->copy->path() == copy) return library.get();
  }
  return nullptr;
}

void LibraryGraph::findDependencies(Library& library) {
  if (!library.facts || !library.needs.empty()) return;
  std::vector<Library::Dependency> needs;
  for (const std::string& name : library.facts->needed) {
    // The interpreter stands in for libpython. Some tools leave libraries that
    // need their own soname; ld.so finds them by it.
    if (isLibPython(name) || name == library.facts->soname) continue;
    Library::Dependency dependency{name, nullptr, false};
    dependency.library = find(name, library.requester, &dependency.inherited);
    needs.push_back(std::move(dependency));
  }
  library.needs = std::move(needs);  // all or none
}

Library& LibraryGraph::resolve(const std::filesystem::path& file, const Requester* loader) {
  Library& root = add(file, loader);
  // Breadth first, as ld.so does: it matters where two files have one name.
  std::vector<Library*> queue{&root};
  std::set<Library*> seen{&root};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    if (queue[i]->present) continue;
    findDependencies(*queue[i]);
    for (const auto& dependency : queue[i]->needs) {
      if (dependency.library && seen.insert(dependency.library).second) {
        queue.push_back(dependency.library);
      }
    }
  }
  decide();
  return root;
}

void LibraryGraph::decide() {
  // Using the C API spreads from a library to those that need it, also around
  // cycles: repeat until nothing changes.
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& library : libraries_) {
      if (library->present || !library->facts) continue;
      const bool needsUser =
          std::any_of(library->needs.begin(), library->needs.end(),
                      [](const auto& need) { return need.library && need.library->usesCApi; });
      Verdict verdict = policy_->decide(library->file, library->facts->cApiUse, needsUser);
      library->isolation = verdict.isolation;
      library->reason = std::move(verdict.reason);
      const bool uses = library->isPrivate() && (needsUser || !library->facts->cApiUse.empty());
      changed |= uses != library->usesCApi;
      library->usesCApi = uses;
    }
  }
}

std::vector<std::vector<Library*>> LibraryGraph::loadOrder(Library& root) const {
  // Tarjan's strongly connected components: they come out dependencies first,
  // each with the member through which it was entered last.
  struct Mark {
    std::size_t number, lowest;
    bool open;
  };
  std::map<Library*, Mark> marks;
  std::vector<Library*> open;
  std::vector<std::vector<Library*>> order;
  const std::function<void(Library*)> visit = [&](Library* library) {
    Mark& mark = marks[library] = {marks.size(), marks.size(), true};
    open.push_back(library);
    for (const auto& dependency : library->needs) {
      Library* next = dependency.library;
      if (!next || !next->isPrivate() || next->present) continue;
      if (!marks.contains(next)) visit(next);
      if (marks[next].open) mark.lowest = std::min(mark.lowest, marks[next].lowest);
    }
    if (mark.lowest != mark.number) return;
    std::vector<Library*> group;
    do {
      group.push_back(open.back());
      marks[group.back()].open = false;
      open.pop_back();
    } while (group.back() != library);
    order.push_back(std::move(group));
  };
  if (root.isPrivate() && !root.present) visit(&root);
  return order;
}

void LibraryGraph::markSharedPresent(Library& root, std::vector<const Library*>& marked) {
  for (const auto& dependency : root.needs) {
    Library* library = dependency.library;
    if (!library || library->isPrivate() || library->present) continue;
    library->present = true;
    marked.push_back(library);
    markSharedPresent(*library, marked);
  }
}

// Called where a load has failed, perhaps for lack of memory: takes none.
void LibraryGraph::forgetAbsent() noexcept {
  const auto isGone = [&](const Requester* loader) {
    return loader && std::any_of(libraries_.begin(), libraries_.end(), [&](const auto& library) {
             return !library->present && &library->requester == loader;
           });
  };
  for (const auto& library : libraries_) {
    library->object.reset();  // its contents are of no use any more
    if (isGone(library->requester.loader)) library->requester.loader = nullptr;
  }
  const auto isAbsent = [](const auto& entry) { return !entry.second->present; };
  std::erase_if(byIdentity_, isAbsent);
  std::erase_if(byName_, isAbsent);
  std::erase_if(libraries_, [](const auto& library) { return !library->present; });
}

}  // namespace multipy::loader
