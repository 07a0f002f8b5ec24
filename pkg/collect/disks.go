package collect

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// ReadDisks reads the volumes of the claims that a plan deletes, and those that it deletes itself,
// and adds to the facts which of them are destroyed, which are kept, and of which that is not known.
// Of a run these are also those that go once others have removed their finalizers.
func ReadDisks(ctx context.Context, reader *cluster.Reader, p *plan.Plan, f *plan.Facts) {
	p = p.Released()
	claims, volumes := p.PVCs(), p.Volumes()
	if len(claims)+len(volumes) == 0 {
		return
	}
	refs := make([]graph.Ref, len(claims))
	for i, id := range claims {
		refs[i] = p.Graph.Ref(id)
	}
	told := map[string]bool{}
	tell := func(volume *unstructured.Unstructured) {
		disk := status.Disk(volume)
		switch {
		case told[disk.Volume.UID]:
		case disk.Destroyed():
			f.Disks = append(f.Disks, disk)
		default:
			f.KeptDisks = append(f.KeptDisks, disk)
		}
		told[disk.Volume.UID] = true
	}
	bound, failed := reader.Volumes(ctx, refs, len(claims)+len(volumes))
	for i, id := range claims {
		if volume := bound[refs[i].UID]; volume != nil {
			tell(volume)
		}
		if failed[refs[i].UID] != nil {
			f.UnreadDisks = append(f.UnreadDisks, id)
		}
	}
	for _, id := range volumes {
		ref := p.Graph.Ref(id)
		switch volume, err := reader.Volume(ctx, ref); {
		case err != nil:
			f.UnreadDisks = append(f.UnreadDisks, id)
		case volume != nil:
			tell(volume)
		}
	}
}
