/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Congestion control of a port: its knobs, as one constant snapshot.
 *
 * A change of a knob makes a new snapshot; readers hold the RCU read lock and
 * see all of the old or all of the new one. Not here: what the notification
 * point (np.h) and the reaction point (rp.h) do by them.
 */
#ifndef ROCEV2_CC_PARAMS_H
#define ROCEV2_CC_PARAMS_H

#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sysfs.h>
#include "ah.h"
#include "cc.h"
#include "prio.h"

struct rocev2_dev;

/* The most that one burst may have, and the default of the knob; bytes */
#define ROCEV2_CC_BURST_MAX	65536
/* Request packets of a QP in flight: the default of the knob, and its most */
#define ROCEV2_CC_WINDOW	256
#define ROCEV2_CC_WINDOW_MAX	65536
/* What a link whose speed nobody knows is taken for; Mb/s */
#define ROCEV2_CC_LINE_RATE	10000
/* The fastest link a rate may be given for; Mb/s */
#define ROCEV2_CC_RATE_MAX	1600000

struct rocev2_cc_params {
	struct rcu_head rcu;
	u32 gen;			/* never 0; another for each snapshot */
	const struct rocev2_cc_ops *ops;
	struct rocev2_cc_parms rp;	/* line_rate: the one in force */
	u32 line_rate;			/* Mb/s, the knob; 0: the netdev's */
	u32 burst_bytes;		/* 0 to ROCEV2_CC_BURST_MAX */
	u32 window_packets;		/* 1 to ROCEV2_CC_WINDOW_MAX */
	u32 min_time_between_cnps;	/* us */
	u32 cnp_dscp;			/* 0 to 63 */
	u32 cnp_prio;			/* 0 to 7 */
	bool cnp_prio_mode;		/* the priority is that of cnp_dscp */
	u8 np_enable;			/* bit n: priority n */
	u8 rp_enable;
};

/* Of a device */
struct rocev2_cc_dev {
	struct mutex lock;		/* who writes; below rtnl, a leaf */
	u32 speed;			/* Mb/s, of the netdev; lock */
	/* changed under the lock; NULL: no such control */
	struct rocev2_cc_params __rcu *params;
	u32 gen;			/* of @params, to see a change by */
	u32 window;			/* of @params, for each packet */
};

int rocev2_cc_dev_init(struct rocev2_cc_dev *cc);
void rocev2_cc_dev_exit(struct rocev2_cc_dev *cc);
void rocev2_cc_set_speed(struct rocev2_cc_dev *cc, u32 mbps);

/* A knob by its name in sysfs */
int rocev2_cc_knob_set(struct rocev2_cc_dev *cc, const char *name,
		       const char *value);
int rocev2_cc_knob_get(struct rocev2_cc_dev *cc, const char *name, u32 *value);

extern const struct attribute_group rocev2_cc_group;
extern const struct attribute_group rocev2_cc_np_group;
extern const struct attribute_group rocev2_cc_rp_group;

/* Priority of a packet of @tclass; one without a class goes by @sl */
static inline u8 rocev2_cc_prio(const struct rocev2_dev *dev, u8 tclass, u8 sl)
{
	return rocev2_prio_of(dev, tclass, sl);
}

/* Does this side slow down, and so may ask to be told, at priority @prio? */
static inline bool rocev2_cc_reacts(const struct rocev2_cc_params *p, u8 prio)
{
	return p->ops != &rocev2_cc_none_ops && p->rp_enable & BIT(prio);
}

#endif /* ROCEV2_CC_PARAMS_H */
