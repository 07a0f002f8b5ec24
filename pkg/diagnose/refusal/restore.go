package refusal

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/admission"
	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/status"
)

// BehindService is what stands behind something that the API server calls.
type BehindService struct {
	actor.Backend
	// Evidence are clauses about it and the workloads that it selects.
	Evidence []v1alpha1.Observation
	// what is called, for use in a sentence.
	what string
	// Restore are the commands that may bring it back.
	Restore []core.Step
}

// Revival says what to do so that it answers, after what the server said of the call. What has
// ready endpoints is there already, and so is what answers with a certificate.
func (b BehindService) Revival(said string) string {
	if c := b.certificate(said); c != "" {
		return c
	}
	if b.Name != "" && !b.Down && b.Why == "" {
		return fmt.Sprintf(
			"%s has ready endpoints and does not answer the API server. Check the logs of its pods, and whether the API server can reach them.", b.what)
	}
	return fmt.Sprintf("Restore %s.", b.what)
}

// certificate says what to do about a certificate that the server does not accept, empty if it does
// not say so (crypto/x509 makes these messages).
func (b BehindService) certificate(said string) string {
	switch {
	case !strings.Contains(said, "x509: "):
		return ""
	case strings.Contains(said, "certificate has expired or is not yet valid"):
		return fmt.Sprintf("The certificate of %s has expired or is not valid yet: renew it, and restart the pods that serve it.", b.what)
	case strings.Contains(said, "certificate signed by unknown authority"):
		return fmt.Sprintf("%s answers, but its certificate is not signed by the CA in caBundle: renew the certificate and caBundle together, and restart the pods that serve it.", b.what)
	}
	return fmt.Sprintf("%s answers, but the API server rejects its certificate: issue a new one, and restart the pods that serve it.", b.what)
}

// Revivable leaves out of a finding what would bring something back in a namespace in which nothing
// can be created. What is left says what to do then.
func (e *Examiner) Revivable(ctx context.Context, f core.Finding, b BehindService, left string) core.Finding {
	if !b.Down {
		return f
	}
	return e.Possible(ctx, f, core.Creation{What: "the pods behind " + b.what, Namespace: b.Namespace, Left: left})
}

// answering looks at a workload whose pods are the endpoints.
func (e *Examiner) answering(ctx context.Context, b *BehindService, o *unstructured.Unstructured) {
	w := actor.ReadWorkload(o)
	if w.Life != actor.Alive {
		b.Evidence = append(b.Evidence, core.Observed(w.Says)...)
	}
	if w.Scaled {
		b.Restore = append(b.Restore, core.At(e.Ref(o),
			core.Command("kubectl", "scale", "OBJECT",
				"--replicas=1").Doing("starts the pods behind it")).CreatingIn(b.Namespace))
		return
	}
	if w.Life == actor.Alive {
		b.Restore = append(b.Restore, core.At(e.Ref(o),
			core.Command("kubectl", "logs", "OBJECT")).Safely("shows why it does not answer"))
		return
	}
	var d core.Downtime
	d.Add(ctx, e.Examination, o)
	if len(d.Steps) == 0 {
		d.Show(core.At(e.Ref(o), core.Describe()), "shows what it says of its pods")
	}
	b.Evidence, b.Restore = append(b.Evidence, d.Evidence...), append(b.Restore, d.Steps...)
}

// behindAPI returns the Service of the aggregated API that a webhook is called through: its Service
// is that of the API server itself, and its path that of the API.
func (e *Examiner) behindAPI(ctx context.Context, s admission.Service) (of admission.Service,
	evidence []v1alpha1.Observation, found bool) {
	parts := strings.Split(strings.Trim(s.Path, "/"), "/")
	if s.Namespace != "default" || s.Name != "kubernetes" || len(parts) < 3 || parts[0] != "apis" {
		return of, nil, false
	}
	o, err := e.Reader.GetObject(ctx, cluster.APIServices, "", parts[2]+"."+parts[1])
	if err != nil || o == nil {
		return of, nil, false
	}
	of, found = admission.APIService(o)
	says := fmt.Sprintf("it is called through the API of APIService %s", o.GetName())
	if c, ok := status.Find(o, "Available"); ok && c.Status != "True" {
		says += fmt.Sprintf(", whose condition Available is %s: %s: %s", c.Status, c.Reason, c.Message)
	}
	return of, core.ObservedAt(cluster.Place(o, "status.conditions"), says), found
}

// Called looks at what the API server calls: a Service, or an address.
func (e *Examiner) Called(ctx context.Context, s admission.Service) BehindService {
	if of, evidence, found := e.behindAPI(ctx, s); found {
		b := e.Called(ctx, of)
		b.Evidence = append(evidence, b.Evidence...)
		return b
	}
	namespace, name := s.Namespace, s.Name
	if name == "" {
		return BehindService{what: "the server at " + s.URL, Evidence: core.Observed("it is called at " + s.URL)}
	}
	b := BehindService{Backend: actor.BackendOf(ctx, e.Reader, namespace, name),
		what: fmt.Sprintf("Service %s/%s", namespace, name)}
	if b.Why != "" {
		b.Evidence = append(b.Evidence, core.Observed(b.Why)...)
	} else {
		b.Evidence = append(b.Evidence, core.Observed(b.what+" has ready endpoints")...)
	}
	service, err := e.Reader.GetObject(ctx, cluster.Services, namespace, name)
	if err != nil || service == nil {
		return b
	}
	selector, _, _ := unstructured.NestedStringMap(service.Object, "spec", "selector")
	if len(selector) == 0 {
		return b
	}
	for _, resource := range []schema.GroupResource{cluster.Deployments, cluster.StatefulSets, cluster.DaemonSets} {
		workloads, err := e.Reader.ListObjects(ctx, resource, namespace, cluster.Selection{})
		if err != nil {
			b.Evidence = append(b.Evidence, core.Seen("%s in %s cannot be listed: %v", resource.Resource, namespace, err)...)
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
