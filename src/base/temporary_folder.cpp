#include <weft/dev/base/temporary_folder.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include <fmt/core.h>
#include <weft/error.h>

namespace weft {
namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  std::string name = (fs::temp_directory_path(error) / "weft-XXXXXX").string();
  if (error) user_error(fmt::format("there is no folder for temporary files: {}", error.message()));
  if (mkdtemp(name.data()) == nullptr)
    user_error(fmt::format("{} cannot be created: {}", name, std::strerror(errno)));
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;  // what cannot be removed is the system's to clean up
  fs::remove_all(path_, ignored);
}

}  // namespace weft
