package dump

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

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
	b.at(m.CreationTimestamp)
	for _, f := range m.ManagedFields {
		b.at(f.Time)
	}
	var more struct {
		Spec                     struct{ RenewTime string }
		LastTimestamp, EventTime string
	}
	if (it.Kind == "Lease" || it.Kind == "Event") && json.Unmarshal(raw, &more) == nil {
		b.at(more.Spec.RenewTime)
		b.at(more.LastTimestamp)
		b.at(more.EventTime)
		b.renewed = b.renewed || it.Kind == "Lease" && (m.Namespace == "kube-node-lease" || m.Namespace == "kube-system")
	}
	return nil
}

// at notes a time at which the cluster was alive.
func (b *builder) at(text string) {
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil && t.After(b.newest) {
		b.newest = t
	}
}
