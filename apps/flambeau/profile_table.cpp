#include "profile_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "flambeau/error.h"
#include "terminal.h"

namespace flambeau::cli {
namespace {

using Nanoseconds = std::chrono::nanoseconds;

struct Row {
  std::string name;
  std::string op;
  uint64_t calls = 0;
  Nanoseconds time{0};
  double flops = 0;  // of all calls
  double bytes = 0;
  LoopCounts loops{};
};

struct Rows {
  std::vector<Row> rows;
  Nanoseconds total{0};
};

Rows sorted(std::vector<Row> rows) {
  Rows result{std::move(rows), Nanoseconds(0)};
  for (const Row& row : result.rows) result.total += row.time;
  std::ranges::stable_sort(result.rows, [](const Row& a, const Row& b) { return a.time > b.time; });
  return result;
}

Row row_of(const Profile::Entry& entry) {
  const auto calls = static_cast<double>(entry.calls);
  return {entry.node,
          entry.op,
          entry.calls,
          entry.time,
          static_cast<double>(entry.flops) * calls,
          static_cast<double>(entry.bytes) * calls,
          entry.loops};
}

Rows by_node(const Profile& profile) {
  std::vector<Row> rows;
  for (const Profile::Entry& entry : profile.entries) {
    if (entry.calls != 0) rows.push_back(row_of(entry));
  }
  return sorted(std::move(rows));
}

Rows by_operator(const Profile& profile) {
  std::map<std::string, Row> sums;
  for (const Profile::Entry& entry : profile.entries) {
    if (entry.calls == 0) continue;
    const Row row = row_of(entry);
    Row& sum = sums[entry.op];
    sum.op = entry.op;
    sum.calls += row.calls;
    sum.time += row.time;
    sum.flops += row.flops;
    sum.bytes += row.bytes;
    sum.loops += row.loops;
  }
  std::vector<Row> rows;
  for (auto& [op, row] : sums) rows.push_back(std::move(row));
  return sorted(std::move(rows));
}

double share(const Row& row, const Rows& rows) {
  return rows.total.count() == 0
             ? 0
             : static_cast<double>(row.time.count()) / static_cast<double>(rows.total.count());
}

double per_loop(uint64_t count, const LoopCounts& loops) {
  return static_cast<double>(count) / static_cast<double>(std::max<uint64_t>(loops.loops, 1));
}

LoopCounts all_loops(const Rows& rows) {
  LoopCounts sum;
  for (const Row& row : rows.rows) sum += row.loops;
  return sum;
}

// How threads shared the runs: what no loop shared, only one of them worked on.
void print_loops(const Rows& rows, size_t runs) {
  const LoopCounts loops = all_loops(rows);
  if (loops.loops == 0) return;
  const auto of_run = [&](Nanoseconds time) { return duration_text(time / static_cast<int64_t>(runs)); };
  fmt::print(
      "  {} loops a run in {} pieces: {} on one thread, {} shared (uneven {:.2f}, {} waiting at their ends), "
      "{} wakes\n",
      loops.loops / runs, loops.pieces / runs, of_run(rows.total - loops.time), of_run(loops.time),
      loops.imbalance(), of_run(loops.waited), loops.wakes / runs);
}

void print_rows(const Rows& rows, bool has_nodes, size_t runs, size_t limit) {
  const bool has_flops = std::ranges::any_of(rows.rows, [](const Row& row) { return row.flops > 0; });
  std::vector<std::string> header = {"time", "share", "calls"};
  if (has_flops) header.emplace_back("GFLOP/s");
  const bool has_loops = all_loops(rows).loops != 0;
  if (has_loops) header.insert(header.end(), {"threads", "pieces", "uneven"});
  const size_t numbers = header.size();
  if (has_nodes) header.emplace_back("node");
  header.emplace_back("operator");
  Table table(header);
  for (size_t column = 0; column < numbers; ++column) table.align_right(column);
  size_t shown = 0;
  for (const Row& row : rows.rows) {
    if (limit != 0 && shown++ == limit) break;
    std::vector<std::string> cells = {duration_text(row.time / static_cast<int64_t>(runs)),
                                      fmt::format("{:.1f}%", 100 * share(row, rows)),
                                      fmt::format("{}", row.calls / runs)};
    if (has_flops) {
      const auto time = static_cast<double>(row.time.count());
      cells.push_back(row.flops > 0 && time > 0 ? fmt::format("{:.1f}", row.flops / time) : "");
    }
    if (has_loops && row.loops.loops == 0) cells.insert(cells.end(), {"1", "", ""});
    if (has_loops && row.loops.loops != 0) {
      cells.push_back(fmt::format("{:.1f}", per_loop(row.loops.threads, row.loops)));
      cells.push_back(fmt::format("{:.1f}", per_loop(row.loops.pieces, row.loops)));
      cells.push_back(fmt::format("{:.2f}", row.loops.imbalance()));
    }
    if (has_nodes) cells.push_back(printable(row.name));
    cells.push_back(printable(row.op, 100));
    table.add(std::move(cells));
  }
  table.print(2);
  if (limit != 0 && rows.rows.size() > limit)
    fmt::print("  ... and {} more (--limit 0 shows all)\n", rows.rows.size() - limit);
}

json::Value loops_json(const LoopCounts& loops, size_t runs) {
  const auto of_run = [&](Nanoseconds time) { return milliseconds(time) / static_cast<double>(runs); };
  json::Value value;
  value.set("count", loops.loops / runs);
  value.set("pieces", loops.pieces / runs);
  value.set("threads", per_loop(loops.threads, loops));
  value.set("wakes", loops.wakes / runs);
  value.set("ms", of_run(loops.time));
  value.set("work_ms", of_run(loops.work));
  value.set("waited_ms", of_run(loops.waited));
  value.set("imbalance", loops.imbalance());
  return value;
}

json::Array rows_json(const Rows& rows, bool has_nodes, size_t runs) {
  json::Array array;
  for (const Row& row : rows.rows) {
    json::Value value;
    if (has_nodes) value.set("node", row.name);
    value.set("operator", row.op);
    value.set("calls", row.calls / runs);
    value.set("ms", milliseconds(row.time) / static_cast<double>(runs));
    value.set("share", share(row, rows));
    if (row.flops > 0) value.set("flops", row.flops / static_cast<double>(runs));
    if (row.bytes > 0) value.set("bytes", row.bytes / static_cast<double>(runs));
    if (row.loops.loops != 0) value.set("loops", loops_json(row.loops, runs));
    array.push_back(std::move(value));
  }
  return array;
}

}  // namespace

double milliseconds(Nanoseconds time) { return static_cast<double>(time.count()) / 1e6; }

std::string duration_text(Nanoseconds time) {
  auto value = static_cast<double>(time.count());
  for (const std::string_view unit : {"ns", "us", "ms"}) {
    if (value < 999.5)
      return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, unit);
    value /= 1000;
  }
  return fmt::format("{:.2f} s", value);
}

void print_by_operator(const Profile& profile, size_t runs, size_t limit) {
  fmt::print("\n{}\n", styled("time by operator", Style::kBold));
  const Rows rows = by_operator(profile);
  print_rows(rows, false, runs, limit);
  print_loops(rows, runs);
}

void print_by_node(const Profile& profile, size_t runs, size_t limit) {
  fmt::print("\n{}\n", styled("time by node", Style::kBold));
  print_rows(by_node(profile), true, runs, limit);
}

json::Value profile_json(const Profile& profile, size_t runs) {
  json::Value value;
  const Rows rows = by_operator(profile);
  value.set("operators", rows_json(rows, false, runs));
  value.set("nodes", rows_json(by_node(profile), true, runs));
  const LoopCounts loops = all_loops(rows);
  value.set("serial_ms", milliseconds(rows.total - loops.time) / static_cast<double>(runs));
  value.set("loops", loops_json(loops, runs));
  return value;
}

}  // namespace flambeau::cli
