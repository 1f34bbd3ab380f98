#include "kinds.h"

#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <weft/dev/base/process.h>
#include <weft/error.h>
#include <weft/settings.h>

namespace weft::exported {
namespace {

using Words = std::vector<std::string>;

// The words of CC, the first of which is a program; without that the one that is usual for the target.
Words compiler_for(const Target& target) {
  std::istringstream said(setting("CC"));
  Words words;
  for (std::string word; said >> word;) words.push_back(word);
  const Words usual = target.compiler.empty() ? Words{"cc", "gcc", "clang", "clang-19"}
                                              : Words{std::string(target.compiler)};
  const Words names = words.empty() ? usual : Words{words[0]};
  const std::string program = find_program(names);
  if (program.empty())
    user_error(
        fmt::format("export: there is no {} on PATH to link with; name a C compiler "
                    "for {} by CC",
                    fmt::join(names, ", "), target.name));
  if (words.empty()) words.emplace_back();
  words[0] = program;
  return words;
}

// Makes the other kinds of what there is, in a folder that goes with it.
class Maker {
 public:
  Maker(const Library& library, const Target& target, const std::string& code,
        const std::string& header)
      : library_(library), name_(library.name), target_(target), code_(code) {
    write_text(folder_ / (name_ + ".h"), header);
    write_text(folder_ / source(), code);
  }

  File file(ExportKind kind) {
    switch (kind) {
      case ExportKind::Object: return {source(), code_};
      case ExportKind::Static: return {name_ + ".a", llvm_archive(name_ + ".o", object())};
      case ExportKind::Shared: return {name_ + ".so", shared()};
    }
    return {};
  }

 private:
  std::string source() const { return name_ + (target_.is_c ? ".c" : ".o"); }

  std::string made(const Words& options, const std::string& result) {
    Words command = compiler_for(target_);
    for (const char* option : {"-std=c99", "-O2", "-ffp-contract=off", "-fPIC"})
      if (target_.is_c) command.emplace_back(option);
    command.insert(command.end(), options.begin(), options.end());
    try {
      run_program(command, folder_.path());
    } catch (const Error& error) {
      user_error(fmt::format("export: {}", error.what()));
    }
    return read_text(folder_ / result);
  }

  std::string object() {
    if (!has_llvm()) user_error("export: this build has no LLVM, which writes archives");
    return target_.is_c ? made({"-c", source()}, name_ + ".o") : code_;
  }

  // Nothing is seen but what the header declares, and the description by a name that all libraries have.
  std::string shared() {
    const std::string result = name_ + ".so";
    write_text(folder_ / "symbols", fmt::format("{{ global: weft_library_v1; {}; local: *; }};\n",
                                                fmt::join(library_.symbols(), "; ")));
    return made(
        {"-shared", "-Wl,--version-script=symbols", "-Wl,-soname," + result, "-Wl,-z,noexecstack",
         "-Wl,--as-needed",
         fmt::format("-Wl,--defsym=weft_library_v1={}_description", library_.entries[0].prefix),
         source(), "-o", result, "-lm"},
        result);
  }

  const Library& library_;
  const std::string& name_;
  const Target& target_;
  const std::string& code_;
  TemporaryFolder folder_;
};

}  // namespace

std::vector<File> files_of(const std::vector<ExportKind>& kinds, const Library& library,
                           const Target& target, const std::string& code,
                           const std::string& header) {
  Maker maker(library, target, code, header);
  std::vector<File> files;
  for (const ExportKind kind : kinds) files.push_back(maker.file(kind));
  return files;
}

}  // namespace weft::exported
