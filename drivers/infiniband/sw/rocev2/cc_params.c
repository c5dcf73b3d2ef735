// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: the knobs of congestion control - names, units, ranges, defaults -
 * their files in sysfs, and the snapshot that the data path reads.
 *
 * Names and meanings are those of mlx5's cc_params where it has them (D11).
 * Not here: what is done by them (np.c, rp.c, dcqcn.c).
 */
#include <linux/kstrtox.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <rdma/ib_sysfs.h>
#include "cc_params.h"
#include "device.h"
#include "testing.h"

/* Fields of mlx5's registers that have 17 bits */
#define CC_US_MAX	131071
/* A second is long for whoever waits for a CNP */
#define CC_CNP_US_MAX	1000000
#define CC_NAME_MAX	32

/* A port's knob that is a number */
struct cc_knob {
	struct ib_port_attribute attr;
	u32 off;			/* into struct rocev2_cc_params */
	u32 size;			/* of a bool or a u32 */
	u32 min;
	u32 max;
	u32 flags;
};

#define CC_LINE		BIT(0)		/* nor above the rate of the line */
#define CC_ZERO		BIT(1)		/* 0, too, whatever the minimum is */

/* A knob that is a word */
struct cc_word {
	struct ib_port_attribute attr;
	const char *const *names;
	int (*get)(const struct rocev2_cc_params *p);
	void (*set)(struct rocev2_cc_params *p, int i);
};

/* One priority's switch */
struct cc_switch {
	struct ib_port_attribute attr;
	u32 off;			/* of the mask */
	u8 prio;
};

/* X(name, field, least, most, flags) */
#define CC_KNOBS(X)							\
	X(rp_clamp_tgt_rate, rp.clamp_tgt_rate, 0, 1, 0)		\
	X(rp_clamp_tgt_rate_ati, rp.clamp_tgt_rate_ati, 0, 1, 0)	\
	X(rp_time_reset, rp.time_reset, 1, CC_US_MAX, 0)		\
	X(rp_byte_reset, rp.byte_reset, 0, U32_MAX, 0)			\
	X(rp_threshold, rp.threshold, 0, 31, 0)				\
	X(rp_ai_rate, rp.ai_rate, 0, 0, CC_LINE)			\
	X(rp_hai_rate, rp.hai_rate, 0, 0, CC_LINE)			\
	X(rp_max_rate, rp.max_rate, 1, 0, CC_LINE | CC_ZERO)		\
	X(rp_min_rate, rp.min_rate, 1, 0, CC_LINE)			\
	X(rp_min_dec_fac, rp.min_dec_fac, 0, 100, 0)			\
	X(rp_rate_to_set_on_first_cnp, rp.rate_to_set_on_first_cnp, 1, 0, \
	  CC_LINE | CC_ZERO)						\
	X(rp_dce_tcp_g, rp.dce_tcp_g, 0, 1023, 0)			\
	X(rp_dce_tcp_rtt, rp.dce_tcp_rtt, 1, CC_US_MAX, 0)		\
	X(rp_rate_reduce_monitor_period, rp.rate_reduce_monitor_period,	\
	  1, U32_MAX, 0)						\
	X(rp_initial_alpha_value, rp.initial_alpha_value, 1, 1023, 0)	\
	X(rp_gd, rp.gd, 10, 11, 0)					\
	X(np_min_time_between_cnps, min_time_between_cnps, 0,		\
	  CC_CNP_US_MAX, 0)						\
	X(np_cnp_dscp, cnp_dscp, 0, 63, 0)				\
	X(np_cnp_prio_mode, cnp_prio_mode, 0, 1, 0)			\
	X(np_cnp_prio, cnp_prio, 0, 7, 0)				\
	X(burst_bytes, burst_bytes, 0, ROCEV2_CC_BURST_MAX, 0)		\
	X(window_packets, window_packets, 1, ROCEV2_CC_WINDOW_MAX, 0)	\
	X(line_rate, line_rate, 1, ROCEV2_CC_RATE_MAX, CC_ZERO)

/* What goes with each definition of the reaction point; see the document */
static const struct rocev2_cc_parms cc_paper = {
	.variant = ROCEV2_DCQCN_PAPER,
	.clamp_tgt_rate_ati = true,
	.time_reset = 55,
	.byte_reset = 10000000,
	.threshold = 5,
	.ai_rate = 40,
	.hai_rate = 200,
	.min_rate = 1,
	.min_dec_fac = 50,
	.dce_tcp_g = 1020,
	.dce_tcp_rtt = 55,
	.rate_reduce_monitor_period = 4,
	.initial_alpha_value = 1023,
	.gd = 11,
};

static const struct rocev2_cc_parms cc_mlx = {
	.variant = ROCEV2_DCQCN_MLX,
	.clamp_tgt_rate_ati = true,
	.time_reset = 300,
	.byte_reset = 32767,
	.threshold = 1,
	.ai_rate = 5,
	.hai_rate = 50,
	.min_rate = 1,
	.min_dec_fac = 50,
	.dce_tcp_g = 1019,
	.dce_tcp_rtt = 1,
	.rate_reduce_monitor_period = 4,
	.initial_alpha_value = 1023,
	.gd = 11,
};

static const struct rocev2_cc_ops *const cc_algorithms[] = {
	&rocev2_dcqcn_ops, &rocev2_cc_none_ops,
};

/*
 * Change
 */

/* The knob, or what the netdev says, or a guess */
static void cc_apply_line(const struct rocev2_cc_dev *cc,
			  struct rocev2_cc_params *p)
{
	p->rp.line_rate = p->line_rate ?: cc->speed ?: ROCEV2_CC_LINE_RATE;
}

/* A copy of the snapshot, to be changed; cc->lock held */
static struct rocev2_cc_params *cc_copy(struct rocev2_cc_dev *cc)
{
	lockdep_assert_held(&cc->lock);
	return kmemdup(rcu_dereference_protected(cc->params,
						 lockdep_is_held(&cc->lock)),
		       sizeof(struct rocev2_cc_params), GFP_KERNEL);
}

/* @p takes the place of the snapshot; cc->lock held */
static void cc_publish(struct rocev2_cc_dev *cc, struct rocev2_cc_params *p)
{
	struct rocev2_cc_params *old;

	lockdep_assert_held(&cc->lock);
	cc_apply_line(cc, p);
	p->gen++;
	if (!p->gen)
		p->gen++;
	old = rcu_replace_pointer(cc->params, p, lockdep_is_held(&cc->lock));
	/* who sees the number early looks again: the snapshot has its own */
	WRITE_ONCE(cc->gen, p->gen);
	WRITE_ONCE(cc->window, p->window_packets);
	kfree_rcu(old, rcu);
}

static u32 cc_knob_read(const struct rocev2_cc_params *p,
			const struct cc_knob *k)
{
	const void *field = (const void *)p + k->off;

	return k->size == sizeof(bool) ? *(const bool *)field :
					 *(const u32 *)field;
}

static void cc_knob_write(struct rocev2_cc_params *p, const struct cc_knob *k,
			  u32 value)
{
	void *field = (void *)p + k->off;

	if (k->size == sizeof(bool))
		*(bool *)field = value;
	else
		*(u32 *)field = value;
	/* as on mlx5: who names a priority wants it to count */
	if (k->off == offsetof(struct rocev2_cc_params, cnp_prio))
		p->cnp_prio_mode = false;
}

static bool cc_knob_ok(const struct rocev2_cc_params *p,
		       const struct cc_knob *k, u32 value)
{
	u32 max = k->flags & CC_LINE ? p->rp.line_rate : k->max;

	if (!value && k->flags & CC_ZERO)
		return true;
	return value >= k->min && value <= max;
}

static int cc_knob_store(struct rocev2_cc_dev *cc, const struct cc_knob *k,
			 const char *buf)
{
	struct rocev2_cc_params *p;
	u32 value;
	int err;

	err = kstrtou32(buf, 0, &value);
	if (err)
		return -EINVAL;
	mutex_lock(&cc->lock);
	p = cc_copy(cc);
	if (!p) {
		err = -ENOMEM;
	} else if (!cc_knob_ok(p, k, value)) {
		err = -EINVAL;
		kfree(p);
	} else {
		cc_knob_write(p, k, value);
		cc_publish(cc, p);
	}
	mutex_unlock(&cc->lock);
	return err;
}

static int cc_word_store(struct rocev2_cc_dev *cc, const struct cc_word *w,
			 const char *buf)
{
	struct rocev2_cc_params *p;
	int i, err = 0;

	i = __sysfs_match_string(w->names, -1, buf);
	if (i < 0)
		return -EINVAL;
	mutex_lock(&cc->lock);
	p = cc_copy(cc);
	if (p) {
		w->set(p, i);
		cc_publish(cc, p);
	} else {
		err = -ENOMEM;
	}
	mutex_unlock(&cc->lock);
	return err;
}

static int cc_switch_store(struct rocev2_cc_dev *cc, u32 off, u8 prio, bool on)
{
	struct rocev2_cc_params *p;
	int err = 0;
	u8 *mask;

	mutex_lock(&cc->lock);
	p = cc_copy(cc);
	if (p) {
		mask = (void *)p + off;
		*mask = on ? *mask | BIT(prio) : *mask & ~BIT(prio);
		cc_publish(cc, p);
	} else {
		err = -ENOMEM;
	}
	mutex_unlock(&cc->lock);
	return err;
}

/*
 * Words
 */

static const char *const cc_algorithm_names[] = { "dcqcn", "none", NULL };
static const char *const cc_variant_names[] = { "paper", "mlx5", NULL };

static int cc_algorithm_get(const struct rocev2_cc_params *p)
{
	return p->ops == &rocev2_cc_none_ops;
}

static void cc_algorithm_set(struct rocev2_cc_params *p, int i)
{
	p->ops = cc_algorithms[i];
}

static int cc_variant_get(const struct rocev2_cc_params *p)
{
	return p->rp.variant == ROCEV2_DCQCN_MLX;
}

/* Each is nothing without its own numbers, so they come with it */
static void cc_variant_set(struct rocev2_cc_params *p, int i)
{
	p->rp = i ? cc_mlx : cc_paper;
}

/*
 * Files
 */

static struct rocev2_cc_dev *cc_of(struct ib_device *ibdev)
{
	return &to_rocev2_dev(ibdev)->cc;
}

static ssize_t cc_knob_show_file(struct ib_device *ibdev, u32 port,
				 struct ib_port_attribute *attr, char *buf)
{
	u32 value;

	rcu_read_lock();
	value = cc_knob_read(rcu_dereference(cc_of(ibdev)->params),
			     container_of(attr, struct cc_knob, attr));
	rcu_read_unlock();
	return sysfs_emit(buf, "%u\n", value);
}

static ssize_t cc_knob_store_file(struct ib_device *ibdev, u32 port,
				  struct ib_port_attribute *attr,
				  const char *buf, size_t count)
{
	return cc_knob_store(cc_of(ibdev),
			     container_of(attr, struct cc_knob, attr), buf) ?:
	       count;
}

static ssize_t cc_word_show_file(struct ib_device *ibdev, u32 port,
				 struct ib_port_attribute *attr, char *buf)
{
	const struct cc_word *w = container_of(attr, struct cc_word, attr);
	int i;

	rcu_read_lock();
	i = w->get(rcu_dereference(cc_of(ibdev)->params));
	rcu_read_unlock();
	return sysfs_emit(buf, "%s\n", w->names[i]);
}

static ssize_t cc_word_store_file(struct ib_device *ibdev, u32 port,
				  struct ib_port_attribute *attr,
				  const char *buf, size_t count)
{
	return cc_word_store(cc_of(ibdev),
			     container_of(attr, struct cc_word, attr), buf) ?:
	       count;
}

static ssize_t cc_switch_show_file(struct ib_device *ibdev, u32 port,
				   struct ib_port_attribute *attr, char *buf)
{
	const struct cc_switch *s = container_of(attr, struct cc_switch, attr);
	u8 mask;

	rcu_read_lock();
	mask = *((const u8 *)rcu_dereference(cc_of(ibdev)->params) + s->off);
	rcu_read_unlock();
	return sysfs_emit(buf, "%d\n", !!(mask & BIT(s->prio)));
}

static ssize_t cc_switch_store_file(struct ib_device *ibdev, u32 port,
				    struct ib_port_attribute *attr,
				    const char *buf, size_t count)
{
	const struct cc_switch *s = container_of(attr, struct cc_switch, attr);
	bool on;

	if (kstrtobool(buf, &on))
		return -EINVAL;
	return cc_switch_store(cc_of(ibdev), s->off, s->prio, on) ?: count;
}

#define CC_FILE(file, kind) {						\
	.attr = { .name = (file), .mode = 0644 },			\
	.show = cc_##kind##_show_file,					\
	.store = cc_##kind##_store_file,				\
}

#define X(n, field, least, most, f) {					\
	.attr = CC_FILE(#n, knob),					\
	.off = offsetof(struct rocev2_cc_params, field),		\
	.size = sizeof(((struct rocev2_cc_params *)0)->field),		\
	.min = (least), .max = (most), .flags = (f),			\
},

static struct cc_knob cc_knobs[] = { CC_KNOBS(X) };
#undef X

static struct cc_word cc_words[] = {
	{
		.attr = CC_FILE("algorithm", word),
		.names = cc_algorithm_names,
		.get = cc_algorithm_get,
		.set = cc_algorithm_set,
	}, {
		.attr = CC_FILE("variant", word),
		.names = cc_variant_names,
		.get = cc_variant_get,
		.set = cc_variant_set,
	},
};

#define CC_SWITCH(field, n) {						\
	.attr = CC_FILE(#n, switch),					\
	.off = offsetof(struct rocev2_cc_params, field), .prio = (n),	\
}

#define CC_SWITCHES(field) {						\
	CC_SWITCH(field, 0), CC_SWITCH(field, 1), CC_SWITCH(field, 2),	\
	CC_SWITCH(field, 3), CC_SWITCH(field, 4), CC_SWITCH(field, 5),	\
	CC_SWITCH(field, 6), CC_SWITCH(field, 7),			\
}

static struct cc_switch cc_np[] = CC_SWITCHES(np_enable);
static struct cc_switch cc_rp[] = CC_SWITCHES(rp_enable);

/* In the order of cc_knobs */
enum {
#define X(n, field, least, most, f) CC_AT_##n,
	CC_KNOBS(X)
#undef X
};

static struct attribute *cc_attrs[] = {
	&cc_words[0].attr.attr,
	&cc_words[1].attr.attr,
#define X(n, field, least, most, f) &cc_knobs[CC_AT_##n].attr.attr,
	CC_KNOBS(X)
#undef X
	NULL
};

#define CC_SWITCH_ATTRS(s) {						\
	&(s)[0].attr.attr, &(s)[1].attr.attr, &(s)[2].attr.attr,	\
	&(s)[3].attr.attr, &(s)[4].attr.attr, &(s)[5].attr.attr,	\
	&(s)[6].attr.attr, &(s)[7].attr.attr, NULL			\
}

static struct attribute *cc_np_attrs[] = CC_SWITCH_ATTRS(cc_np);
static struct attribute *cc_rp_attrs[] = CC_SWITCH_ATTRS(cc_rp);

const struct attribute_group rocev2_cc_group = {
	.name = "cc_params",
	.attrs = cc_attrs,
};

const struct attribute_group rocev2_cc_np_group = {
	.name = "roce_np_enable",
	.attrs = cc_np_attrs,
};

const struct attribute_group rocev2_cc_rp_group = {
	.name = "roce_rp_enable",
	.attrs = cc_rp_attrs,
};

/**
 * rocev2_cc_knob_set() - write a knob
 * @cc: of the device
 * @name: a file of cc_params, or roce_np_enable/N, roce_rp_enable/N
 * @value: what one would write to the file
 *
 * Context: sleeps. Return: 0, -ENOENT (no such knob), -EINVAL (out of range,
 * and the old value stays), -ENOMEM.
 */
int rocev2_cc_knob_set(struct rocev2_cc_dev *cc, const char *name,
		       const char *value)
{
	char path[CC_NAME_MAX];
	bool on;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cc_knobs); i++)
		if (!strcmp(cc_knobs[i].attr.attr.name, name))
			return cc_knob_store(cc, &cc_knobs[i], value);
	for (i = 0; i < ARRAY_SIZE(cc_words); i++)
		if (!strcmp(cc_words[i].attr.attr.name, name))
			return cc_word_store(cc, &cc_words[i], value);
	for (i = 0; i < ARRAY_SIZE(cc_np) + ARRAY_SIZE(cc_rp); i++) {
		const struct cc_switch *s = i < 8 ? &cc_np[i] : &cc_rp[i - 8];

		snprintf(path, sizeof(path), "roce_%cp_enable/%u",
			 i < 8 ? 'n' : 'r', s->prio);
		if (strcmp(path, name))
			continue;
		return kstrtobool(value, &on) ? -EINVAL :
		       cc_switch_store(cc, s->off, s->prio, on);
	}
	return -ENOENT;
}
ROCEV2_EXPORT_FOR_TEST(rocev2_cc_knob_set);

/**
 * rocev2_cc_knob_get() - read a knob that is a number
 * @cc: of the device
 * @name: a file of cc_params
 * @value: what it is
 *
 * Context: any. Return: 0 or -ENOENT.
 */
int rocev2_cc_knob_get(struct rocev2_cc_dev *cc, const char *name, u32 *value)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cc_knobs); i++) {
		if (strcmp(cc_knobs[i].attr.attr.name, name))
			continue;
		rcu_read_lock();
		*value = cc_knob_read(rcu_dereference(cc->params),
				      &cc_knobs[i]);
		rcu_read_unlock();
		return 0;
	}
	return -ENOENT;
}
ROCEV2_EXPORT_FOR_TEST(rocev2_cc_knob_get);

/*
 * Life
 */

/**
 * rocev2_cc_set_speed() - the link has another speed
 * @cc: of the device
 * @mbps: Mb/s, 0 if unknown
 *
 * Context: sleeps.
 */
void rocev2_cc_set_speed(struct rocev2_cc_dev *cc, u32 mbps)
{
	struct rocev2_cc_params *p;

	mutex_lock(&cc->lock);
	if (cc->speed != mbps) {
		cc->speed = mbps;
		p = cc_copy(cc);
		/* without memory the old speed counts until the next change */
		if (p)
			cc_publish(cc, p);
	}
	mutex_unlock(&cc->lock);
}

/**
 * rocev2_cc_dev_init() - knobs of a new device, as they come
 * @cc: zeroed
 *
 * As on a NIC all priorities have it on, and the CNP interval is the paper's.
 *
 * Context: sleeps. Return: 0 or -ENOMEM.
 */
int rocev2_cc_dev_init(struct rocev2_cc_dev *cc)
{
	struct rocev2_cc_params *p = kzalloc_obj(*p, GFP_KERNEL);

	if (!p)
		return -ENOMEM;
	mutex_init(&cc->lock);
	p->gen = 1;
	p->ops = &rocev2_dcqcn_ops;
	p->rp = cc_paper;
	p->burst_bytes = ROCEV2_CC_BURST_MAX;
	p->window_packets = ROCEV2_CC_WINDOW;
	p->min_time_between_cnps = 50;
	p->cnp_dscp = 48;
	p->cnp_prio = 6;
	p->np_enable = 0xff;
	p->rp_enable = 0xff;
	cc_apply_line(cc, p);
	cc->gen = p->gen;
	cc->window = p->window_packets;
	RCU_INIT_POINTER(cc->params, p);
	return 0;
}
ROCEV2_EXPORT_FOR_TEST(rocev2_cc_dev_init);

/**
 * rocev2_cc_dev_exit() - undo rocev2_cc_dev_init()
 * @cc: of a device that no QP is left of; may never have been initialized
 *
 * Context: sleeps.
 */
void rocev2_cc_dev_exit(struct rocev2_cc_dev *cc)
{
	struct rocev2_cc_params *p = rcu_dereference_protected(cc->params, 1);

	if (!p)
		return;
	RCU_INIT_POINTER(cc->params, NULL);
	mutex_destroy(&cc->lock);
	kfree_rcu(p, rcu);
}
ROCEV2_EXPORT_FOR_TEST(rocev2_cc_dev_exit);
