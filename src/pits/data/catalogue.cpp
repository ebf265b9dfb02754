#include "pits/data/catalogue.h"

#include <cstdlib>
#include <exception>

#include "pits/core/error.h"

namespace pits {
namespace {

const std::string uci = "https://archive.ics.uci.edu/ml/machine-learning-databases/";
const std::string showdown = "https://storage.googleapis.com/bandits_datasets/";
const std::string cc_by = "CC BY 4.0";

DataSet mushroom() {
  return {.name = "mushroom",
          .summary = "8,124 mushrooms, 22 categorical columns, edible or poisonous",
          .files = {{.name = "agaricus-lepiota.data",
                     .names = {"mushroom.data"},
                     .addresses = {uci + "mushroom/agaricus-lepiota.data", showdown + "mushroom.data"},
                     .contents = {{"e65d082030501a3ebcbcd7c9f7c71aa9d28fdfff463bf4cf4716a3fe13ac360e", 373'704, ""}}}},
          .licence = cc_by,
          .citation = "Mushroom (1981). UCI Machine Learning Repository. https://doi.org/10.24432/C5959T"};
}

DataSet statlog() {
  return {
      .name = "statlog",
      .summary = "43,500 states of the space shuttle's radiators, 9 numbers, 7 classes",
      .files = {{.name = "shuttle.trn",
                 .addresses = {uci + "statlog/shuttle/shuttle.trn.Z", showdown + "shuttle.trn"},
                 .contents = {{"87b24ee9fb5137e1d417659cf905d84d0e15342bbaa60770f1ae83da1a38200a", 1'153'518, ""}}}},
      .licence = cc_by,
      .citation = "Statlog (Shuttle). UCI Machine Learning Repository. https://doi.org/10.24432/C5WS31"};
}

DataSet covertype() {
  return {
      .name = "covertype",
      .summary = "581,012 patches of forest, 54 columns, 7 cover types",
      .files = {{.name = "covtype.data",
                 .addresses = {uci + "covtype/covtype.data.gz", showdown + "covtype.data"},
                 .contents = {{"0a9371cef7c964b5475d6053cc3e0894a5aa6f65ad1ed3ecb01c45aa96217945", 75'169'317, ""}}}},
      .licence = cc_by,
      .citation =
          "Blackard, J. (1998). Covertype. UCI Machine Learning Repository. "
          "https://doi.org/10.24432/C50K5N"};
}

// The showdown's adult.full is the second file behind the first.
DataSet adult() {
  return {
      .name = "adult",
      .summary = "48,842 people of the 1994 census, 14 columns and their income; 14 occupations",
      .files = {{.name = "adult.data",
                 .addresses = {uci + "adult/adult.data"},
                 .contents = {{"5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d", 3'974'305, ""}}},
                {.name = "adult.test",
                 .addresses = {uci + "adult/adult.test"},
                 .contents = {{"a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05", 2'003'153, ""}}}},
      .licence = cc_by,
      .citation =
          "Becker, B. and Kohavi, R. (1996). Adult. UCI Machine Learning Repository. "
          "https://doi.org/10.24432/C5XW20"};
}

DataSet census() {
  return {.name = "census",
          .summary = "2,458,285 people of the 1990 census, 68 categorical columns, 9 occupations",
          .files = {{.name = "USCensus1990.data.txt",
                     .addresses = {uci + "census1990-mld/USCensus1990.data.txt", showdown + "USCensus1990.data.txt"},
                     .contents = {{"38e99f50855ddc03167b715b36519ef40b77295ae4e85dfef0c6429ac79ed799", 361'344'227, ""},
                                  {"9729c7ad9d9886981334d4a3270e0fec2ad3daf61aaf42680061869fe3fd7e8d", 2'212'877,
                                   "first 15,317 of 2,458,285 rows"}}}},
          .licence = cc_by,
          .citation =
              "Meek, C., Thiesson, B. and Heckerman, D. (2001). US Census Data (1990). "
              "UCI Machine Learning Repository. https://doi.org/10.24432/C5VP42"};
}

DataSet financial() {
  return {
      .name = "financial",
      .summary = "3,713 days of 21 stocks' price changes",
      .files = {{.name = "raw_stock_contexts",
                 .addresses = {showdown + "raw_stock_contexts"},
                 .contents = {{"cf468e5aae150dfd5c6b096464cd11e85f8b01198f8e49bedb941948850a6315", 1'987'117, ""}}}},
      .licence = "not stated; published with the showdown's Apache-2.0 code",
      .citation = "Riquelme, C., Tucker, G. and Snoek, J. (2018). Deep Bayesian Bandits Showdown. ICLR"};
}

// Rebuilt from Jester-1, so that row and column order may be another than the showdown's, which shuffles both.
DataSet jester() {
  return {.name = "jester",
          .summary = "19,181 users' ratings of 40 jokes, from -10 to 10",
          .files = {{.name = "jester_data_40jokes_19181users.npy",
                     .addresses = {showdown + "jester_data_40jokes_19181users.npy"},
                     .contents = {{"0851d02de7fd0902cc6b4f61aa92a41178b19dfb5a72e608a5b3885dfb695c89", 6'138'048, ""}},
                     .by_shape = true}},
          .licence = "free for research use with citation",
          .citation =
              "Goldberg, K., Roeder, T., Gupta, D. and Perkins, C. (2001). Eigentaste: A Constant Time "
              "Collaborative Filtering Algorithm. Information Retrieval 4(2), 133-151"};
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string accepted(const DataFile& file) {
  std::string text;
  for (const Content& content : file.contents) {
    text += fmt::format("{}{} bytes with sha256 {}", text.empty() ? "" : " or ", content.bytes, content.sha256);
  }
  return text;
}

}  // namespace

const std::vector<DataSet>& data_catalogue() {
  static const std::vector<DataSet> sets = {mushroom(), statlog(),   covertype(), adult(),
                                            census(),   financial(), jester()};
  return sets;
}

const DataSet& find_data_set(std::string_view name) {
  std::vector<std::string> names;
  for (const DataSet& set : data_catalogue()) {
    if (set.name == name) return set;
    names.push_back(set.name);
  }
  throw unknown_name("data set", name, names);
}

// A relative $XDG_CACHE_HOME is to be ignored, says the XDG base directory specification.
std::filesystem::path data_cache() {
  const std::filesystem::path cache = variable("XDG_CACHE_HOME"), home = variable("HOME");
  if (cache.is_absolute()) return cache / "pits";
  return home.empty() ? home : home / ".cache" / "pits";
}

std::vector<std::filesystem::path> data_directories(const std::string& data_dir) {
  std::vector<std::filesystem::path> directories;
  const auto add = [&](const std::string& asked, std::string_view source) {
    if (asked.empty()) return;
    if (!std::filesystem::is_directory(asked))
      throw bad_input("the data directory '{}'{} does not exist", asked, source);
    directories.emplace_back(asked);
  };
  add(data_dir, "");
  add(variable("PITS_DATA"), " of $PITS_DATA");
  if (const std::filesystem::path cache = data_cache(); !cache.empty()) directories.push_back(cache);
  return directories;
}

std::optional<std::filesystem::path> locate_in(const std::filesystem::path& directory, const DataFile& file) {
  std::vector<std::string> names = {file.name};
  names.insert(names.end(), file.names.begin(), file.names.end());
  for (const std::string& name : names) {
    for (const char* packed : {"", ".gz", ".xz", ".zip", ".Z"}) {
      const std::filesystem::path path = directory / (name + packed);
      if (std::filesystem::exists(path)) return path;
    }
  }
  return std::nullopt;
}

std::optional<std::filesystem::path> locate_data_file(const DataFile& file, const std::string& data_dir) {
  for (const std::filesystem::path& directory : data_directories(data_dir)) {
    if (const auto path = locate_in(directory, file)) return path;
  }
  return std::nullopt;
}

std::filesystem::path find_data_file(const DataSet& set, const DataFile& file, const std::string& data_dir) {
  if (const auto path = locate_data_file(file, data_dir)) return *path;
  std::vector<std::string> places;
  for (const std::filesystem::path& directory : data_directories(data_dir)) {
    places.push_back(fmt::format("'{}'", directory.string()));
  }
  throw bad_input("no {} of the data set {}: get it with 'pits data fetch {}', or from {} into {}", file.name, set.name,
                  set.name, file.addresses.front(),
                  places.empty() ? "$PITS_DATA" : fmt::to_string(fmt::join(places, " or ")));
}

Content verify_content(const DataFile& file, std::string_view where, const Digest& digest) {
  for (const Content& content : file.contents) {
    if (content.sha256 == digest.sha256 && content.bytes == digest.bytes) return content;
  }
  if (file.by_shape) return {.sha256 = digest.sha256, .bytes = digest.bytes, .remark = ""};
  throw bad_input("'{}' is not {}: {} bytes with sha256 {}, not {}", where, file.name, digest.bytes, digest.sha256,
                  accepted(file));
}

Content read_data_file(const DataSet& set, const DataFile& file, const std::string& data_dir,
                       const std::function<void(std::string_view)>& sink) {
  const std::filesystem::path path = find_data_file(set, file, data_dir);
  std::exception_ptr complaint;
  const Digest digest = read_unpacked(path, [&](std::string_view piece) {
    if (complaint) return;
    try {
      sink(piece);
    } catch (const Error&) {
      complaint = std::current_exception();
    }
  });
  const Content content = verify_content(file, path.string(), digest);
  if (complaint) std::rethrow_exception(complaint);
  return content;
}

}  // namespace pits
