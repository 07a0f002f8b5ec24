package diagnose

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
)

// behindService is what stands behind something that the API server calls.
type behindService struct {
	backend
	// evidence are clauses about it and the workloads that it selects.
	evidence []string
	// what is called, for use in a sentence.
	what string
	// restore are the commands that may bring it back.
	restore []func(v1alpha1.ObjectRef) string
}

// called looks at what the API server calls: a Service, or an address.
func (e *examiner) called(ctx context.Context, namespace, name, url string) behindService {
	if name == "" {
		return behindService{what: "what answers at " + url, evidence: []string{"it is called at " + url}}
	}
	b := behindService{backend: e.source.backend(ctx, namespace, name), what: fmt.Sprintf("Service %s/%s", namespace, name)}
	if b.why != "" {
		b.evidence = append(b.evidence, b.why)
	} else {
		b.evidence = append(b.evidence, b.what+" has ready endpoints")
	}
	service, err := e.source.get(ctx, services, namespace, name)
	if err != nil || service == nil {
		return b
	}
	selector, _, _ := unstructured.NestedStringMap(service.Object, "spec", "selector")
	if len(selector) == 0 {
		return b
	}
	var s signs
	for _, resource := range []schema.GroupResource{deployments, statefulSets, daemonSets} {
		workloads, err := e.source.list(ctx, resource, namespace, cluster.Selection{})
		if err != nil {
			b.evidence = append(b.evidence, fmt.Sprintf("%s in %s cannot be listed: %v", resource.Resource, namespace, err))
			continue
		}
		for _, o := range workloads {
			template, _, _ := unstructured.NestedStringMap(o.Object, "spec", "template", "metadata", "labels")
			if labels.SelectorFromSet(selector).Matches(labels.Set(template)) {
				s.workload(o)
			}
		}
	}
	b.evidence = append(b.evidence, s.dead...)
	for _, o := range s.scaled {
		b.restore = append(b.restore, at(e.ref(o), command("kubectl", "scale", "OBJECT", "--replicas=1")))
	}
	return b
}
