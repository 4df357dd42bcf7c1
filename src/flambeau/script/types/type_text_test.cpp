#include "flambeau/script/types/type_text.h"

#include <gtest/gtest.h>

#include "flambeau/base/error.h"

namespace flambeau::script {
namespace {

TEST(TypeTextTest, ReadsBackWhatItWrites) {
  for (const std::string_view text :
       {"Tensor", "Dict[str, List[Tensor]]", "Tuple[()]", "Tuple[int, Optional[float]]", "__torch__.m.M",
        "Union[int, str, NoneType]", "Future[List[__torch__.a.___torch_mangle_0.B]]", "number", "Device"}) {
    EXPECT_EQ(annotation_text(parse_annotation(text)), text);
  }
}

TEST(TypeTextTest, ReadsOtherSpellings) {
  EXPECT_EQ(parse_annotation("LongTensor"), Type(TypeKind::kTensor));
  EXPECT_EQ(parse_annotation("Dict[str,None]"), Type::dict(TypeKind::kString, TypeKind::kNone));
  EXPECT_EQ(parse_annotation("int | str"), Type::union_of({TypeKind::kInt, TypeKind::kString}));
  EXPECT_EQ(annotation_text(TypeKind::kScalarType), "int");
}

TEST(TypeTextTest, RefusesWhatIsNoType) {
  for (const std::string_view text : {"", "List[", "List[int", "List[int]]", "Dict[int]", "[int]", "int int",
                                      "List[int, int]", "Foo[int]", "Tuple[(]"}) {
    EXPECT_THROW(parse_annotation(text), Error) << text;
  }
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += "List[";
  EXPECT_THROW(parse_annotation(deep), Error);
}

}  // namespace
}  // namespace flambeau::script
