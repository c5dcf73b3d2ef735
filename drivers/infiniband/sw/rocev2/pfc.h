/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PFC of a port (D10): who may not send now, and who is told to stop.
 *
 * In `nic` mode the netdev honours pause frames, and all that is seen here is
 * that its queues fill. In `host` mode the frames reach the stack: they are
 * obeyed, and sent when too much is held at receive. A QP whose priority is
 * paused is parked, no packet of it is built, and it costs nothing until it is
 * kicked: so memory is bounded, and the other priorities do not notice.
 *
 * The rules are in pfc_state.h, frames in <rocev2/pfc.h>.
 */
#ifndef ROCEV2_PFC_H
#define ROCEV2_PFC_H

#include <linux/compiler.h>
#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rocev2/pfc.h>
#include "pfc_state.h"

struct rocev2_av;
struct rocev2_dev;
struct rocev2_net_path;
struct rocev2_qp;
struct sk_buff;

enum rocev2_pfc_mode {
	ROCEV2_PFC_MODE_AUTO,	/* nic if the netdev says so, else host */
	ROCEV2_PFC_MODE_NIC,
	ROCEV2_PFC_MODE_HOST,
};

/*
 * Bytes held, as struct sk_buff's truesize has them: of packets that the hook
 * has taken and that are not placed yet. Placement is done where a packet is
 * taken, so on each CPU that is one skb in hand, and behind it those in the
 * CPU's receive backlog, which are taken to be like it. What a NIC's own ring
 * holds nobody can see. The defaults are below what 1,000 small skbs take, at
 * which the kernel starts to drop.
 */
#define ROCEV2_PFC_XOFF		(512 * 1024)
#define ROCEV2_PFC_XON		(256 * 1024)
#define ROCEV2_PFC_XOFF_MAX	(1024 * 1024 * 1024)

/* Milliseconds: default and ranges of SONiC's watchdog */
#define ROCEV2_PFC_DETECT	200
#define ROCEV2_PFC_DETECT_MIN	100	/* or 0: no watchdog */
#define ROCEV2_PFC_DETECT_MAX	5000
#define ROCEV2_PFC_RESTORE	200
#define ROCEV2_PFC_RESTORE_MIN	100
#define ROCEV2_PFC_RESTORE_MAX	60000

/*
 * For a link whose speed is not known: rather too long a pause than too short,
 * and rather asked for too often than too late
 */
#define ROCEV2_PFC_MBPS_SLOW	1000
#define ROCEV2_PFC_MBPS_FAST	400000

struct rocev2_pfc_prio {
	struct rocev2_pfc_marks marks;
	struct rocev2_pfc_pause pause;
	struct rocev2_pfc_fill fill;
	struct list_head parked;	/* rocev2_qp.pfc_node */
};

/* Of a CPU; it alone writes, when we watch. The last skb it took. */
struct rocev2_pfc_held {
	u8 prio;
	u32 in_hand;		/* bytes; 0 when it is placed */
	u32 unit;		/* bytes; of the last one */
	u32 placed;		/* skbs */
};

struct rocev2_pfc_dev {
	/* BH; below all of a QP, above nothing */
	spinlock_t lock;
	struct rocev2_pfc_parms parms;
	struct rocev2_pfc_prio prio[ROCEV2_PFC_PRIORITIES];
	struct list_head released;	/* were parked, and are still to kick */
	enum rocev2_pfc_mode mode;
	bool host;		/* the mode in use */
	u8 enable;		/* a bit for each priority */

	/* follow from the above; READ_ONCE anywhere */
	u8 paused;		/* QPs of these wait */
	u8 discard;		/* packets of these are dropped */
	u8 watch;		/* what is held of these counts */

	struct rocev2_pfc_held __percpu *held;
	struct hrtimer timer;	/* the next thing that only time brings */
	struct packet_type pt;
	bool listening;		/* @pt is known to the stack */

	struct work_struct work;
	struct delayed_work poll;	/* runs @work now and then */
	bool mc;		/* @work's: the address is in the filter */
};

int rocev2_pfc_setup(struct rocev2_dev *dev);
void rocev2_pfc_start(struct rocev2_dev *dev, struct net_device *ndev);
void rocev2_pfc_leave(struct rocev2_dev *dev);
void rocev2_pfc_stop(struct rocev2_dev *dev);
void rocev2_pfc_free(struct rocev2_dev *dev);
void rocev2_pfc_recheck(struct rocev2_dev *dev);

/* A MAC control frame, from its destination address on */
void rocev2_pfc_input(struct rocev2_dev *dev, const void *frame, size_t len);

/* The runner's questions */
bool rocev2_pfc_park(struct rocev2_qp *qp, const struct rocev2_av *av,
		     const struct rocev2_net_path *path);
bool rocev2_pfc_discards(struct rocev2_qp *qp, const struct sk_buff *skb);
void rocev2_pfc_cancel(struct rocev2_qp *qp);

/* BH off: around the placement of an skb */
void rocev2_pfc_rx_begin(struct rocev2_dev *dev, const struct sk_buff *skb,
			 u8 tclass);
void rocev2_pfc_rx_end(struct rocev2_dev *dev);
/* Bytes of a priority held now */
u64 rocev2_pfc_held(const struct rocev2_pfc_dev *pd, u8 prio);

/* Knobs: 0 or -EINVAL, and then the old value stays */
int rocev2_pfc_set_mode(struct rocev2_dev *dev, enum rocev2_pfc_mode mode);
void rocev2_pfc_set_enable(struct rocev2_dev *dev, u8 prio, bool on);
int rocev2_pfc_set_marks(struct rocev2_dev *dev, u8 prio, u32 xoff, u32 xon);
int rocev2_pfc_set_detect(struct rocev2_dev *dev, u32 ms);
int rocev2_pfc_set_restore(struct rocev2_dev *dev, u32 ms);
void rocev2_pfc_set_drop(struct rocev2_dev *dev, bool drop);

/* For what no QP's turn sends: may it not leave now? Any context, no lock. */
bool rocev2_pfc_paused(const struct rocev2_dev *dev, u8 prio);

#endif /* ROCEV2_PFC_H */
