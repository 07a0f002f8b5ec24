package finalizers

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
)

// nothing is why an actor that has not removed its finalizer may have nothing to clean up, so that
// it costs nothing to remove that by hand; empty if nothing says so.
type nothing struct {
	seen   []v1alpha1.Observation
	remedy string
}

// nothingFor finds that out: the object tells its actor to delete nothing, or its kind is called
// like what it stands for outside the cluster, and it names none of that. Other kinds that share an
// entry of a pack with it, as an AWSCluster does with an AWSMachine, stand for something else.
func nothingFor(b core.Responsible) (n nothing) {
	if b.Actor.Idles != "" {
		n.remedy = fmt.Sprintf(" As %s, it has nothing to delete: if it fails at something else, remove the finalizer by hand.",
			b.Actor.Idles)
		return n
	}
	if x := unnamed(b); x != nil && strings.HasSuffix(strings.ToLower(b.Object.GetKind()), strings.ToLower(x.Is)) {
		n.seen = namesNone(b, x)
		n.remedy = fmt.Sprintf(" It names no %s: look whether one was made all the same. If no %s was ever made for it, remove the "+
			"finalizer by hand.", x.Is, x.Is)
	}
	return n
}

// namesNone is the evidence that an object names none of what it stands for outside the cluster.
func namesNone(b core.Responsible, x *finalizer.External) []v1alpha1.Observation {
	return core.ObservedAt(cluster.Place(b.Object, x.String()), "it names no "+x.Is)
}

// neverMade is how a program says that it could not make what an object stands for: a machine, as a
// rule, whose key or image is not there
// (https://github.com/kubernetes-sigs/cluster-api-provider-aws/issues/1138).
var neverMade = regexp.MustCompile(
	`(?i)\b(?:fail(?:ed|ure)? to|failed|could not|couldn't|cannot|unable to) (?:create|creating|launch|launching|provision|provisioning|run)\b`)

// notAName is the answer of an API that the name of what is to be deleted is none that it allows:
// by a code of Azure (https://github.com/Azure/azure-service-operator/issues/2607) or of S3, or as
// Google Cloud says it (https://github.com/kubernetes/kops/pull/16386). The name of a user is
// another thing.
var notAName = regexp.MustCompile(`\bInvalid(?:Account|Bucket|Container|Database|Domain|Queue|Resource|ResourceGroup|Server|Topic|Vault)Name\b` +
	`|\bInvalidResourceGroup\b|\b(?:Account|Container|Domain|Resource|ResourceGroup|Server|Vault)NameInvalid\b` +
	`|\bInvalid value for field '[A-Za-z.]+': '[^']*'\. Must be a match of regex\b`)

// nameless reports whether an API does not allow the name of what was to be deleted: nothing can
// have been made under it.
func (s saying) nameless() bool { return s.ofDeletion && notAName.MatchString(s.message) }
