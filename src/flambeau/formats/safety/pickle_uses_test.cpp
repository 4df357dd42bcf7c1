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

// NumPy believes a type's flags, and takes memory for objects before it looks at their list.
TEST(PickleUses, ArraysOfNumpy) {
  const auto type = [](const std::string& code, const std::string& state) {
    return "cnumpy\ndtype\n(V" + code + "\nI00\nI01\ntR(I3\nV|\n" + state + "tb";
  };
  const auto array = [](const std::string& shape, const std::string& of, const std::string& data) {
    return "cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntVb\ntR(I1\n(" + shape + "t" + of +
           "I00\n" + data + "tb.";
  };
  const std::string plain = "NNNI-1\nI-1\nI0\n", objects = "NNNI-1\nI-1\nI63\n";
  const std::string bytes = "c_codecs\nencode\n(Vabcd\nVlatin1\ntR";
  EXPECT_EQ(misuses(array("I1\n", type("f4", plain), bytes)), Texts());
  EXPECT_EQ(misuses(array("I1\n", type("O8", objects), "(Nl")), Texts());
  const std::string field = "(dVa\n(" + type("f4", plain) + "I0\ntsI4\nI1\nI16\n";
  EXPECT_EQ(misuses(array("I1\n", type("V4", "N(Va\nt" + field), bytes)), Texts());
  const std::string outside = "(dVa\n(" + type("f4", plain) + "I2\ntsI4\nI1\nI16\n";
  EXPECT_EQ(misuses(array("I1\n", type("V4", "N(Va\nt" + outside), bytes)),
            Texts{"changes what numpy.dtype gave in a way that torch.save never writes"});
  EXPECT_EQ(misuses(array("I1\n", type("O8", plain), bytes)),
            Texts{"changes what numpy.dtype gave in a way that torch.save never writes"});
  EXPECT_EQ(misuses(array("I99999999\n", type("O8", objects), "(Nl")),
            Texts{"changes what numpy.core.multiarray._reconstruct gave in a way that torch.save never "
                  "writes"});
}

// A size that is a text would be evaluated.
TEST(PickleUses, FakeTensors) {
  const auto fake = [](const std::string& size) {
    return "ctorch._export.serde.serialize\n_reconstruct_fake_tensor\n(c_codecs\nencode\n(V{\"dtype\": 7, "
           "\"sizes\": [" +
           size +
           "], \"requires_grad\": false, \"device\": {\"type\": \"cpu\", \"index\": null}, \"strides\": "
           "[{\"as_int\": 1}], \"storage_offset\": {\"as_int\": 0}, \"layout\": 7}\nVlatin1\ntRI00\ntR.";
  };
  EXPECT_EQ(misuses(fake("{\"as_int\": 3}")), Texts());
  EXPECT_EQ(misuses(fake("{\"as_expr\": {\"expr_str\": \"exit()\", \"hint\": null}}")).size(), 1U);
  EXPECT_EQ(misuses("ctorch._export.serde.serialize\n_reconstruct_fake_tensor\n(Va\nI00\ntR.").size(), 1U);
}

TEST(PickleUses, WhatIsDoneToObjects) {
  // set_() grows a storage; a pair of states is set by setattr().
  EXPECT_EQ(misuses("ctorch\nTensor\n)R(NI0\n))tb.").size(), 1U);
  EXPECT_EQ(misuses("ctorch.nn.parameter\nParameter\n)R(NI0\n))tb.").size(), 1U);
  // Of a dict it would get the keys.
  EXPECT_EQ(misuses("ctorch.nn.parameter\nParameter\n)R}(NNI0\nN)N(I1\ntNub.").size(), 1U);
  EXPECT_EQ(misuses("ctorch\nFloatTensor\n)R}(NNI0\nN)N(I1\ntNub.").size(), 1U);
  EXPECT_EQ(misuses("ctorch\nFloatTensor\n)R(NI0\n))tb."), Texts());  // verified with the tensors
  EXPECT_EQ(misuses("ccollections\nOrderedDict\n)R(N}tb.").size(), 1U);
  EXPECT_EQ(misuses("ctorch\nSize\n(K\x02t\x85R}b."),
            Texts{"changes what torch.Size gave in a way that torch.save never writes"});
  EXPECT_EQ(misuses("ccollections\nOrderedDict\n)R)R."),
            Texts{"calls what another call gave, which can be anything"});
  EXPECT_EQ(misuses("ccollections\nOrderedDict\n)R}b."), Texts());
}

}  // namespace
}  // namespace flambeau
