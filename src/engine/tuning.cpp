// The only file that includes SQLite. Whatever goes wrong with the file, searches are only done anew.

#include <weft/dev/engine/tuning.h>

#include <sqlite3.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <fmt/format.h>
#include <weft/dev/device/disk_cache.h>

namespace weft {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view first_line = "weft tuning 1";
constexpr int patience_ms = 2000;  // while another process writes

struct Close {
  void operator()(sqlite3* connection) const { sqlite3_close(connection); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Connection = std::unique_ptr<sqlite3, Close>;

class Statement {
 public:
  Statement(sqlite3* connection, const char* sql) {
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(connection, sql, -1, &statement, nullptr);
    statement_.reset(statement);
  }
  Statement& with(const std::string& text) {
    sqlite3_bind_text(statement_.get(), ++bound_, text.data(), static_cast<int>(text.size()),
                      SQLITE_TRANSIENT);
    return *this;
  }
  Statement& with(std::int64_t value) {
    sqlite3_bind_int64(statement_.get(), ++bound_, value);
    return *this;
  }
  Statement& with(double value) {
    sqlite3_bind_double(statement_.get(), ++bound_, value);
    return *this;
  }
  // To the next row, if there is one.
  bool step() { return statement_ != nullptr && sqlite3_step(statement_.get()) == SQLITE_ROW; }
  std::int64_t number() const { return sqlite3_column_int64(statement_.get(), 0); }
  Tuning row() const {
    return {text(0),
            text(1),
            text(2),
            sqlite3_column_int64(statement_.get(), 3),
            sqlite3_column_double(statement_.get(), 4),
            sqlite3_column_double(statement_.get(), 5),
            sqlite3_column_int(statement_.get(), 6) != 0,
            sqlite3_column_double(statement_.get(), 7),
            text(8)};
  }

 private:
  std::string text(int column) const {
    const auto* bytes = sqlite3_column_text(statement_.get(), column);
    const int size = sqlite3_column_bytes(statement_.get(), column);
    return bytes == nullptr ? std::string() : std::string(bytes, bytes + size);
  }

  std::unique_ptr<sqlite3_stmt, Close> statement_;
  int bound_ = 0;
};

// SQLite's result of making sure that the table is there: the first that reads the file.
int open(const std::string& file, Connection& connection) {
  sqlite3* opened = nullptr;
  sqlite3_open_v2(file.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  connection.reset(opened);
  sqlite3_busy_timeout(opened, patience_ms);
  // What a crash of the machine takes is only searched anew.
  sqlite3_exec(opened, "PRAGMA synchronous = OFF", nullptr, nullptr, nullptr);
  return sqlite3_exec(opened,
                      "CREATE TABLE IF NOT EXISTS searches (kernel TEXT, device TEXT, "
                      "schedule TEXT, width INTEGER, seconds REAL, default_seconds REAL, "
                      "is_done INTEGER, spent REAL, tried TEXT, PRIMARY KEY (kernel, device))",
                      nullptr, nullptr, nullptr);
}

// Without a folder, in memory: for as long as the process lives.
std::string file_name() {
  const fs::path folder = disk_cache().folder();
  return folder.empty() ? ":memory:" : (folder / "schedules.sqlite").string();
}

struct Store {
  std::mutex mutex;
  // By file and process: a connection does not outlive a fork.
  std::map<std::pair<std::string, pid_t>, Connection> connections;

  // With the mutex held. Null where there is none, of which SQLite says that it finds nothing.
  sqlite3* connection() {
    const std::string file = file_name();
    Connection& known = connections[{file, getpid()}];
    if (known != nullptr) return known.get();
    disk_cache().make_folder();
    std::error_code error;
    if (fs::exists(fs::symlink_status(file, error)) && !is_trusted(file)) fs::remove(file, error);
    int result = open(file, known);
    if (result == SQLITE_NOTADB || result == SQLITE_CORRUPT) {
      fs::remove(file, error);
      result = open(file, known);
    }
    if (result != SQLITE_OK) known = nullptr;  // the disk is full, say: who asks next tries again
    return known.get();
  }
  bool is_open() {
    const auto found = connections.find({file_name(), getpid()});
    return found != connections.end() && found->second != nullptr;
  }
};

Store& store() {
  // Leaked on purpose: code may run until the very end of the process.
  static auto& only = *new Store;
  return only;
}

template <class Number>
bool read(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end = text.find(separator); end != std::string_view::npos;
       end = text.find(separator)) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

std::optional<Tuning> parse(std::string_view line) {
  const auto parts = split(line, '\t');
  if (parts.size() != 6) return std::nullopt;
  Tuning tuning{.kernel = std::string(parts[0]),
                .device = std::string(parts[1]),
                .schedule = std::string(parts[5])};
  if (!read(parts[2], tuning.width) || !read(parts[3], tuning.seconds) ||
      !read(parts[4], tuning.default_seconds))
    return std::nullopt;
  return tuning;
}

}  // namespace

bool has_tunings() {
  const std::lock_guard lock(store().mutex);
  std::error_code error;
  return store().is_open() || fs::exists(file_name(), error);
}

std::optional<Tuning> find_tuning(const std::string& kernel, const std::string& device) {
  const std::lock_guard lock(store().mutex);
  Statement select(store().connection(), "SELECT * FROM searches WHERE kernel = ? AND device = ?");
  select.with(kernel).with(device);
  return select.step() ? std::optional(select.row()) : std::nullopt;
}

void keep_tuning(const Tuning& tuning) {
  const std::lock_guard lock(store().mutex);
  Statement(store().connection(),
            "INSERT OR REPLACE INTO searches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .with(tuning.kernel)
      .with(tuning.device)
      .with(tuning.schedule)
      .with(tuning.width)
      .with(tuning.seconds)
      .with(tuning.default_seconds)
      .with(std::int64_t{tuning.is_done})
      .with(tuning.spent)
      .with(tuning.tried)
      .step();
}

std::size_t count_tunings() {
  const std::lock_guard lock(store().mutex);
  Statement count(store().connection(), "SELECT COUNT(*) FROM searches");
  return count.step() ? static_cast<std::size_t>(count.number()) : 0;
}

void clear_tunings() {
  const std::lock_guard lock(store().mutex);
  Statement(store().connection(), "DELETE FROM searches").step();
  Statement(store().connection(), "VACUUM").step();
}

std::string export_tunings() {
  const std::lock_guard lock(store().mutex);
  std::string text = fmt::format("{}\n", first_line);
  Statement select(store().connection(), "SELECT * FROM searches ORDER BY kernel, device");
  while (select.step()) {
    const Tuning row = select.row();
    text += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", row.kernel, row.device, row.width, row.seconds,
                        row.default_seconds, row.schedule);
  }
  return text;
}

std::size_t import_tunings(std::string_view text) {
  const auto lines = split(text, '\n');
  if (lines[0] != first_line) return 0;
  std::size_t count = 0;
  for (std::string_view line : lines)
    if (const auto tuning = parse(line)) {
      keep_tuning(*tuning);
      ++count;
    }
  return count;
}

}  // namespace weft
