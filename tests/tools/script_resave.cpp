// Reads TorchScript modules, compiles and prints their code, and writes them again: what torch.jit.save gives
// for torch.jit.load of a file, byte for byte. Prints a line "path<TAB>error: ..." for what fails.
//   script_resave FOLDER PATH...
#include <fstream>
#include <iostream>
#include <string>

#include "flambeau/base/error.h"
#include "flambeau/base/files/mapping.h"
#include "flambeau/formats/torchscript/script_file.h"
#include "flambeau/script/operators/operator_table.h"
#include "flambeau/value/schema_table.h"

int main(int count, char** arguments) {
  using namespace flambeau;
  if (count < 2) return 2;
  const auto operators = std::make_shared<const script::OperatorTable>(std::make_shared<const SchemaTable>());
  for (int i = 2; i < count; ++i) {
    const std::string path = arguments[i];
    try {
      auto records = std::make_shared<const RecordArchive>(RecordArchive::open(Mapping::open(path)));
      const script::ScriptFile file = script::read_script(std::move(records), operators);
      MemorySink sink;
      script::write_script(sink, file, {}, {}, {}, Progress::silent());
      const std::string name = path.substr(path.rfind('/') + 1);
      std::ofstream out(std::string(arguments[1]) + "/" + name, std::ios::binary);
      const std::string_view bytes = as_text(sink.buffer());
      out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    } catch (const Error& error) {
      std::cout << path << "\terror: " << error.what() << '\n';
    }
  }
  return 0;
}
