package plan

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// Recreated is an object that a program creates again when it is deleted, because another object
// still names it, or is its controller.
type Recreated struct {
	// Object is deleted, and Owner is the object that names it, in Field, or that is its
	// controller: then Field is ControllerField. It is empty if Owner selects Object by its labels, or
	// makes it for its pods. Owner is Object itself where a program makes it whatever names it.
	Object, Owner graph.ID
	Field         string
	// Program is who creates it. It is empty if that is not certain: the object is of a controller
	// that may not make it again. With is what does; empty if the program does it of its own accord.
	Program, With string
	// Only says that the owner names nothing else by this link.
	Only bool
	// Confirmed says that the object names the owner too.
	Confirmed bool
}

// ControllerField is where an object names its controller.
const ControllerField = "metadata.ownerReferences"

var (
	// replacing are the resources whose controllers replace each pod that is deleted, until their
	// owner is scaled down.
	replacing = []string{"statefulsets.apps", "daemonsets.apps", "replicasets.apps", "replicationcontrollers"}
	// passing are those whose controllers make a pod that has ended no more when it is deleted: a Job
	// has counted it, and the others have replaced it already. Of controllers of others that is not
	// known.
	passing = []string{"replicasets.apps", "replicationcontrollers", "jobs.batch"}
)

// standing are what kube-controller-manager makes in each namespace, by type and name: its publisher
// of root certificates (kubernetes/pkg/controller/certificates/rootcacertpublisher), and its
// controller of ServiceAccounts (kubernetes/pkg/controller/serviceaccount).
var standing = [][2]string{{"configmaps", "kube-root-ca.crt"}, {"serviceaccounts", "default"}}

// recreated finds them by the links above what is deleted, where the source stays and says that its
// program creates them, and by the controllers that stay.
func (p *Plan) recreated() []Recreated {
	c := comeback{p, map[graph.ID]bool{}}
	var recreated []Recreated
	for _, id := range p.Deleted {
		recreated = append(recreated, c.of(id)...)
	}
	return recreated
}

// comeback finds out what comes back. Again is what was found out of objects that others need.
type comeback struct {
	*Plan
	again map[graph.ID]bool
}

// of says because of which objects one comes back.
func (c comeback) of(id graph.ID) []Recreated {
	recreated := c.byLinks(id)
	if slices.Contains(standing, [2]string{groupResource(c.Graph, id), c.Graph.Name(id)}) && c.hasPlace(id, "") {
		recreated = append(recreated, Recreated{Object: id, Owner: id, Program: "kube-controller-manager", Confirmed: true})
	}
	if e, ok := c.controller(id); ok && !knownAs(recreated, e.Owner) && !c.leaves(e.Owner, id) {
		recreated = append(recreated, Recreated{Object: id, Owner: e.Owner, Field: ControllerField, Confirmed: true})
	}
	return recreated
}

// returns reports whether an object that goes can come back without anybody doing so by hand. One
// that is needed for itself does not.
func (c comeback) returns(id graph.ID) bool {
	again, asked := c.again[id]
	if !asked {
		c.again[id] = false
		again = slices.ContainsFunc(c.of(id), func(r Recreated) bool { return r.With == "" })
		c.again[id] = again
	}
	return again
}

// RolledBy are the Deployments that stay, by those of their ReplicaSets that are deleted.
func (p *Plan) RolledBy() map[graph.ID]graph.ID {
	by := map[graph.ID]graph.ID{}
	for _, r := range p.Recreated {
		if r.Field == ControllerField && groupResource(p.Graph, r.Object) == "replicasets.apps" &&
			groupResource(p.Graph, r.Owner) == "deployments.apps" {
			by[r.Object] = r.Owner
		}
	}
	return by
}

// learnRecreated says of pods that were read, and of ReplicaSets, whether they come back. A pod that
// has ended does not if its controller has replaced it already, or does not replace such pods, as
// that of a Job; and one of a DaemonSet does not if its Node goes.
func (p *Plan) learnRecreated(pods map[graph.ID]Pod, made map[graph.ID]bool) {
	p.Recreated = slices.DeleteFunc(p.Recreated, func(r Recreated) bool {
		pod, read := pods[r.Object]
		again, known := made[r.Object]
		if r.Field != ControllerField || !read && !known {
			return false
		}
		of := groupResource(p.Graph, r.Owner)
		node, found := p.Graph.Find("", "nodes", "", pod.Node)
		return known && !again || pod.Ended && slices.Contains(passing, of) ||
			of == "daemonsets.apps" && found && !p.stays(node)
	})
	for i, r := range p.Recreated {
		_, read := pods[r.Object]
		replaces := read && slices.Contains(replacing, groupResource(p.Graph, r.Owner))
		if r.Field == ControllerField && (replaces || made[r.Object]) {
			p.Recreated[i].Program = "kube-controller-manager"
		}
	}
}

// addonMode is the label of the objects of addons, and addonModes are its values with which
// kube-addon-manager makes an object again while its manifest lies in /etc/kubernetes/addons on a
// node of the control plane
// (https://github.com/kubernetes/kubernetes/blob/v1.36.3/cluster/addons/addon-manager/README.md).
const addonMode = "addonmanager.kubernetes.io/mode"

var addonModes = []string{"Reconcile", "EnsureExists"}

// learnAddons says of the roots with that label that they come back.
func (p *Plan) learnAddons(labels map[graph.ID]map[string]string) {
	for _, id := range p.Roots {
		if slices.Contains(addonModes, labels[id][addonMode]) && slices.Contains(p.Deleted, id) {
			p.Recreated = append(p.Recreated, Recreated{Object: id, Owner: id, Confirmed: true,
				Program: "kube-addon-manager, while its manifest is in /etc/kubernetes/addons of the control plane,"})
		}
	}
}

// makesOthers reports whether a controller makes none of its objects again. A CronJob makes others
// when their time comes.
func makesOthers(g *graph.Graph, id graph.ID) bool { return groupResource(g, id) == "cronjobs.batch" }

// controller returns the reference to the controller of an object, if that is there in the end and
// can make such objects again.
func (c comeback) controller(id graph.ID) (graph.Edge, bool) {
	if c.Graph.State(id) == graph.Deleting {
		return graph.Edge{}, false
	}
	for e := range c.Graph.Owners(id) {
		if e.Controller && e.Problem == 0 && c.stays(e.Owner) {
			return e, !makesOthers(c.Graph, e.Owner) && c.hasPlace(id, "")
		}
	}
	return graph.Edge{}, false
}

// hasPlace reports whether the namespace and the CRD of an object stay or come back. A program can
// make a namespace too.
func (c comeback) hasPlace(id graph.ID, makes string) bool {
	return !slices.ContainsFunc(c.lost(id), func(place graph.ID) bool {
		return !(makes == c.Graph.Name(place) && groupResource(c.Graph, place) == "namespaces") && !c.returns(place)
	})
}

// lost are the namespace and the CRD of an object, as far as they go.
func (p *Plan) lost(id graph.ID) []graph.ID {
	var lost []graph.ID
	if namespace, ok := p.Graph.Find("", "namespaces", "", p.Graph.Namespace(id)); ok && !p.stays(namespace) {
		lost = append(lost, namespace)
	}
	crd, ok := p.Graph.Find("apiextensions.k8s.io", "customresourcedefinitions", "", groupResource(p.Graph, id))
	if ok && !p.stays(crd) {
		lost = append(lost, crd)
	}
	return append(lost, p.lostServed(id)...)
}

// lostServed are the CRDs of the group that an APIService stands for, if all of them go.
func (p *Plan) lostServed(id graph.ID) []graph.ID {
	if groupResource(p.Graph, id) != "apiservices.apiregistration.k8s.io" {
		return nil
	}
	_, group, _ := strings.Cut(p.Graph.Name(id), ".")
	var lost []graph.ID
	for crd := range p.Graph.IDs() {
		if !p.Graph.Observed(crd) || groupResource(p.Graph, crd) != "customresourcedefinitions.apiextensions.k8s.io" {
			continue
		}
		switch _, of, _ := strings.Cut(p.Graph.Name(crd), "."); {
		case of != group:
		case p.stays(crd):
			return nil
		default:
			lost = append(lost, crd)
		}
	}
	return lost
}

// makes reports whether a program that acts of its own accord can: what it needs is there, or comes
// back itself. Somebody who does so by hand can make it first.
func (c comeback) makes(r *link.Recreation, id graph.ID) bool {
	return r.With != "" || !slices.ContainsFunc(r.Needed, c.lacks) && c.hasPlace(id, r.Makes)
}

// lacks reports whether an object that a source names goes, and does not come back.
func (c comeback) lacks(n link.Named) bool {
	return slices.ContainsFunc(c.Graph.Types(), func(t graph.Type) bool {
		namespace := n.Namespace
		if !t.Namespaced {
			namespace = ""
		}
		id, seen := c.Graph.Find(t.Group, t.Resource, namespace, n.Name)
		return t.Group == n.Group && t.Kind == n.Kind && seen && !c.stays(id) && !c.returns(id)
	})
}

// stays reports whether an object is there in the end and is not being deleted.
func (p *Plan) stays(id graph.ID) bool { return p.Graph.Observed(id) && !p.end.is(id, gone|deleting) }

func groupResource(g *graph.Graph, id graph.ID) string {
	t, _ := g.Type(id)
	return t.GroupResource().String()
}

// byLinks says by which links' sources an object is named whose programs create it.
func (c comeback) byLinks(id graph.ID) []Recreated {
	var recreated []Recreated
	for _, f := range c.options.Links.Above(id) {
		if f.Recreation == nil || !c.lives(f) || !c.makes(f.Recreation, id) || knownAs(recreated, f.Source) {
			continue
		}
		recreated = append(recreated, Recreated{
			Object: id, Owner: f.Source, Field: f.Field, Program: f.Recreation.By, With: f.Recreation.With, Only: c.only(f),
			Confirmed: f.Confirmed,
		})
	}
	return recreated
}

// leaves reports whether a controller does not make an object again by a link that would say so: it
// is paused, or lacks what its program needs.
func (c comeback) leaves(owner, id graph.ID) bool {
	return slices.ContainsFunc(c.options.Links.Above(id), func(f link.Found) bool {
		return f.Source == owner && len(f.Definition.Recreates) > 0 &&
			(f.Recreation == nil || !c.makes(f.Recreation, id))
	})
}

// knownAs reports whether it is known already that an owner makes an object again: it names it in
// another field, or in two items of a list.
func knownAs(recreated []Recreated, owner graph.ID) bool {
	return slices.ContainsFunc(recreated, func(r Recreated) bool { return r.Owner == owner })
}

// lives reports whether the source of a link is there in the end and is not being deleted, or is the
// end itself, which a program makes whatever names it.
func (p *Plan) lives(f link.Found) bool {
	return f.Outside || f.Source == f.End || p.stays(f.Source)
}

// only reports whether a link's source names a single object by it.
func (p *Plan) only(f link.Found) bool {
	if f.More {
		return false
	}
	return !slices.ContainsFunc(p.options.Links.Found(f.Source),
		func(other link.Found) bool { return other.Definition == f.Definition && other.End != f.End })
}
