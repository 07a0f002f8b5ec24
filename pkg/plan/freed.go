package plan

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// naming are the types of objects that ask for DNS names, by resource and group.
var naming = map[string]string{
	"services": "", "ingresses": "networking.k8s.io", "certificates": certManager, "dnsendpoints": "externaldns.k8s.io",
	"httproutes": gatewayAPI, "grpcroutes": gatewayAPI, "tlsroutes": gatewayAPI,
}

const (
	certManager = "cert-manager.io"
	gatewayAPI  = "gateway.networking.k8s.io"
)

// Naming returns the objects that are gone in the end and may ask for DNS names, sorted.
func (p *Plan) Naming() []graph.ID {
	var ids []graph.ID
	again := p.again()
	for _, id := range p.Deleted {
		r := p.Graph.Ref(id)
		if group, is := naming[r.Resource]; is && group == r.Group() && !again[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

// frees sums up what the objects that are gone in the end held or asked for; nil if that
// is nothing, and all of them were read.
func (p *Plan) frees(pods map[graph.ID]Pod) *v1alpha1.Freed {
	f := v1alpha1.Freed{
		Storage:  freedStorage(p.Disks, p.KeptDisks),
		DNSNames: slices.Compact(slices.Sorted(slices.Values(p.DNSNames))),
	}
	again := p.again()
	for _, id := range p.DeletedOf(certManager, "certificates") {
		if !again[id] {
			f.Certificates++
		}
	}
	f.Pods, f.Requests = freedRequests(pods, again)
	for _, ids := range [][]graph.ID{p.Unread, p.UnreadDisks, p.UnreadNaming} {
		for _, ref := range p.Graph.Refs(ids) {
			if ref.Resource != "statefulsets" { // which hold nothing themselves
				f.Unread = append(f.Unread, ref)
			}
		}
	}
	if f.Storage == nil && f.DNSNames == nil && f.Unread == nil && f.Certificates+f.Pods == 0 {
		return nil
	}
	return &f
}

// again are the objects that can come back without anybody doing so by hand, and those that come back
// with them, because these control them.
func (p *Plan) again() map[graph.ID]bool {
	var queue []graph.ID
	for _, r := range p.Recreated {
		if r.With == "" {
			queue = append(queue, r.Object)
		}
	}
	again := map[graph.ID]bool{}
	for ; len(queue) > 0; queue = queue[1:] {
		id := queue[0]
		if again[id] {
			continue
		}
		again[id] = true
		for e := range p.Graph.Dependents(id) {
			if e.Controller && !makesOthers(p.Graph, id) {
				queue = append(queue, e.Dependent)
			}
		}
	}
	return again
}

// freedRequests counts the pods that run on nodes and do not come back, and sums up what they
// request.
func freedRequests(pods map[graph.ID]Pod, again map[graph.ID]bool) (int, map[string]string) {
	n, sums := 0, map[string]resource.Quantity{}
	for id, pod := range pods {
		if pod.Node == "" || pod.Ended || again[id] {
			continue
		}
		n++
		for name, q := range pod.Requests {
			sum := sums[name]
			sum.Add(q)
			sums[name] = sum
		}
	}
	texts := make(map[string]string, len(sums))
	for name, sum := range sums {
		texts[name] = sum.String()
	}
	return n, texts
}

// freedStorage sums up the capacities of volumes by their storage class. A capacity that is no
// quantity counts as none.
func freedStorage(destroyed, kept []v1alpha1.Disk) []v1alpha1.FreedStorage {
	type sums struct {
		volumes         int
		destroyed, kept resource.Quantity
	}
	by := map[string]*sums{}
	add := func(disks []v1alpha1.Disk, sum func(*sums) *resource.Quantity) {
		for _, d := range disks {
			s := by[d.StorageClass]
			if s == nil {
				s = &sums{}
				by[d.StorageClass] = s
			}
			s.volumes++
			if capacity, err := resource.ParseQuantity(d.Capacity); err == nil {
				sum(s).Add(capacity)
			}
		}
	}
	add(destroyed, func(s *sums) *resource.Quantity { return &s.destroyed })
	add(kept, func(s *sums) *resource.Quantity { return &s.kept })
	text := func(q resource.Quantity) string {
		if q.IsZero() {
			return ""
		}
		return q.String()
	}
	var all []v1alpha1.FreedStorage
	for class, s := range by {
		all = append(all, v1alpha1.FreedStorage{
			StorageClass: class, Volumes: s.volumes, Destroyed: text(s.destroyed), Kept: text(s.kept),
		})
	}
	slices.SortFunc(all, func(a, b v1alpha1.FreedStorage) int { return cmp.Compare(a.StorageClass, b.StorageClass) })
	return all
}

// disksOutside are what volumes stand for outside the cluster, as far as they name it.
func disksOutside(disks []v1alpha1.Disk, kept bool) []v1alpha1.Outside {
	var all []v1alpha1.Outside
	for _, d := range disks {
		if d.Handle != "" {
			all = append(all, v1alpha1.Outside{
				Object: d.Volume, Is: "disk", Name: d.Handle, Field: "spec.csi.volumeHandle", Stays: kept,
			})
		}
	}
	return all
}

// StatefulSet is what decides over the PersistentVolumeClaims that were made for a StatefulSet's
// pods.
type StatefulSet struct {
	// Templates are the names of its volumeClaimTemplates.
	Templates []string
	// DeletesPVCs says that its persistentVolumeClaimRetentionPolicy has whenDeleted: Delete. Its
	// controller then puts an ownerReference to it on the PVCs, which makes them part of the
	// cascade.
	DeletesPVCs bool
}

// Claiming returns the StatefulSets that stay where PVCs are deleted: what they make of PVCs they make
// again.
func (p *Plan) Claiming() []graph.ID {
	namespaces := map[string]bool{}
	for _, id := range p.PVCs() {
		namespaces[p.Graph.Namespace(id)] = true
	}
	if len(namespaces) == 0 {
		return nil
	}
	var sets []graph.ID
	for id := range p.Graph.IDs() {
		if namespaces[p.Graph.Namespace(id)] && groupResource(p.Graph, id) == "statefulsets.apps" && p.stays(id) {
			sets = append(sets, id)
		}
	}
	return sets
}

// learnPVCs adds the PVCs that stay to the survivors: nothing else in the graph says that they
// belong to what is deleted. Those that go and whose StatefulSet stays come back with its pods.
func (p *Plan) learnPVCs(sets map[graph.ID]StatefulSet) {
	// A PVC's name does not always tell the template from the set. The first set in the order of
	// the graph is taken.
	type stem struct{ namespace, name string }
	owners := map[stem]graph.ID{}
	for id, s := range sets {
		ref := p.Graph.Ref(id)
		for _, template := range s.Templates {
			key := stem{ref.Namespace, link.PVCPrefix(template, ref.Name)}
			if first, known := owners[key]; !known || id < first {
				owners[key] = id
			}
		}
	}
	if len(owners) == 0 {
		return
	}
	ownerOf := func(pvc graph.Ref) (graph.ID, bool) {
		name, ok := link.PVCPrefixOf(pvc.Name)
		owner, made := owners[stem{pvc.Namespace, name}]
		return owner, ok && made
	}
	for _, id := range p.PVCs() {
		if owner, ok := ownerOf(p.Graph.Ref(id)); ok && p.stays(owner) {
			p.Recreated = append(p.Recreated, Recreated{Object: id, Owner: owner, Program: "kube-controller-manager",
				With: "the next pod"})
		}
	}
	known := newSet(p.Graph, p.Deleted, Objects(p.Kept), Objects(p.Deadlocked))
	for id := range p.Graph.IDs() {
		if known[id] || p.Graph.State(id) != graph.Active {
			continue
		}
		pvc := p.Graph.Ref(id)
		if pvc.Resource != "persistentvolumeclaims" || pvc.Group() != "" {
			continue
		}
		if owner, ok := ownerOf(pvc); ok && !p.stays(owner) {
			p.Kept = append(p.Kept, ObjectReason{Object: id,
				Because: Reason{Code: sets[owner].staying(), Cause: owner, HasCause: true}})
		}
	}
	slices.SortFunc(p.Kept, func(a, b ObjectReason) int { return cmp.Compare(a.Object, b.Object) })
	slices.SortStableFunc(p.Recreated, func(a, b Recreated) int { return cmp.Compare(a.Object, b.Object) })
}

// Objects are those that some reasons are about.
func Objects(list []ObjectReason) []graph.ID {
	ids := make([]graph.ID, len(list))
	for i, s := range list {
		ids[i] = s.Object
	}
	return ids
}

// staying is why a PVC that no reference ties to the set is left.
func (s StatefulSet) staying() ReasonCode {
	if s.DeletesPVCs {
		return PVCNotOwned
	}
	return PVCRetained
}

// PVCLinks returns the PVCs that stay when a StatefulSet goes, so that a tree can show them below
// it.
func (p *Plan) PVCLinks() func(graph.ID) []graph.Link {
	links := map[graph.ID][]graph.Link{}
	for _, s := range p.Kept {
		if r := s.Because; r.Code == PVCRetained || r.Code == PVCNotOwned {
			links[r.Cause] = append(links[r.Cause], graph.Link{Owner: r.Cause, Dependent: s.Object, Rule: link.PVC})
		}
	}
	return func(id graph.ID) []graph.Link { return links[id] }
}
