package browser

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/render"
)

// builder makes pages for tests.
type builder struct{ *render.Page }

func newPage(title string) builder {
	return builder{&render.Page{Title: title, Made: "2026-11-23T08:00:00Z", Complete: true, Gaps: []v1alpha1.Gap{},
		Stuck: []v1alpha1.Stuck{}, Unexamined: []v1alpha1.Gap{}}}
}

// add adds an object below another one, -1 for none, and returns its index.
func (b builder) add(kind, name string, parent int) int {
	i := len(b.Objects)
	b.Objects = append(b.Objects, render.PageObject{
		ObjectRef: v1alpha1.ObjectRef{APIVersion: "v1", Kind: kind, Namespace: "shop", Name: name,
			UID: fmt.Sprintf("%08d-0000-4000-8000-000000000000", i)},
		State: v1alpha1.StateActive, Age: "12m", Parent: parent, Root: parent < 0,
	})
	if parent >= 0 {
		b.owns(parent, i)
	}
	return i
}

func (b builder) owns(owner, dependent int) {
	b.Edges = append(b.Edges, render.PageEdge{Owner: owner, Dependent: dependent,
		PageReference: render.PageReference{Controller: true, BlockOwnerDeletion: true}})
}

// shop is a small tree: two Deployments with what they own, one of them together.
func shop() builder {
	b := newPage("kubectl gc tree -n shop")
	web := b.add("Deployment", "web", -1)
	settings := b.add("ConfigMap", "web-settings", web)
	set := b.add("ReplicaSet", "web-1", web)
	for i := range 3 {
		b.add("Pod", fmt.Sprintf("web-1-%d", i), set)
	}
	admin := b.add("Deployment", "admin", -1)
	b.owns(admin, settings)
	return b
}
