// Snapshots in an SQLite file of their own. They are a cache: a file that is missing or that SQLite cannot read is as
// an empty one. Who opens it for writing gets a new one, and the old one becomes FILE.damaged.
#pragma once

#include <filesystem>
#include <memory>

#include "pits/log/sqlite.h"
#include "pits/log/store.h"

namespace pits {

class SqliteSnapshots {
 public:
  // expected: the log has events, so that there was a file.
  SqliteSnapshots(const std::filesystem::path& file, Access access, bool expected);
  ~SqliteSnapshots();

  void keep(const Snapshot& snapshot);  // these two only where it was opened for writing
  void drop(EventNumber number);
  std::vector<Snapshot> list() const;  // without their bytes, oldest first
  std::optional<Snapshot> find(EventNumber number) const;
  const std::string& damage() const { return damage_; }  // of the file; empty: none

 private:
  struct Writer;
  struct Reader;

  void open(const std::filesystem::path& file, Access access);

  std::unique_ptr<Writer> writer_;
  std::unique_ptr<Reader> reader_;  // none: there is no file that can be read
  std::string damage_;
};

}  // namespace pits
