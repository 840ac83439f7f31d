/* Hamel: constrained mechanics from a text file. The umbrella header. */
#ifndef HAMEL_HAMEL_H
#define HAMEL_HAMEL_H

#include <hamel/action.h>
#include <hamel/analyse.h>
#include <hamel/audit.h>
#include <hamel/base.h>
#include <hamel/compare.h>
#include <hamel/ensemble.h>
#include <hamel/export.h>
#include <hamel/file.h>
#include <hamel/language.h>
#include <hamel/linalg.h>
#include <hamel/linearize.h>
#include <hamel/model.h>
#include <hamel/plot.h>
#include <hamel/reduce.h>
#include <hamel/report.h>
#include <hamel/run.h>
#include <hamel/sweep.h>
#include <hamel/symmetry.h>
#include <hamel/system.h>
#include <hamel/table.h>

#endif
