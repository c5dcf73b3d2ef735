# SPDX-License-Identifier: GPL-2.0
#
# Owns: the commands of this repository. What the modules are made of is in
# Kbuild; guests and labs are in tools/lab.

KVER ?= $(shell uname -r)
KDIR ?= /lib/modules/$(KVER)/build
VERSION := $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)

PARTS := kunit verbs interop stress tools kernels functional admin placement wire \
	firewall inject loss life field pfc ecn san kverbs odp failslab \
	kunit-uml uml fabric rocebench

.PHONY: all modules tools clean check test $(addprefix test-,$(PARTS)) \
	install uninstall load unload help

## modules and tools, for the running kernel or KDIR=
all: modules tools

## the kernel modules alone
modules:
	@test -e "$(KDIR)/Makefile" || { \
		echo "rocev2: no kernel headers in $(KDIR)." \
		"Install linux-headers-$(KVER), or name a kernel's build" \
		"directory with KDIR=. 'make demo' needs neither."; exit 1; }
	$(MAKE) -C "$(KDIR)" M="$(CURDIR)" modules

## the user-space tools alone
tools:
	@for dir in $(dir $(wildcard tools/*/Makefile tools/testing/*/Makefile)); \
	do $(MAKE) -C $$dir || exit 1; done

## remove what was built here (kernels stay in the cache)
clean:
	@if test -e "$(KDIR)/Makefile"; then \
		$(MAKE) -C "$(KDIR)" M="$(CURDIR)" clean; fi
	@for dir in $(dir $(wildcard tools/*/Makefile tools/testing/*/Makefile)); \
	do $(MAKE) -C $$dir clean || exit 1; done
	rm -rf out

## coding style, static analysis, compat discipline
check:
	@tools/check/check.sh

## all tests; or test-PART with PART one of: kunit verbs interop stress
## tools kernels functional admin placement wire firewall inject loss life field
## pfc ecn san kverbs odp failslab kunit-uml uml fabric rocebench
test: deps
	@tools/testing/run.sh all

$(addprefix test-,$(PARTS)): test-%: deps
	@tools/testing/run.sh $*

-include tools/lab/lab.mk

DKMS_FILES := Kbuild Makefile dkms.conf COPYING drivers include \
	tools/compat tools/install
DKMS_DIR := /usr/src/rocev2-$(VERSION)
UDEV_RULES := /etc/udev/rules.d

## into this system, rebuilt by DKMS for each new kernel (as root)
install:
	@command -v dkms >/dev/null || { \
		echo "rocev2: 'make install' needs the package dkms."; exit 1; }
	mkdir -p $(DESTDIR)$(DKMS_DIR)
	cp -r --parents $(DKMS_FILES) $(DESTDIR)$(DKMS_DIR)
	find $(DESTDIR)$(DKMS_DIR) -name '*.o' -o -name '*.cmd' | xargs rm -f
	install -D -m 644 -t $(DESTDIR)$(UDEV_RULES) \
		tools/install/59-rdma-rocev2.rules \
		tools/install/61-rdma-rocev2.rules
	dkms add -m rocev2 -v $(VERSION) || :
	dkms build -m rocev2 -v $(VERSION)
	dkms install -m rocev2 -v $(VERSION)

## the opposite of install (as root)
uninstall:
	dkms remove -m rocev2 -v $(VERSION) --all
	rm -rf $(DKMS_DIR) $(UDEV_RULES)/*-rdma-rocev2.rules

## load the module built here and add a first device, on IFACE= (as root)
load:
	@test -n "$(IFACE)" || { \
		echo "rocev2: say on which interface: make load IFACE=eth0"; exit 1; }
	modprobe -a ib_core ib_uverbs rdma_ucm
	insmod rocev2.ko
	rdma link add $(or $(DEV),roce0) type rocev2 netdev $(IFACE)
	rdma link show

## unload the module; its devices go with it (as root)
unload:
	rmmod rocev2

## this text
help:
	@awk '/^## / { text = text "\n      " substr($$0, 4) } \
	/^[a-z$$].*:/ && text { sub(/:.*/, ""); \
		if ($$0 !~ /\(/) print "make " $$0 text; text = "" } \
	!/^## / && !/:/ { text = "" }' $(firstword $(MAKEFILE_LIST))
	@awk '/^# / { text = substr($$0, 3) } /^[a-z][a-z-]*:/ { \
		sub(/:.*/, ""); print "make " $$0 "\n      " text }' \
		tools/lab/lab.mk
