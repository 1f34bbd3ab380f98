#include <weft/dev/base/process.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include <fmt/core.h>
#include <weft/error.h>

extern char** environ;  // NOLINT: POSIX names it

namespace weft {

namespace fs = std::filesystem;

std::string read_text(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) user_error(fmt::format("{} cannot be read", file.string()));
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_text(const fs::path& file, std::string_view text) {
  std::ofstream out(file, std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  if (!out)
    user_error(fmt::format("{} cannot be written: {}", file.string(), std::strerror(errno)));
}

std::string find_program(const std::vector<std::string>& names) {
  const char* variable = std::getenv("PATH");
  const std::string path = variable != nullptr ? variable : "";
  for (const std::string& name : names)
    for (std::size_t begin = 0; begin <= path.size();) {
      const std::size_t end = std::min(path.find(':', begin), path.size());
      const fs::path file = fs::path(path.substr(begin, end - begin)) / name;
      if (access(file.c_str(), X_OK) == 0) return fs::absolute(file).string();
      begin = end + 1;
    }
  return {};
}

std::string run_program(const std::vector<std::string>& command, const fs::path& folder) {
  const TemporaryFolder written;
  const std::string out = (written / "out").string(), errors = (written / "errors").string();
  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  constexpr int mode = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out.c_str(), mode, 0600);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, errors.c_str(), mode, 0600);
  posix_spawn_file_actions_addchdir_np(&files, folder.c_str());
  pid_t process = 0;
  const int error = posix_spawn(&process, arguments[0], &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0)
    user_error(fmt::format("{} does not start: {}", command[0], std::strerror(error)));

  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    internal_error(fmt::format("{} failed:\n{}", command[0], read_text(errors)));
  return read_text(out);
}

}  // namespace weft
