// What a migration did and what it relies on, as people read it.
#include <fmt/format.h>

#include "flambeau/base/error.h"
#include "flambeau/graph/interface.h"
#include "flambeau/migrate.h"

namespace flambeau {
namespace {

constexpr size_t kMostText = 4000;

// One heading with what stands below it; nothing is written where nothing stands.
class Page {
 public:
  virtual ~Page() = default;
  virtual void title(const std::string& text) = 0;
  virtual void heading(const std::string& text) = 0;
  virtual void paragraph(const std::string& text) = 0;
  virtual void list(const std::vector<std::string>& items) = 0;
  virtual void rows(const std::vector<std::pair<std::string, std::string>>& rows) = 0;
  virtual std::string finish() = 0;
};

class TextPage final : public Page {
 public:
  void title(const std::string& text) override {
    out_ += fmt::format("{}\n{}\n", text, std::string(text.size(), '='));
  }
  void heading(const std::string& text) override { out_ += fmt::format("\n{}\n", text); }
  void paragraph(const std::string& text) override { out_ += fmt::format("  {}\n", text); }
  void list(const std::vector<std::string>& items) override {
    for (const std::string& item : items) out_ += fmt::format("  - {}\n", indented(item));
  }
  void rows(const std::vector<std::pair<std::string, std::string>>& rows) override {
    for (const auto& [name, text] : rows) out_ += fmt::format("  {}: {}\n", name, text);
  }
  std::string finish() override { return std::move(out_); }

 private:
  static std::string indented(std::string_view text) {
    while (text.ends_with('\n')) text.remove_suffix(1);
    std::string out;
    for (const char c : text) out += c == '\n' ? std::string("\n    ") : std::string(1, c);
    return out;
  }
  std::string out_;
};

class HtmlPage final : public Page {
 public:
  void title(const std::string& text) override {
    out_ = fmt::format(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>\n<style>"
        "body{{font-family:sans-serif;max-width:60em;margin:2em auto;padding:0 1em}}"
        "td{{padding:.1em 1em .1em 0;vertical-align:top}}pre{{background:#f4f4f4;padding:.5em;overflow:auto}}"
        "</style></head><body>\n<h1>{0}</h1>\n",
        escaped(text));
  }
  void heading(const std::string& text) override { out_ += fmt::format("<h2>{}</h2>\n", escaped(text)); }
  void paragraph(const std::string& text) override { out_ += fmt::format("<p>{}</p>\n", escaped(text)); }
  void list(const std::vector<std::string>& items) override {
    for (const std::string& item : items) out_ += fmt::format("<pre>{}</pre>\n", escaped(item));
  }
  void rows(const std::vector<std::pair<std::string, std::string>>& rows) override {
    out_ += "<table>\n";
    for (const auto& [name, text] : rows)
      out_ += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", escaped(name), escaped(text));
    out_ += "</table>\n";
  }
  std::string finish() override { return out_ + "</body></html>\n"; }

 private:
  static std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
      switch (c) {
        case '&':
          out += "&amp;";
          break;
        case '<':
          out += "&lt;";
          break;
        case '>':
          out += "&gt;";
          break;
        case '"':
          out += "&quot;";
          break;
        default:
          out += c;
      }
    }
    return out;
  }
  std::string out_;
};

// Texts from the file may hold anything; their lines stay lines.
std::string shown(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (!out.empty()) out += '\n';
    out += printable(text.substr(0, end), kMostText);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::vector<std::string> shown(const std::vector<std::string>& texts) {
  std::vector<std::string> out;
  for (const std::string& text : texts) out.push_back(shown(text));
  return out;
}

void write_inputs(Page& page, const ExportedProgram& program) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const graph::Leaf& leaf : graph::interface_of(program).inputs)
    rows.emplace_back(shown(leaf.label()), shown(leaf.to_string()));
  page.heading("Inputs of the program");
  page.rows(rows);
}

void write_checks(Page& page, const std::vector<MigrationCheck>& checks) {
  page.heading("The script beside the program");
  std::vector<std::pair<std::string, std::string>> rows;
  for (const MigrationCheck& check : checks) rows.emplace_back(shown(check.inputs), shown(check.outcome()));
  page.rows(rows);
}

void write_texts(Page& page, const std::string& heading, const std::string& meaning,
                 const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  page.heading(fmt::format("{} ({})", heading, texts.size()));
  page.paragraph(meaning);
  page.list(shown(texts));
}

}  // namespace

std::string migration_report(const std::string& file, const std::vector<MigrationStory>& stories,
                             ReportForm form) {
  TextPage text;
  HtmlPage html;
  Page& page = form == ReportForm::kHtml ? static_cast<Page&>(html) : text;
  page.title(fmt::format("Migration of {}", shown(file)));
  for (const MigrationStory& story : stories) {
    const Migration& made = *story.migration;
    page.heading(fmt::format("Method {}", shown(story.method)));
    page.paragraph(fmt::format("{} nodes", made.program.graph().node_count()));
    write_inputs(page, made.program);
    if (story.checks != nullptr) write_checks(page, *story.checks);
    write_texts(page, "Specialized",
                "Where the script needs a number, not a size that may vary: the program takes the example's.",
                made.specialized);
    write_texts(page, "Unrolled", "Lines that ran several times: loops and functions that are called again.",
                made.unrolled);
    write_texts(page, "Assumed", "What the program relies on, and does not ask when it runs.", made.notes);
  }
  return page.finish();
}

}  // namespace flambeau
