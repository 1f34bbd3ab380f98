// Object files to archives. A part of the module.

#include <string>

#include <llvm/Object/ArchiveWriter.h>

#include "module.h"

namespace weft::module {

bool archive(const char* name, const char* object, std::size_t size, WeftTakeText take, void* to) {
  const llvm::NewArchiveMember member(llvm::MemoryBufferRef(llvm::StringRef(object, size), name));
  auto written = llvm::writeArchiveToBuffer(member, llvm::SymtabWritingMode::NormalSymtab,
                                            llvm::object::Archive::K_GNU, /*Deterministic=*/true,
                                            /*Thin=*/false);
  if (!written) {
    const std::string problem = llvm::toString(written.takeError());
    take(to, problem.data(), problem.size());
    return false;
  }
  take(to, (*written)->getBufferStart(), (*written)->getBufferSize());
  return true;
}

}  // namespace weft::module
