package refusal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// Refusals returns why the server would not let anybody remove the finalizers of an object that was
// read whole. The server is asked to, as a dry run.
func (e *Examiner) Refusals(ctx context.Context, o *unstructured.Unstructured, finalizers []string) []core.Finding {
	t, ok := e.Catalog.Kind(o.GetAPIVersion(), o.GetKind())
	if !ok || len(finalizers) == 0 {
		return nil
	}
	for again := true; ; again = false {
		w := admission.Write{Operation: admissionv1.Update, Type: t, Object: o}
		steps := withoutFinalizers(o, finalizers)
		if len(steps) == 0 {
			return nil // somebody removed them
		}
		var answer *graph.Object
		err := e.Tries.send(ctx, e, w, func(ctx context.Context) (err error) {
			answer, err = e.Client.Patch(ctx, t, o.GetNamespace(), o.GetName(), steps, cluster.PatchOptions{DryRun: true})
			return err
		})
		if err == nil {
			return e.left(ctx, w, answer, finalizers)
		}
		if findings, understood := e.updateRefused(ctx, w, err); understood {
			return findings
		}
		if !again || !apierrors.IsConflict(err) && !apierrors.IsInvalid(err) {
			return nil
		}
		// A test of the patch failed: the object has changed since it was read.
		now, err := e.Reader.GetLive(ctx, t, o.GetNamespace(), o.GetName())
		if err != nil || now == nil || now.GetUID() != o.GetUID() {
			return nil
		}
		o = now
	}
}

// updateRefused returns what an error means with which the server answers the dry run of an update;
// understood is false if it says nothing of the update.
func (e *Examiner) updateRefused(ctx context.Context, w admission.Write, err error) (findings []core.Finding,
	understood bool) {
	if errors.Is(err, errUntried) {
		return e.untried(ctx, w, "", nil), true
	}
	if findings, understood := e.refusal(ctx, w, err); understood {
		return findings, true
	}
	if wrong := fieldErrors(err); len(wrong) > 0 {
		return e.invalid(ctx, w, wrong), true
	}
	if apierrors.IsForbidden(err) {
		return byServerItself(w, saidOf(w, err)), true
	}
	said := saidOf(w, err)
	switch ofEtcd := strings.Contains(said, "etcdserver: "); {
	case cluster.IsServerError(err) && (ofEtcd || !apierrors.IsInternalError(err)):
		return storageFails(w, said, ofEtcd), true
	case apierrors.IsInternalError(err):
		return e.serverFails(ctx, w, said), true
	}
	return nil, false
}

// storageFails is for an update at which the storage of the API server fails: the server passes on what
// etcd says, or says that it cannot complete the operation now
// (k8s.io/apiserver/pkg/storage/errors, InterpretUpdateError).
func storageFails(w admission.Write, said string, ofEtcd bool) []core.Finding {
	f := core.Finding{Code: core.AdmissionDenied, Evidence: core.Seen("the dry run of %s failed: %s", w, said),
		Sentence: "the API server fails at " + w.String(), Commands: []core.Step{core.Describe()},
		Remedy: "Run the command again. If the API server still fails, its log says why: the storage behind it, as a rule."}
	if ofEtcd {
		f.Sentence = "etcd, in which the API server stores objects, fails at " + w.String()
		f.Remedy = "See to etcd first: the error is its own. As long as it fails, nobody can update the object."
	}
	return []core.Finding{f}
}

// byServerItself is for a write that the API server denies without having asked anybody.
func byServerItself(w admission.Write, said string) []core.Finding {
	return []core.Finding{{
		Code: core.AdmissionDenied, Evidence: core.Seen("%s is denied: %s", w, said),
		Sentence: "the API server itself denies " + w.String(),
		Remedy:   "Do what the API server says.", Commands: []core.Step{core.Describe()},
	}}
}

// withoutFinalizers is the patch that removes finalizers from an object as it was read; empty if it
// has none of them.
func withoutFinalizers(o *unstructured.Unstructured, finalizers []string) []cluster.PatchStep {
	var removals []cluster.PatchStep
	for i, name := range slices.Backward(o.GetFinalizers()) {
		if slices.Contains(finalizers, name) {
			removals = append(removals, cluster.PatchStep{Op: "remove", Path: fmt.Sprintf("/metadata/finalizers/%d", i)})
		}
	}
	if len(removals) == 0 {
		return nil
	}
	return append(cluster.Unchanged(string(o.GetUID()), o.GetResourceVersion()), removals...)
}

// left returns which of the finalizers are on the object that the server answers with.
func (e *Examiner) left(ctx context.Context, w admission.Write, answer *graph.Object,
	finalizers []string) []core.Finding {
	var findings []core.Finding
	for _, name := range finalizers {
		if slices.Contains(answer.Finalizers, name) {
			findings = append(findings, e.putBack(ctx, w, name))
		}
	}
	return findings
}
