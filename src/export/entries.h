// Functions of tensors as entry points of a library.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <weft/export.h>

#include "collect.h"
#include "library.h"
#include "names.h"

namespace weft::exported {

// To be done with all entry points before any is recorded: what one assigns to may get memory, which others read.
void run_first(const ExportEntry& entry, FirstRuns& first);

// A function that was recorded, and what its ports are.
class RecordedEntry {
 public:
  RecordedEntry(const ExportEntry& entry, const FirstRuns& first, const std::string& device);

  const Recorded& recorded() const { return *recorded_; }
  Entry made(Collection& collection, const std::string& library) const;

 private:
  void add_sizes(const std::vector<Dim>& dims, Identifiers& names);
  void add_port(const NamedTensor& named, bool is_output, Identifiers& names);

  Entry entry_;
  std::unique_ptr<Recorded> recorded_, shapes_;  // the second only where sizes are open
};

// Fills a library with all that is called. `state` has names for what is assigned to.
void add_entries(const std::vector<std::unique_ptr<RecordedEntry>>& entries,
                 const std::vector<NamedTensor>& state, const RenderFunction& render,
                 Library& library);

}  // namespace weft::exported
