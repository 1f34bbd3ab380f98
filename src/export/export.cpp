#include <weft/export.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <weft/dev/device/device.h>
#include <weft/dev/device/mma.h>
#include <weft/dev/io/file.h>
#include <weft/dev/ir/graph.h>
#include <weft/dev/render/render.h>
#include <weft/error.h>

#include "entries.h"
#include "kinds.h"
#include "names.h"
#include "target.h"
#include "text.h"
#include "weights.h"

namespace weft {
namespace exported {
namespace {

namespace fs = std::filesystem;

bool has_tiles(const Node* program) {
  return std::ranges::any_of(toposort(program), [](const Node* node) {
    return node->op() == Op::Mma && find_mma(node->arg<NameArg>().name.get())->rows > 1;
  });
}

Function function_of(const Node* program, const std::string& name, std::string source) {
  const Signature signature = signature_of(program);
  return {name, std::move(source), signature.threads(), signature.thread != nullptr,
          has_tiles(program)};
}

// --- The code -----------------------------------------------------------------------------------------

// Kernels and what calls them, in the language of a target.
class Code {
 public:
  explicit Code(const Target& target, const Device& device)
      : target_(target), planned_(device.target()) {}

  Function render(const Node* program, const std::string& name) {
    if (target_.is_c)
      return function_of(program, name,
                         render_c_function(program, name, planned_.scratch_bytes, helpers_));
    const auto caches = static_cast<std::size_t>(planned_.machine.memory.back().bytes);
    return function_of(program, name, render_llvm(program, planned_.scratch_bytes, caches));
  }

  std::string text(const Library& library) const {
    return target_.is_c ? c_text(library) : object(library);
  }

 private:
  std::string object(const Library& library) const {
    std::vector<LlvmPart> parts{{llvm_glue(library) + llvm_description(library), ""}};
    for (const Function& function : library.functions)
      parts.push_back({function.source, function.name});
    return llvm_library(parts, target_.processor());
  }

  // Sums and products are not to become one rounding. What warnings are left out of is how programs come to look.
  std::string c_text(const Library& library) const {
    std::string text = fmt::format(
        "/* {0}: see {0}.h */\n#include \"{0}.h\"\n\n#include <string.h>\n\n"
        "#ifdef __clang__\n#pragma STDC FP_CONTRACT OFF\n#endif\n",
        library.name);
    for (const char* warning : {"int-in-bool-context", "parentheses", "sign-compare", "type-limits",
                                "unused-parameter", "unused-variable"})
      text += fmt::format("#pragma GCC diagnostic ignored \"-W{}\"\n", warning);
    text += "\n" + c_prelude(helpers_);
    for (const Function& function : library.functions) text += function.source + "\n";
    return text + c_glue(library) + c_description(library);
  }

  const Target& target_;
  weft::Target planned_;
  CHelpers helpers_;
};

void write(const fs::path& file, std::string_view bytes, ExportReport& report) {
  NewFile out(file.string());
  out.write(bytes);
  out.commit();
  report.files.push_back(file.filename().string());
}

void check(const std::vector<ExportEntry>& entries, const ExportOptions& options) {
  if (options.kinds.empty()) user_error("export: no kind of file is asked for");
  if (entries.empty()) user_error("export: there is no function to export");
  if (!is_identifier(options.name))
    user_error(fmt::format("export: '{}' cannot stand in front of names of C", options.name));
  const std::string device = export_device(options.target);
  std::set<std::string> names;
  for (const ExportEntry& entry : entries) {
    const bool has_name = is_identifier(entry.name);
    if (!has_name && !(entry.name.empty() && entries.size() == 1))
      user_error(fmt::format("export: '{}' is no name for an entry point in C", entry.name));
    if (!names.insert(upper(entry.name)).second)
      user_error(fmt::format("export: two entry points have the name '{}'", entry.name));
    for (const auto& [name, tensor] : entry.inputs)
      if (tensor.device() != device)
        user_error(fmt::format("export: '{}' is on {} where {} plans for {}", name, tensor.device(),
                               device, options.target));
  }
}

}  // namespace
}  // namespace exported

ExportReport export_c(const std::vector<ExportEntry>& entries, const std::string& folder,
                      const ExportOptions& options) {
  using namespace exported;
  check(entries, options);
  Library library{options.name, options.target, {}, {}, {}, {}};
  FirstRuns first;
  for (const ExportEntry& entry : entries) run_first(entry, first);
  std::vector<std::unique_ptr<RecordedEntry>> recorded;
  for (const ExportEntry& entry : entries)
    recorded.push_back(
        std::make_unique<RecordedEntry>(entry, first, export_device(options.target)));
  const exported::Target& target = target_named(options.target);
  Code code(target, find_device(export_device(options.target)));
  add_entries(
      recorded, options.state,
      [&](const Node* program, const std::string& name) { return code.render(program, name); },
      library);

  const std::string weights = weights_file(library), header = header_text(library);
  const std::vector<File> files =
      files_of(options.kinds, library, target, code.text(library), header);
  ExportReport report{0, weights.size(), library.workspace_bytes(), library.state.bytes, {}};
  for (const Entry& entry : library.entries) report.calls += entry.run.calls.size();
  fs::create_directories(folder);
  const fs::path path = fs::path(folder) / options.name;
  write(path.string() + ".h", header, report);
  for (const File& file : files) write(fs::path(folder) / file.name, file.bytes, report);
  write(path.string() + ".weights", weights, report);
  return report;
}

ExportReport export_c(const ExportedFunction& function, const std::vector<NamedTensor>& inputs,
                      const std::string& folder, const ExportOptions& options) {
  return export_c({{"", function, inputs}}, folder, options);
}

}  // namespace weft
