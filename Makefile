# Wick's targets. CMake does the building; this file knows where, and installs what is missing.
#
#   make               builds build/wick                make format        formats the C files
#   make demo          the main job on real input      make check-format  says which are not formatted
#   make test          the whole suite                  make sanitize      unit and text tests under sanitizers
#   make venv          build/venv for Python tests      make fuzz          FUZZ_SECONDS for each reader
#   make bench         networks beside their peers  make bench-layers  layers against the machine's ceiling
#   make bench-shapes  shapes that SEEDS draw, as shares of the machine's limits
#   make bench-tuned   what `wick tune` gains in a minute for each of other networks
#   make bench-memory  what moves more than it computes, beside the memory's rate
#   make mutated       75,000 models that went wrong
#   make peer          2,000 random graphs beside ONNX Runtime
#   make tensorflow    1,200 random functions of TensorFlow beside TensorFlow
#   make flows         2,000 random models with branches, loops and sequences, and 2,000 graphs, at five sizes each
#   make programs      PROGRAMS random programs of the language, from SEED on, beside the evaluator
#   make mutated-programs  the same with small mistakes in each: none crashes or hangs
#   make operators     OPERATORS random operators in index notation, from SEED on, beside loops
#   make command-lines  20,000 random command lines: none crashes, hangs, or fails without a message
#   make soak          ten minutes of sizes in random order on eight threads: memory stays flat
#   make planted       are planted bugs found?      make docs          writes the generated pages of docs/
#   make clean
BUILD ?= build
FUZZ_SECONDS ?= 600
JOBS  ?= $(shell nproc)
CMAKE_FLAGS ?= $(if $(CI),-DWICK_WERROR=ON)
FOLDERS = $(wildcard include src tools tests examples bench python)
SOURCES = $(shell find $(FOLDERS) -name '*.[ch]')
CTEST = ctest -j $(JOBS) --output-on-failure --no-tests=error

.PHONY: all configure demo test venv sanitize asan tsan fuzz mutated command-lines peer flows tflite programs mutated-programs operators soak planted bench bench-layers bench-shapes bench-tuned bench-memory docs format check-format clean keras tensorflow

all: $(BUILD)/build.ninja
	@cmake --build $(BUILD) -j $(JOBS)

$(BUILD)/build.ninja:
	@cmake -G Ninja -B $(BUILD) -S . $(CMAKE_FLAGS)

configure: # again, because a package may have come since
	@cmake -G Ninja -B $(BUILD) -S . $(CMAKE_FLAGS) >/dev/null

demo:
	@scripts/setup.sh build
	@$(MAKE) --no-print-directory configure all
	$(BUILD)/wick run examples/digits/digits.onnx --input examples/digits/seven.png

test:
	@scripts/setup.sh test
	@$(MAKE) --no-print-directory venv || echo "no Python packages: the Python tests are skipped"
	@$(MAKE) --no-print-directory configure all
	@$(CTEST) --test-dir $(BUILD)

venv:
	@scripts/venv.sh $(BUILD)/venv

# The sanitized builds are clang's and keep assertions, so the suite also passes under both.
SANITIZED = CC=clang cmake -G Ninja -S . -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG='-O1 -g' $(CMAKE_FLAGS)

sanitize: asan tsan

asan:
	@$(SANITIZED) -B $(BUILD)/asan -DWICK_SANITIZE=address,undefined >/dev/null
	@cmake --build $(BUILD)/asan -j $(JOBS)
	@$(CTEST) --test-dir $(BUILD)/asan -L 'unit|text'

tsan: # what starts threads: the runtime
	@$(SANITIZED) -B $(BUILD)/tsan -DWICK_SANITIZE=thread >/dev/null
	@cmake --build $(BUILD)/tsan -j $(JOBS) --target runtime_tests
	@ctest -j $(JOBS) --output-on-failure --test-dir $(BUILD)/tsan -R '^runtime\.'

# libFuzzer, FUZZ_SECONDS for each reader of untrusted bytes; findings are left in build/fuzz/findings.
fuzz:
	@$(SANITIZED) -B $(BUILD)/fuzz -DWICK_SANITIZE=address,undefined -DWICK_FUZZ=ON >/dev/null
	@cmake --build $(BUILD)/fuzz -j $(JOBS) --target fuzzers
	@scripts/fuzz.sh $(BUILD)/fuzz $(FUZZ_SECONDS)

# Models of ONNX's suite and files of the other formats that went wrong, ten and twenty thousand of them, and cut short.
mutated: venv all
	@for kind in mutated mutated_files truncated_files; do $(BUILD)/venv/bin/python tests/fuzz/$$kind.py --build $(BUILD) --jobs $(JOBS) || exit 1; done

# Random command lines, made from the tables of options; LINES=N for fewer.
LINES ?= 20000
command-lines: venv all
	@$(BUILD)/venv/bin/python tests/fuzz/command_lines.py --build $(BUILD) --jobs $(JOBS) --count $(LINES)

# Random graphs beside ONNX Runtime, of what it takes.
peer: venv all
	@$(BUILD)/venv/bin/python tests/differential/peer.py --build $(BUILD) --jobs $(JOBS)

# Random functions of TensorFlow, frozen and as SavedModels; TENSORFLOW is a Python that has it.
TENSORFLOW ?= python3
tensorflow: all
	@$(TENSORFLOW) tests/import/tensorflow_functions.py --wick $(BUILD)/wick --count 1000
	@$(TENSORFLOW) tests/import/tensorflow_functions.py --wick $(BUILD)/wick --count 200 --kind saved

# Random models and graphs with open sizes and control flow, beside the references.
flows: venv all
	@$(BUILD)/venv/bin/python -W ignore tests/differential/flows.py --build $(BUILD) --jobs $(JOBS)
	@WICK_RANDOM_GRAPHS=2000 $(BUILD)/tests/tests.random.symbols_test

# Random TensorFlow Lite models of one operator, beside LiteRT's reference kernels. LITERT is a Python
# that has ai-edge-litert.
LITERT ?= python3
tflite: all
	@$(LITERT) tests/tflite/random_models.py --wick $(BUILD)/wick --count 1000

# Random higher-order programs, differentiated and batched, beside the evaluator.
PROGRAMS ?= 1000
SEED ?= 1
programs: venv all
	@$(BUILD)/venv/bin/python tests/lang/random_programs.py --seed $(SEED) --count $(PROGRAMS) --jobs $(JOBS)
	@$(BUILD)/venv/bin/python tests/lang/random_sketches.py --seed $(SEED) --count $(PROGRAMS) --jobs $(JOBS)

mutated-programs: venv all
	@$(BUILD)/venv/bin/python tests/lang/mutated_programs.py --seed $(SEED) --count $(PROGRAMS) --jobs $(JOBS)

# Every layer of Keras and functions of keras.ops, beside Keras: KERAS is a Python that has it.
KERAS ?= python3
keras: all
	@$(KERAS) tests/keras/layers.py --wick $(BUILD)/wick --h5

# Random operators in index notation, beside loops over all their indices.
OPERATORS ?= 500
operators: venv all
	@$(BUILD)/venv/bin/python tests/lang/random_index.py --seed $(SEED) --count $(OPERATORS) --jobs $(JOBS)

soak: all
	@WICK_SIZES_SECONDS=600 $(BUILD)/tests/tests.random.sizes_test

# Ten bugs, kept as patches: the random graphs must find each.
planted:
	@scripts/setup.sh test
	@python3 tests/differential/planted.py --build $(BUILD)/planted

# All write their tables into bench/README.md.
bench: venv all
	@$(BUILD)/venv/bin/python bench/networks.py --wick $(BUILD)/wick --build $(BUILD)/bench

bench-layers: venv all
	@$(BUILD)/venv/bin/python bench/layers.py --wick $(BUILD)/wick --build $(BUILD)/bench

SEEDS ?= 1
bench-shapes: venv all
	@$(BUILD)/venv/bin/python bench/shapes.py $(SEEDS) --write --wick $(BUILD)/wick --build $(BUILD)/bench

bench-tuned: venv all
	@$(BUILD)/venv/bin/python bench/tuned.py --write --wick $(BUILD)/wick --build $(BUILD)/bench/tuned
bench-memory: venv all
	@$(BUILD)/venv/bin/python bench/memory_bound.py --wick $(BUILD)/wick --build $(BUILD)/bench

docs: all
	@$(BUILD)/wick ops --markdown >docs/operators.md
	@$(BUILD)/wick ops --relay --markdown >docs/relay.md
	@$(BUILD)/wick ops --formats --markdown >docs/formats.md
	@$(BUILD)/wick help --format markdown >docs/cli.md
	@$(BUILD)/wick targets --markdown >docs/targets.md
	@$(BUILD)/wick opt --passes --markdown >docs/passes.md
	@$(BUILD)/wick opt --schedule-steps --markdown >docs/schedules.md
	@WICK_COMMAND=$(BUILD)/wick $${WICK_VENV:-$(BUILD)/venv}/bin/python scripts/effects.py --write docs/passes.md
	@WICK_COMMAND=$(BUILD)/wick scripts/library.py --write docs/library.md
	@WICK_COMMAND=$(BUILD)/wick scripts/excerpts.py --write docs/*.md
	@WICK_COMMAND=$(BUILD)/wick $${WICK_VENV:-$(BUILD)/venv}/bin/python -W ignore scripts/onnx_table.py >$(BUILD)/onnx.md
	@mv $(BUILD)/onnx.md docs/onnx.md
	@scripts/format_numbers.py

format:
	@clang-format -i $(SOURCES)

check-format:
	@clang-format --dry-run -Werror $(SOURCES)

clean:
	rm -rf $(BUILD)
