#include "flambeau/formats/safety/pickle_uses.h"

#include <gtest/gtest.h>

#include "flambeau/archive/pickle/reader.h"

namespace flambeau {
namespace {

std::vector<std::string> misuses(std::string_view pickle) {
  return find_misuses(pickle::parse(as_bytes(pickle), nullptr).tree);
}
using Texts = std::vector<std::string>;

TEST(PickleUses, WhatTorchSaveWritesIsFine) {
  for (const std::string_view pickle :
       {std::string_view("ccollections\nOrderedDict\n)R."), std::string_view("cbuiltins\nbytearray\n)R."),
        std::string_view("cbuiltins\nset\n](K\x01K\x02"
                         "e\x85R."),
        std::string_view("c_codecs\nencode\n(V\xc3\xa9\nVlatin1\ntR."),
        std::string_view("ctorch\nSize\n(K\x02K\x03t\x85R."), std::string_view("ctorch\ndevice\n(Vcpu\ntR."),
        std::string_view("ccollections\ndefaultdict\n(cbuiltins\nlist\ntR."),
        std::string_view("ctorch\nFloatStorage\n."), std::string_view("ctorch\nFloatTensor\n)\x81.")}) {
    EXPECT_EQ(misuses(pickle), Texts()) << pickle;
  }
}

TEST(PickleUses, StoragesAreNeverCalled) {
  EXPECT_EQ(
      misuses("ctorch\nFloatStorage\n(J\xff\xff\xff\x7ftR."),
      Texts{"calls torch.FloatStorage, which torch.save only names: it takes as much memory as the file "
            "asks for"});
  // Also when the result is thrown away.
  EXPECT_EQ(misuses("ctorch.storage\nUntypedStorage\n(J\xff\xff\xff\x7ftR0N.").size(), 1U);
}

TEST(PickleUses, OtherArgumentsThanTorchSaveWrites) {
  for (const char* pickle :
       {"cbuiltins\nbytearray\n(I9999999999\ntR.", "cbuiltins\nbytes\n(I9999999999\ntR.",
        "ctorch\nTensor\n(I99999\ntR.", "ctorch\nFloatTensor\n(I99999\ntR.",
        "c_codecs\nencode\n(Va\nVbz2_codec\ntR.", "ccollections\ndefaultdict\n(cos\nabort\ntR.",
        "ctorch._tensor\n_rebuild_from_type_v2\n(cos\nsystem\nctorch\nTensor\n(Va\nt}tR.",
        "cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I99999\ntVb\ntR.",
        "cnumpy\nndarray\n(I99999\ntR.", "cbuiltins\nset\n(I1\ntR.", "ctorch\nSize\n(I1\ntR."}) {
    EXPECT_EQ(misuses(pickle).size(), 1U) << pickle;
  }
}

TEST(PickleUses, WhatIsDoneToObjects) {
  EXPECT_EQ(misuses("ctorch\nSize\n(K\x02t\x85R}b."),
            Texts{"changes what torch.Size gave in a way that torch.save never writes"});
  EXPECT_EQ(misuses("ccollections\nOrderedDict\n)R)R."),
            Texts{"calls what another call gave, which can be anything"});
  EXPECT_EQ(misuses("ccollections\nOrderedDict\n)R}b."), Texts());
}

}  // namespace
}  // namespace flambeau
