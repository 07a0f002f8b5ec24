package imports

import (
	"slices"
	"strings"
)

// leaves import nothing of the module but each other, and anybody may import them. The contract, whose
// names of objects all use, imports nothing.
var leaves = []string{"pkg/admission", "pkg/answer", contract, "pkg/graph", "pkg/interrupt", "pkg/phrase", "pkg/status",
	"pkg/suggest", "plugins"}

// contract is what is printed for programs.
const contract = "pkg/api/v1alpha1"

// knowledge is what is known without asking a server; verbs are the commands.
var (
	knowledge = []string{"pkg/plan", "pkg/finalizer", "pkg/link", "pkg/graph"}
	verbs     = []string{"pkg/cmd/adopt", "pkg/cmd/archive", "pkg/cmd/check", "pkg/cmd/delete", "pkg/cmd/explain",
		"pkg/cmd/protect", "pkg/cmd/rescue", "pkg/cmd/restore", "pkg/cmd/run", "pkg/cmd/snapshot",
		"pkg/cmd/tree",
		"pkg/cmd/unfinalize", "pkg/cmd/wait", "pkg/cmd/why"}
)

// The house has so many floors, and so many arrows between packages that are no leaves. Whoever
// adds one has a reason, and says it in the commit.
const (
	floors = 12
	arrows = 215
)

// imports says which packages of the module a package imports besides the leaves: these, and no
// others. A package stands a floor above the highest that it imports.
var imports = map[string][]string{
	"cmd/kubectl-gc": {"pkg/cmd"},
	"pkg/cmd": {
		"pkg/cluster", "pkg/cmd/adopt", "pkg/cmd/archive", "pkg/cmd/check", "pkg/cmd/delete", "pkg/cmd/env",
		"pkg/cmd/explain", "pkg/cmd/protect", "pkg/cmd/rescue", "pkg/cmd/restore", "pkg/cmd/run",
		"pkg/cmd/snapshot", "pkg/cmd/tree", "pkg/cmd/unfinalize", "pkg/cmd/wait", "pkg/cmd/why", "pkg/render",
	},
	"pkg/cmd/adopt":   {"pkg/cmd/env", "pkg/ownerref", "pkg/render"},
	"pkg/cmd/archive": {"pkg/archive", "pkg/cmd/env", "pkg/render", "pkg/tree"},
	"pkg/cmd/check":   {"pkg/check", "pkg/cmd/env", "pkg/render", "pkg/selection"},
	"pkg/cmd/delete": {
		"pkg/cluster", "pkg/cmd/env", "pkg/deletion",
		"pkg/plan", "pkg/render",
	},
	"pkg/cmd/explain": {"pkg/cmd/env", "pkg/explain", "pkg/render"},
	"pkg/cmd/protect": {"pkg/cmd/env", "pkg/protect", "pkg/render"},
	"pkg/cmd/rescue":  {"pkg/cmd/env", "pkg/render", "pkg/rescue"},
	"pkg/cmd/restore": {"pkg/cmd/env", "pkg/render", "pkg/restore"},
	"pkg/cmd/run": {"pkg/cmd/env", "pkg/collect", "pkg/deletion", "pkg/plan",
		"pkg/render"},
	"pkg/cmd/snapshot":   {"pkg/archive", "pkg/cmd/env", "pkg/render", "pkg/selection", "pkg/snapshot/take"},
	"pkg/cmd/tree":       {"pkg/cmd/env", "pkg/render", "pkg/selection", "pkg/tree"},
	"pkg/cmd/unfinalize": {"pkg/cmd/browse", "pkg/cmd/env", "pkg/render", "pkg/unfinalize"},
	"pkg/cmd/wait":       {"pkg/cmd/env", "pkg/deletion", "pkg/render"},
	"pkg/cmd/why":        {"pkg/cmd/browse", "pkg/cmd/env", "pkg/diagnose", "pkg/render"},
	"pkg/cmd/env": {
		"pkg/archive", "pkg/cluster", "pkg/diagnose", "pkg/dump", "pkg/dump/serve", "pkg/finalizer", "pkg/link", "pkg/render", "pkg/selection",
	},
	"pkg/render": {
		"pkg/act", "pkg/actor", "pkg/archive", "pkg/check", "pkg/collect", "pkg/deletion",
		"pkg/diagnose/core", "pkg/finalizer", "pkg/link", "pkg/ownerref", "pkg/plan", "pkg/protect", "pkg/rescue",
		"pkg/restore", "pkg/unfinalize",
	},
	"pkg/rescue": {
		"pkg/archive", "pkg/change", "pkg/cluster", "pkg/finalizer", "pkg/plan",
		"pkg/restore", "pkg/selection", "pkg/unfinalize",
	},
	"pkg/check": {
		"pkg/actor", "pkg/archive", "pkg/change", "pkg/cluster", "pkg/collect", "pkg/finalizer", "pkg/link",
		"pkg/ownerref", "pkg/ownership", "pkg/plan", "pkg/protect", "pkg/selection",
	},
	"pkg/deletion": {
		"pkg/act", "pkg/actor", "pkg/archive", "pkg/cluster", "pkg/collect",
		"pkg/finalizer", "pkg/link", "pkg/ownership", "pkg/plan", "pkg/protect", "pkg/selection",
	},
	"pkg/diagnose": {
		"pkg/actor", "pkg/cluster", "pkg/diagnose/core", "pkg/diagnose/finalizers",
		"pkg/diagnose/refusal", "pkg/diagnose/storage", "pkg/diagnose/workloads", "pkg/finalizer", "pkg/link",
		"pkg/ownership", "pkg/plan", "pkg/selection",
	},
	"pkg/unfinalize": {
		"pkg/actor", "pkg/archive", "pkg/change", "pkg/cluster", "pkg/collect", "pkg/finalizer", "pkg/link",
		"pkg/ownership", "pkg/plan", "pkg/selection",
	},
	"pkg/collect": {"pkg/archive", "pkg/change", "pkg/cluster", "pkg/plan", "pkg/selection"},
	"pkg/diagnose/finalizers": {
		"pkg/actor", "pkg/cluster", "pkg/diagnose/core", "pkg/diagnose/refusal", "pkg/finalizer",
	},
	"pkg/diagnose/storage": {
		"pkg/actor", "pkg/cluster", "pkg/diagnose/core", "pkg/diagnose/workloads", "pkg/finalizer",
	},
	"pkg/restore": {"pkg/archive", "pkg/change", "pkg/cluster", "pkg/plan"},
	"pkg/archive": {"pkg/cluster", "pkg/link", "pkg/plan"},
	"pkg/diagnose/refusal": {
		"pkg/actor", "pkg/cluster", "pkg/diagnose/core", "pkg/link", "pkg/ownership",
	},
	"pkg/diagnose/workloads": {"pkg/cluster", "pkg/diagnose/core", "pkg/finalizer"},
	"pkg/act":                {"pkg/change", "pkg/cluster", "pkg/plan"},
	"pkg/diagnose/core": {
		"pkg/actor", "pkg/cluster", "pkg/finalizer", "pkg/link",
	},
	"pkg/explain":       {"pkg/finalizer", "pkg/link"},
	"pkg/ownerref":      {"pkg/change", "pkg/cluster", "pkg/plan", "pkg/selection"},
	"pkg/tree":          {"pkg/archive", "pkg/cluster", "pkg/link", "pkg/ownership", "pkg/selection"},
	"pkg/actor":         {"pkg/cluster", "pkg/finalizer"},
	"pkg/change":        {"pkg/cluster"},
	"pkg/ownership":     {"pkg/cluster", "pkg/link"},
	"pkg/selection":     {"pkg/cluster"},
	"pkg/cluster":       {},
	"pkg/finalizer":     {"pkg/link"},
	"pkg/plan":          {"pkg/link"},
	"pkg/snapshot/take": {"pkg/cluster", "pkg/snapshot"},
	"pkg/dump/serve":    {"pkg/cluster", "pkg/dump", "pkg/snapshot"},
	"pkg/cmd/browse":    {},
	"pkg/dump":          {"pkg/snapshot"},
	"pkg/snapshot":      {},
	"pkg/protect":       {"pkg/cluster", "pkg/link", "pkg/ownership", "pkg/plan", "pkg/selection"},
	"pkg/link":          {},
}

// rule keeps some packages from outside out of some of the module's.
type rule struct {
	// paths are what is kept out, with everything below.
	paths []string
	// except are paths among them that may be imported.
	except []string
	// in are the packages that the rule is for; all if it is empty.
	in []string
	// only are the packages that it is not for.
	only []string
	// deep means that it must not be imported by a detour either.
	deep   bool
	reason string
}

var outside = []rule{
	{
		paths:  []string{"github.com/olekukonko/tablewriter", "github.com/fatih/color"},
		only:   []string{"pkg/render"},
		reason: "only pkg/render draws, so that output can be changed, escaped and tested in one place",
	},
	{
		paths:  []string{"charm.land", "github.com/charmbracelet"},
		only:   []string{"pkg/cmd/browse"},
		reason: "only pkg/cmd/browse takes the terminal over, so that everything else can be piped and read line by line",
	},
	{
		paths:  []string{"github.com/spf13/cobra", "github.com/spf13/pflag"},
		only:   slices.Concat(verbs, []string{"pkg/cmd", "pkg/cmd/env", "cmd/kubectl-gc"}),
		reason: "only pkg/cmd knows flags; everything below takes parsed values and can be used without a command line",
	},
	{
		paths: []string{"k8s.io/client-go"},
		except: []string{"k8s.io/client-go/rest", "k8s.io/client-go/restmapper", "k8s.io/client-go/discovery",
			"k8s.io/client-go/tools/clientcmd", "k8s.io/client-go/plugin/pkg/client/auth"},
		in:     slices.Concat(verbs, []string{"pkg/cmd", "pkg/cmd/env", "pkg/selection", "cmd/kubectl-gc"}),
		reason: "only pkg/cluster talks to an API server, so that every request is bounded, cancelled and counted in one place",
	},
	{
		paths:  []string{"k8s.io/client-go"},
		only:   slices.Concat(verbs, []string{"pkg/cluster", "pkg/selection", "pkg/cmd", "pkg/cmd/env", "cmd/kubectl-gc"}),
		reason: "only pkg/cluster talks to an API server, and but for the wiring of the connection flags nobody else knows of its client",
	},
	{
		paths:  []string{"time"},
		in:     knowledge,
		reason: "what is decided about a graph must not depend on when; a caller that has a clock passes what it says",
	},
	{
		paths:  []string{"k8s.io/client-go", "k8s.io/cli-runtime", "github.com/spf13/cobra"},
		in:     knowledge,
		deep:   true,
		reason: "the pure packages are tested and fuzzed without a server, and decide without one",
	},
	{
		paths:  []string{"k8s.io/kubectl", "k8s.io/kubernetes"},
		deep:   true,
		reason: "kubectl's and Kubernetes' own packages are for tests; in the plugin they would double it and tie it to their versions",
	},
}

func (r rule) forbids(name, path string) bool {
	if len(r.in) > 0 && !slices.Contains(r.in, name) || slices.Contains(r.only, name) {
		return false
	}
	return under(path, r.paths) && !under(path, r.except)
}

// under reports whether a path is one of the others or below one.
func under(path string, others []string) bool {
	return slices.ContainsFunc(others, func(o string) bool { return path == o || strings.HasPrefix(path, o+"/") })
}
