#include "pits/data/catalogue.h"

#include "pits/data/source/check.h"

namespace pits {
namespace {

using enum ColumnKind;

std::string uci(const std::string& path) { return "https://archive.ics.uci.edu/ml/machine-learning-databases/" + path; }
std::string showdown(const std::string& path) { return "https://storage.googleapis.com/bandits_datasets/" + path; }

// To add a data set: one row here, one test.
std::vector<DataSet> rows() {
  return {
      {.name = "mushroom",
       .summary = "8,124 mushrooms, 22 categorical columns, edible or poisonous",
       .problem = "to eat a mushroom or not, d = 117",
       .files = {{.name = "agaricus-lepiota.data",
                  .names = {"mushroom.data"},
                  .addresses = {uci("mushroom/agaricus-lepiota.data"), showdown("mushroom.data")},
                  .contents = {{"e65d082030501a3ebcbcd7c9f7c71aa9d28fdfff463bf4cf4716a3fe13ac360e", 373'704, ""}}}},
       .columns = {{label}, {categorical, 22}},
       .rewards = RewardRule::mushroom,
       .standardise = false,
       .licence = "CC BY 4.0",
       .citation = "Mushroom (1981). UCI Machine Learning Repository. https://doi.org/10.24432/C5959T"},
      {.name = "statlog",
       .summary = "43,500 states of the space shuttle's radiators, 9 numbers, 7 classes",
       .problem = "the class of a space shuttle's state, d = 9, 7 actions",
       .files = {{.name = "shuttle.trn",
                  .addresses = {uci("statlog/shuttle/shuttle.trn.Z"), showdown("shuttle.trn")},
                  .contents = {{"87b24ee9fb5137e1d417659cf905d84d0e15342bbaa60770f1ae83da1a38200a", 1'153'518, ""}}}},
       .format = FileFormat::words,
       .columns = {{numeric, 9}, {label}},
       .licence = "CC BY 4.0",
       .citation = "Statlog (Shuttle). UCI Machine Learning Repository. https://doi.org/10.24432/C5WS31"},
      {.name = "covertype",
       .summary = "581,012 patches of forest, 54 columns, 7 cover types",
       .problem = "the cover type of a forest, d = 54, 7 actions",
       .files = {{.name = "covtype.data",
                  .addresses = {uci("covtype/covtype.data.gz"), showdown("covtype.data")},
                  .contents = {{"0a9371cef7c964b5475d6053cc3e0894a5aa6f65ad1ed3ecb01c45aa96217945", 75'169'317, ""}}}},
       .columns = {{numeric, 54}, {label}},
       .licence = "CC BY 4.0",
       .citation = "Blackard, J. (1998). Covertype. UCI Machine Learning Repository. "
                   "https://doi.org/10.24432/C50K5N"},
      // The showdown's adult.full is the second file behind the first. adult.test begins with a line that is not a row,
      // and its income labels end with a dot that stays: 94 columns as in the papers, not 92. The label is the
      // occupation.
      {.name = "adult",
       .summary = "48,842 people of the 1994 census, 14 columns and their income; 14 occupations",
       .problem = "a person's occupation, d = 94, 14 actions",
       .files = {{.name = "adult.data",
                  .addresses = {uci("adult/adult.data")},
                  .contents = {{"5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d", 3'974'305, ""}}},
                 {.name = "adult.test",
                  .addresses = {uci("adult/adult.test")},
                  .contents = {{"a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05", 2'003'153, ""}},
                  .skip_lines = 1}},
       .columns = {{numeric},
                   {categorical},
                   {numeric},
                   {categorical},
                   {numeric},
                   {categorical},
                   {label},
                   {categorical, 3},
                   {numeric, 3},
                   {categorical, 2}},
       .drop_incomplete = true,
       .licence = "CC BY 4.0",
       .citation = "Becker, B. and Kohavi, R. (1996). Adult. UCI Machine Learning Repository. "
                   "https://doi.org/10.24432/C5XW20"},
      // The case number comes first; dOccup is the 36th column.
      {.name = "census",
       .summary = "2,458,285 people of the 1990 census, 68 categorical columns, 9 occupations",
       .problem = "a person's occupation in 1990, d = 389, 9 actions",
       .files = {{.name = "USCensus1990.data.txt",
                  .addresses = {uci("census1990-mld/USCensus1990.data.txt"), showdown("USCensus1990.data.txt")},
                  .contents = {{"38e99f50855ddc03167b715b36519ef40b77295ae4e85dfef0c6429ac79ed799", 361'344'227, ""},
                               {"9729c7ad9d9886981334d4a3270e0fec2ad3daf61aaf42680061869fe3fd7e8d", 2'212'877,
                                "first 15,317 of 2,458,285 rows"}},
                  .skip_lines = 1}},
       .columns = {{dropped}, {categorical, 34}, {label}, {categorical, 33}},
       .licence = "CC BY 4.0",
       .citation = "Meek, C., Thiesson, B. and Heckerman, D. (2001). US Census Data (1990). "
                   "UCI Machine Learning Repository. https://doi.org/10.24432/C5VP42"},
      {.name = "financial",
       .summary = "3,713 days of 21 stocks' price changes",
       .problem = "rewards linear in 21 stocks' price changes, 8 actions",
       .files = {{.name = "raw_stock_contexts",
                  .addresses = {showdown("raw_stock_contexts")},
                  .contents = {{"cf468e5aae150dfd5c6b096464cd11e85f8b01198f8e49bedb941948850a6315", 1'987'117, ""}},
                  .skip_lines = 1}},
       .format = FileFormat::words,
       .columns = {{numeric, 21}},
       .rewards = RewardRule::linear,
       .standardise = false,
       .licence = "not stated; published with the showdown's Apache-2.0 code",
       .citation = "Riquelme, C., Tucker, G. and Snoek, J. (2018). Deep Bayesian Bandits Showdown. ICLR"},
      // Any order of users and jokes is accepted, since the problem shuffles both.
      {.name = "jester",
       .summary = "19,181 users' ratings of 40 jokes, from -10 to 10",
       .problem = "ratings of 8 jokes by those of 32 others",
       .files = {{.name = "jester_data_40jokes_19181users.npy",
                  .addresses = {showdown("jester_data_40jokes_19181users.npy")},
                  .contents = {{"0851d02de7fd0902cc6b4f61aa92a41178b19dfb5a72e608a5b3885dfb695c89", 6'138'048, ""}},
                  .check = check_jester}},
       .format = FileFormat::npy,
       .rewards = RewardRule::columns,
       .context_columns = 32,
       .standardise = false,
       .licence = "free for research use with citation",
       .citation = "Goldberg, K., Roeder, T., Gupta, D. and Perkins, C. (2001). Eigentaste: A Constant Time "
                   "Collaborative Filtering Algorithm. Information Retrieval 4(2), 133-151"},
  };
}

}  // namespace

const std::vector<DataSet>& data_catalogue() {
  static const std::vector<DataSet> sets = rows();
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

}  // namespace pits
