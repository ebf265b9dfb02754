// Requests that another implementation might read in another way, and requests beyond the limits: each is refused with
// its status, the connection ends, and nothing of it reaches the handler.
#include "serve/raw_client.h"

namespace pits::test {
namespace {

struct Hostile {
  const char* name;
  int status;
  std::string bytes;
};

const std::string line = "POST /x HTTP/1.1\r\n", host = "Host: here\r\n", start = line + host;
const std::string second = "GET /smuggled HTTP/1.1\r\nHost: here\r\n\r\n";
const std::string chunked = start + "Transfer-Encoding: chunked\r\n\r\n";

std::string with(const std::string& fields, const std::string& body = "") { return start + fields + "\r\n" + body; }

std::vector<Hostile> framing() {
  return {
      {"LengthAndEncoding", 400, with("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")},
      {"EncodingAndLength", 400, with("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "0\r\n\r\n")},
      {"TwoLengths", 400, with("Content-Length: 5\r\nContent-Length: 6\r\n", "hello")},
      {"TheSameLengthTwice", 400, with("Content-Length: 5\r\nContent-Length: 5\r\n", "hello")},
      {"ListOfLengths", 400, with("Content-Length: 5, 5\r\n", "hello")},
      {"LengthWithPlus", 400, with("Content-Length: +5\r\n", "hello")},
      {"LengthWithMinus", 400, with("Content-Length: -1\r\n", "hello")},
      {"LengthInHex", 400, with("Content-Length: 0x5\r\n", "hello")},
      {"LengthOverflows", 400, with("Content-Length: 18446744073709551621\r\n", "hello")},
      {"EmptyLength", 400, with("Content-Length: \r\n", "hello")},
      {"SpaceInLength", 400, with("Content-Length: 5 5\r\n", "hello")},
      {"ChunkedTwice", 400, with("Transfer-Encoding: chunked, chunked\r\n", "0\r\n\r\n")},
      {"ChunkedInTwoFields", 400, with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")},
      {"ChunkedNotLast", 400, with("Transfer-Encoding: chunked, gzip\r\n", "0\r\n\r\n")},
      {"EmptyEncoding", 400, with("Transfer-Encoding: \r\n", "0\r\n\r\n")},
      {"UnknownEncoding", 501, with("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n")},
      {"EncodingBeforeChunked", 501, with("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n")},
      {"EncodingInHttp10", 400, "POST /x HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
  };
}

std::vector<Hostile> chunks() {
  return {
      {"ChunkSizeOverflows", 413, chunked + "fffffffffffffffff\r\nhello\r\n0\r\n\r\n"},
      {"ChunkSizeIsNegative", 400, chunked + "-1\r\nhello\r\n0\r\n\r\n"},
      {"ChunkSizeWithPrefix", 400, chunked + "0x5\r\nhello\r\n0\r\n\r\n"},
      {"ChunkWithoutSize", 400, chunked + ";a=b\r\nhello\r\n0\r\n\r\n"},
      {"ChunkSizeThenSpace", 400, chunked + "5 \r\nhello\r\n0\r\n\r\n"},
      {"ChunkLongerThanItsSize", 400, chunked + "4\r\nhello\r\n0\r\n\r\n"},
      {"ChunkLineEndsWithLf", 400, chunked + "5\nhello\r\n0\r\n\r\n"},
      {"ChunkDataEndsWithLf", 400, chunked + "5\r\nhello\n0\r\n\r\n"},
      {"ControlInExtension", 400, chunked + "5;a=\x01\r\nhello\r\n0\r\n\r\n"},
      {"LongExtension", 400, chunked + "5;" + std::string(1000, 'a') + "\r\nhello\r\n0\r\n\r\n"},
      {"TrailerEndsWithLf", 400, chunked + "0\r\nA: b\n\r\n"},
      {"LongTrailer", 431, chunked + "0\r\n" + std::string(10000, 'a') + "\r\n\r\n"},
  };
}

std::vector<Hostile> lines() {
  const std::string nul = std::string("A: b") + '\0' + "c\r\n";
  return {
      {"SpaceBeforeColon", 400, with("Content-Length : 0\r\n")},
      {"LfAtLineEnds", 400, "GET /x HTTP/1.1\nHost: here\n\n"},
      {"LfAtEndOfField", 400, line + "Host: here\nA: b\r\n\r\n"},
      {"CrInField", 400, with("A: b\rc\r\n")},
      {"NulInField", 400, with(nul)},
      {"NulInName", 400, with(std::string("A") + '\0' + ": b\r\n")},
      {"FoldedLine", 400, with("A: b\r\n c\r\n")},
      {"FieldWithoutName", 400, with(": b\r\n")},
      {"FieldWithoutColon", 400, with("nonsense\r\n")},
      {"NoHost", 400, "GET /x HTTP/1.1\r\n\r\n"},
      {"TwoHosts", 400, with("Host: there\r\n")},
      {"BadHost", 400, line + "Host: here/there\r\n\r\n"},
      {"TwoAuthorizations", 400, with("Authorization: Bearer a\r\nAuthorization: Bearer b\r\n")},
      {"OtherVersion", 505, "GET /x HTTP/2.0\r\nHost: here\r\n\r\n"},
      {"PrefaceOfHttp2", 505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
      {"NoVersion", 400, "GET /x\r\nHost: here\r\n\r\n"},
      {"OtherProtocol", 400, "GET /x HTTQ/1.1\r\nHost: here\r\n\r\n"},
      {"TwoSpaces", 400, "GET  /x HTTP/1.1\r\nHost: here\r\n\r\n"},
      {"SpaceAfterVersion", 400, "GET /x HTTP/1.1 \r\nHost: here\r\n\r\n"},
      {"SmallLetters", 501, "get /x HTTP/1.1\r\nHost: here\r\n\r\n"},
      {"UnknownMethod", 501, "STEAL /x HTTP/1.1\r\nHost: here\r\n\r\n"},
      {"Connect", 501, "CONNECT here:80 HTTP/1.1\r\nHost: here\r\n\r\n"},
      {"ControlInMethod", 400, "G\x01T /x HTTP/1.1\r\nHost: here\r\n\r\n"},
      {"HelloOfTls", 400, std::string("\x16\x03\x01\x02", 4)},
      {"ControlInTarget", 400, "GET /\x01 HTTP/1.1\r\nHost: here\r\n\r\n"},
      {"BytesAbove127InTarget", 400, "GET /\xc3\xa4 HTTP/1.1\r\nHost: here\r\n\r\n"},
      {"FragmentInTarget", 400, "GET /x#y HTTP/1.1\r\nHost: here\r\n\r\n"},
      {"TargetWithoutSlash", 400, "GET x HTTP/1.1\r\nHost: here\r\n\r\n"},
      {"EmptyLines", 400, "\r\n\r\nGET /x HTTP/1.1\r\nHost: here\r\n\r\n"},
  };
}

std::vector<Hostile> sizes() {
  std::string many;
  for (int i = 0; i < 300; ++i) many += "A: b\r\n";
  return {
      {"LongRequestLine", 414, "GET /" + std::string(20000, 'a') + " HTTP/1.1\r\nHost: here\r\n\r\n"},
      {"LongField", 431, with("A: " + std::string(20000, 'a') + "\r\n")},
      {"ManyFields", 431, with(many)},
      {"LongBody", 413, with("Content-Length: 2000000\r\n", std::string(2000000, 'a'))},
      {"LongBodyInChunks", 413, chunked + "100000\r\n" + std::string(0x100000, 'a') + "\r\n1\r\na\r\n0\r\n\r\n"},
      {"LengthBeyondAnyMemory", 413, with("Content-Length: 18446744073709551615\r\n", "hello")},
  };
}

class Refuses : public testing::TestWithParam<Hostile> {};

TEST_P(Refuses, WithItsStatus) {
  const Hostile& hostile = GetParam();
  EchoServer server;
  RawClient client = server.client();
  client.send(hostile.bytes + second);
  const Reply reply = client.reply();
  EXPECT_EQ(reply.status, hostile.status);
  EXPECT_TRUE(reply.has("\r\nConnection: close\r\n")) << reply.head;
  EXPECT_TRUE(reply.body.starts_with("{\"error\":\"")) << reply.body;
  EXPECT_EQ(client.rest(), "");
  EXPECT_TRUE(server.seen().empty()) << server.seen().front();
  EXPECT_EQ(server.server.counters().malformed, 1U);
}

// After an honest request on the same connection: that one is answered.
TEST_P(Refuses, AfterAnHonestRequest) {
  EchoServer server;
  RawClient client = server.client();
  client.send(post("/honest", "hi") + GetParam().bytes + second);
  EXPECT_EQ(client.reply().body, "POST /honest hi");
  EXPECT_EQ(client.reply().status, GetParam().status);
  EXPECT_EQ(client.rest(), "");
  EXPECT_EQ(server.seen(), (std::vector<std::string>{"POST /honest hi"}));
}

std::string name_of(const testing::TestParamInfo<Hostile>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Framing, Refuses, testing::ValuesIn(framing()), name_of);
INSTANTIATE_TEST_SUITE_P(Chunks, Refuses, testing::ValuesIn(chunks()), name_of);
INSTANTIATE_TEST_SUITE_P(Lines, Refuses, testing::ValuesIn(lines()), name_of);
INSTANTIATE_TEST_SUITE_P(Sizes, Refuses, testing::ValuesIn(sizes()), name_of);

}  // namespace
}  // namespace pits::test
