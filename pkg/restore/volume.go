package restore

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// volume is what is known of a PersistentVolume.
type volume struct {
	graph.Type
	found bool
	uid   string
	// claim names the claim that it is bound to or reserved for, as NAMESPACE/NAME, and claimUID is its uid; both are empty for none.
	claim, claimUID string
	err             error
}

// of says whether the volume is bound to or reserved for a claim of this name.
func (v volume) of(it *item) bool { return v.claim == it.ref.Namespace+"/"+it.ref.Name }

// taken says whether it belongs to another claim than the archived one.
func (v volume) taken(it *item) bool {
	return v.found && v.claim != "" && (!v.of(it) || v.claimUID != "" && v.claimUID != it.ref.UID)
}

// volumeOf reads a PersistentVolume. One that is being deleted is as good as gone.
func volumeOf(ctx context.Context, client *cluster.Client, t graph.Type, name string) volume {
	o, err := client.GetObject(ctx, t, "", name)
	switch {
	case cluster.IsAbsent(err, t, name):
		return volume{}
	case err != nil:
		return volume{err: err}
	case o.GetDeletionTimestamp() != nil:
		return volume{}
	}
	v := volume{Type: t, found: true, uid: string(o.GetUID())}
	text := func(field string) string {
		s, _, _ := unstructured.NestedString(o.Object, "spec", "claimRef", field)
		return s
	}
	if name := text("name"); name != "" {
		v.claim, v.claimUID = text("namespace")+"/"+name, text("uid")
	}
	return v
}
