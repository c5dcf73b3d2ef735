#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: what `make shell` shows: a guest with the module loaded, one device,
# and a prompt.

# shellcheck source=tools/lab/guest-lib.sh
. tools/lab/guest-lib.sh

# In User-Mode Linux there is no wire: a pair of our own.
if [[ ! -e /sys/class/net/eth0 ]]; then
	ip link add eth0 type veth peer name peer0
	ip link set peer0 mtu 4200 up
fi
lab_net_up 4200
lab_load "$LAB_LINK" && lab_link roce0 eth0 && rdma link show
echo "Kernel $KVER. 'exit' ends the guest; /lab is its directory in out/run."
export TERM=vt100 PS1='rocev2:\w# '
exec bash --norc -i
