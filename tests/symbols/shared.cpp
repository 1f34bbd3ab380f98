#include "shared.h"

const void* call_from_shared(Where* where, std::uint32_t& line) {
  const void* address = (line = __LINE__, where());
  return address;
}
