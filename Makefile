# Everything that is done with this repository is a target here; `make help` lists them. They need Go, git, make and a C
# compiler (for the race detector), and fetch nothing but Go modules.

GO      ?= go
MODULE   = $(shell $(GO) list -m)
VERSION  = $(shell git describe --tags --always --dirty 2>/dev/null || echo v0.0.0-dev)
LDFLAGS  = -X $(MODULE)/pkg/cmd.version=$(VERSION)
PRODUCT  = ./cmd/... ./pkg/... ./plugins/...
GRAPHS   = 500
SEED    ?= 1
RANDOM_TESTS = _P01|_P10|_P14|WatchMissesNothingOfWhat|AGuardDenies|EveryWayToLose

# The systems other than this one that the plugin is released for.
PLATFORMS = darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

# What the control plane is built from. Its tests are not, so that editing one does not build it again.
PLANE   := test/controlplane
SOURCES := $(PLANE)/go.mod $(PLANE)/go.sum $(shell find $(PLANE) -name '*.go' ! -name '*_test.go')

# Kubernetes' own tests of the collector are compiled like the control plane.
UPSTREAM := test/upstream

# Its version is pinned there, and what it depends on stays out of the plugin's go.mod.
LINTER  := test/lint

# So is what looks for known vulnerabilities.
SCANNER := test/vulnerabilities

# So is that of goreleaser, which makes releases; make snapshot does without where nobody has built it.
PACKAGER := test/goreleaser

# What runs whole commands, as processes, and what else needs a control plane; all other tests need none. A list is made when a target needs it.
# Those of OTHERS give files of the repository to other programs, of which go test does not know that the result depends on them.
OTHERS = ./test/completion ./test/deploy ./test/k9s ./test/uninstall
WHOLE  = $(OTHERS) ./test/e2e ./test/stuck
REAL_PLANE = $(filter-out $(WHOLE),$(sort ./test/testcluster $(call folders,/test/testcluster",pkg test/faults --include='*_test.go')))
PURE  = $(filter-out $(WHOLE) $(REAL_PLANE),$(patsubst $(MODULE)/%,./%,$(shell $(GO) list ./...)))

# Those of which each test wants a control plane: test-short does not link them. It begins with test/synthetic, which waits most.
WANTING = ./test/completion ./test/e2e ./test/faults ./test/uninstall

# Where there are goroutines, or what they share, the race detector can find something. The faults are of whole commands, in the tests' own process.
SHARING := ^\s*go [a-z]|\.Go\b|\berrgroup\.|\bsync\.|\batomic\.
CONCURRENT = ./test/faults $(call folders,$(SHARING),pkg test --include='*.go' --exclude='*_test.go')
# With a control plane, make test has the detector where the store and the loop are, and where the faults run the goroutines of all other packages.
RACED = ./pkg/cluster ./pkg/collect ./test/faults ./test/testcluster
folders = $(addprefix ./,$(patsubst %/,%,$(sort $(dir $(shell grep -rlE '$(1)' $(2))))))

# Runs the commands of a target, prints the slowest tests and what it cost, and with COSTS=1 writes that into the table of docs/CONTRIBUTING.md.
SUITE = $(GO) run ./test/suite $(if $(COSTS),-table docs/CONTRIBUTING.md)

# make test runs a package again when its code, the files it reads, the control plane or the variables it asks for have changed, as go test has it. What it costs
# is measured with all of them. A clone has no results yet, so that .ci/run runs all; make test AGAIN=1 does as well.
ANEW = $(if $(COSTS)$(AGAIN),-count=1)

# The real programs that test-real runs the plugin beside, each pinned in a module of its own, and the package each is built from.
REAL     := test/real
PROGRAMS := bin/crossplane bin/crossplane2 bin/provider-kubernetes bin/cluster-api bin/helm bin/kro bin/cert-manager bin/pebble bin/kustomize-controller bin/karpenter bin/jobset bin/cloudnative-pg bin/kueue bin/external-secrets bin/tekton-pipelines bin/gatekeeper bin/olm bin/argocd
bin/crossplane: PROGRAM          := crossplane github.com/crossplane/crossplane/cmd/crossplane
bin/crossplane2: PROGRAM         := crossplane2 github.com/crossplane/crossplane/v2/cmd/crossplane
bin/provider-kubernetes: PROGRAM := providerkubernetes github.com/crossplane-contrib/provider-kubernetes/cmd/provider
bin/cluster-api: PROGRAM         := clusterapi sigs.k8s.io/cluster-api
bin/helm: PROGRAM                := helm helm.sh/helm/v3/cmd/helm
bin/kro: PROGRAM                 := kro github.com/kubernetes-sigs/kro/cmd/controller
bin/cert-manager: PROGRAM        := certmanager .
bin/pebble: PROGRAM              := pebble github.com/letsencrypt/pebble/v2/cmd/pebble
bin/kustomize-controller: PROGRAM := flux github.com/fluxcd/kustomize-controller
bin/karpenter: PROGRAM           := karpenter sigs.k8s.io/karpenter/kwok
bin/jobset: PROGRAM              := jobset sigs.k8s.io/jobset
bin/cloudnative-pg: PROGRAM      := cloudnativepg github.com/cloudnative-pg/cloudnative-pg/cmd/manager
bin/kueue: PROGRAM               := kueue sigs.k8s.io/kueue/cmd/kueue
bin/external-secrets: PROGRAM     := externalsecrets github.com/external-secrets/external-secrets
bin/tekton-pipelines: PROGRAM     := tekton github.com/tektoncd/pipeline/cmd/controller
bin/gatekeeper: PROGRAM           := gatekeeper github.com/open-policy-agent/gatekeeper/v3
bin/olm: PROGRAM                  := olm github.com/operator-framework/operator-lifecycle-manager/cmd/olm
bin/argocd: PROGRAM              := argocd .
bin/argocd: export GOTOOLCHAIN   := auto

# What draws the pages and pictures, in tests that make test does without. Mermaid is one file of its package, which is pinned with its checksum.
BROWSER     := test/browser
INSTALL     := apt-get update -qq && apt-get install -qq -y --no-install-recommends
MERMAID     := 12.3.0
MERMAID_SUM := 336df803d87a38b70a01e736e666c8f7601d2ce42f5e47c8fafe5d721074b9a3

# The version comes from git above, and a checkout that another user owns has no more to say to go build. Without the tag, kustomize imports the package
# plugin, for a feature that no flag of kubectl turns on, and gcc links each test that runs with the race detector.
export GOFLAGS += -buildvcs=false -tags=kustomize_disable_go_plugin_support

# Only the race detector needs C, and test/suite turns it on for that. With one setting, what the plugin, the control plane and the tests share is
# compiled once.
export CGO_ENABLED := 0

.DEFAULT_GOAL := build
.DELETE_ON_ERROR:
.PHONY: help build controlplane test test-long test-random test-race test-upstream test-faults test-minor test-short test-real browser test-browser test-rows lint vulnerabilities fmt bench demo demo-down docs man crossbuild snapshot krew-test clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "%-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo; sed -n 's/^#- //p' $(MAKEFILE_LIST)

#- What make test leaves out, and why:
#-   test-race      the race detector in commands that are processes, whose cost it doubles, in packages without goroutines, and in those whose goroutines run in commands that test/faults has in its own process, with the detector
#-   test-random    random clusters beyond the first twelve of each test
#-   test-faults    combinations of requests and faults beyond a sample, and of options of a dry run; transcripts on wider terminals than one of 80 columns
#-   krew-test      that two builds of a commit are equal, for which the plugin is compiled twice for each system
#-   test-upstream  Kubernetes' own tests, which compile the API server and the collector once more
#-   test-real      controllers of others, which have to be built
#-   test-rows      queries of rows, which need DuckDB and a C compiler, and rules over plans, which need the engine of Rego
#-   test-browser   pages and drawings, which need Chromium and Graphviz
#-   test-minor     older minor versions of Kubernetes, whose control planes have to be built

build: ## Build the plugin as bin/kubectl-gc (minutes the first time, then seconds)
	@test/build 'the plugin' -ldflags '$(LDFLAGS)' -o bin/kubectl-gc ./cmd/kubectl-gc
	@ln -sf kubectl-gc bin/kubectl_complete-gc

controlplane: bin/controlplane bin/kubectl ## Build the control plane of the tests (minutes, once)

bin/controlplane: $(SOURCES)
	@cd $(PLANE) && ../build 'the control plane of the tests' -ldflags '-s -w' -o ../../bin/controlplane .

# The control plane's program is kubectl too. Tests call it more than a thousand times, and by itself it starts in half the time.
bin/kubectl: $(PLANE)/go.mod $(PLANE)/go.sum $(PLANE)/cmd-kubectl/main.go | bin/controlplane
	@rm -f $@ && cd $(PLANE) && ../build kubectl -o ../../$@ \
		-ldflags "-s -w -X k8s.io/component-base/version.gitVersion=$$($(GO) list -m -f '{{.Version}}' k8s.io/kubernetes)" ./cmd-kubectl

bin/golangci-lint: $(LINTER)/go.mod $(LINTER)/go.sum
	@cd $(LINTER) && ../build golangci-lint -ldflags '-s -w' -o ../../bin/golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint

bin/govulncheck: $(SCANNER)/go.mod $(SCANNER)/go.sum
	@cd $(SCANNER) && ../build govulncheck -ldflags '-s -w' -o ../../bin/govulncheck golang.org/x/vuln/cmd/govulncheck

bin/goreleaser: $(PACKAGER)/go.mod $(PACKAGER)/go.sum
	@cd $(PACKAGER) && ../build goreleaser -ldflags '-s -w' -o ../../bin/goreleaser github.com/goreleaser/goreleaser/v2

bin/crossplane: $(REAL)/crossplane/go.mod $(REAL)/crossplane/go.sum
bin/crossplane2: $(REAL)/crossplane2/go.mod $(REAL)/crossplane2/go.sum
bin/provider-kubernetes: $(REAL)/providerkubernetes/go.mod $(REAL)/providerkubernetes/go.sum
bin/cluster-api: $(REAL)/clusterapi/go.mod $(REAL)/clusterapi/go.sum
bin/helm: $(REAL)/helm/go.mod $(REAL)/helm/go.sum
bin/kro: $(REAL)/kro/go.mod $(REAL)/kro/go.sum
bin/cert-manager: $(REAL)/certmanager/go.mod $(REAL)/certmanager/go.sum $(REAL)/certmanager/main.go
bin/pebble: $(REAL)/pebble/go.mod $(REAL)/pebble/go.sum
bin/kustomize-controller: $(REAL)/flux/go.mod $(REAL)/flux/go.sum
bin/karpenter: $(REAL)/karpenter/go.mod $(REAL)/karpenter/go.sum
bin/jobset: $(REAL)/jobset/go.mod $(REAL)/jobset/go.sum
bin/cloudnative-pg: $(REAL)/cloudnativepg/go.mod $(REAL)/cloudnativepg/go.sum
bin/kueue: $(REAL)/kueue/go.mod $(REAL)/kueue/go.sum
bin/external-secrets: $(REAL)/externalsecrets/go.mod $(REAL)/externalsecrets/go.sum
bin/tekton-pipelines: $(REAL)/tekton/go.mod $(REAL)/tekton/go.sum
bin/gatekeeper: $(REAL)/gatekeeper/go.mod $(REAL)/gatekeeper/go.sum
bin/olm: $(REAL)/olm/go.mod $(REAL)/olm/go.sum
bin/argocd: $(REAL)/argocd/go.mod $(REAL)/argocd/go.sum $(REAL)/argocd/main.go
$(PROGRAMS):
	@cd $(REAL)/$(firstword $(PROGRAM)) && ../../build $(@F) -ldflags '-s -w' -o ../../../$@ $(lastword $(PROGRAM))

test: build controlplane ## Run the tests that a change needs, against a real control plane where they need one (15 minutes to an hour on 2 cores, by how fast they are, then what has changed)
	@echo 'Running the tests: all take 15 minutes to an hour on 2 cores, by how fast they are, and later what has changed. The first time they are compiled before, which takes some minutes more.'
	@$(SUITE) $@ '$(GO) test $(ANEW) -p 1 -timeout 60m $(filter-out $(OTHERS),$(WHOLE))' '$(GO) test -count=1 -p 1 $(OTHERS)' \
		'$(GO) test -race $(ANEW) -p 1 -timeout 60m $(RACED)' \
		'$(GO) test $(ANEW) -p 1 -timeout 60m $(filter-out $(RACED),$(REAL_PLANE))' \
		'$(GO) test -race $(ANEW) $(filter $(CONCURRENT),$(PURE))' '$(GO) test $(ANEW) -skip ^TestTwoBuildsOfOneCommitAreEqual $(filter-out $(CONCURRENT),$(PURE))' \
		'$(GO) test -C $(PLANE) $(ANEW) -timeout 10m ./...' '$(GO) test -C $(UPSTREAM) $(ANEW) -skip ^TestUpstreamsTestsPass .'

# A release runs it: what make test leaves out.
test-long: test-upstream test-random test-race test-faults krew-test test-rows ## Run what make test leaves out, but for test-real and test-browser (hours)

test-upstream: build controlplane ## Run Kubernetes' own tests of the collector against kubectl gc run --watch (minutes, once they are compiled)
	@$(SUITE) $@ '$(GO) test -C $(UPSTREAM) -count=1 -timeout 1h .'

test-random: build controlplane ## Run the tests with random clusters on many of them (GRAPHS=500), from SEED on
	@echo 'The first seed is $(SEED): make test-random SEED=$(SEED) repeats this.'
	@$(SUITE) -at-once 1 $@ '$(GO) test -race -count=1 -timeout 3h -run $(RANDOM_TESTS) ./pkg/collect -graphs $(GRAPHS) -random-seed $(SEED) -twin-seed $(SEED) -faulty-seed $(SEED)' \
		'$(GO) test -race -count=1 -timeout 3h -run $(RANDOM_TESTS) ./pkg/plan -graphs $(GRAPHS) -oracle-seed $(SEED)' \
		'$(GO) test -race -count=1 -timeout 3h -run $(RANDOM_TESTS) ./pkg/protect -graphs $(GRAPHS) -guard-seed $(SEED)'

test-race: build controlplane ## Run the tests with the race detector that make test runs without, those of whole commands with one in each command
	@$(SUITE) $@ '$(GO) test -race -count=1 -p 1 -timeout 60m $(WHOLE)' '$(GO) test -race -timeout 60m $(filter-out $(CONCURRENT),$(PURE)) $(filter-out $(RACED),$(REAL_PLANE))'

test-rows: build ## Ask the questions of docs/fleet.md in DuckDB, and judge a plan by the rules of docs/review.md in jq, Rego and CEL (seconds once these are compiled; needs a C compiler)
	@$(SUITE) $@ '$(GO) test -C test/duckdb -race -count=1 ./...' '$(GO) test -C test/rules -count=1 ./...'

test-faults: build controlplane ## Run the tests with all faults, and dry runs with all options
	@$(SUITE) -at-once 1 $@ '$(GO) test -count=1 -timeout 12h ./test/faults -all' '$(GO) test -count=1 -timeout 1h ./test/e2e -run P09|Transcripts -every' '$(GO) test -race -count=1 ./test/synthetic -run ClusterNamesAnother -clusters 200'

test-minor: ## Run the tests of whole commands and of the collector on the control plane in bin, which test/minor builds of another minor version
	@$(SUITE) $@ '$(GO) test -count=1 -timeout 60m -p 1 ./pkg/cluster ./pkg/collect ./test/e2e ./test/deploy'

test-real: build controlplane $(PROGRAMS) ## Run the tests beside Crossplane 1 and 2, provider-kubernetes, Cluster API, Helm, kro, cert-manager, Flux, Karpenter, JobSet, CloudNativePG, Kueue, external-secrets, Tekton pipelines, Gatekeeper, OLM and Argo CD (minutes; once, about an hour more to build these)
	@$(SUITE) $@ '$(GO) test -C $(REAL) -race -count=1 -timeout 20m ./...'

browser: bin/mermaid-$(MERMAID).min.js ## Install what make test-browser needs, where it is missing: Chromium and Graphviz with apt-get, Mermaid with npm; fails if Chromium does not start
	@missing=; \
	command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || missing=chromium; \
	command -v dot >/dev/null || missing="$$missing graphviz"; \
	test -z "$$missing" || { $(INSTALL) $$missing; }
	@timeout 120 "$$(command -v chromium || command -v chromium-browser || command -v google-chrome)" --headless --no-sandbox --disable-dev-shm-usage --dump-dom about:blank >/dev/null 2>&1 || \
		{ echo "Chromium is installed and does not start" >&2; exit 1; }

bin/mermaid-$(MERMAID).min.js:
	@command -v npm >/dev/null || { $(INSTALL) npm; }
	@mkdir -p $(@D)
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && (cd "$$dir" && npm pack --silent mermaid@$(MERMAID) >/dev/null && tar -xzf mermaid-$(MERMAID).tgz package/dist/mermaid.min.js) && \
		echo "$(MERMAID_SUM)  $$dir/package/dist/mermaid.min.js" | sha256sum -c --status && cp "$$dir/package/dist/mermaid.min.js" $@ || { echo "mermaid $(MERMAID) was not found, or is not what the Makefile says" >&2; exit 1; }

test-browser: build controlplane ## Test the pages of -o html, and the drawings of -o dot and -o mermaid, in Chromium, Graphviz and Mermaid, and write screenshots (two minutes; needs make browser)
	@$(SUITE) $@ '$(GO) test -C $(BROWSER) -count=1 -timeout 10m ./...'

test-short: ## Run the tests that need no control plane (seconds once they are compiled)
	@$(SUITE) $@ '$(GO) test -short -p 3 -skip ^Example|^TestTwoBuildsOfOneCommitAreEqual ./test/synthetic $(filter-out $(WANTING),$(WHOLE) $(REAL_PLANE) $(PURE))'

lint: bin/golangci-lint ## Check format, go.mod files, code with golangci-lint, and the direction of imports (a minute on 2 cores, seconds where nothing changed; three more once, to build the linter)
	@unformatted=$$(gofmt -l .) && test -z "$$unformatted" || { echo "make fmt would change: $$unformatted"; exit 1; }
	$(GO) mod tidy -diff
	cd $(PLANE) && $(GO) mod tidy -diff
	bin/golangci-lint run ./...
	$(GO) test ./test/imports
	cd $(PLANE) && $(GO) vet ./...
	cd $(PLANE) && ../../bin/golangci-lint run ./command ./pki ./plane ./process
	cd $(UPSTREAM) && $(GO) mod tidy -diff && $(GO) vet ./... && ../../bin/golangci-lint run ./...
	cd $(REAL) && $(GO) mod tidy -diff && $(GO) vet ./... && ../../bin/golangci-lint run ./...
	cd $(BROWSER) && $(GO) mod tidy -diff && $(GO) vet ./... && ../../bin/golangci-lint run ./...

vulnerabilities: bin/govulncheck ## Look for known vulnerabilities in what the plugin calls (asks vuln.go.dev)
	bin/govulncheck ./cmd/... ./pkg/... ./plugins/...

fmt: ## Format the Go code
	gofmt -w .

bench: build controlplane ## Print how costs grow with the objects, then what reading 100,000, a claim with 500 managed resources, an owner with 1,000 dependents, a million generated objects, saving them, following 10,000 changes, collecting 5,000, explaining 200, planning 50,000 and 500,000, archiving 50,000 and asking about 2,000 deletes costs (tens of minutes)
	$(GO) run ./test/bench linear
	$(GO) run ./test/bench
	$(GO) run ./test/bench claim
	$(GO) run ./test/bench collect
	$(GO) run ./test/bench million
	$(GO) run ./test/bench snapshot
	$(GO) run ./test/bench fleet
	$(GO) test -run '^$$' -bench 'StoreGraph' -benchtime 20x ./pkg/cluster
	$(GO) test -run '^$$' -bench 'Watch' -benchtime 10x ./pkg/cluster
	$(GO) test -run '^$$' -bench 'Dependents|Run' -benchtime 2x -timeout 60m ./pkg/collect
	$(GO) test -run '^$$' -bench 'Why' -benchtime 5x -timeout 60m ./pkg/diagnose
	$(GO) test -run '^$$' -bench 'Plan50k' -benchtime 20x ./pkg/plan
	$(GO) test -run '^$$' -bench 'Plan500k' -benchtime 3x ./pkg/plan
	$(GO) test -run '^$$' -bench 'Archive50k' -benchtime 3x ./pkg/archive
	$(GO) test -run '^$$' -bench 'Ask' -benchtime 5x -timeout 60m ./pkg/act

# A cluster of the caller's with a kubectl at hand needs nothing of the control plane.
demo: build ## Show kubectl gc at work, on a saved cluster at once, then on a control plane; in your cluster if KUBECONFIG is set
	@test/demo/saved
	@$(if $(and $(KUBECONFIG),$(shell command -v kubectl)),:,$(MAKE) --no-print-directory controlplane)
	@test/demo/run

demo-down: ## Stop the demo and remove what it left
	@test/demo/down

docs: ## Generate what the documentation has from the code, and copy the transcripts of test/e2e/testdata/docs into it
	$(GO) run ./docs/gen

man: ## Write the man pages into man/
	$(GO) run ./docs/gen/man -dir man -version $(VERSION) -date $(shell git log -1 --format=%cI)

crossbuild: ## Compile the plugin for the other systems it is released for (minutes for each, the first time)
	@set -e; for platform in $(PLATFORMS); do \
		echo "compiling for $$platform"; \
		GOOS=$${platform%/*} GOARCH=$${platform#*/} $(GO) build $(PRODUCT); \
	done

snapshot: man ## Make the archives of a release in dist/: with bin/goreleaser if that is built (make bin/goreleaser), otherwise without
	@rm -rf dist
	@if [ -x bin/goreleaser ]; then bin/goreleaser release --snapshot --clean --skip=sbom,sign,docker; \
	else $(GO) run ./krew/publish snapshot $(VERSION) dist; fi

krew-test: ## Check the krew manifest against the names of the release's archives, and that two builds are equal (a minute and more)
	$(GO) test ./krew

clean: ## Stop the demo's control plane and remove what was built
	@test ! -d .demo/plane || bin/controlplane down --dir .demo/plane
	rm -rf bin dist man .demo
