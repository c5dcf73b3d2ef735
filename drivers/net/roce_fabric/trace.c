// SPDX-License-Identifier: GPL-2.0
/*
 * The one place where the trace events of trace.h are instantiated.
 */
#include "switch.h"
#define CREATE_TRACE_POINTS
#include "trace.h"
