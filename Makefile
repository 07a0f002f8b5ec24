# Everything that is done with this repository is a target here; `make help` lists them. They need Go, git, make and a C
# compiler (for the race detector), and fetch nothing but Go modules.

GO      ?= go
MODULE   = $(shell $(GO) list -m)
VERSION  = $(shell git describe --tags --always --dirty 2>/dev/null || echo v0.0.0-dev)
LDFLAGS  = -X $(MODULE)/pkg/cmd.version=$(VERSION)
PRODUCT  = ./cmd/... ./pkg/... ./plugins/...

# What the control plane is built from. Its tests are not, so that editing one does not build it again.
PLANE   := test/controlplane
SOURCES := $(PLANE)/go.mod $(PLANE)/go.sum $(shell find $(PLANE) -name '*.go' ! -name '*_test.go')

# The version comes from git above, and a checkout that another user owns has no more to say to go build.
export GOFLAGS += -buildvcs=false

.DEFAULT_GOAL := build
.DELETE_ON_ERROR:
.PHONY: help build controlplane test test-short lint fmt bench demo demo-down docs crossbuild krew-test clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "%-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## Build the plugin as bin/kubectl-gc
	$(GO) build -ldflags '$(LDFLAGS)' -o bin/kubectl-gc ./cmd/kubectl-gc
	@ln -sf kubectl-gc bin/kubectl_complete-gc

controlplane: bin/controlplane bin/kubectl ## Build the control plane of the tests (minutes, once)

bin/controlplane: $(SOURCES)
	cd $(PLANE) && $(GO) build -ldflags '-s -w' -o ../../bin/controlplane .

# Called as kubectl, the control plane's program is kubectl.
bin/kubectl: | bin/controlplane
	@ln -sf controlplane $@

test: build controlplane ## Run all tests, against a real control plane where they need one
	cd $(PLANE) && $(GO) test -timeout 10m ./...
	$(GO) test -race -count=1 -timeout 30m ./...

test-short: ## Run the tests that need no control plane
	$(GO) test -short ./...

lint: ## Check format, vet, staticcheck, tidiness and the direction of imports
	@unformatted=$$(gofmt -l .) && test -z "$$unformatted" || { echo "make fmt would change: $$unformatted"; exit 1; }
	$(GO) mod tidy -diff
	cd $(PLANE) && $(GO) mod tidy -diff
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	$(GO) test ./test/imports
	cd $(PLANE) && $(GO) vet ./...
	cd $(PLANE) && "$$(cd ../.. && $(GO) tool -n staticcheck)" ./command ./pki ./plane ./process

fmt: ## Format the Go code
	gofmt -w .

bench: build controlplane ## Print how costs grow with the objects, then what reading 100,000 and collecting 5,000 costs
	$(GO) run ./test/bench linear
	$(GO) run ./test/bench
	$(GO) test -run '^$$' -bench 'Dependents|Run' -benchtime 2x -timeout 60m ./pkg/collect

# A cluster of the caller's with a kubectl at hand needs nothing of the control plane.
demo: build $(if $(and $(KUBECONFIG),$(shell command -v kubectl)),,controlplane) ## Show kubectl gc at work; in your cluster if KUBECONFIG is set
	@test/demo/run

demo-down: ## Stop the demo and remove what it left
	@test/demo/down

docs: ## Generate the command reference in docs/cli, docs/finalizers.md and docs/causes.md
	$(GO) run ./docs/gen docs/cli docs/finalizers.md docs/causes.md

crossbuild: ## Compile the plugin for the other systems it is released for
	GOOS=darwin GOARCH=amd64 $(GO) build $(PRODUCT)
	GOOS=darwin GOARCH=arm64 $(GO) build $(PRODUCT)
	GOOS=windows GOARCH=amd64 $(GO) build $(PRODUCT)
	GOOS=windows GOARCH=arm64 $(GO) build $(PRODUCT)

krew-test: ## Check the krew manifest against the names of the release's archives
	$(GO) test ./krew

clean: ## Stop the demo's control plane and remove what was built
	@test ! -d .demo/plane || bin/controlplane down --dir .demo/plane
	rm -rf bin dist .demo
