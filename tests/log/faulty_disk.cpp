#include "log/faulty_disk.h"

#include <cerrno>
#include <cstring>
#include <string>

namespace pits::test {
namespace {

// The shim's file, followed in memory by the system's.
struct File {
  sqlite3_file base;
  FaultyDisk* disk;
};

sqlite3_file* real(sqlite3_file* file) { return reinterpret_cast<sqlite3_file*>(reinterpret_cast<File*>(file) + 1); }
FaultyDisk& disk_of(sqlite3_file* file) { return *reinterpret_cast<File*>(file)->disk; }

// Forwards one method to the system's file.
template <auto member, class... Args>
int forward(sqlite3_file* file, Args... args) {
  return (real(file)->pMethods->*member)(real(file), args...);
}

int write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
  const int code = disk_of(file).answer(Call::write);
  if (code == SQLITE_OK) return real(file)->pMethods->xWrite(real(file), bytes, size, offset);
  real(file)->pMethods->xWrite(real(file), bytes, size / 2, offset);  // torn
  errno = code == SQLITE_FULL ? ENOSPC : EIO;
  return code;
}

int sync(sqlite3_file* file, int flags) {
  const int code = disk_of(file).answer(Call::sync);
  if (code != SQLITE_OK) errno = EIO;
  return code == SQLITE_OK ? real(file)->pMethods->xSync(real(file), flags) : code;
}

using M = sqlite3_io_methods;
const M methods = {
    .iVersion = 2,
    .xClose = forward<&M::xClose>,
    .xRead = forward<&M::xRead, void*, int, sqlite3_int64>,
    .xWrite = write,
    .xTruncate = forward<&M::xTruncate, sqlite3_int64>,
    .xSync = sync,
    .xFileSize = forward<&M::xFileSize, sqlite3_int64*>,
    .xLock = forward<&M::xLock, int>,
    .xUnlock = forward<&M::xUnlock, int>,
    .xCheckReservedLock = forward<&M::xCheckReservedLock, int*>,
    .xFileControl = forward<&M::xFileControl, int, void*>,
    .xSectorSize = forward<&M::xSectorSize>,
    .xDeviceCharacteristics = forward<&M::xDeviceCharacteristics>,
    .xShmMap = forward<&M::xShmMap, int, int, int, void volatile**>,
    .xShmLock = forward<&M::xShmLock, int, int, int>,
    .xShmBarrier = [](sqlite3_file* file) { real(file)->pMethods->xShmBarrier(real(file)); },
    .xShmUnmap = forward<&M::xShmUnmap, int>,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

sqlite3_vfs* system_of(sqlite3_vfs* shim) { return sqlite3_vfs_find(static_cast<const char*>(shim->zName) + 7); }

int open(sqlite3_vfs* shim, const char* name, sqlite3_file* file, int flags, int* out) {
  auto* const own = reinterpret_cast<File*>(file);
  own->base.pMethods = nullptr;
  own->disk = static_cast<FaultyDisk*>(shim->pAppData);
  if (const int code = own->disk->answer(Call::open); code != SQLITE_OK) return code;
  const int code = system_of(shim)->xOpen(system_of(shim), name, real(file), flags, out);
  if (real(file)->pMethods != nullptr) own->base.pMethods = &methods;
  return code;
}

}  // namespace

FaultyDisk::FaultyDisk() : system_(sqlite3_vfs_find(nullptr)), shim_(*system_) {
  static std::string name;
  name = std::string("faulty-") + system_->zName;  // system_of() takes the part after the dash
  shim_.zName = name.c_str();
  shim_.pNext = nullptr;
  shim_.szOsFile = static_cast<int>(sizeof(File)) + system_->szOsFile;
  shim_.xOpen = open;
  shim_.pAppData = this;
  sqlite3_vfs_register(&shim_, 1);
}

FaultyDisk::~FaultyDisk() {
  sqlite3_vfs_register(system_, 1);
  sqlite3_vfs_unregister(&shim_);
}

void FaultyDisk::fail(Call call, int code, long after, long times) {
  call_ = static_cast<int>(call);
  code_ = code;
  from_ = counts_[call_] + after;
  to_ = from_ + times;
}

void FaultyDisk::heal() { to_ = 0; }

int FaultyDisk::answer(Call call) {
  const long n = counts_[static_cast<int>(call)]++;
  if (call_ != static_cast<int>(call) || n < from_ || n >= to_) return SQLITE_OK;
  ++failures_;
  return code_;
}

}  // namespace pits::test
