// Data files from their public addresses: downloaded, resumed, unpacked, verified, and stored whole or not at all.
#pragma once

#include <optional>

#include "pits/data/catalogue.h"
#include "pits/data/source/transfer.h"

namespace pits {

struct FetchOptions {
  std::filesystem::path directory;                        // where the file goes
  std::string from = {};                                  // a mirror's address; empty: the public addresses
  std::function<void(const std::string&)> starting = {};  // called with every address that is tried
  TransferWatch watch = {};
};

// Where `file` is looked for: its public addresses, or the names it has there behind the mirror's address.
std::vector<std::string> fetch_addresses(const DataFile& file, const std::string& from);

// Tries the addresses in order and stores the unpacked file as DIRECTORY/NAME. What came before a connection broke is
// kept as SERVED-NAME.part and continued, now or at the next call. More than most_bytes(file) is never stored. Returns
// nothing where `watch.stop` ended it. An Error names the reason at every address, the first public address, and where
// to put the file by hand.
std::optional<Content> fetch_data_file(const DataSet& set, const DataFile& file, const FetchOptions& options);

}  // namespace pits
