// What torch.save writes: a zip archive of data.pkl, a pickle whose tensors point to storages by keys, and of the
// storages, data/KEY each. Before version 1.6 it was five pickles in a row, and the storages behind them.

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <weft/state.h>

#include <weft/dev/io/mapping.h>
#include "pickle.h"
#include "zip.h"

namespace weft {
namespace {

constexpr double legacy_magic = 119547037146038801333356.0;  // an integer of 80 bits
constexpr std::int64_t legacy_version = 1001;

// Tensors of the storages in a file. All that point to one storage share it.
class Storages {
 public:
  Storages(std::shared_ptr<const Mapping> file, const std::string& device, const InFile& in)
      : file_(std::move(file)), device_(device), in_(in) {}

  // Lies in the file.
  void add(const std::string& key, std::span<const std::byte> bytes) {
    parts_[key] = {bytes, file_};
  }
  // Was unpacked.
  void add(const std::string& key, std::vector<std::byte> bytes) {
    const auto kept = std::make_shared<const Mapping>(std::move(bytes));
    parts_[key] = {kept->bytes(), kept};
  }

  // All of a storage, whatever part is asked for: it may have to be copied, and is so once.
  Tensor tensor(const std::string& key, DType dtype, std::int64_t count) {
    const auto found = parts_.find(key);
    if (found == parts_.end()) in_.fail(fmt::format("its storage '{}' is missing", key));
    const auto& [bytes, file] = found->second;
    const std::size_t all = bytes.size() / dtype.bytes();
    if (count < 0 || static_cast<std::uint64_t>(count) > all)
      in_.fail(fmt::format("its storage '{}' has {} bytes, too few for {} of {}", key, bytes.size(),
                           count, dtype.str()));
    Tensor& made = made_[{key, dtype.kind()}];
    if (made.is_null())
      made = Memory(file, device_)
                 .tensor(bytes.first(all * dtype.bytes()), dtype, {static_cast<std::int64_t>(all)});
    return made;
  }

  Object object(const Pickle& pickle) {
    return pickle.object(device_, [this](const std::string& key, DType dtype, std::int64_t count) {
      return tensor(key, dtype, count);
    });
  }

 private:
  struct Part {
    std::span<const std::byte> bytes;
    std::shared_ptr<const Mapping> file;
  };
  const std::shared_ptr<const Mapping> file_;
  const std::string& device_;
  const InFile& in_;
  std::map<std::string, Part> parts_;
  std::map<std::pair<std::string, Kind>, Tensor> made_;
};

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Object from_archive(std::span<const std::byte> file, Storages& storages, const InFile& in) {
  constexpr std::string_view pickle_name = "/data.pkl";
  const std::vector<ZipMember> members = zip_members(file, in);
  const auto found = std::ranges::find_if(
      members, [&](const ZipMember& each) { return each.name.ends_with(pickle_name); });
  if (found == members.end()) in.fail("it is an archive without data.pkl, so not from torch.save");
  const std::string folder = found->name.substr(0, found->name.size() - pickle_name.size());
  const std::string data = folder + "/data/";
  for (const ZipMember& each : members) {
    if (each.name == folder + "/byteorder" && text_of(each.unpacked(in)) != "little")
      in.fail("its numbers are of another byte order");
    if (!each.name.starts_with(data)) continue;
    const std::string key = each.name.substr(data.size());
    if (each.is_stored())
      storages.add(key, each.packed);
    else
      storages.add(key, each.unpacked(in));
  }
  // torch.save never packs it, and each byte of it may stand for a hundred in memory.
  constexpr std::size_t most_packed = 64;
  if (!found->is_stored() && found->size / most_packed > found->packed.size())
    in.fail("its data.pkl is packed too well to be one");
  const std::vector<std::byte> code = found->unpacked(in);
  Cursor from(code, in);
  return storages.object(Pickle(from));
}

Object from_pickles(std::span<const std::byte> file, Storages& storages, const InFile& in) {
  Cursor from(file, in);
  const Object magic = storages.object(Pickle(from)), version = storages.object(Pickle(from));
  if (!magic.is<double>() || magic.as<double>() != legacy_magic || !version.is<std::int64_t>() ||
      version.as<std::int64_t>() != legacy_version)
    in.fail("it is a pickle, but not one that torch.save wrote");
  Pickle(from).object("", {});  // about the machine that wrote it
  const Pickle pickle(from);
  const auto widths = pickle.storage_widths();
  const Object keys = storages.object(Pickle(from));
  for (const Object& key : keys.as<Object::List>()) {
    const auto count = from.number<std::uint64_t>();
    const auto width = widths.find(key.as<std::string>());
    if (width == widths.end()) in.fail("it has a storage that belongs to no tensor");
    from.want(count, width->second);
    storages.add(key.as<std::string>(), from.take(count * width->second));
  }
  return storages.object(pickle);
}

// The tensors within, by the way that leads there.
class Names {
 public:
  Names(StateDict& state, const InFile& in) : state_(state), in_(in) {}

  void add(const Object& object, const std::string& name) {
    // What is shared may be found by ever so many ways, and they may be long.
    letters_ += name.size();
    if (++count_ > most) in_.fail(fmt::format("there are more than {} objects in it", most));
    if (letters_ > most_letters)
      in_.fail(fmt::format("the names in it have more than {} letters", most_letters));
    const std::string before = name.empty() ? name : name + ".";
    if (object.is<Tensor>()) {
      if (!state_.emplace(name, object.as<Tensor>()).second)
        in_.fail(fmt::format("two tensors are named '{}'", name));
    } else if (object.is<Object::Dict>()) {
      for (const auto& [key, value] : object.as<Object::Dict>()) add(value, before + key);
    } else if (object.is<Object::List>()) {
      for (std::size_t i = 0; i < object.size(); ++i)
        add(object.at(i), fmt::format("{}{}", before, i));
    }
  }

 private:
  static constexpr int most = 1'000'000;
  static constexpr std::size_t most_letters = 256'000'000;
  StateDict& state_;
  const InFile& in_;
  int count_ = 0;
  std::size_t letters_ = 0;
};

}  // namespace

Object load_torch_object(const std::string& path, const std::string& device) {
  const Called called;
  const InFile in{path};
  const auto file = std::make_shared<const Mapping>(path);
  Storages storages(file, device, in);
  const std::string_view start = text_of(file->bytes());
  if (start.starts_with("PK")) return from_archive(file->bytes(), storages, in);
  if (start.starts_with('\x80')) return from_pickles(file->bytes(), storages, in);
  in.fail("it is neither a zip archive nor a pickle, so not from torch.save");
}

StateDict load_torch(const std::string& path, const std::string& device) {
  const Called called;
  StateDict state;
  const InFile in{path};
  Names(state, in).add(load_torch_object(path, device), "");
  return state;
}

}  // namespace weft
