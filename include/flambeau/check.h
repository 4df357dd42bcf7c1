// Judge whether a file from a stranger is safe to open. Nothing in it is run.
//
//   const SafetyReport report = check_file("download.pt");
//   if (!report.is_harmless()) std::puts(report.findings.front().message.c_str());
#pragma once

#include "flambeau/formats/safety/safety.h"
