package graph_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// randomListings returns the listings of a small random cluster whose references are partly wrong,
// and of which not everything can be listed. The same seed gives the same cluster.
func randomListings(seed uint64) []listing {
	r := rand.New(rand.NewPCG(seed, 0))
	objects := randomObjects(r)
	for t, all := range objects {
		for i := range all {
			all[i].Owners = randomOwners(r, objects, t, all[i])
		}
	}
	var listings []listing
	for t, all := range objects {
		listings = append(listings, randomCoverage(r, served[t], all)...)
		if served[t] == widgets {
			// Some of them are served by the other group as well.
			mirrored := slices.DeleteFunc(slices.Clone(all), func(graph.Object) bool { return r.IntN(2) == 0 })
			listings = append(listings, randomCoverage(r, mirrors, mirrored)...)
		}
	}
	return listings
}

// randomObjects returns for each served type some objects without owners.
func randomObjects(r *rand.Rand) [][]graph.Object {
	objects := make([][]graph.Object, len(served))
	for n := range r.IntN(40) {
		t := r.IntN(len(served))
		if served[t] == mirrors {
			continue
		}
		o := graph.Object{
			Name: fmt.Sprintf("n%d", n%7), UID: fmt.Sprintf("%08x", r.Uint32()), ResourceVersion: fmt.Sprint(n),
			Generation: int64(r.IntN(3)), CreationTimestamp: int64(r.IntN(1000)), Selected: r.IntN(4) == 0,
		}
		if n%4 == 0 {
			o.Annotations = map[string]string{"release": fmt.Sprint(n % 3), "namespace": "a"}
		}
		if served[t].Namespaced {
			o.Namespace = pick(r, "a", "b", "c")
		}
		if r.IntN(5) == 0 {
			o.DeletionTimestamp = 1 + int64(r.IntN(1000))
			o.Finalizers = []string{pick(r, "orphan", "foregroundDeletion", "example.com/f")}
		}
		objects[t] = append(objects[t], o)
	}
	return objects
}

// randomOwners returns references, most of them right, to some of the objects.
func randomOwners(r *rand.Rand, objects [][]graph.Object, own int, dependent graph.Object) []graph.OwnerReference {
	var owners []graph.OwnerReference
	for range max(0, r.IntN(6)-1) {
		t := r.IntN(len(objects))
		if r.IntN(8) == 0 {
			t = own
		}
		if len(objects[t]) == 0 {
			continue
		}
		o := objects[t][r.IntN(len(objects[t]))]
		if o.Namespace != "" && o.Namespace != dependent.Namespace && r.IntN(4) > 0 {
			continue
		}
		ref := graph.OwnerReference{
			APIVersion: served[t].APIVersion(), Kind: served[t].Kind, Name: o.Name, UID: o.UID,
			Controller: r.IntN(3) == 0, Block: r.IntN(2) == 0,
		}
		switch r.IntN(20) {
		case 0:
			ref.Name = "wrong"
		case 1:
			ref.Kind = "Wrong"
		case 2:
			wrong := served[r.IntN(len(served))]
			ref.APIVersion, ref.Kind = wrong.APIVersion(), wrong.Kind
		case 3:
			ref.Kind = strings.ToLower(ref.Kind)
		case 4:
			ref.Kind += "List"
		case 5:
			ref.APIVersion = "example.com/v1beta1"
		case 6, 7:
			ref.UID = fmt.Sprintf("gone-%d", r.IntN(5))
		case 8:
			ref.UID = dependent.UID
		}
		owners = append(owners, ref)
	}
	return owners
}

// randomCoverage lists the objects of a type as it can go: completely, in some namespaces only, in
// part, not at all, or at the second attempt.
func randomCoverage(r *rand.Rand, t graph.Type, objects []graph.Object) []listing {
	some := func() []graph.Object {
		return slices.DeleteFunc(slices.Clone(objects), func(graph.Object) bool { return r.IntN(2) == 0 })
	}
	everywhere := list(t, objects...)
	switch way := r.IntN(8); {
	case way == 0:
		return nil
	case way == 1:
		return []listing{{Type: t, objects: some(), outcome: partial}}
	case way == 2:
		return []listing{{Type: t, objects: some(), outcome: discarded}}
	case way == 3:
		return []listing{{Type: t, objects: some(), outcome: discarded}, everywhere}
	case way == 4 && t.Namespaced:
		var byNamespace []listing
		for _, namespace := range []string{"a", "b", "c"} {
			in := slices.DeleteFunc(slices.Clone(objects), func(o graph.Object) bool { return o.Namespace != namespace })
			if outcome := outcome(r.IntN(3)); outcome != discarded {
				byNamespace = append(byNamespace, listing{Type: t, scope: namespace, objects: in, outcome: outcome})
			}
		}
		return byNamespace
	}
	return []listing{everywhere}
}

func pick(r *rand.Rand, from ...string) string { return from[r.IntN(len(from))] }
