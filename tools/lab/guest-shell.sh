#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Owns: what `make shell` shows: a guest with the module loaded, one device,
# and a prompt.

# shellcheck source=tools/lab/guest-lib.sh
. tools/lab/guest-lib.sh

lab_net_up 4200
lab_load "$LAB_LINK" && lab_link roce0 eth0 && rdma link show
echo "Kernel $KVER. 'exit' ends the guest; /lab is out/run/shell/host0."
export TERM=vt100 PS1='rocev2:\w# '
exec bash --norc -i
