package diagnose

import (
	"context"
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// rejected returns why the server would not let anybody delete an object. It is asked about one of each type and namespace only: what waits for a
// deletion can be thousands of objects.
func (e *examiner) rejected(ctx context.Context, id graph.ID) []finding {
	ref := e.Graph.Ref(id)
	key := strings.Join([]string{ref.APIVersion, ref.Resource, ref.Namespace}, "\x00")
	if t, ok := e.Graph.Type(id); ok && isNamespace(t) { // of which each is a matter of its own
		key += "\x00" + ref.Name
	}
	findings, asked := e.rejections[key]
	if !asked {
		findings = e.rejects(ctx, id)
		e.rejections[key] = findings
	}
	return findings
}

// rejects returns why the server would not let anybody delete this very object. The server is asked to, as a dry run.
func (e *examiner) rejects(ctx context.Context, id graph.ID) []finding {
	ref := e.Graph.Ref(id)
	t, ok := e.Graph.Type(id)
	if !ok || ref.UID == "" {
		return nil
	}
	_, err := e.client.Delete(ctx, t, ref.Namespace, ref.Name, ref.UID, cluster.DeleteOptions{Policy: "Background", DryRun: true})
	if err == nil || ctx.Err() != nil {
		return nil
	}
	if o, unread := e.reader.Read(ctx, t, ref.Namespace, ref.Name); unread == nil {
		if o == nil || string(o.GetUID()) != ref.UID {
			return nil // it is gone
		}
		if findings, understood := e.refusal(ctx, write{admissionv1.Delete, t, o}, err); understood {
			return findings // whoever denies it may say so with any code, that of a conflict too
		}
	}
	if cluster.IsAbsent(err, t, ref.Name) || apierrors.IsConflict(err) {
		return nil
	}
	if findings := e.conversions(ctx, err.Error()); len(findings) > 0 {
		return findings
	}
	about := v1alpha1.ObjectRef(ref)
	return []finding{{
		code: DeletionRejected, about: &about, evidence: observed(fmt.Sprintf("the server answers a DELETE of it: %v", err)),
		remedy: "Do what the server says.", commands: []step{command("kubectl", "delete", "OBJECT", "--dry-run=server")},
	}}
}
