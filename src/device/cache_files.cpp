#include "cache_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <ctime>

#include <fmt/format.h>
#include <weft/dev/base/folder.h>
#include <weft/dev/device/disk_cache.h>

namespace weft {

namespace fs = std::filesystem;

namespace {

constexpr mode_t others_write = S_IWGRP | S_IWOTH;

// Root can change what anybody runs.
bool is_own(uid_t owner) { return owner == geteuid() || owner == 0; }

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_;
};

Descriptor open_to_read(const fs::path& file) {
  return Descriptor(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
}

// Up to so many bytes.
std::string read_some(const Descriptor& file, std::size_t size) {
  std::string text(size, '\0');
  std::size_t done = 0;
  while (done < size) {
    const ssize_t count = read(file.get(), text.data() + done, size - done);
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  text.resize(done);
  return text;
}

bool write_all(const Descriptor& file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(file.get(), text.data(), text.size());
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

// Once an hour: reading the cache should write next to nothing.
void mark_used(const Descriptor& file, const struct stat& info) {
  constexpr std::time_t hour = 3600;
  if (std::time(nullptr) - info.st_mtim.tv_sec >= hour) futimens(file.get(), nullptr);
}

Descriptor create(const fs::path& file) {
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  const int number = open(file.c_str(), flags, S_IRUSR | S_IWUSR);
  if (number >= 0 || errno != ENOENT) return Descriptor(number);
  make_private_folder(file.parent_path());
  return Descriptor(open(file.c_str(), flags, S_IRUSR | S_IWUSR));
}

constexpr std::size_t digits = 16, prefix_digits = 2;

bool is_hex(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// A hash, and the numbers of the process and the file where it is only a part.
bool is_entry_name(std::string_view name) {
  const std::size_t end = std::min(name.find('.'), name.size());
  const auto is_part = [](char c) { return c == '.' || (c >= '0' && c <= '9'); };
  return end == digits && is_hex(name.substr(0, end)) &&
         std::ranges::all_of(name.substr(end), is_part);
}

template <class Visit>
void visit_folder(const fs::path& folder, Visit visit) {
  std::error_code unknown;
  for (const fs::path& path : paths_in(folder, unknown)) visit(path, path.filename().string());
}

// A file of this user's, which no other may write.
bool is_trusted(const struct stat& info) {
  return S_ISREG(info.st_mode) && is_own(info.st_uid) && (info.st_mode & others_write) == 0;
}

std::vector<fs::path> prefix_folders(const fs::path& folder) {
  std::vector<fs::path> found;
  visit_folder(folder, [&](const fs::path& path, const std::string& name) {
    std::error_code error;
    if (name.size() == prefix_digits && is_hex(name) &&
        fs::symlink_status(path, error).type() == fs::file_type::directory)
      found.push_back(path);
  });
  return found;
}

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

void make_private_folder(const fs::path& folder) {
  if (mkdir(folder.c_str(), S_IRWXU) == 0 || errno != ENOENT || !folder.has_parent_path()) return;
  make_private_folder(folder.parent_path());
  mkdir(folder.c_str(), S_IRWXU);
}

// A symbolic link counts as well, since its owner chooses the folder. Folders above do not: a user who
// replaces the cache through them cannot make this user the owner of it, or of a file in it.
std::string why_not_owned(const fs::path& folder) {
  struct stat link{}, info{};
  if (lstat(folder.c_str(), &link) != 0 || stat(folder.c_str(), &info) != 0) return {};
  for (const uid_t owner : {link.st_uid, info.st_uid})
    if (!is_own(owner))
      return fmt::format("{} belongs to user {}, and this process to user {}", folder.string(),
                         owner, geteuid());
  return {};
}

Distrust distrust(const fs::path& folder) {
  if (std::string reason = why_not_owned(folder); !reason.empty()) return {std::move(reason)};
  struct stat info{};
  if (stat(folder.c_str(), &info) != 0 || (info.st_mode & others_write) == 0) return {};
  // With the sticky bit it is meant to be everybody's.
  const bool is_changeable = info.st_uid == geteuid() && (info.st_mode & S_ISVTX) == 0;
  return {fmt::format("other users may write to {}", folder.string()),
          is_changeable ? fmt::format("chmod go-w '{}'", folder.string()) : ""};
}

bool close_to_others(const fs::path& folder) {
  struct stat info{};
  return stat(folder.c_str(), &info) == 0 &&
         chmod(folder.c_str(), info.st_mode & ~others_write) == 0;
}

bool is_trusted(const fs::path& file) {
  struct stat info{};
  return lstat(file.c_str(), &info) == 0 && is_trusted(info);
}

std::optional<std::string> read_trusted(const fs::path& file) {
  const Descriptor in = open_to_read(file);
  struct stat info{};
  if (!in.is_open() || fstat(in.get(), &info) != 0 || !is_trusted(info)) return std::nullopt;
  mark_used(in, info);
  return read_some(in, static_cast<std::size_t>(info.st_size));
}

// Written beside, then renamed. Processes of several containers may have the same number: they count
// from the time at which they began.
bool write_whole(const fs::path& file, std::string_view text) {
  static std::atomic<std::int64_t> count =
      std::chrono::system_clock::now().time_since_epoch().count();
  const fs::path part = fmt::format("{}.{}.{}", file.string(), getpid(), ++count);
  const Descriptor out = create(part);
  if (!out.is_open()) return false;
  std::error_code error;
  const bool is_written = write_all(out, text);
  if (is_written) fs::rename(part, file, error);
  if (is_written && !error) return true;
  fs::remove(part, error);
  return false;
}

fs::path entry_file(const fs::path& folder, std::uint64_t hash) {
  const std::string name = fmt::format("{:016x}", hash);
  return folder / name.substr(0, prefix_digits) / name;
}

std::vector<CacheEntry> entries_in(const fs::path& folder) {
  std::vector<CacheEntry> entries;
  const auto add = [&](const fs::path& path, const std::string& name, bool is_flat) {
    struct stat info{};
    if (!is_entry_name(name) || lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return;
    entries.push_back({path, bytes_on_disk(static_cast<std::uint64_t>(info.st_size)),
                       is_flat ? 0 : nanoseconds(info.st_mtim)});
  };
  visit_folder(folder, [&](const auto& path, const auto& name) { add(path, name, true); });
  for (const fs::path& prefix : prefix_folders(folder))
    visit_folder(prefix, [&](const auto& path, const auto& name) {
      if (name.starts_with(prefix.filename().string())) add(path, name, false);
    });
  return entries;
}

bool remove_entry(const CacheEntry& entry) {
  const Descriptor in = open_to_read(entry.file);
  std::error_code error;
  return in.is_open() && entry_mark.starts_with(read_some(in, entry_mark.size())) &&
         fs::remove(entry.file, error);
}

void remove_empty_folders(const fs::path& folder) {
  std::error_code error;
  for (const fs::path& prefix : prefix_folders(folder)) fs::remove(prefix, error);
}

}  // namespace weft
