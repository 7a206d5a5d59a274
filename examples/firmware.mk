# What the examples share: compiles a model for CPU, builds main.c around it for the QEMU board that
# stands in for that CPU, and runs it there. From a folder beside this file:
#   make CPU=cortex-m4 run
# CORTEN is the command, BOARDS the start-up code and linker scripts that come with it.
ROOT := $(dir $(lastword $(MAKEFILE_LIST)))
CORTEN ?= corten
BOARDS ?= $(ROOT)../boards
CPU ?= cortex-m55
BUILD ?= build
NAME ?= digits_silu
ARCHIVE ?= $(ROOT)digits_silu/digits_silu.pt2
DATA ?= $(ROOT)digits_silu/calib.npz
SOURCES ?= main.c

OUT := $(BUILD)/$(CPU)
MODEL := $(OUT)/model/make

all: $(OUT)/firmware.elf

# The exported folder says with which flags the CPU is compiled for and which board has it.
$(MODEL)/cpu.mk: $(ARCHIVE) $(DATA) $(wildcard precision.txt memory.json)
	$(CORTEN) compile $(ARCHIVE) -c $(DATA) -t $(CPU) -o $(OUT)/model -q --export make $(COMPILE)
	@touch $@
include $(MODEL)/cpu.mk

LINK ?= $(BOARDS)/$(BOARD)/link.ld
BOARD_SOURCES := $(addprefix $(BOARDS)/,startup.c semihost.c memory.c counter.c)
FLAGS := $(CPU_FLAGS) -std=c11 -O2 -g -ffreestanding -Wall -Wextra -Wconversion \
  -I$(MODEL) -I$(MODEL)/runtime -I$(ROOT) -I$(BOARDS) -I$(BOARDS)/$(BOARD) $(DEFINES)

$(OUT)/firmware.elf: $(SOURCES) $(wildcard *.h) $(MODEL)/cpu.mk
	$(MAKE) -s -C $(MODEL) BUILD=build "CFLAGS=-O2 -ffunction-sections -fdata-sections $(MODEL_DEFINES)"
	arm-none-eabi-gcc $(FLAGS) $(SOURCES) $(BOARD_SOURCES) $(MODEL)/build/lib$(NAME).a -lgcc \
	    -nostdlib -Wl,--gc-sections -L$(BOARDS) -L$(MODEL) -T$(LINK) -o $@

run: $(OUT)/firmware.elf
	qemu-system-arm -M $(MACHINE) -kernel $< -display none -monitor none -serial none \
	    -icount shift=5 -chardev stdio,id=console \
	    -semihosting-config enable=on,target=native,chardev=console </dev/null

clean:
	rm -rf $(BUILD)

.PHONY: all run clean
