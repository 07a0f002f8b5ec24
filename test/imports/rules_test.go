package imports

import (
	"slices"
	"strings"
)

// leaves import nothing of the module, and anybody may import them.
var leaves = []string{"pkg/api/v1alpha1", "pkg/phrase", "pkg/answer", "pkg/suggest", "pkg/interrupt", "plugins"}

// knowledge is what is known without asking a server; engines are what works on a cluster with it; verbs are the commands.
var (
	knowledge = []string{"pkg/plan", "pkg/finalizer", "pkg/link", "pkg/graph"}
	engines   = []string{"pkg/act", "pkg/collect", "pkg/diagnose", "pkg/archive", "pkg/unfinalize", "pkg/tree", "pkg/explain", "pkg/deletion", "pkg/check", "pkg/ownerref", "pkg/restore", "pkg/rescue"}
	verbs     = []string{"pkg/cmd/tree", "pkg/cmd/delete", "pkg/cmd/wait", "pkg/cmd/run", "pkg/cmd/why", "pkg/cmd/unfinalize", "pkg/cmd/explain", "pkg/cmd/check", "pkg/cmd/adopt", "pkg/cmd/disown", "pkg/cmd/archive", "pkg/cmd/restore", "pkg/cmd/rescue"}
	below     = []string{"pkg/selection", "pkg/actor", "pkg/status", "pkg/cluster", "pkg/ownership", "pkg/admission"}
	output    = []string{"pkg/render", "pkg/encode", "pkg/page"}
	rooms     = []string{"pkg/diagnose/core", "pkg/diagnose/refusal", "pkg/diagnose/workloads", "pkg/diagnose/storage", "pkg/diagnose/finalizers"}
	room      = []string{"pkg/diagnose/core", "pkg/actor", "pkg/status", "pkg/cluster", "pkg/finalizer", "pkg/link", "pkg/graph"}
)

// imports says which packages of the module a package may import besides the leaves. What is on one floor may see each
// other, and Go itself refuses that both do.
var imports = map[string][]string{
	"cmd/kubectl-gc":     {"pkg/cmd"},
	"pkg/cmd":            slices.Concat(verbs, output, []string{"pkg/cmd/env", "pkg/cluster"}),
	"pkg/cmd/env":        slices.Concat(engines, knowledge, output, below),
	"pkg/cmd/tree":       command("pkg/tree"),
	"pkg/cmd/delete":     command("pkg/deletion", "pkg/archive", "pkg/approval", "pkg/audit", "pkg/collect"),
	"pkg/cmd/wait":       command("pkg/deletion"),
	"pkg/cmd/run":        command("pkg/collect", "pkg/archive"),
	"pkg/cmd/why":        command("pkg/diagnose"),
	"pkg/cmd/unfinalize": command("pkg/unfinalize"),
	"pkg/cmd/explain":    command("pkg/explain"),
	"pkg/cmd/restore":    command("pkg/restore"),
	"pkg/cmd/check":      command("pkg/check"),
	"pkg/cmd/archive":    command("pkg/archive", "pkg/tree"),
	"pkg/cmd/adopt":      command("pkg/ownerref"),
	"pkg/cmd/disown":     command("pkg/ownerref"),
	"pkg/check":          slices.Concat([]string{"pkg/collect", "pkg/archive", "pkg/ownerref", "pkg/change"}, knowledge, below),
	"pkg/change":         {"pkg/cluster", "pkg/graph"},
	"pkg/ownerref":       {"pkg/change", "pkg/selection", "pkg/cluster", "pkg/plan", "pkg/graph"},
	"pkg/cmd/rescue":     command("pkg/rescue", "pkg/unfinalize", "pkg/archive"),
	"pkg/rescue":         slices.Concat([]string{"pkg/archive", "pkg/restore", "pkg/unfinalize", "pkg/change"}, knowledge, below),
	"pkg/tree":           slices.Concat(knowledge, below),
	"pkg/explain":        slices.Concat(knowledge, below),
	"pkg/deletion":       slices.Concat(engines, knowledge, below),
	"pkg/act":            slices.Concat(engines, knowledge, []string{"pkg/change", "pkg/cluster", "pkg/status"}),
	"pkg/collect":        slices.Concat(engines, knowledge, []string{"pkg/cluster", "pkg/selection"}),
	"pkg/diagnose":       slices.Concat(rooms, knowledge, below),
	// The rooms of diagnose: each imports the core, and what it asks of the whole is a function that the core holds.
	"pkg/diagnose/core":       slices.Concat(knowledge, []string{"pkg/actor", "pkg/status", "pkg/cluster", "pkg/ownership", "pkg/admission"}),
	"pkg/diagnose/refusal":    slices.Concat(room, []string{"pkg/ownership", "pkg/admission"}),
	"pkg/diagnose/workloads":  room,
	"pkg/diagnose/storage":    slices.Concat(room, []string{"pkg/diagnose/workloads"}),
	"pkg/diagnose/finalizers": slices.Concat(room, []string{"pkg/diagnose/refusal"}),
	"pkg/archive":             slices.Concat(engines, knowledge, []string{"pkg/cluster", "pkg/selection"}),
	"pkg/unfinalize":          slices.Concat([]string{"pkg/collect", "pkg/archive"}, knowledge, below),
	"pkg/restore":             slices.Concat([]string{"pkg/archive", "pkg/ownerref"}, knowledge, below),
	"pkg/selection":           {"pkg/cluster", "pkg/graph", "pkg/link"},
	"pkg/ownership":           {"pkg/cluster", "pkg/graph", "pkg/link"},
	"pkg/actor":               {"pkg/cluster", "pkg/admission", "pkg/finalizer", "pkg/status", "pkg/graph"},
	"pkg/encode":              slices.Concat(engines, knowledge, []string{"pkg/render", "pkg/actor", "pkg/status", "pkg/approval"}),
	"pkg/render":              slices.Concat(engines, knowledge, []string{"pkg/actor", "pkg/status", "pkg/approval", "pkg/page"}),
	"pkg/page":                nil,
	"pkg/approval":            nil,
	"pkg/audit":               nil,
	"pkg/cluster":             {"pkg/admission", "pkg/graph", "pkg/status"},
	"pkg/admission":           {"pkg/graph"},
	"pkg/plan":                {"pkg/finalizer", "pkg/link", "pkg/graph"},
	"pkg/finalizer":           {"pkg/link", "pkg/graph"},
	"pkg/link":                {"pkg/finalizer", "pkg/graph"},
	"pkg/graph":               nil,
	"pkg/status":              nil,
	"pkg/phrase":              nil,
	"pkg/answer":              nil,
	"pkg/suggest":             nil,
	"pkg/interrupt":           nil,
	"pkg/api/v1alpha1":        nil,
	"plugins":                 nil,
}

// command is what a command may import: its engine, what says which objects are meant, and what prints.
func command(engines ...string) []string {
	return slices.Concat(engines, knowledge, output, below, []string{"pkg/cmd/env"})
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
		paths:  []string{"github.com/spf13/cobra", "github.com/spf13/pflag"},
		only:   slices.Concat(verbs, []string{"pkg/cmd", "pkg/cmd/env", "cmd/kubectl-gc"}),
		reason: "only pkg/cmd knows flags; everything below takes parsed values and can be used without a command line",
	},
	{
		paths:  []string{"k8s.io/client-go"},
		except: []string{"k8s.io/client-go/rest", "k8s.io/client-go/restmapper", "k8s.io/client-go/discovery", "k8s.io/client-go/tools/clientcmd", "k8s.io/client-go/plugin/pkg/client/auth"},
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

// under says whether a path is one of the others or below one.
func under(path string, others []string) bool {
	return slices.ContainsFunc(others, func(o string) bool { return path == o || strings.HasPrefix(path, o+"/") })
}
