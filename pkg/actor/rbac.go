package actor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// rule is one of a Role or a ClusterRole.
type rule struct {
	groups, resources, names, verbs []string
}

// target is what is to be written, with the verbs that do it.
type target struct {
	group, resource, name string
}

// rulesOf reads the rules of a Role or a ClusterRole. Those of an aggregated ClusterRole are in it
// as they were put together.
func rulesOf(role *unstructured.Unstructured) []rule {
	var all []rule
	for _, item := range listOf(role.Object, "rules") {
		m, _ := item.(map[string]any)
		all = append(all, rule{groups: texts(m, "apiGroups"), resources: texts(m, "resources"),
			names: texts(m, "resourceNames"), verbs: texts(m, "verbs")})
	}
	return all
}

// everything says whether a rule is about all resources of all groups, as those of administrators
// are: it says nothing of whose work the object is.
func (r rule) everything() bool {
	return slices.Contains(r.groups, "*") && slices.Contains(r.resources, "*")
}

// verbsFor returns which of update and patch the rule allows on the target itself, and which on its
// subresource finalizers.
func (r rule) verbsFor(t target) (object, finalizers []string) {
	if !has(r.groups, t.group) || len(r.names) > 0 && !slices.Contains(r.names, t.name) {
		return nil, nil
	}
	for _, verb := range []string{"update", "patch"} {
		if !has(r.verbs, verb) {
			continue
		}
		if has(r.resources, t.resource) {
			object = append(object, verb)
		}
		if has(r.resources, t.resource+"/finalizers") || slices.Contains(r.resources, "*/finalizers") {
			finalizers = append(finalizers, verb)
		}
	}
	return object, finalizers
}

// has says whether a list of a rule names something.
func has(list []string, name string) bool {
	return slices.Contains(list, "*") || slices.Contains(list, name)
}

// listOf reads a list that is not to be changed.
func listOf(m map[string]any, path ...string) []any {
	value, _, _ := unstructured.NestedFieldNoCopy(m, path...)
	list, _ := value.([]any)
	return list
}

// texts reads the texts of a list.
func texts(m map[string]any, path ...string) []string {
	var all []string
	for _, item := range listOf(m, path...) {
		if s, ok := item.(string); ok {
			all = append(all, s)
		}
	}
	return all
}

// Account returns the ServiceAccount that the pods of a workload run as.
func Account(workload *unstructured.Unstructured) cluster.ServiceAccount {
	path := []string{"spec", "template", "spec", "serviceAccountName"}
	if workload.GetKind() == "Pod" {
		path = []string{"spec", "serviceAccountName"}
	}
	name := status.Nested(workload, path...)
	if name == "" {
		name = "default"
	}
	return cluster.ServiceAccount{Namespace: workload.GetNamespace(), Name: name}
}

// maxNamespaces is up to how many namespaces workloads are listed one by one.
const maxNamespaces = 4

// workloadsIn returns the Deployments, StatefulSets and DaemonSets of some namespaces, and what
// could not be listed.
func (f *Finder) workloadsIn(ctx context.Context, namespaces []string) (all []*unstructured.Unstructured,
	unread []string) {
	if len(namespaces) > maxNamespaces {
		namespaces = []string{""}
	}
	var gaps []v1alpha1.Gap
	for _, namespace := range namespaces {
		for _, resource := range []schema.GroupResource{cluster.Deployments, cluster.StatefulSets, cluster.DaemonSets} {
			list, err := f.reader.ListObjects(ctx, resource, namespace, cluster.Selection{})
			if err != nil {
				gaps = append(gaps, unlisted(resource, namespace, err))
			}
			all = append(all, list...)
		}
	}
	return all, GapClauses(gaps...)
}

// podsOf returns the pods that run as a ServiceAccount: those of no workload that is known.
func (f *Finder) podsOf(ctx context.Context, a cluster.ServiceAccount) (pods []*unstructured.Unstructured,
	unread []string) {
	all, err := f.reader.ListObjects(ctx, cluster.Pods, a.Namespace,
		cluster.Selection{Fields: "spec.serviceAccountName=" + a.Name})
	if err != nil {
		unread = GapClauses(unlisted(cluster.Pods, a.Namespace, err))
	}
	return slices.DeleteFunc(slices.Clone(all), func(o *unstructured.Unstructured) bool {
		phase := status.Nested(o, "status", "phase")
		return phase == "Succeeded" || phase == "Failed"
	}), unread
}

// uses says that a workload runs as an account, and how many of its pods are ready.
func uses(o *unstructured.Unstructured) string {
	name := graph.Located(o.GetKind(), o.GetNamespace(), o.GetName())
	wanted, ready := number(o, 1, "spec", "replicas"), number(o, 0, "status", "readyReplicas")
	switch o.GetKind() {
	case "DaemonSet":
		wanted, ready = number(o, 0, "status", "desiredNumberScheduled"), number(o, 0, "status", "numberReady")
	case "Pod":
		if c, ok := status.Find(o, "Ready"); ok && c.Status == "True" {
			return name + " uses it, ready"
		}
		return name + " uses it, not ready"
	}
	if wanted == 0 && o.GetKind() != "DaemonSet" {
		return name + " uses it, scaled to 0"
	}
	return fmt.Sprintf("%s uses it, %d of %d ready", name, ready, wanted)
}

// running says whether a workload, or a pod, has something that is ready.
func running(o *unstructured.Unstructured) bool {
	return strings.HasSuffix(uses(o), ", ready") || o.GetKind() != "Pod" && ReadWorkload(o).Life == Alive
}

// GapClauses returns what cannot be listed, and why: a clause for each reason and namespace. What
// the user may not list is named without the message of RBAC.
func GapClauses(gaps ...v1alpha1.Gap) []string {
	type class struct {
		forbidden      bool
		where, message string
	}
	var order []class
	types := map[class][]string{}
	for _, gap := range gaps {
		c := class{forbidden: gap.Reason == v1alpha1.GapForbidden}
		if gap.Namespace != "" {
			c.where = " in " + gap.Namespace
		}
		if !c.forbidden {
			c.message = gap.Message
		}
		if types[c] == nil {
			order = append(order, c)
		}
		types[c] = append(types[c], gap.TypeName())
	}
	var all []string
	for _, c := range order {
		what := phrase.And(types[c]) + c.where
		if c.forbidden {
			all = append(all, "you may not list "+what)
			continue
		}
		all = append(all, what+" cannot be listed: "+c.message)
	}
	return all
}

// unlisted is the gap that an error of a list makes.
func unlisted(resource schema.GroupResource, namespace string, err error) v1alpha1.Gap {
	gap := v1alpha1.Gap{Resource: resource.Resource, Group: resource.Group, Namespace: namespace,
		Reason: v1alpha1.GapFailed, Message: message(err)}
	if apierrors.IsForbidden(err) {
		gap.Reason = v1alpha1.GapForbidden
	}
	return gap
}

// message returns what the server answered, without the request, which an error names before it. Of
// a missing permission it leaves out the user and the type, which each would repeat.
func message(err error) string {
	if apierrors.IsForbidden(err) {
		return "you have no permission"
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Message != "" {
		return status.Status().Message
	}
	return err.Error()
}

// WorksOn are those of some types of custom resources whose objects a workload works on: by what a
// pack knows of a component that it looks like, and by rules of RBAC that name the group and let it
// update or patch them. Types of Kubernetes itself, whose groups have no dot, are left out.
func (f *Finder) WorksOn(ctx context.Context, w *unstructured.Unstructured,
	types []cluster.Resource) []cluster.Resource {
	known := f.known.Of(w.GetKind(), w.GetNamespace(), w.GetName(), labelsOf(w)...)
	rules := f.rulesFor(ctx, w)
	var all []cluster.Resource
	for _, t := range types {
		is := slices.ContainsFunc(known, func(k finalizer.Known) bool { return k.IsAbout(t.Group, t.Kind) }) ||
			slices.ContainsFunc(rules, func(r rule) bool { return r.writes(t) })
		if strings.Contains(t.Group, ".") && is {
			all = append(all, t)
		}
	}
	return all
}

// rulesFor are the rules of RBAC for a workload; none if it may have other permissions than those
// of its ServiceAccount.
func (f *Finder) rulesFor(ctx context.Context, w *unstructured.Unstructured) []rule {
	if mayHaveOtherPermissions(w) {
		return nil
	}
	account := Account(w)
	var rules []rule
	for _, g := range f.policyOf(ctx, account.Namespace).grants {
		if slices.Contains(g.accounts, account) {
			rules = append(rules, g.rules...)
		}
	}
	return rules
}

// writes says whether a rule that names the group of a type allows to update or patch its objects.
func (r rule) writes(t cluster.Resource) bool {
	if !slices.Contains(r.groups, t.Group) {
		return false
	}
	object, _ := r.verbsFor(target{group: t.Group, resource: t.Resource})
	return len(object) > 0
}

// grant is what a binding gives to ServiceAccounts.
type grant struct {
	// binding names it for use in a sentence.
	binding string
	// accounts are those that it names; one without a name is every one of its namespace.
	accounts []cluster.ServiceAccount
	// anybody says that a group that everybody is in, or every ServiceAccount, is among its
	// subjects.
	anybody bool
	// kubernetes says that it is one of the controllers of kube-controller-manager, of which
	// Kubernetes makes the bindings itself.
	kubernetes bool
	// role names what it binds to.
	role  string
	rules []rule
}

// policy is what RBAC says of the objects of a namespace, or of those that are in none.
type policy struct {
	grants []grant
	// roles are the ClusterRoles that no controller of Kubernetes has of its own, by name.
	roles map[string][]rule
	// served says that the server has RBAC; unread names what of it could not be listed.
	served bool
	unread []string
}

// policies remembers them by namespace. The zero value has none yet.
type policies struct {
	mu   sync.Mutex
	byNS map[string]func() policy
}

// policyOf reads RBAC, as far as it counts in a namespace; the empty one is for cluster-scoped
// objects.
func (f *Finder) policyOf(ctx context.Context, namespace string) policy {
	f.rbac.mu.Lock()
	if f.rbac.byNS == nil {
		f.rbac.byNS = map[string]func() policy{}
	}
	read, asked := f.rbac.byNS[namespace]
	if !asked {
		read = sync.OnceValue(func() policy { return f.readPolicy(ctx, namespace) })
		f.rbac.byNS[namespace] = read
	}
	f.rbac.mu.Unlock()
	return read()
}

func (f *Finder) readPolicy(ctx context.Context, namespace string) policy {
	p := policy{roles: map[string][]rule{}}
	if _, p.served = f.reader.Lookup(cluster.ClusterRoles); !p.served {
		return p
	}
	var unread []v1alpha1.Gap
	list := func(resource schema.GroupResource, namespace string) []*unstructured.Unstructured {
		all, err := f.reader.ListObjects(ctx, resource, namespace, cluster.Selection{})
		if err != nil {
			unread = append(unread, unlisted(resource, namespace, err))
		}
		return all
	}
	for _, role := range list(cluster.ClusterRoles, "") {
		p.roles[role.GetName()] = rulesOf(role)
	}
	bindings := list(cluster.ClusterRoleBindings, "")
	roles := map[string][]rule{}
	if namespace != "" {
		for _, role := range list(cluster.Roles, namespace) {
			roles[role.GetName()] = rulesOf(role)
		}
		bindings = append(slices.Clip(bindings), list(cluster.RoleBindings, namespace)...)
	}
	for _, b := range bindings {
		g := grantOf(b)
		g.role = status.Nested(b, "roleRef", "kind") + " " + status.Nested(b, "roleRef", "name")
		if status.Nested(b, "roleRef", "kind") == "Role" {
			g.rules = roles[status.Nested(b, "roleRef", "name")]
		} else {
			g.rules = p.roles[status.Nested(b, "roleRef", "name")]
		}
		p.grants = append(p.grants, g)
	}
	p.unread = GapClauses(unread...)
	return p
}

// grantOf reads a binding, but for what it binds to.
func grantOf(b *unstructured.Unstructured) grant {
	g := grant{binding: b.GetKind() + " " + b.GetName(), kubernetes: strings.HasPrefix(b.GetName(), "system:controller:")}
	for _, item := range listOf(b.Object, "subjects") {
		m, _ := item.(map[string]any)
		name := status.Text(m, "name")
		switch status.Text(m, "kind") {
		case "ServiceAccount":
			g.accounts = append(g.accounts, cluster.ServiceAccount{Namespace: status.Text(m, "namespace"), Name: name})
		case "User":
			if parts := strings.Split(name, ":"); len(parts) == 4 && strings.HasPrefix(name, "system:serviceaccount:") {
				g.accounts = append(g.accounts, cluster.ServiceAccount{Namespace: parts[2], Name: parts[3]})
			}
		case "Group":
			namespace, of := strings.CutPrefix(name, "system:serviceaccounts:")
			switch {
			case of:
				g.accounts = append(g.accounts, cluster.ServiceAccount{Namespace: namespace})
			case name == "system:serviceaccounts" || name == "system:authenticated" || name == "system:unauthenticated":
				g.anybody = true
			}
		}
	}
	return g
}
