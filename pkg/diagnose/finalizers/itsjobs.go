package finalizers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// itsJobs are the Jobs, the newest first, that may have been made for a custom resource since its
// deletion: those that it owns, and those beside it that nobody owns and that are called after it,
// as NAME-destroy is (https://github.com/kubevela/terraform-controller/issues/83), or have its name
// in a label of its domain (https://github.com/KohlsTechnology/eunomia/pull/269). A hook of Helm is
// no such Job.
func (e dependencies) itsJobs(ctx context.Context, o *unstructured.Unstructured) (all []*unstructured.Unstructured) {
	id, listed := e.Graph.Lookup(string(o.GetUID()))
	if !listed || cluster.BuiltIn(o.GroupVersionKind().Group) || o.GetDeletionTimestamp() == nil || e.Many {
		return nil
	}
	var made []graph.ID
	for id := range e.Dependents(o) {
		if ref := e.Graph.Ref(id); ref.Kind == "Job" && ref.Group() == "batch" {
			made = append(made, id)
		}
	}
	own, since := e.Graph.Ref(id), o.GetDeletionTimestamp().Unix()
	var others []graph.ID
	for job := range e.Graph.OfType("batch", "jobs", o.GetNamespace()) {
		owned := false
		for range e.Graph.Owners(job) {
			owned = true
		}
		switch {
		case owned || !e.Graph.Observed(job):
		case e.bestCalled(own, e.Graph.Name(job)):
			made = append(made, job)
		default:
			others = append(others, job)
		}
	}
	for _, id := range newest(e.Graph, others, since) {
		if job := e.Own(ctx, id); job != nil && labelledAfter(job, o) {
			made = append(made, id)
		}
	}
	for _, id := range newest(e.Graph, made, since) {
		if job := e.Own(ctx, id); job != nil && job.GetAnnotations()["helm.sh/hook"] == "" {
			all = append(all, job)
		}
	}
	return all
}

// labelledAfter reports whether a label of an object, whose key is of the domain of another, has
// the name of that.
func labelledAfter(made, of *unstructured.Unstructured) bool {
	for key, value := range made.GetLabels() {
		domain, _, has := strings.Cut(key, "/")
		if has && value == of.GetName() && cluster.OfOneDomain(domain, of.GroupVersionKind().Group) {
			return true
		}
	}
	return false
}

// mostJobs is how many Jobs of an object are read: a controller that tries again may have made one a
// minute for days, and what came of the last ones counts.
const mostJobs = 20

// newest are the objects, the newest first, that were made since a time.
func newest(g *graph.Graph, made []graph.ID, since int64) []graph.ID {
	made = slices.DeleteFunc(made, func(id graph.ID) bool { return g.CreationTimestamp(id) < since })
	slices.SortStableFunc(made, func(a, b graph.ID) int {
		return cmp.Compare(g.CreationTimestamp(b), g.CreationTimestamp(a))
	})
	return made[:min(len(made), mostJobs)]
}

// bestCalled reports whether a name is that of an object with a word before or behind it, and no
// longer name of another object of the type is in it like that.
func (e dependencies) bestCalled(own graph.Ref, name string) bool {
	after := func(of string) bool {
		return len(of) > 2 && (strings.HasPrefix(name, of+"-") || strings.HasSuffix(name, "-"+of))
	}
	if !after(own.Name) {
		return false
	}
	for id := range e.Graph.OfType(own.Group(), own.Resource, own.Namespace) {
		if other := e.Graph.Name(id); len(other) > len(own.Name) && (name == other || after(other)) {
			return false
		}
	}
	return true
}

// unsucceeded are the Jobs that have not succeeded, and after which none was made that has.
func unsucceeded(jobs []*unstructured.Unstructured) (without []*unstructured.Unstructured) {
	created := func(job *unstructured.Unstructured) int64 { return job.GetCreationTimestamp().Unix() }
	last := int64(0)
	for _, job := range jobs {
		if status.Nested(job, "status", "completionTime") != "" {
			last = max(last, created(job))
		}
	}
	for _, job := range jobs {
		if status.Nested(job, "status", "completionTime") == "" && created(job) >= last {
			without = append(without, job)
		}
	}
	return without
}

// done is the evidence that all Jobs of an object since its deletion have succeeded, and what that may
// mean where its status still reports a failure: whoever has written that may not look at it again
// (https://github.com/devfile/devworkspace-operator/issues/877).
func (e dependencies) done(o *unstructured.Unstructured, jobs []*unstructured.Unstructured) (
	seen []v1alpha1.Observation, remedy string) {
	if len(jobs) == 0 || len(unsucceeded(jobs)) > 0 {
		return nil, ""
	}
	name := cluster.Located(jobs[0]) // the newest
	seen = core.ObservedAt(cluster.Place(jobs[0], "status.completionTime"),
		fmt.Sprintf("%s, created after it was deleted, has succeeded", name))
	if fails := status.Fails(o); fails.Text != "" {
		remedy = " " + phrase.Sentence(fmt.Sprintf("But %s has succeeded, perhaps after %s was written. If nothing happens any more, "+
			"whoever removes the finalizer may not look again: restart it, or remove the finalizer by hand",
			name, fails.Field))
	}
	return seen, remedy
}
