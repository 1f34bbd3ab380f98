#include <fmt/format.h>
#include <weft/io.h>

#include <weft/dev/io/file.h>
#include "npy.h"
#include "zip.h"

namespace weft {
namespace {

constexpr std::string_view ending = ".npy";

}  // namespace

std::map<std::string, Tensor> load_npz(const std::string& path, const Options& options) {
  const Called called;
  std::map<std::string, Tensor> tensors;
  const InFile in{path};
  const std::vector<std::byte> file = read_file(path);
  for (const ZipMember& member : zip_members(file, in)) {
    std::string name = member.name;
    if (name.ends_with(ending)) name.resize(name.size() - ending.size());
    Tensor tensor = decoded_npy(member.unpacked(in), path + ":" + member.name, options);
    if (!tensors.emplace(name, std::move(tensor)).second)
      in.fail(fmt::format("two tensors are named '{}'", name));
  }
  return tensors;
}

void save_npz(const std::string& path, const std::map<std::string, Tensor>& tensors,
              bool compressed) {
  const Called called;
  std::vector<ZipEntry> entries;
  for (const auto& [name, tensor] : tensors) {
    const std::string file = fmt::format("{}{}", name, ending);
    constexpr std::size_t most_letters = 0xffff;
    if (file.size() > most_letters)
      InFile{path}.fail(fmt::format("a name of {} letters: the format has no more than {}",
                                    name.size(), most_letters - ending.size()));
    entries.push_back({file, encoded_npy(tensor, fmt::format("{}:{}", path, file))});
  }
  write_file(path, zipped(entries, compressed));
}

}  // namespace weft
