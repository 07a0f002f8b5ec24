package faults

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// scenario is a command and what it works on.
type scenario struct {
	name string
	// args are the command line. {ns} and {spare} stand for the namespaces of the world, {lost} for
	// the archive of what it has lost, and {file} for a file that does not exist.
	args  []string
	world blueprint
	// roots are the objects that the command deletes although an owner of them may live.
	roots []string
	// collector is for commands that leave a part to the cluster's collector.
	collector bool
	// alone is for commands that would write to the objects of other worlds.
	alone bool
	// then runs the collector's loop afterwards, from a server without faults: what it deletes is
	// on the command.
	then bool
	// archive is for commands with an archive in {file}.
	archive bool
	// again runs the same command once more in the end, with a server without faults: it comes to
	// what one run comes to without a fault.
	again bool
	// rescued is the object that is gone in the meantime, and in the archive.
	rescued string
	// endless commands are interrupted when they have done what the args without --watch do.
	endless bool
	// old has the server know nothing of aggregated discovery.
	old bool
	// slow commands take many seconds. Of theirs only writes and watches meet a fault, and none in
	// a sample.
	slow bool
	// more are commands much like others; a small sample has none of theirs.
	more bool
	// waits is for commands with a time-out, {timeout}.
	waits bool
	// inVain is for commands that wait for what does not happen: they must not exit with 0.
	inVain bool
	// names are what a table shows; without them stdout is JSON.
	names []string
	json  bool
}

// family are an owner with dependents of several types, some of which live on, and what has nothing
// to do with it.
var family = blueprint{objects: []string{
	"cm/root [web]", "cm/other",
	"secret/child < cm/root+", "lease/child < cm/root", "widget/child < cm/root+", "cm/loose < cm/root",
	"secret/below < widget/child+", "lease/below < secret/child",
	"cm/shared < cm/root cm/other", "lease/shared < cm/root+ widget/alive",
	"widget/alive", "cm/of-widget < widget/alive", "lease/alive", "secret/of-lease < lease/alive+",
	"secret/of-other < cm/other",
	"cm/stranger", "lease/stranger", "widget/stranger",
}}

// top is an owner in no namespace.
var top = blueprint{objects: []string{
	"clusterrole/top", "clusterrole/other", "cm/of-top < clusterrole/top+", "lease/of-top < clusterrole/top",
	"widget/of-top < clusterrole/top",
	"cm/shared < clusterrole/top clusterrole/other", "lease/of-other < clusterrole/other", "secret/below < widget/of-top",
	"cm/stranger",
}}

// leftovers are what a collector that is off leaves behind.
var leftovers = blueprint{
	objects: []string{
		"cm/other", "widget/alive", "lease/alive", "clusterrole/alive",
		"cm/lost < cm/nobody", "lease/lost < cm/nobody", "widget/lost < cm/nobody", "secret/below < widget/lost+",
		"secret/half < cm/nobody cm/other", "lease/half < cm/nobody widget/alive",
		"cm/of-widget < widget/alive", "secret/of-lease < lease/alive+", "lease/of-other < cm/other",
		"secret/of-top < clusterrole/alive",
		"cm/orphaning", "lease/orphan < cm/orphaning", "widget/orphan < cm/orphaning+", "cm/orphan < cm/orphaning cm/other",
		"cm/waiting", "secret/blocking < cm/waiting+", "lease/blocking < cm/waiting+", "widget/kept < cm/waiting+ cm/other",
		"cm/stranger",
	},
	deleted: map[metav1.DeletionPropagation][]string{
		metav1.DeletePropagationOrphan:     {"cm/orphaning"},
		metav1.DeletePropagationForeground: {"cm/waiting"},
	},
}

// stuck are objects whose deletion waits for somebody.
var stuck = blueprint{
	objects: []string{
		"cm/held [stuck] | example.com/hold", "widget/held [stuck] | example.com/hold", "cm/live [stuck] | example.com/hold",
		"cm/orphaning", "lease/orphan < cm/orphaning", "widget/orphan < cm/orphaning+",
		"secret/orphan < cm/orphaning cm/live",
		"cm/waiting", "secret/blocking < cm/waiting+ | example.com/hold", "lease/blocking < cm/waiting+",
		"secret/of-held < cm/held", "cm/stranger",
	},
	deleted: map[metav1.DeletionPropagation][]string{
		metav1.DeletePropagationBackground: {"cm/held", "widget/held"},
		metav1.DeletePropagationOrphan:     {"cm/orphaning"},
		metav1.DeletePropagationForeground: {"cm/waiting"},
	},
}

// leaving is an owner in foreground deletion beside a collector, and what another owner keeps.
var leaving = blueprint{
	objects: []string{
		"cm/waiting", "secret/blocking < cm/waiting+", "lease/blocking < cm/waiting+", "secret/below < lease/blocking",
		"widget/kept < cm/waiting+ cm/other",
		"cm/other", "cm/stranger",
	},
	deleted: map[metav1.DeletionPropagation][]string{metav1.DeletePropagationForeground: {"cm/waiting"}},
}

// bereft is a family without its root and what only that owned, which are in an archive.
var bereft = blueprint{
	objects: family.objects,
	lost:    []string{"cm/root", "secret/child", "lease/child", "widget/child", "cm/loose", "secret/below", "lease/below"},
}

// held is an owner that a finalizer holds, with dependents of several types.
var held = blueprint{
	objects: []string{
		"cm/held [web] | example.com/hold", "cm/other", "secret/child < cm/held+", "widget/child < cm/held",
		"lease/shared < cm/held+ cm/other", "secret/below < widget/child",
		"cm/stranger",
	},
	deleted: map[metav1.DeletionPropagation][]string{metav1.DeletePropagationBackground: {"cm/held"}},
}

func stuckNamespace(spare ...string) blueprint {
	return blueprint{objects: []string{"cm/stranger"}, spare: append([]string{}, spare...)}
}

var scenarios = []*scenario{
	{name: "tree of a namespace", world: family, args: []string{"tree", "-n", "{ns}", "-o", "json"}},
	{name: "tree of an object", world: family, args: []string{"tree", "-n", "{ns}", "cm/root", "-o", "json"}},
	{name: "tree of leftovers", more: true, world: leftovers, args: []string{"tree", "-n", "{ns}", "-o", "json"}},
	{name: "tree of everything", world: family, args: []string{"tree", "-A", "-o", "json"}},
	{name: "tree upwards", more: true, world: family,
		args: []string{"tree", "-n", "{ns}", "secret/below", "lease/shared", "--owners", "-o", "json"}},
	{name: "tree of a selector", more: true, world: family,
		args: []string{"tree", "-n", "{ns}", "configmaps", "-l", "app=web", "-o", "json"}},
	{name: "tree of a cluster-scoped owner", world: top,
		args: []string{"tree", "-n", "{ns}", "clusterrole/{ns}-top", "-o", "json"}},
	{name: "tree with old discovery", more: true, world: family, old: true,
		args: []string{"tree", "-n", "{ns}", "cm/root", "-o", "json"}},
	{name: "tree as a table", world: family, args: []string{"tree", "-n", "{ns}", "cm/root"},
		names: []string{"secret/child", "lease/child", "widget/child", "secret/below", "lease/below", "cm/shared"}},

	{name: "delete background", world: family, roots: []string{"cm/root"}, then: true,
		args: []string{"delete", "-n", "{ns}", "cm/root", "-y", "--wait=false", "-o", "json"}},
	{name: "delete foreground", more: true, world: family, roots: []string{"cm/root"}, then: true,
		args: []string{"delete", "-n", "{ns}", "cm/root", "-y", "--wait=false", "--cascade=foreground", "-o", "json"}},
	{name: "delete orphan", world: family, roots: []string{"cm/root"}, then: true,
		args: []string{"delete", "-n", "{ns}", "cm/root", "-y", "--wait=false", "--cascade=orphan", "-o", "json"}},
	{name: "delete a dependent in the background", more: true, world: family, roots: []string{"widget/child"}, then: true,
		args: []string{"delete", "-n", "{ns}", "widgets", "child", "-y", "--wait=false", "-o", "json"}},
	{name: "delete as the collector, background", world: family, roots: []string{"cm/root"}, waits: true,
		args: []string{"delete", "-n", "{ns}", "cm/root", "-y", "--gc=client", "--timeout={timeout}", "-o", "json"}},
	{name: "delete as the collector, foreground", world: family, roots: []string{"cm/root"}, waits: true,
		args: []string{"delete", "-n", "{ns}", "cm/root", "-y", "--gc=client", "--cascade=foreground", "--timeout={timeout}",
			"-o", "json"}},
	{name: "delete as the collector, orphan", world: family, roots: []string{"cm/root"}, then: true, waits: true,
		args: []string{"delete", "-n", "{ns}", "cm/root", "-y", "--gc=client", "--cascade=orphan", "--timeout={timeout}",
			"-o", "json"}},
	{name: "delete as the collector, strict", more: true, world: family, roots: []string{"cm/root"}, waits: true,
		args: []string{"delete", "-n", "{ns}", "cm/root", "-y", "--gc=client", "--cascade=foreground", "--strict",
			"--timeout={timeout}", "-o", "json"}},
	{name: "delete as the collector, with an archive", world: family, roots: []string{"cm/root"}, archive: true,
		waits: true, args: []string{"delete", "-n", "{ns}", "cm/root", "-y", "--gc=client", "--archive={file}",
			"--timeout={timeout}", "-o", "json"}},
	{name: "delete in stages as the collector", world: family, roots: []string{"cm/root", "widget/alive", "widget/child"},
		waits: true, args: []string{"delete", "-n", "{ns}", "cm/root", "widget/alive", "-y", "--ordered", "--gc=client",
			"--timeout={timeout}", "-o", "json"}},
	{name: "delete as the collector, old discovery", more: true, world: family, old: true, roots: []string{"cm/root"},
		waits: true, args: []string{"delete", "-n", "{ns}", "cm/root", "-y", "--gc=client", "--timeout={timeout}", "-o",
			"json"}},
	{name: "delete a selector as the collector", more: true, world: family, roots: []string{"cm/root"}, waits: true,
		args: []string{"delete", "-n", "{ns}", "configmaps", "-l", "app=web", "-y", "--gc=client", "--timeout={timeout}",
			"-o", "json"}},
	{name: "delete a cluster-scoped owner as the collector", world: top, roots: []string{"clusterrole/top"}, waits: true,
		args: []string{"delete", "clusterrole/{ns}-top", "-y", "--gc=client", "--timeout={timeout}", "-o", "json"}},
	{name: "delete --dry-run=client", world: family,
		args: []string{"delete", "-n", "{ns}", "cm/root", "--dry-run=client", "-o", "json"}},
	{name: "delete --dry-run=server", world: family,
		args: []string{"delete", "-n", "{ns}", "cm/root", "cm/stranger", "--dry-run=server", "-o", "json"}},
	{name: "delete beside the collector, background", world: family, collector: true, roots: []string{"cm/root"},
		waits: true, args: []string{"delete", "-n", "{ns}", "cm/root", "-y", "--timeout={timeout}", "-o", "json"}},
	{name: "delete beside the collector, foreground", more: true, world: family, collector: true,
		roots: []string{"cm/root"}, waits: true,
		args: []string{"delete", "-n", "{ns}", "cm/root", "-y", "--cascade=foreground", "--timeout={timeout}", "-o", "json"}},
	{name: "delete beside the collector, strict", more: true, world: family, collector: true, roots: []string{"cm/root"},
		waits: true, args: []string{"delete", "-n", "{ns}", "cm/root", "-y", "--cascade=foreground", "--strict",
			"--timeout={timeout}", "-o", "json"}},
	{name: "delete beside the collector, orphan", world: family, collector: true, roots: []string{"cm/root"}, waits: true,
		args: []string{"delete", "-n", "{ns}", "cm/root", "-y", "--cascade=orphan", "--timeout={timeout}", "-o", "json"}},

	{name: "wait beside the collector", world: leaving, collector: true, waits: true,
		args: []string{"wait", "-n", "{ns}", "cm/waiting", "--timeout={timeout}", "-o", "json"}},
	{name: "wait in vain", world: stuck, slow: true, waits: true, inVain: true,
		args: []string{"wait", "-n", "{ns}", "cm/waiting", "--timeout={timeout}", "-o", "json"}},

	{name: "run in a namespace", world: leftovers, then: true, args: []string{"run", "-n", "{ns}", "-y", "-o", "json"}},
	{name: "run in the cluster", world: leftovers, alone: true, then: true, args: []string{"run", "-y", "-o", "json"}},
	{name: "run with old discovery", more: true, world: leftovers, old: true, then: true,
		args: []string{"run", "-n", "{ns}", "-y", "-o", "json"}},
	{name: "run --dry-run", world: leftovers, args: []string{"run", "-n", "{ns}", "--dry-run", "-o", "json"}},
	{name: "run --wait", more: true, world: leftovers, then: true, waits: true,
		args: []string{"run", "-n", "{ns}", "-y", "--wait", "--timeout={timeout}", "-o", "json"}},
	{name: "run --watch", world: leftovers, endless: true, then: true,
		args: []string{"run", "-n", "{ns}", "-y", "--watch"}, names: []string{"lost"}},

	{name: "run with an archive", world: leftovers, then: true, archive: true,
		args: []string{"run", "-n", "{ns}", "-y", "--archive={file}", "-o", "json"}},
	{name: "archive a tree", world: family,
		args: []string{"archive", "-n", "{ns}", "cm/root", "--to={file}", "-o", "json"}},

	{name: "unfinalize a finalizer", world: stuck, then: true,
		args: []string{"unfinalize", "-n", "{ns}", "cm/held", "--finalizer", "example.com/hold", "--force", "-y", "-o",
			"json"}},
	{name: "unfinalize orphan", world: stuck, then: true,
		args: []string{"unfinalize", "-n", "{ns}", "cm/orphaning", "--finalizer", "orphan", "--force", "-y", "-o", "json"}},
	{name: "unfinalize foregroundDeletion", more: true, world: stuck, then: true,
		args: []string{"unfinalize", "-n", "{ns}", "cm/waiting", "--finalizer", "foregroundDeletion", "--force", "-y", "-o",
			"json"}},
	{name: "unfinalize a namespace that is empty", world: stuckNamespace(),
		args: []string{"unfinalize", "namespace/{spare}", "--finalizer", "kubernetes", "-y", "-o", "json"}},
	{name: "unfinalize a namespace with a lease", world: stuckNamespace("lease/inside"),
		args: []string{"unfinalize", "namespace/{spare}", "--finalizer", "kubernetes", "-y", "-o", "json"}},
	{name: "unfinalize a namespace with a custom resource", more: true, world: stuckNamespace("widget/inside"),
		args: []string{"unfinalize", "namespace/{spare}", "--finalizer", "kubernetes", "-y", "-o", "json"}},
	{name: "unfinalize a namespace with a secret", more: true, world: stuckNamespace("secret/inside"),
		args: []string{"unfinalize", "namespace/{spare}", "--finalizer", "kubernetes", "-y", "-o", "json"}},
	{name: "unfinalize --all-stuck", more: true, world: stuck, then: true,
		args: []string{"unfinalize", "-n", "{ns}", "--all-stuck", "--finalizer", "example.com/hold", "--force", "-y", "-o",
			"json"}},
	{name: "unfinalize a selector", world: stuck, then: true, archive: true,
		args: []string{"unfinalize", "-n", "{ns}", "configmaps,widgets", "-l", "app=stuck", "--finalizer", "example.com/hold",
			"--force", "--keep-going", "--archive={file}", "-y", "-o", "json"}},
	{name: "unfinalize --tree", more: true, world: stuck, then: true,
		args: []string{"unfinalize", "-n", "{ns}", "--tree", "cm/waiting", "--finalizer", "example.com/hold", "--force", "-y",
			"-o", "json"}},
	{name: "unfinalize --dry-run=server", world: stuck,
		args: []string{"unfinalize", "-n", "{ns}", "cm/held", "--finalizer", "example.com/hold", "--force",
			"--dry-run=server", "-o", "json"}},
	{name: "unfinalize --dry-run=client", more: true, world: stuck,
		args: []string{"unfinalize", "-n", "{ns}", "cm/orphaning", "--finalizer", "orphan", "--force", "--dry-run=client",
			"-o", "json"}},

	{name: "why an object", world: stuck, args: []string{"why", "-n", "{ns}", "cm/waiting", "-o", "json"}},
	{name: "why a namespace", world: stuck, args: []string{"why", "-n", "{ns}", "--older-than=0s", "-o", "json"}},
	{name: "why everything", more: true, world: stuck, args: []string{"why", "-A", "--older-than=0s", "-o", "json"}},
	{name: "why a namespace is there", world: stuckNamespace("lease/inside", "widget/inside | example.com/hold"),
		args: []string{"why", "namespace/{spare}", "-o", "json"}},
	{name: "check a namespace", world: leftovers, args: []string{"check", "-n", "{ns}", "--severity=info", "-o", "json"}},
	{name: "check everything", more: true, world: leftovers,
		args: []string{"check", "-A", "--severity=info", "-o", "json"}},
	{name: "check --fix", world: leftovers, then: true, archive: true,
		args: []string{"check", "-n", "{ns}", "--fix", "--finalizers=false", "-y", "--archive={file}", "-o", "json"}},
	{name: "check --fix --dry-run=server", more: true, world: leftovers,
		args: []string{"check", "-n", "{ns}", "--fix", "--finalizers=false", "--dry-run=server", "-o", "json"}},
	{name: "adopt", world: family, then: true,
		args: []string{"adopt", "-n", "{ns}", "cm/stranger", "--owner=secret/below", "--block", "-o", "json"}},
	{name: "disown", world: leftovers, then: true,
		args: []string{"disown", "-n", "{ns}", "secret/half", "--owner=cm/nobody", "-o", "json"}},
	{name: "restore", world: bereft, then: true, again: true,
		args: []string{"restore", "-f", "{lost}", "-y", "-o", "json"}},
	{name: "restore --dry-run=server", more: true, world: bereft,
		args: []string{"restore", "-f", "{lost}", "--dry-run=server", "-o", "json"}},
	{name: "restore --dry-run=client", more: true, world: bereft,
		args: []string{"restore", "-f", "{lost}", "--dry-run=client", "-o", "json"}},
	{name: "rescue", world: held, rescued: "cm/held", archive: true, then: true, again: true, waits: true,
		args: []string{"rescue", "-n", "{ns}", "cm/held", "--force", "-y", "--archive={file}", "--timeout={timeout}", "-o",
			"json"}},
	{name: "rescue --dry-run=server", more: true, world: held,
		args: []string{"rescue", "-n", "{ns}", "cm/held", "--force", "--archive={file}", "--dry-run=server", "-o", "json"}},
	{name: "why --probe", world: stuck, slow: true,
		args: []string{"why", "-n", "{ns}", "cm/waiting", "--probe", "-o", "json"}},
}
