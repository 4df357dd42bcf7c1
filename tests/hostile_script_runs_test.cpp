// TorchScript that was made to harm while it runs: it is stopped, and touches nothing.
#include "support/hostile_archives.h"

namespace flambeau::script::hostile {
namespace {

TEST(HostileScripts, CodeThatRunsWhileItIsLoaded) {
  const auto state = [](const std::string& body, const std::string& before = "") {
    return archive(set_state(body, before), kState);
  };
  check({
      {"for ever", state("    while True:\n      x = torch.add(x, 1)\n"), "more than 100000 steps"},
      {"recursion", state("    self.__setstate__(x)\n"), "deep"},
      {"recursion of a function",
       state("    y = __torch__.f(x)\n", "def f(x: int) -> int:\n  return __torch__.f(x)\n"), "__torch__.f"},
      {"a huge tensor",
       state("    y = torch.zeros([1099511627776], dtype=None, layout=None, device=None, pin_memory=None)\n"
             "    print(y)\n"),
       "memory"},
      {"a huge view",
       state("    y = torch.clone(torch.expand(torch.rand([1]), [1099511627776]))\n    print(y)\n"),
       "memory"},
      {"a list for ever", state("    y = [1]\n    while True:\n      z = torch.append(y, 1)\n"), "steps"},
      {"a list that doubles", state("    y = [1]\n    while True:\n      torch.extend(y, y)\n"), "steps"},
      {"a text that doubles", state("    y = \"abcdefgh\"\n    while True:\n      y = torch.add(y, y)\n"),
       "memory"},
      {"forks in no way that archives have",
       state("    while True:\n      f = torch.jit.fork(__torch__.f, x)\n",
             "def f(x: int) -> int:\n  return x\n"),
       "there is no attribute 'fork'"},
      {"prints for ever", state("    while True:\n      print(\"abc\")\n"), "steps"},
      {"a tensor that doubles",
       state("    y = torch.rand([1])\n    while True:\n      y = torch.cat([y, y])\n"),
       "operator 'aten::cat': the run needs more than"},
      {"a file", state("    y = torch.from_file(\"/etc/passwd\", False, 4, dtype=0)\n    print(y)\n"),
       "aten::from_file"},
      {"a file to write", state("    torch.save(x, \"/tmp/flambeau-hostile\")\n"), "files"},
      {"a seed", state("    torch.manual_seed(1)\n"), "seed"},
      {"another argument", archive(set_state(""), object(pickled("a"))), "__setstate__"},
      {"an exception", state("    ops.prim.RaiseException(\"no\", \"builtins.ValueError\")\n"), "no"},
  });
}

TEST(HostileScripts, CodeThatRuns) {
  check({
      {"2 ** 63 turns",
       archive(forward("    for i in range(9223372036854775807):\n      x = torch.add(x, 1)\n")), "steps"},
      {"empty turns",
       archive(forward("    for i in range(9223372036854775807):\n      pass\n    x = torch.add(x, 1)\n")),
       ""},
      {"prints for ever", archive(forward("    while True:\n      print(\"abc\")\n")), "steps"},
      {"a file",
       archive(forward("    y = torch.from_file(\"/etc/passwd\", False, 4, dtype=0)\n    print(y)\n")),
       "code/__torch__.py:5: nothing here runs aten::from_file"},
      {"a file to write", archive(forward("    torch.save(x, \"/tmp/flambeau-hostile\")\n")), "files"},
      {"a seed", archive(forward("    torch.manual_seed(1)\n")), "seed"},
      {"division by zero", archive(forward("    x = torch.floordiv(x, 0)\n")), "division by 0"},
      {"the smallest by -1",
       archive(forward("    x = torch.floordiv(torch.sub(-9223372036854775807, x), -1)\n")),
       "beyond an int of 64 bits"},
      {"the remainder of it",
       archive(forward("    x = torch.remainder(torch.sub(-9223372036854775807, x), -1)\n")), "fine"},
      {"a range without steps",
       archive(forward("    for i in range(0, 10, torch.sub(x, 1)):\n      x = 1\n")),
       "range() arg 3 must not be zero"},
      {"an index too far", archive(forward("    y = [1]\n    x = y[9223372036854775807]\n")), "range"},
  });
}

TEST(HostileScripts, NamesWhatTouchesTheOutside) {
  const std::string body =
      "    y = torch.from_file(\"/etc/passwd\", False, 4, dtype=0)\n    print(y)\n"
      "    torch.save(x, \"/tmp/flambeau-hostile\")\n    torch.manual_seed(1)\n";
  for (const Records& records : {archive(forward(body)), archive(set_state(body), kState)}) {
    const std::vector<CodeFinding> found = inert(records).outside_calls();
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0].message, "aten::from_file reads or writes files");
    EXPECT_EQ(found[1].message, "aten::save reads or writes files");
    EXPECT_EQ(found[2].message, "aten::manual_seed seeds the generator of random numbers");
    EXPECT_NE(found[0].place.find("code/__torch__.py:"), std::string::npos);
  }
}

TEST(HostileScripts, EachCallHasItsOwnSteps) {
  const ScriptModule module = inert(archive(forward("    for i in range(x):\n      x = torch.add(x, i)\n")));
  ScriptRunOptions run;
  run.most_steps = 50'000;
  for (int turn = 0; turn < 5; ++turn) module.run_method("forward", {10'000}, {}, run);
  run.most_steps = 100;
  EXPECT_THROW(module.run_method("forward", {10'000}, {}, run), Error);
  EXPECT_NO_THROW(module.run_method("forward", {10'000}));
}

}  // namespace
}  // namespace flambeau::script::hostile
