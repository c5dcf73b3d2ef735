// SPDX-License-Identifier: GPL-2.0
/*
 * Owns: the files in debugfs: a switch's counters and samples as CSV, and how
 * late the engine has been. Not here: where the numbers come from.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include "debugfs.h"
#include "sampler.h"
#include "switch.h"

static struct dentry *debugfs_root;

static void *samples_start(struct seq_file *m, loff_t *pos)
{
	const struct fabric_switch *sw = m->private;
	u64 first;

	if (!*pos)
		return SEQ_START_TOKEN;
	/* rows that were overwritten meanwhile are passed over */
	spin_lock_bh(&fabric_lock);
	first = fabric_sampler_first(sw);
	if (*pos - 1 < first)
		*pos = first + 1;
	if (!sw->sampler || *pos - 1 >= sw->sampler->written)
		pos = NULL;
	spin_unlock_bh(&fabric_lock);
	return pos;
}

static void *samples_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return samples_start(m, pos);
}

static void samples_stop(struct seq_file *m, void *v)
{
}

static int samples_show(struct seq_file *m, void *v)
{
	const struct fabric_switch *sw = m->private;
	struct fabric_sample s;
	bool there;

	if (v == SEQ_START_TOKEN) {
		seq_puts(m, "t_ns,port,prio,queue_bytes,marks,pause_tx,pause_rx,drops,tx_packets,tx_bytes\n");
		return 0;
	}
	spin_lock_bh(&fabric_lock);
	there = fabric_sampler_get(sw, *(loff_t *)v - 1, &s);
	spin_unlock_bh(&fabric_lock);
	if (!there)
		return SEQ_SKIP;
	seq_printf(m, "%llu,%u,%u,%u,%llu,%u,%u,%llu,%llu,%llu\n", s.at, s.port,
		   s.prio, s.queue_bytes, s.marks, s.pause_tx, s.pause_rx,
		   s.drops, s.tx_packets, s.tx_bytes);
	return 0;
}

static const struct seq_operations samples_sops = {
	.start = samples_start,
	.next = samples_next,
	.stop = samples_stop,
	.show = samples_show,
};

DEFINE_SEQ_ATTRIBUTE(samples);

static void counters_row(struct seq_file *m, const struct fabric_port *port,
			 int prio)
{
	const struct fabric_in *in = &port->in[prio];
	const struct fabric_out *out = &port->out[prio];
	const struct fabric_dir *dir = &port->dir;
	u64 now = fabric_engine_now();
	int i;

	seq_printf(m, "%u,%d,%llu,%llu,%llu,%llu", port->id, prio, in->packets,
		   in->bytes, dir->stats[prio].packets, dir->stats[prio].bytes);
	seq_printf(m, ",%u,%u,%u,%u,%u,%u", in->mmu.shared, in->shared_peak,
		   in->mmu.hdrm, in->hdrm_peak, dir->queue_bytes[prio],
		   out->peak);
	seq_printf(m, ",%llu,%llu,%llu,%llu,%llu,%llu", out->marks,
		   out->unmarked, dir->xoff.frames[prio],
		   fabric_xoff_total(&dir->xoff, prio, now),
		   dir->pause.frames[prio],
		   fabric_pause_total(&dir->pause, prio, now));
	seq_printf(m, ",%llu,%llu,%llu", dir->pause.transitions[prio],
		   out->storms, out->storms_over);
	for (i = 0; i < FABRIC_DROP_NR; i++)
		seq_printf(m, ",%llu", in->drops[i]);
	seq_printf(m, ",%u,%u\n", in->parms.headroom,
		   fabric_mmu_threshold(&in->parms, &port->sw->pool));
}

static int counters_show(struct seq_file *m, void *v)
{
	const struct fabric_switch *sw = m->private;
	u32 p;
	int i;

	seq_puts(m, "port,prio,rx_packets,rx_bytes,tx_packets,tx_bytes,shared,shared_peak,headroom,headroom_peak,queue_bytes,queue_peak,marks,not_ect,pause_tx,pause_tx_ns,pause_rx,pause_rx_ns,pause_transitions,storms,storms_over");
	for (i = 0; i < FABRIC_DROP_NR; i++)
		seq_printf(m, ",drop_%s", fabric_drop_names[i]);
	seq_puts(m, ",headroom_size,threshold\n");
	spin_lock_bh(&fabric_lock);
	for (p = 0; p < sw->ports; p++)
		for (i = 0; i < FABRIC_PRIOS; i++)
			counters_row(m, &sw->port[p], i);
	spin_unlock_bh(&fabric_lock);
	return 0;
}

DEFINE_SHOW_ATTRIBUTE(counters);

static int state_show(struct seq_file *m, void *v)
{
	const struct fabric_switch *sw = m->private;
	u64 bad = 0, link = 0, unlearned = 0, failed = 0;
	u32 p;

	spin_lock_bh(&fabric_lock);
	for (p = 0; p < sw->ports; p++) {
		bad += sw->port[p].control_bad;
		link += sw->port[p].control_link;
		unlearned += sw->port[p].unlearned;
		failed += sw->port[p].dir.ctl_failed;
	}
	seq_printf(m, "pool_size %llu\npool_used %llu\npool_peak %llu\n",
		   sw->pool.size, sw->pool.used, sw->pool_peak);
	seq_printf(m, "control_malformed %llu\ncontrol_link_pause %llu\n",
		   bad, link);
	seq_printf(m, "addresses_not_learned %llu\npfc_frames_without_memory %llu\n",
		   unlearned, failed);
	seq_printf(m, "sample_start_ns %llu\nengine_late_ns %llu\n",
		   sw->sampler ? sw->sampler->start : 0, fabric_engine_late());
	spin_unlock_bh(&fabric_lock);
	return 0;
}

DEFINE_SHOW_ATTRIBUTE(state);

/**
 * fabric_debugfs_add() - a switch's files
 * @sw: the switch
 *
 * Context: process.
 */
void fabric_debugfs_add(struct fabric_switch *sw)
{
	sw->debugfs = debugfs_create_dir(sw->name, debugfs_root);
	debugfs_create_file("samples.csv", 0400, sw->debugfs, sw,
			    &samples_fops);
	debugfs_create_file("counters.csv", 0400, sw->debugfs, sw,
			    &counters_fops);
	debugfs_create_file("state", 0400, sw->debugfs, sw, &state_fops);
}

/**
 * fabric_debugfs_del() - a switch's files go; nobody reads them any more
 * @sw: the switch
 *
 * Context: process.
 */
void fabric_debugfs_del(struct fabric_switch *sw)
{
	debugfs_remove(sw->debugfs);
	sw->debugfs = NULL;
}

/**
 * fabric_debugfs_init() - at load
 *
 * Return: 0; the fabric works without debugfs.
 */
int fabric_debugfs_init(void)
{
	debugfs_root = debugfs_create_dir("roce_fabric", NULL);
	return 0;
}

/**
 * fabric_debugfs_exit() - at unload
 */
void fabric_debugfs_exit(void)
{
	debugfs_remove(debugfs_root);
}
