#include <weft/export.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <weft/dev/device/device.h>
#include <weft/dev/io/file.h>
#include <weft/dev/render/render.h>
#include <weft/error.h>

#include "collect.h"
#include "kinds.h"
#include "names.h"
#include "target.h"
#include "text.h"
#include "weights.h"

namespace weft {
namespace exported {
namespace {

namespace fs = std::filesystem;

Port port_of(const NamedTensor& named, bool is_output, Identifiers& identifiers) {
  const auto& [name, tensor] = named;
  if (std::ranges::any_of(tensor.dims(), &Dim::is_symbolic))
    user_error(fmt::format("export: '{}' has a size that is not fixed", name));
  return {identifiers.of(name), name, tensor.dtype(), tensor.shape(), is_output};
}

Function function_of(const Node* program, const std::string& name, std::string source) {
  const Signature signature = signature_of(program);
  return {name, std::move(source), signature.threads(), signature.thread != nullptr};
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
    const auto caches = static_cast<std::size_t>(planned_.machine.levels.back().bytes);
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

void check(const std::vector<NamedTensor>& inputs, const ExportOptions& options) {
  if (options.kinds.empty()) user_error("export: no kind of file is asked for");
  if (!is_identifier(options.name))
    user_error(fmt::format("export: '{}' cannot stand in front of names of C", options.name));
  const std::string device = export_device(options.target);
  for (const auto& [name, tensor] : inputs)
    if (tensor.device() != device)
      user_error(fmt::format("export: '{}' is on {} where {} plans for {}", name, tensor.device(),
                             device, options.target));
}

}  // namespace
}  // namespace exported

ExportReport export_c(const ExportedFunction& function, const std::vector<NamedTensor>& inputs,
                      const std::string& folder, const ExportOptions& options) {
  using namespace exported;
  check(inputs, options);
  std::vector<NamedTensor> outputs;
  std::vector<Tensor> given;
  for (const auto& [name, tensor] : inputs) given.push_back(tensor);
  const Recorded recorded(
      [&](const std::vector<Tensor>& arguments) {
        outputs = function(arguments);
        std::vector<Tensor> results;
        for (const auto& [name, tensor] : outputs) results.push_back(tensor.contiguous());
        return results;
      },
      given);

  Library library;
  library.name = options.name;
  library.target = options.target;
  Identifiers identifiers;
  for (const NamedTensor& input : inputs)
    library.ports.push_back(port_of(input, false, identifiers));
  for (const NamedTensor& output : outputs)
    library.ports.push_back(port_of(output, true, identifiers));
  const exported::Target& target = target_named(options.target);
  Code code(target, find_device(export_device(options.target)));
  collect(
      recorded,
      [&](const Node* program, const std::string& name) { return code.render(program, name); },
      library);

  const std::string weights = weights_file(library), header = header_text(library);
  const std::vector<File> files =
      files_of(options.kinds, options.name, target, code.text(library), header);
  ExportReport report{library.calls.size(), weights.size(), library.workspace_bytes, {}};
  fs::create_directories(folder);
  const fs::path path = fs::path(folder) / options.name;
  write(path.string() + ".h", header, report);
  for (const File& file : files) write(fs::path(folder) / file.name, file.bytes, report);
  write(path.string() + ".weights", weights, report);
  return report;
}

}  // namespace weft
