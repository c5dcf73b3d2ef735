// SPDX-License-Identifier: GPL-2.0
/*
 * The module that carries all suites; each *_kunit.c here registers its own.
 * KUnit runs them when the module is loaded.
 */
#include <linux/module.h>

MODULE_DESCRIPTION("KUnit suites of the switch fabric");
MODULE_LICENSE("GPL");
