package dump

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// archive notes what the plan of an archive of kubectl gc says.
func (b *builder) archive(p *planHead) error {
	b.Kind, b.unsaved = "archive of kubectl gc", "an archive has only the objects that it was written for"
	if t, err := time.Parse(time.RFC3339, p.ArchivedAt); err == nil && t.After(b.Time) {
		b.Time, b.TimeOf = t, Stated
	}
	return b.of(p.Cluster)
}

// of notes the cluster of what is read, if that tells. Of two clusters the objects of the same name
// would be taken for one.
func (b *builder) of(cluster string) error {
	if b.Cluster != "" && cluster != "" && cluster != b.Cluster {
		return fmt.Errorf("it is of two clusters, %s and %s: name what is of one", b.Cluster, cluster)
	}
	b.Cluster = cmp.Or(cluster, b.Cluster)
	return nil
}

// note keeps what an object tells besides itself: namespaces, owners, and the time.
func (b *builder) note(it *item, raw []byte) error {
	m := &it.Metadata
	if m.Namespace != "" {
		b.namespaces[m.Namespace] = true
	}
	if it.Kind == "Namespace" && it.APIVersion == "v1" {
		b.namespaces[m.Name] = true
		if m.Name == "kube-system" {
			if err := b.of(m.UID); err != nil {
				return err
			}
		}
	}
	for _, r := range m.OwnerReferences {
		if gv, err := schema.ParseGroupVersion(r.APIVersion); err == nil && r.Kind != "" && gv.Version != "" {
			gvk := gv.WithKind(r.Kind)
			b.owners[gvk] = b.owners[gvk] || m.Namespace == ""
		}
	}
	b.at(m.CreationTimestamp.Time)
	// An object is deleted that long before (k8s.io/apiserver/pkg/registry/rest/delete.go). Without
	// the grace period, which somebody has left out, the time may be to come.
	if grace := m.DeletionGracePeriodSeconds; grace != nil {
		b.at(m.DeletionTimestamp.Time.Add(-time.Duration(*grace) * time.Second))
	}
	for _, f := range m.ManagedFields {
		b.at(f.Time.Time)
	}
	// A Lease that is renewed as long as there is a cluster: that of another program may have been given
	// up long before the dump, and what clients write of the time is by their clocks.
	ofNode, ofServer := m.Namespace == "kube-node-lease", m.Namespace == "kube-system" && serverLease.MatchString(m.Name)
	if it.Kind != "Lease" || !ofNode && !ofServer {
		return nil
	}
	var lease struct {
		Spec struct{ RenewTime metav1.Time }
	}
	switch {
	case json.Unmarshal(raw, &lease) != nil || lease.Spec.RenewTime.IsZero():
	case ofNode:
		b.nodes = append(b.nodes, lease.Spec.RenewTime.Time)
	default:
		b.at(lease.Spec.RenewTime.Time)
		b.renewed = true
	}
	return nil
}

// atNodes notes what Leases of nodes tell of the time where no API server's does. A node whose clock
// is ahead would make every other Lease seem given up: of three nodes, two have to be that late.
func (b *builder) atNodes() {
	slices.SortFunc(b.nodes, time.Time.Compare)
	last := len(b.nodes) - 1
	if b.renewed || last < 0 {
		return
	}
	if last >= 2 {
		last--
	}
	b.at(b.nodes[last])
	b.renewed = true
}

// serverLease are the names of the Leases that API servers renew themselves
// (https://kubernetes.io/docs/concepts/architecture/leases).
var serverLease = regexp.MustCompile(`^(kube-)?apiserver-`)

// at notes a time at which the cluster was alive.
func (b *builder) at(t time.Time) {
	if t.After(b.newest) {
		b.newest = t
	}
}
