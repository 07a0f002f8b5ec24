package diagnose

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
)

// behindService is what stands behind something that the API server calls.
type behindService struct {
	actor.Backend
	// evidence are clauses about it and the workloads that it selects.
	evidence []v1alpha1.Observation
	// what is called, for use in a sentence.
	what string
	// restore are the commands that may bring it back.
	restore []step
}

// revival says what to do so that it answers. What has ready endpoints is there already.
func (b behindService) revival() string {
	if b.Name != "" && !b.Down && b.Why == "" {
		return fmt.Sprintf("%s has ready endpoints and does not answer the API server. Check the logs of its pods, and whether the API server can reach them.", b.what)
	}
	return fmt.Sprintf("Restore %s.", b.what)
}

// revivable leaves out of a finding what would bring something back in a namespace in which nothing can be created. What is left says what to do then.
func (e *refusal) revivable(ctx context.Context, f finding, b behindService, left string) finding {
	if !b.Down {
		return f
	}
	return e.possible(ctx, f, creation{what: "the pods behind " + b.what, namespace: b.Namespace, left: left})
}

// answering looks at a workload whose pods are the endpoints.
func (e *refusal) answering(ctx context.Context, b *behindService, o *unstructured.Unstructured) {
	w := actor.ReadWorkload(o)
	if w.Life != actor.Alive {
		b.evidence = append(b.evidence, observed(w.Says)...)
	}
	if w.Scaled {
		b.restore = append(b.restore, at(e.ref(o), command("kubectl", "scale", "OBJECT", "--replicas=1").doing("starts the pods behind it")).creatingIn(b.Namespace))
		return
	}
	if w.Life == actor.Alive {
		b.restore = append(b.restore, at(e.ref(o), command("kubectl", "logs", "OBJECT")).doing("shows why it does not answer").risking(finalizer.RiskNone))
		return
	}
	var d downtime
	faults, unread := e.actors.Faults(ctx, o)
	d.evidence = append(d.evidence, observed(unread...)...)
	for _, fault := range faults {
		d.add(ctx, e.core, fault)
	}
	if len(d.steps) == 0 {
		d.show(at(e.ref(o), describe()), "shows what it says of its pods")
	}
	b.evidence, b.restore = append(b.evidence, d.evidence...), append(b.restore, d.steps...)
}

// called looks at what the API server calls: a Service, or an address.
func (e *refusal) called(ctx context.Context, s admission.Service) behindService {
	namespace, name := s.Namespace, s.Name
	if name == "" {
		return behindService{what: "the server at " + s.URL, evidence: observed("it is called at " + s.URL)}
	}
	b := behindService{Backend: actor.BackendOf(ctx, e.reader, namespace, name), what: fmt.Sprintf("Service %s/%s", namespace, name)}
	if b.Why != "" {
		b.evidence = append(b.evidence, observed(b.Why)...)
	} else {
		b.evidence = append(b.evidence, observed(b.what+" has ready endpoints")...)
	}
	service, err := e.reader.GetObject(ctx, cluster.Services, namespace, name)
	if err != nil || service == nil {
		return b
	}
	selector, _, _ := unstructured.NestedStringMap(service.Object, "spec", "selector")
	if len(selector) == 0 {
		return b
	}
	for _, resource := range []schema.GroupResource{cluster.Deployments, cluster.StatefulSets, cluster.DaemonSets} {
		workloads, err := e.reader.ListObjects(ctx, resource, namespace, cluster.Selection{})
		if err != nil {
			b.evidence = append(b.evidence, observed(fmt.Sprintf("%s in %s cannot be listed: %v", resource.Resource, namespace, err))...)
			continue
		}
		for _, o := range workloads {
			template, _, _ := unstructured.NestedStringMap(o.Object, "spec", "template", "metadata", "labels")
			if labels.SelectorFromSet(selector).Matches(labels.Set(template)) {
				e.answering(ctx, &b, o)
			}
		}
	}
	return b
}
