#include "flambeau/archive/pickle/reader.h"

#include <cmath>

#include "flambeau/archive/pickle/test_util.h"

namespace flambeau::pickle {
namespace {

TEST(PickleReader, ReadsTheTextsOfProtocol0) {
  EXPECT_EQ(show_pickle("I42\n."), "42");
  EXPECT_EQ(show_pickle("I-1\n."), "-1");
  EXPECT_EQ(show_pickle("I01\n."), "True");
  EXPECT_EQ(show_pickle("I00\n."), "False");
  EXPECT_EQ(show_pickle("I9223372036854775808\n."), "0x008000000000000000");
  EXPECT_EQ(show_pickle("L12L\n."), "12");
  EXPECT_EQ(show_pickle("L-12\n."), "-12");
  EXPECT_EQ(show_pickle("L-9223372036854775809L\n."), "0xff7fffffffffffffff");
  EXPECT_EQ(show_pickle("L18446744073709551616L\n."), "0x010000000000000000");
  EXPECT_EQ(show_pickle("F1.5\n."), "1.5f");
  EXPECT_EQ(show_pickle("F-inf\n."), "-inff");
  EXPECT_EQ(show_pickle("F1e+100\n."), "1e+100f");
  EXPECT_TRUE(std::isnan(parse_text("Fnan\n.").tree.root()->as_float()));
  EXPECT_EQ(show_pickle("Vplain\n."), "'plain'");
  EXPECT_EQ(show_pickle("V\\u0041\\u000a\xe9\\x\\U0001f600\n."), "'A\n\xc3\xa9\\x\xf0\x9f\x98\x80'");
  EXPECT_EQ(show_pickle("V\\ud800\n."), "'\xed\xa0\x80'");
  EXPECT_EQ(show_pickle("(lp0\nI1\naI2\na."), "[1, 2]");
  EXPECT_EQ(show_pickle("(I1\nI2\nl."), "[1, 2]");
  EXPECT_EQ(show_pickle("(dp0\nVk\np1\nI1\ns."), "{'k': 1}");
  EXPECT_EQ(show_pickle("(Vk\nI1\nd."), "{'k': 1}");
  EXPECT_EQ(show_pickle("(lp5\ng5\na."), "[[[[[[[[...]]]]]]]]");
  EXPECT_EQ(show_pickle("Pkey\n."), "persistent 'key'");
  EXPECT_EQ(parse_text("N.").tree.protocol(), 0);
}

TEST(PickleReader, ReadsPython2Strings) {
  EXPECT_EQ(show_pickle("S'it\\'s\\n\\x41\\101'\n."), "'it's\nAA'");
  EXPECT_EQ(show_pickle("S\"quoted\"\n."), "'quoted'");
  EXPECT_EQ(show_pickle("S'\\xff'\n."), "b'\\xff'");
  EXPECT_EQ(show_pickle("U\x02hi."), "'hi'");
  EXPECT_EQ(show_pickle("U\x01\xff."), "b'\\xff'");
  EXPECT_EQ(show_pickle(raw("T\x02\0\0\0\xc3\xa9.")), "'\xc3\xa9'");
}

TEST(PickleReader, ReadsBinaryNumbers) {
  EXPECT_EQ(show_pickle(raw("\x80\x02K\xff.")), "255");
  EXPECT_EQ(show_pickle("M\xff\xff."), "65535");
  EXPECT_EQ(show_pickle("J\xff\xff\xff\xff."), "-1");
  EXPECT_EQ(show_pickle(raw("\x8a\0.")), "0");
  EXPECT_EQ(show_pickle("\x8a\x01\x80."), "-128");
  EXPECT_EQ(show_pickle(raw("\x8a\x08\0\0\0\0\0\0\0\x80.")), std::to_string(INT64_MIN));
  EXPECT_EQ(show_pickle(raw("\x8a\x09\0\0\0\0\0\0\0\x80\0.")), "0x008000000000000000");
  EXPECT_EQ(show_pickle(raw("\x8b\x02\0\0\0\x2c\x01.")), "300");
  EXPECT_EQ(show_pickle(raw("G\x3f\xf8\0\0\0\0\0\0.")), "1.5f");
  EXPECT_EQ(show_pickle("(\x88\x89Nt."), "(True, False, None)");
}

TEST(PickleReader, ReadsTextsAndBytes) {
  EXPECT_EQ(show_pickle(raw("X\x02\0\0\0hi.")), "'hi'");
  EXPECT_EQ(show_pickle("\x8c\x02hi."), "'hi'");
  EXPECT_EQ(show_pickle(raw("\x8d\x02\0\0\0\0\0\0\0hi.")), "'hi'");
  EXPECT_EQ(show_pickle("C\x02hi."), "b'hi'");
  EXPECT_EQ(show_pickle(raw("B\x02\0\0\0hi.")), "b'hi'");
  EXPECT_EQ(show_pickle(raw("\x8e\x02\0\0\0\0\0\0\0hi.")), "b'hi'");
  EXPECT_EQ(show_pickle(raw("\x96\x02\0\0\0\0\0\0\0hi.")), "bytearray'hi'");
}

TEST(PickleReader, StringsAreViewsOfTheInput) {
  const std::string input = raw("X\x02\0\0\0hi.");
  const Parsed parsed = parse_text(input);
  EXPECT_EQ(parsed.tree.root()->as_string().data(), input.data() + 5);
}

TEST(PickleReader, KeepsTheInputAlive) {
  auto input = std::make_shared<std::string>("\x8c\x02hi.");
  std::weak_ptr<std::string> watched = input;
  const ByteSpan bytes = as_bytes(*input);
  {
    const Parsed parsed = parse(bytes, std::move(input));
    EXPECT_FALSE(watched.expired());
    EXPECT_EQ(show(parsed.tree.root()), "'hi'");
  }
  EXPECT_TRUE(watched.expired());
}

TEST(PickleReader, ReadsContainers) {
  EXPECT_EQ(show_pickle("])}\x8f\x85\x86\x87."), "([], (), ({}, (set{})))");
  EXPECT_EQ(show_pickle("(])}\x8ft."), "([], (), {}, set{})");
}

TEST(PickleReader, ReadsBatches) {
  EXPECT_EQ(show_pickle("](K\x01K\x02"
                        "e(K\x03"
                        "e(e."),
            "[1, 2, 3]");
  EXPECT_EQ(show_pickle("}(K\x01K\x02"
                        "u(u."),
            "{1: 2}");
  EXPECT_EQ(show_pickle("\x8f(K\x01\x90."), "set{1}");
  EXPECT_EQ(show_pickle("(K\x01K\x02\x91."), "frozenset{1, 2}");
}

TEST(PickleReader, ReadsCalls) {
  EXPECT_EQ(show_pickle("cm\nf\n(K\x01tR."), "reduce m.f(1)");
  EXPECT_EQ(show_pickle("cm\nf\n)\x81}b."), "new m.f() state {}");
  EXPECT_EQ(show_pickle("cm\nf\n)}\x92."), "newex m.f() kwargs {}");
  EXPECT_EQ(show_pickle("\x8c\x01m\x8c\x01"
                        "f\x93)R."),
            "reduce m.f()");
  EXPECT_EQ(show_pickle("(K\x01im\nf\n."), "inst m.f(1)");
  EXPECT_EQ(show_pickle("(cm\nf\nK\x01o."), "inst m.f(1)");
  EXPECT_EQ(show_pickle("cm\nf\n)RK\x01"
                        "aK\x02K\x03s."),
            "reduce m.f() items [1] pairs {2: 3}");
  EXPECT_EQ(show_pickle("cm\nf\n)R(K\x01\x90."), "reduce m.f() items [1]");
  // PyTorch's C++ pickler gives an enum's value to REDUCE as it is.
  EXPECT_EQ(show_pickle("cm\nE\nK\x01R."), "reduce m.E1");
  EXPECT_EQ(show_pickle("K\x01Q."), "persistent 1");
}

TEST(PickleReader, KeepsAnOwnWayToSetTheState) {
  EXPECT_EQ(show_pickle("cm\nf\n)Rq\x01"
                        "cm\nset\nh\x01}\x86R0."),
            "reduce m.f() state {} by m.set");
}

TEST(PickleReader, DropsAndCopies) {
  EXPECT_EQ(show_pickle("K\x01K\x02"
                        "0."),
            "1");
  EXPECT_EQ(show_pickle("K\x01(0."), "1");
  EXPECT_EQ(show_pickle("K\x01(K\x02K\x03"
                        "1."),
            "1");
  const Parsed twice = parse_text("]2\x86.");
  EXPECT_EQ(twice.tree.root()->items()[0], twice.tree.root()->items()[1]);
}

TEST(PickleReader, SharesWhatTheMemoShares) {
  const std::string input = raw("]q\x07h\x07j\x07\0\0\0\x87.");
  const Parsed parsed = parse_text(input);
  const std::span<Node* const> items = parsed.tree.root()->items();
  EXPECT_EQ(items[0], items[1]);
  EXPECT_EQ(items[0], items[2]);
  EXPECT_TRUE(items[0]->memoized());
  EXPECT_FALSE(parsed.tree.root()->memoized());
}

TEST(PickleReader, MemoizeNumbersByOrder) {
  EXPECT_EQ(show_pickle(raw("K\x01\x94K\x02\x94h\0h\x01\x86.")), "(1, 2)");
  // An index stored twice counts once.
  EXPECT_EQ(show_pickle(raw("K\x01q\0K\x02q\0K\x03\x94h\0h\x01\x86.")), "(2, 3)");
}

TEST(PickleReader, SharesConstantsButNoContainers) {
  const Parsed parsed = parse_text("(NN)))]]t.");
  const std::span<Node* const> items = parsed.tree.root()->items();
  EXPECT_EQ(items[0], items[1]);
  EXPECT_EQ(items[2], items[3]);
  EXPECT_NE(items[5], items[6]);
}

TEST(PickleReader, ReadsFrames) {
  EXPECT_EQ(show_pickle(raw("\x80\x04\x95\x04\0\0\0\0\0\0\0\x8c\x01"
                            "a.")),
            "'a'");
}

TEST(PickleReader, StopsAtStop) {
  const Parsed parsed = parse_text("\x80\x02N.trailing");
  EXPECT_EQ(parsed.consumed, 4u);
  EXPECT_EQ(parsed.tree.protocol(), 2);
}

TEST(PickleReader, RefusesWhatIsOutsideOfTheFile) {
  const Failure extension = parse_failure("\x82\x01.");
  EXPECT_EQ(extension.code, ErrorCode::kUnsupported);
  EXPECT_EQ(extension.text,
            "byte 0: opcode EXT1 refers to the extension registry of a running Python, which is not in the "
            "file");
  EXPECT_EQ(parse_failure("\x80\x05\x97.").text,
            "byte 2: opcode NEXT_BUFFER refers to a buffer that is kept outside of the pickle");
  EXPECT_EQ(parse_failure("N\x98.").code, ErrorCode::kUnsupported);
  const Failure protocol = parse_failure("\x80\x06N.");
  EXPECT_EQ(protocol.code, ErrorCode::kUnsupported);
  EXPECT_EQ(protocol.text, "byte 0: opcode PROTO: protocol 6, at most 5 was expected");
}

}  // namespace
}  // namespace flambeau::pickle
