# How @cpu@ is compiled for, and the QEMU machine and folder of boards/ that stand in for it.
CPU_FLAGS := @flags@
MACHINE := @machine@
BOARD := @board@
