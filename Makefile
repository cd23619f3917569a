# Wick's targets; CMake does the building. `make demo` and `make test` install what is missing.
BUILD ?= build
CMAKE_FLAGS ?= $(if $(CI),-DWICK_WERROR=ON)

.PHONY: all demo test clean

all: $(BUILD)/build.ninja
	@cmake --build $(BUILD)

$(BUILD)/build.ninja:
	@cmake -G Ninja -B $(BUILD) -S . $(CMAKE_FLAGS)

demo: all
	$(BUILD)/wick --version

test: all
	ctest --test-dir $(BUILD) --output-on-failure

clean:
	rm -rf $(BUILD)
