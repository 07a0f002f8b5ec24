package finalizer_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
)

// isFixed reports whether all signs are namespaces and names that an installation can choose
// otherwise: such a component is easily missed while it is alive.
func isFixed(a finalizer.Alive) bool {
	return !a.Outside && a.Follow == "" && len(a.Labels)+len(a.Images)+len(a.APIServices)+len(a.Webhooks) == 0 &&
		!slices.ContainsFunc(slices.Concat(a.Deployments, a.StatefulSets, a.DaemonSets, a.Leases),
			func(name string) bool { return name[:1] == "*" })
}

// TestNoComponentIsKnownByAFixedNameAlone fails for a component that is taken for absent as soon as
// an installation puts it into another namespace: 80 of 124 were, and 204 of 343 entries hung on
// them.
func TestNoComponentIsKnownByAFixedNameAlone(t *testing.T) {
	var told []string
	for _, pack := range embedded(t).Packs() {
		for _, k := range pack.Finalizers {
			if name := pack.File + ": " + k.Component; isFixed(k.Alive) && !slices.Contains(told, name) {
				t.Errorf("%s has no sign but a fixed namespace and name: add images, labels, a lease or a webhook, or say outside or follow", name)
				told = append(told, name)
			}
		}
	}
}

// staying says of something in the cluster that it is left where it is. Whether it is depends on
// its owners.
var staying = regexp.MustCompile(
	`(?i)\b(claims?|StatefulSets?|Deployments?|Secrets?|ConfigMaps?|pods?|Jobs?|Services?|objects|components|resources|runners|packages|release|namespaces?|ExternalSecrets|webhooks|hub)\b[^;:]*\b(stays?|survives?|(is|are) kept|goe?s? on)\b`)

// elsewhere is where owners of this cluster have no say.
var elsewhere = regexp.MustCompile(
	`\b(in|at|from|of) (the )?(member|managed|downstream|remote|hosting|tailnet|object|storage|etcd|Redis|Kafka|Consul|ngrok|Grafana|PostgreSQL|MariaDB|Azure|Ceph|clusters|App Mesh|Aiven|Infisical|Atlas|RabbitMQ|Redpanda|OpenSearch|Cloud Map|vSphere)\b|valid until|service instance`)

// TestTextsLeaveToTheOwnerGraphWhatItDecides fails for a text that promises that something in the
// cluster stays when the finalizer is removed. The collector deletes it with its owner.
func TestTextsLeaveToTheOwnerGraphWhatItDecides(t *testing.T) {
	for _, pack := range embedded(t).Packs() {
		for _, k := range pack.Finalizers {
			for key, text := range map[string]string{"ifRemoved": k.IfRemoved, "before": k.Before, "note": k.Note} {
				if staying.MatchString(text) && !elsewhere.MatchString(text) {
					t.Errorf("%s: %s: %s says %q: the owner graph decides that; say what the actor does not do", pack.File, k.ID,
						key, text)
				}
			}
		}
	}
	if k := (finalizer.Known{Polarity: finalizer.OptInDestructive,
		IfRemoved: "x"}); regexp.MustCompile(`\bkeeps\b`).MatchString(k.OnRemoval()) {
		t.Errorf("%q promises that what honouring deletes is kept", k.OnRemoval())
	}
}

// TestLeasesOfAllVersions: a component whose versions call their Lease differently is known by each
// of the names.
func TestLeasesOfAllVersions(t *testing.T) {
	k, _ := embedded(t).Lookup("kro.run/finalizer", "kro.run", "ResourceGraphDefinition")
	if want := []string{"*/controller.kro.run", "*/6f0f64a5.kro.run"}; !slices.Equal(k.Alive.Leases, want) {
		t.Errorf("the Leases of kro are %v, want %v", k.Alive.Leases, want)
	}
}
