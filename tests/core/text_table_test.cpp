#include "pits/core/io/text_table.h"

#include <gtest/gtest.h>

namespace pits::test {
namespace {

const TextTable small{.header = {"Method", "A_1 & B", "δ = 0.5"},
                      .rows = {{"π-TS", "1.00 ± 0.10", "50%"}, {"a, \"b\"", "−2.0", ""}},
                      .notes = {"Mean ± se."}};

TEST(TextTable, TextAlignsByWhatIsSeenNotByBytes) {
  EXPECT_EQ(as_text(small),
            "Method      A_1 & B  δ = 0.5\n"
            "π-TS    1.00 ± 0.10      50%\n"
            "a, \"b\"         −2.0\n"
            "\n"
            "Mean ± se.\n");
}

TEST(TextTable, ColumnsOfWordsAreLeftAlignedAndCellsBold) {
  EXPECT_EQ(as_text({.header = {}, .rows = {{"π", "one", "x"}, {"blob", "three", "yy"}}, .left = 2, .bold = {{0, 2}}}),
            "π     one    \033[1m x\033[0m\n"
            "blob  three  yy\n");
}

TEST(TextTable, Markdown) {
  EXPECT_EQ(as_markdown({.header = {"a", "b|c"}, .rows = {{"x", "1"}}}), "| a | b\\|c |\n|---|---:|\n| x | 1 |\n");
}

TEST(TextTable, LatexEscapesWhatLatexReads) {
  EXPECT_EQ(as_latex(small),
            "\\begin{tabular}{lrr}\n\\toprule\n"
            "Method & A\\_1 \\& B & $\\delta$ = 0.5 \\\\\n\\midrule\n"
            "$\\pi$-TS & 1.00 $\\pm$ 0.10 & 50\\% \\\\\n"
            "a, \"b\" & $-$2.0 &  \\\\\n"
            "\\bottomrule\n\\multicolumn{3}{l}{\\footnotesize Mean $\\pm$ se.} \\\\\n\\end{tabular}\n");
}

TEST(TextTable, CsvQuotesByRfc4180) {
  EXPECT_EQ(as_csv(small), "Method,A_1 & B,δ = 0.5\nπ-TS,1.00 ± 0.10,50%\n\"a, \"\"b\"\"\",−2.0,\n");
}

}  // namespace
}  // namespace pits::test
