/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the KUnit module may call: it is a module of its own and links against
 * this one, so the functions under test are exported where KUnit exists, and
 * nowhere else.
 */
#ifndef ROCE_FABRIC_TESTING_H
#define ROCE_FABRIC_TESTING_H

#include <linux/export.h>
#include <linux/kconfig.h>

#if IS_ENABLED(CONFIG_KUNIT)
#define ROCEV2_EXPORT_FOR_TEST(sym)	EXPORT_SYMBOL_GPL(sym)
#else
/* Something that takes the semicolon at file scope */
#define ROCEV2_EXPORT_FOR_TEST(sym)	extern typeof(sym) sym
#endif

#endif /* ROCE_FABRIC_TESTING_H */
