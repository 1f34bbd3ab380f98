// Finds the module, loads it and asks it. The module itself is module.cpp with what that includes.

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <filesystem>

#include <fmt/core.h>
#include <weft/dev/llvm/llvm.h>
#include <weft/error.h>

#include "interface.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

constexpr const char* file_name = "weft-llvm.so";
constexpr const char* versions = "weft " WEFT_VERSION ", LLVM " WEFT_LLVM_VERSION;

// The folder of the program or shared object that the library is part of.
fs::path own_folder() {
  Dl_info info;
  link_map* map = nullptr;
  const bool is_found = dladdr1(reinterpret_cast<const void*>(&own_folder), &info,
                                reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) != 0;
  const bool is_shared = is_found && *map->l_name != '\0';
  std::error_code unknown;
  return fs::canonical(is_shared ? map->l_name : "/proc/self/exe", unknown).parent_path();
}

// Beside the library; where it was installed, seen from bin/ and from lib/; where the dynamic linker
// looks (the run path of a program that is linked with weft is one); and where it was to be installed.
std::vector<std::string> places() {
  const fs::path own = own_folder();
  std::vector<std::string> places;
  for (const fs::path& folder : {own, own / "weft", own / ".." / WEFT_LIBDIR / "weft"})
    places.push_back((folder / file_name).lexically_normal());
  places.insert(places.end(), {file_name, fs::path(WEFT_FULL_LIBDIR) / "weft" / file_name});
  return places;
}

// Null, and why, where there is none that fits. What is loaded stays: kernels are compiled until the end.
const WeftLlvm* open(const std::string& place, std::string& problem) {
  void* const handle = dlopen(place.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) {
    problem = dlerror();
    return nullptr;
  }
  const auto* module = static_cast<const WeftLlvm*>(dlsym(handle, "weft_llvm"));
  if (module != nullptr && std::string_view(module->built) == versions) return module;
  problem = fmt::format("{}: made for {}", place, module != nullptr ? module->built : "nothing");
  dlclose(handle);
  return nullptr;
}

// Null, and why, where none can be loaded.
const WeftLlvm* load(std::string& problems) {
  for (const std::string& place : places()) {
    std::string problem;
    if (const WeftLlvm* module = open(place, problem)) return module;
    problems += "\n  " + problem;
  }
  problems = fmt::format(
      "LLVM: {} ({}) compiles kernels, and cannot be loaded. Install it with weft, or "
      "set CLANG=1 to compile by clang. Looked for, also where the dynamic linker looks:{}",
      file_name, versions, problems);
  return nullptr;
}

// Loaded by the first who asks. Where it could not be, the next who asks tries again.
const WeftLlvm& module() {
  static const WeftLlvm& loaded = []() -> const WeftLlvm& {
    std::string problem;
    const WeftLlvm* found = load(problem);
    if (found == nullptr) user_error(problem);
    return *found;
  }();
  return loaded;
}

}  // namespace

bool has_llvm() { return true; }

std::string llvm_problem() {
  const auto is_there = [](const fs::path& place) {
    std::error_code unknown;
    return place.is_absolute() && fs::exists(place, unknown);
  };
  std::string problem;
  const bool is_found = std::ranges::any_of(places(), is_there) || load(problem) != nullptr;
  return is_found ? "" : problem;
}

std::string_view llvm_version() { return WEFT_LLVM_VERSION; }

LlvmProcessor llvm_host() {
  LlvmProcessor host;
  const auto take = [](void* to, const WeftLlvmProcessor* processor) {
    *static_cast<LlvmProcessor*>(to) = {processor->triple, processor->model, processor->features};
  };
  module().host(take, &host);
  return host;
}

namespace {

WeftLlvmProcessor in_c(const LlvmProcessor& processor) {
  return {processor.triple.c_str(), processor.model.c_str(), processor.features.c_str()};
}

void take_text(void* to, const char* text, std::size_t size) {
  static_cast<std::string*>(to)->assign(text, size);
}

}  // namespace

std::string llvm_object(const std::string& source, const LlvmProcessor& processor) {
  const WeftLlvmProcessor words = in_c(processor);
  std::string text;
  if (!module().compile(source.c_str(), &words, take_text, &text))
    internal_error(fmt::format("LLVM: {}\nThe source is\n{}", text, source));
  return text;
}

std::string llvm_library(const std::vector<LlvmPart>& parts, const LlvmProcessor& processor) {
  const WeftLlvmProcessor words = in_c(processor);
  std::vector<WeftLlvmPart> list;
  for (const LlvmPart& part : parts)
    list.push_back({part.source.c_str(), part.name.empty() ? nullptr : part.name.c_str()});
  std::string text;
  if (!module().link(list.data(), list.size(), &words, take_text, &text))
    internal_error(fmt::format("LLVM: {}", text));
  return text;
}

std::string llvm_archive(const std::string& name, const std::string& object) {
  std::string text;
  if (!module().archive(name.c_str(), object.data(), object.size(), take_text, &text))
    internal_error(fmt::format("LLVM: {}", text));
  return text;
}

std::vector<LlvmFrame> llvm_frames(const std::string& file, std::uint64_t address) {
  std::vector<LlvmFrame> frames;
  const auto take = [](void* to, const WeftLlvmFrame* frame) {
    static_cast<std::vector<LlvmFrame>*>(to)->push_back(
        {frame->function, frame->file, frame->line, frame->offset});
  };
  module().frames(file.c_str(), address, take, &frames);
  return frames;
}

}  // namespace weft
