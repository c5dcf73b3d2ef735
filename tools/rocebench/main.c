// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: main(): which of the three roles it is.
 */

#include <signal.h>
#include <stdlib.h>

#include "rb.h"

int main(int argc, char **argv)
{
	struct rb_opts o;
	int r = rb_opts_parse(argc, argv, &o);

	if (r)
		return r < 0 ? 2 : 0;
	signal(SIGPIPE, SIG_IGN);
	if (o.nflows)
		r = rb_flows(&o);
	else if (o.local.peer)
		r = rb_client(&o);
	else
		r = rb_server(&o);
	free(o.flows);
	return r;
}
