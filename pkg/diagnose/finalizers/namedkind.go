package finalizers

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// kindNamed is the type of what a field names: of the kind that it says, of one of the object's own
// group that is called like the field, or a ServiceAccount, Secret or ConfigMap if the field is called
// so in the end and no kind is.
func (e dependencies) kindNamed(group string, n namedIn) (cluster.Resource, bool) {
	if n.addressed {
		return e.Reader.KindIn("", n.kind)
	}
	if n.kind != "" {
		r, known := e.Reader.KindIn(cmp.Or(n.group, group), n.kind)
		if !known && n.group == "" {
			return e.Reader.KindIn("", n.kind)
		}
		return r, known
	}
	for _, r := range e.Catalog.Resources {
		if r.Group == group && strings.EqualFold(r.Kind, n.stem) {
			return r, true
		}
	}
	for _, kind := range []string{"ServiceAccount", "Secret", "ConfigMap"} {
		if strings.HasSuffix(n.stem, strings.ToLower(kind)) && !e.isKind(n.stem) {
			return e.Reader.KindIn("", kind)
		}
	}
	return cluster.Resource{}, false
}

// isBareKind reports whether a key without an ending, such as policyServer, is that of another kind
// of the object's own group. In those of ACK it has the name that AWS knows; a key with Ref has
// that of an object.
func isBareKind(of schema.GroupKind, r cluster.Resource, key string) bool {
	return r.Group == of.Group && r.Kind != of.Kind && strings.EqualFold(r.Kind, key) &&
		!strings.HasSuffix(of.Group, ".services.k8s.aws")
}

// alikeBut reports whether a kind ends with a key and begins as another kind does: MinioPolicy,
// which the key policy of a MinioPolicyBinding means.
func alikeBut(kind, own, key string) bool {
	begins, ends := strings.CutSuffix(strings.ToLower(kind), key)
	return ends && begins != "" && strings.HasPrefix(strings.ToLower(own), begins)
}

// kindLike is the one type of the object's own group whose kind ends like the field is called:
// PulsarConnection for connectionRef. Only what is there shows that it is meant: of what is absent no
// more is said than that there is none of the name.
func (e dependencies) kindLike(group string, n namedIn) (found cluster.Resource, only bool) {
	if n.kind != "" || n.stem == "" {
		return found, false
	}
	return e.onlyType(func(r cluster.Resource) bool {
		return r.Group == group && strings.HasSuffix(strings.ToLower(r.Kind), n.stem)
	})
}

// onlyType is the one type of the cluster that matches; false if none does, or several do.
func (e dependencies) onlyType(matches func(cluster.Resource) bool) (found cluster.Resource, only bool) {
	for _, r := range e.Catalog.Resources {
		if matches(r) {
			if only {
				return cluster.Resource{}, false
			}
			found, only = r, true
		}
	}
	return found, only
}

// kindWithin is the one kind of the object's own group with which the key of a reference ends,
// behind another word: Instance for parentInstance. That nothing of the name is there shows
// nothing.
func (e dependencies) kindWithin(o *unstructured.Unstructured, n namedIn) (found cluster.Resource, only bool) {
	if n.kind != "" || n.loose {
		return found, false
	}
	return e.onlyType(func(r cluster.Resource) bool {
		kind := strings.ToLower(r.Kind)
		return r.Group == o.GroupVersionKind().Group && r.Kind != o.GetKind() && len(kind) >= shortestEnd &&
			len(kind) < len(n.stem) && strings.HasSuffix(n.stem, kind)
	})
}

// placesAt reports whether the key of a reference says that the object is for one of a kind, or
// below it, by a word before the kind: targetDestinationName
// (https://github.com/syntasso/kratix/issues/233). Those of ACK have names that AWS knows.
func (n namedIn) placesAt(r cluster.Resource) bool {
	before, ends := strings.CutSuffix(n.stem, strings.ToLower(r.Kind))
	return ends && slices.Contains([]string{"target", "parent", "owner", "host", "assigned"}, before) &&
		!strings.HasSuffix(r.Group, ".services.k8s.aws")
}

// takenOf is what kinds are called whose objects are taken or made of another, behind its kind.
var takenOf = regexp.MustCompile(`^(?:Backup|Database|Export|Restore|Role|Snapshot|Topic|User)`)

// kindBefore is the kind of which objects like this one are taken, as a PerconaServerMongoDBBackup is
// of a PerconaServerMongoDB, for a field that says only that it is a cluster or the like. The
// databaseName of a MySQLDatabase is its own.
func (e dependencies) kindBefore(o *unstructured.Unstructured, n namedIn) (found cluster.Resource, only bool) {
	if n.kind != "" || !slices.Contains([]string{"cluster", "database", "instance", "server"}, n.stem) {
		return found, false
	}
	for _, r := range e.Catalog.Resources {
		rest, begins := strings.CutPrefix(o.GetKind(), r.Kind)
		if begins && r.Group == o.GroupVersionKind().Group && takenOf.MatchString(rest) && len(r.Kind) > len(found.Kind) &&
			!strings.EqualFold(rest, n.stem) {
			found, only = r, true
		}
	}
	return found, only
}

// mayMean reports whether a field of an object of some kind may name one of a kind that only ends
// like the field is called. A database that names a database means itself.
func (n namedIn) mayMean(r cluster.Resource, own string) bool {
	return len(n.stem) >= shortestEnd && r.Kind != own
}

// kindOfProgram is the one kind that a field is called after and that is of the program after which the
// object's own kind is called: Hardware of tinkerbell.org for the hardwareName of a TinkerbellMachine.
func (e dependencies) kindOfProgram(o *unstructured.Unstructured, n namedIn) (found cluster.Resource, only bool) {
	if n.kind != "" || n.stem == "" || n.loose {
		return found, false
	}
	return e.onlyType(func(r cluster.Resource) bool {
		program, _, _ := strings.Cut(r.Group, ".")
		return strings.EqualFold(r.Kind, n.stem) && !cluster.BuiltIn(r.Group) && r.Group != o.GroupVersionKind().Group &&
			len(program) >= shortestEnd && strings.HasPrefix(strings.ToLower(o.GetKind()), program)
	})
}

// kindOwning is the kind of an owner of the object that has the name and whose kind ends like the
// field is called: the HostedCluster that clusterName means.
func (e dependencies) kindOwning(o *unstructured.Unstructured, n namedIn) (cluster.Resource, bool) {
	for _, ref := range o.GetOwnerReferences() {
		if n.kind == "" && n.stem != "" && ref.Name == n.name && strings.HasSuffix(strings.ToLower(ref.Kind), n.stem) {
			return e.Reader.KindIn(graph.Ref{APIVersion: ref.APIVersion}.Group(), ref.Kind)
		}
	}
	return cluster.Resource{}, false
}

// kindMissed is the one kind of the object's own group that a failing condition says is not found, and
// whose name contains what the field is called: KonnectAPIAuthConfiguration for authRef.
func (e dependencies) kindMissed(o *unstructured.Unstructured, n namedIn) (found cluster.Resource, only bool) {
	if n.kind != "" || n.stem == "" || n.loose {
		return found, false
	}
	return e.onlyType(func(r cluster.Resource) bool {
		missed := func(c status.Condition) bool {
			return slices.Contains(strings.Fields(c.Message), r.Kind) && strings.Contains(c.Message, "not found")
		}
		return r.Group == o.GroupVersionKind().Group && r.Kind != o.GetKind() &&
			strings.Contains(strings.ToLower(r.Kind), n.stem) && slices.ContainsFunc(status.Failing(o), missed)
	})
}

// unmatched reports whether an object says that a kind does not exist in the version in which one
// of its fields names it, and the cluster indeed serves it in others only: whoever looks there
// finds nothing, whatever is there in these. The words are those of a RESTMapper (NoKindMatchError
// of apimachinery).
func (e dependencies) unmatched(o *unstructured.Unstructured, n namedIn, r cluster.Resource) bool {
	gv, err := schema.ParseGroupVersion(n.apiVersion)
	if err != nil || n.apiVersion == "" || gv.Group != r.Group || gv.Version == r.Version ||
		slices.Contains(r.OtherVersions, gv.Version) {
		return false
	}
	words := `no matches for kind "` + n.kind + `" in version "` + n.apiVersion + `"`
	said := func(c status.Condition) bool { return strings.Contains(c.Message, words) }
	return slices.ContainsFunc(status.Failing(o), said) ||
		slices.ContainsFunc(status.Texts(o), func(s status.Said) bool { return strings.Contains(s.Text, words) })
}

// isKind reports whether a key is that of a kind that only ends like one of the core: sealedSecret
// of SealedSecret.
func (e dependencies) isKind(key string) bool {
	return slices.ContainsFunc(e.Catalog.Resources, func(r cluster.Resource) bool {
		return r.Group != "" && strings.EqualFold(r.Kind, key)
	})
}
