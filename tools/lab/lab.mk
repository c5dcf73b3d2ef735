# SPDX-License-Identifier: GPL-2.0
#
# Owns: the make targets of the lab. Included by the top Makefile.

.PHONY: demo bench shell deps lab-kernels

# the main job: two hosts, stock programs, every ICRC checked
demo:
	@tools/demo/demo.sh

# rocev2, rxe, siw and TCP side by side: instructions and speed, the goals
bench: deps
	@tools/bench/bench.sh

# a guest with the module loaded and a prompt; KERNEL=san73 for the sanitizers,
# KERNEL=uml61 for User-Mode Linux
shell: deps
	@tools/lab/$(if $(filter uml%,$(KERNEL)),uml,guest).sh shell --kernel $(or $(KERNEL),stock)

# installs the packages that are missing on this machine
deps:
	@tools/lab/deps.sh

# fetches and builds all guest kernels
lab-kernels: deps
	@tools/lab/kernel.sh stock
	@tools/lab/kernel.sh h612
	@tools/lab/kernel.sh san73
	@tools/lab/kernel.sh uml61
	@tools/lab/kernel.sh uml73

# the fabric's experiments in virtual time; ONLY="x1 x2/n4" for some
fabric: deps
	@tools/fabric/run.sh $(ONLY)

# verdicts and figures again, from the runs that are there
fabric-figures: deps
	@tools/fabric/run.sh --judge $(ONLY)
	@tools/fabric/figures.sh
