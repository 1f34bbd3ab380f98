#include <weft/dev/io/mapping.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include <weft/dev/engine/storage.h>
#include <weft/dev/io/file.h>

namespace weft {
namespace {

// So much of a copy is in memory twice.
constexpr std::size_t copied_at_once = std::size_t{4} << 20;

struct Descriptor {
  explicit Descriptor(const std::string& path)
      : number(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  const int number;
};

}  // namespace

Mapping::Mapping(const std::string& path) {
  const InFile in{path};
  const Descriptor file(path);
  struct stat found{};
  if (file.number < 0 || ::fstat(file.number, &found) != 0) in.fail_by_errno();
  if (!S_ISREG(found.st_mode)) in.fail("it is no regular file");
  const auto size = static_cast<std::size_t>(found.st_size);
  if (size == 0) return;
  // Private: what is assigned to a tensor is written to a page of this process.
  void* start =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file.number, 0);
  if (start == MAP_FAILED) in.fail_by_errno();
  // A page at a time: what is forgotten would come back with small neighbours, in pages of megabytes.
  ::madvise(start, size, MADV_NOHUGEPAGE);
  bytes_ = {static_cast<std::byte*>(start), size};
}

Mapping::~Mapping() {
  if (!bytes_.empty() && own_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

bool Mapping::holds(std::span<const std::byte> part) const {
  const std::less_equal<> is_before;
  return is_before(bytes_.data(), part.data()) &&
         is_before(part.data() + part.size(), bytes_.data() + bytes_.size());
}

void Mapping::forget(std::span<const std::byte> part) const {
  if (part.empty() || !own_.empty() || !holds(part)) return;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = static_cast<std::size_t>(part.data() - bytes_.data());
  const std::size_t first = (begin + page - 1) / page * page;
  const std::size_t end = (begin + part.size()) / page * page;
  if (first < end) ::madvise(bytes_.data() + first, end - first, MADV_DONTNEED);
}

Memory::Memory(std::shared_ptr<const Mapping> file, const std::string& device, Assigned assigned)
    : file_(std::move(file)),
      device_(device.empty() ? default_device() : device),
      assigned_(assigned) {
  const bool is_one = !are_several(device_);
  home_ = is_one && find_device(device_).allocator().uses_addresses() ? device_ : "CPU";
}

Tensor Memory::tensor(std::span<const std::byte> part, DType dtype,
                      const std::vector<std::int64_t>& shape) const {
  const Options options{.dtype = dtype, .device = home_};
  if (reinterpret_cast<std::uintptr_t>(part.data()) % dtype.bytes() != 0) {
    const auto copy = [file = file_, part](std::span<std::byte> to) {
      for (std::size_t done = 0; done < part.size(); done += copied_at_once) {
        const auto piece = part.subspan(done, std::min(copied_at_once, part.size() - done));
        std::memcpy(to.data() + done, piece.data(), piece.size());
        file->forget(piece);
      }
    };
    return Tensor::from_recipe(copy, Shape(shape), options).to(device_);
  }
  auto* first = const_cast<std::byte*>(part.data());
  const Tensor in_place = Tensor::from_blob(first, Shape(shape), options, file_);
  if (assigned_ == Assigned::Never)
    memory_of(in_place.uop().node())->after_lending([file = file_, part] { file->forget(part); });
  return in_place.to(device_);
}

}  // namespace weft
