// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: defaults of a switch's settings, and what cannot work together. Pure.
 * Not here: the files users write (configfs.c), which keep each single value
 * in its range.
 */
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/string.h>
#include <rocev2/pfc.h>
#include "conf.h"
#include "mmu.h"
#include "testing.h"

/* RoCE data by convention: DSCP 26, priority 3. CNPs: DSCP 48, priority 6 */
#define CONF_ROCE_PRIO		3
#define CONF_STRICT_PRIO	6

static void conf_default_prio(struct fabric_conf_prio *conf, int prio)
{
	conf->dynamic = 1;
	conf->xoff_bytes = 100000;
	conf->alpha_log2 = 0;
	conf->xon_offset = 8400;
	conf->headroom = 0;
	/* DCQCN paper: 5 KB, 200 KB, 1 % */
	conf->ecn = prio == CONF_ROCE_PRIO;
	conf->ecn_kmin = 5000;
	conf->ecn_kmax = 200000;
	conf->ecn_pmax = 10000;
	conf->weight = prio >= CONF_STRICT_PRIO ? 0 : 1;
}

/**
 * fabric_conf_default() - settings of a switch that has just been made
 * @conf: filled in
 *
 * Context: any; pure.
 */
void fabric_conf_default(struct fabric_conf *conf)
{
	u32 i, prio;

	memset(conf, 0, sizeof(*conf));
	conf->ports = 4;
	conf->mtu = 4200;
	conf->buffer_bytes = 12000000;
	conf->pfc_mask = BIT(CONF_ROCE_PRIO);
	conf->pause_quanta = ROCEV2_PFC_TIME_MAX;
	conf->nic_bytes = 65536;
	conf->watchdog = FABRIC_WATCHDOG_DROP;
	conf->watchdog_detect_ms = 200;
	conf->watchdog_restore_ms = 200;
	conf->sample_rows = 65536;
	conf->sample_prios = BIT(CONF_ROCE_PRIO);
	for (i = 0; i < FABRIC_DSCPS; i++)
		conf->dscp2prio[i] = i >> 3;
	for (i = 0; i < FABRIC_PORTS_MAX; i++) {
		conf->port[i].rate_mbps = 10000;
		conf->port[i].delay_ns = 1000;
		conf->port[i].back_ns = FABRIC_DELAY_SAME;
		for (prio = 0; prio < FABRIC_PRIOS; prio++)
			conf_default_prio(&conf->port[i].prio[prio], prio);
	}
}
ROCEV2_EXPORT_FOR_TEST(fabric_conf_default);

/**
 * fabric_conf_way() - propagation there and back
 * @port: settings of the port
 *
 * Context: any; pure. Return: ns.
 */
u64 fabric_conf_way(const struct fabric_conf_port *port)
{
	u32 back = port->back_ns == FABRIC_DELAY_SAME ? port->delay_ns :
							port->back_ns;

	return (u64)port->delay_ns + back;
}

/**
 * fabric_conf_headroom() - headroom of one (port, priority)
 * @conf: the settings
 * @port: number of the port
 * @prio: the priority
 *
 * Context: any; pure. Return: bytes; 0 for a lossy priority.
 */
u32 fabric_conf_headroom(const struct fabric_conf *conf, u32 port, u8 prio)
{
	const struct fabric_conf_port *p = &conf->port[port];

	if (!(conf->pfc_mask & BIT(prio)))
		return 0;
	return p->prio[prio].headroom ?:
		fabric_mmu_headroom_bound(conf->mtu, p->rate_mbps,
					  fabric_conf_way(p));
}
ROCEV2_EXPORT_FOR_TEST(fabric_conf_headroom);

/**
 * fabric_conf_reserved() - all headroom of a switch
 * @conf: the settings
 *
 * Context: any; pure. Return: bytes.
 */
u64 fabric_conf_reserved(const struct fabric_conf *conf)
{
	u64 sum = 0;
	u32 i, prio;

	for (i = 0; i < conf->ports; i++)
		for (prio = 0; prio < FABRIC_PRIOS; prio++)
			sum += fabric_conf_headroom(conf, i, prio);
	return sum;
}
ROCEV2_EXPORT_FOR_TEST(fabric_conf_reserved);

static int conf_check_prio(const struct fabric_conf_prio *p, bool lossless,
			   u64 pool, const char **why)
{
	if (p->ecn && p->ecn_kmin > p->ecn_kmax) {
		*why = "ecn_kmin_bytes is above ecn_kmax_bytes";
		return -EDOM;
	}
	if (!lossless || p->dynamic)
		return 0;
	if (p->xoff_bytes > pool) {
		*why = "xoff_bytes is more than the buffer has beside the headroom";
		return -ENOBUFS;
	}
	if (p->xon_offset > p->xoff_bytes) {
		*why = "xon_offset_bytes is more than xoff_bytes";
		return -EDOM;
	}
	return 0;
}

/*
 * A pause is said again when half of it is over, but behind a frame that has
 * just begun; the other end must hear it before it goes on. 2 ns are for
 * events being at whole ones.
 */
static bool conf_pause_lasts(const struct fabric_conf *conf, u32 port)
{
	const u32 mbps = conf->port[port].rate_mbps;
	u32 bytes = fabric_wire_bytes(conf->mtu + FABRIC_FRAME_EXTRA) +
		    fabric_wire_bytes(sizeof(struct rocev2_pfc_frame));

	return rocev2_pfc_quanta_ns(conf->pause_quanta, mbps) / 2 >=
	       DIV_ROUND_UP_ULL(bytes * 8000ULL, mbps) + 2;
}

static int conf_check_port(const struct fabric_conf *conf, u32 port, u64 pool,
			   const char **why)
{
	int prio, err;

	if (conf->pfc_mask && !conf_pause_lasts(conf, port)) {
		*why = "half of pause_quanta is less than a frame and a PFC frame take";
		return -EDOM;
	}
	for (prio = 0; prio < FABRIC_PRIOS; prio++) {
		err = conf_check_prio(&conf->port[port].prio[prio],
				      conf->pfc_mask & BIT(prio), pool, why);
		if (err)
			return err;
	}
	return 0;
}

/**
 * fabric_conf_check() - can these settings work together?
 * @conf: the settings, each in its own range
 * @why: set to a sentence for the log when not
 *
 * Context: any; pure. Return: 0; -ERANGE no ports; -ENOSPC the headroom does
 * not fit into the buffer, or leaves less than a frame; -ENOBUFS a threshold
 * does not fit; -EDOM two thresholds contradict each other, a pause ends
 * before it can be said again, or samples are too near each other.
 */
int fabric_conf_check(const struct fabric_conf *conf, const char **why)
{
	const u64 reserved = fabric_conf_reserved(conf);
	u64 pool;
	int err;
	u32 i;

	if (!conf->ports) {
		*why = "a switch needs ports";
		return -ERANGE;
	}
	if (conf->sample_ns && conf->sample_ns < FABRIC_SAMPLE_MIN) {
		*why = "sample_ns is less than 1000";
		return -EDOM;
	}
	if (reserved + conf->mtu + FABRIC_FRAME_EXTRA > conf->buffer_bytes) {
		*why = "buffer_bytes is less than all headroom and a frame";
		return -ENOSPC;
	}
	pool = conf->buffer_bytes - reserved;
	for (i = 0; i < conf->ports; i++) {
		err = conf_check_port(conf, i, pool, why);
		if (err)
			return err;
	}
	return 0;
}
ROCEV2_EXPORT_FOR_TEST(fabric_conf_check);
