package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	helper "k8s.io/component-helpers/resource"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// SpecFields is what is read of pods, StatefulSets, namespaces and what asks for DNS names besides
// their metadata. What a type does not have is empty.
type SpecFields struct {
	// NodeName, Phase and the periods, in seconds, are a pod's. DeletionGracePeriodSeconds is nil
	// if it is not being deleted.
	NodeName, Phase                                           string
	TerminationGracePeriodSeconds, DeletionGracePeriodSeconds *int64
	// VolumeClaimTemplates are the names of a StatefulSet's volumeClaimTemplates, and WhenDeleted
	// is what its persistentVolumeClaimRetentionPolicy says, empty if it has none.
	VolumeClaimTemplates []string
	WhenDeleted          string
	// Requests are what a pod requests of its node, as the scheduler has them, by resource; of a
	// PersistentVolumeClaim they are its storage.
	Requests map[string]resource.Quantity
	// DNSNames are those for which a Service, an Ingress, a route, a Certificate or a DNSEndpoint asks.
	DNSNames []string
	// Finalizers are those in the spec of a namespace.
	Finalizers []string
}

// SpecFieldsRequest names objects of one type in one namespace.
type SpecFieldsRequest struct {
	Type      graph.Type
	Namespace string
	// UIDs are those of the objects, by name.
	UIDs map[string]string
	// Total is how many objects of the type the namespace has. A few among many are read one by
	// one.
	Total int
}

// RequestSpecFields asks for the fields of objects of a graph: a request for each type and namespace.
func RequestSpecFields(g *graph.Graph, ids []graph.ID) []SpecFieldsRequest {
	var requests []SpecFieldsRequest
	for _, of := range groupObjects(g, ids) {
		r := SpecFieldsRequest{Type: of.Type, Namespace: of.namespace, UIDs: map[string]string{}, Total: of.total}
		for _, id := range of.ids {
			r.UIDs[g.Name(id)] = g.Ref(id).UID
		}
		requests = append(requests, r)
	}
	return requests
}

// SpecFields reads whole objects, of which it keeps very little, and returns it by uid. What is
// gone meanwhile, or has been replaced, is left out; what could not be read is in unread. The error
// is for a context that ended.
func (c *Client) SpecFields(ctx context.Context, requests []SpecFieldsRequest) (contents map[string]SpecFields,
	unread []string, err error) {
	contents = map[string]SpecFields{}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(c.concurrency)
	read := func(r SpecFieldsRequest, name string, read func(keep func(*specFieldsItem)) error) {
		group.Go(func() error {
			err := read(func(it *specFieldsItem) {
				mu.Lock()
				defer mu.Unlock()
				if uid := it.Metadata.UID; r.UIDs[it.Metadata.Name] == uid {
					contents[uid] = it.specFields()
				}
			})
			if err == nil || name != "" && IsAbsent(err, r.Type, name) {
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			for n, uid := range r.UIDs {
				if _, known := contents[uid]; !known && (name == "" || name == n) {
					unread = append(unread, uid)
				}
			}
			return context.Cause(ctx)
		})
	}
	for _, r := range requests {
		path := resourcePath(r.Type.Group, r.Type.Version, r.Type.Resource, r.Namespace)
		if worthAList(len(r.UIDs), r.Total) {
			read(r, "", func(keep func(*specFieldsItem)) error {
				return objectPages(ctx, c, ObjectRequest{ObjectNames: ObjectNames{Type: r.Type, Namespace: r.Namespace}},
					func(it *specFieldsItem) error {
						keep(it)
						return nil
					})
			})
			continue
		}
		for name := range r.UIDs {
			read(r, name, func(keep func(*specFieldsItem)) error {
				var it specFieldsItem
				err := getJSON(ctx, c.rest.Get().AbsPath(append(slices.Clip(path), name)...), acceptJSON, &it)
				if err != nil {
					return err
				}
				if it.Metadata.Name != name {
					return fmt.Errorf("%w: asked for %q, and the answer is about %q", errMalformed, name, it.Metadata.Name)
				}
				keep(&it)
				return nil
			})
		}
	}
	err = group.Wait()
	return contents, unread, err
}

// specFieldsItem names the fields of an object that are kept. The decoder steps over all others.
type specFieldsItem struct {
	Metadata struct {
		Name, UID                  string
		DeletionGracePeriodSeconds *int64
		Annotations                struct {
			Hostname string `json:"external-dns.alpha.kubernetes.io/hostname"`
			Internal string `json:"external-dns.alpha.kubernetes.io/internal-hostname"`
		}
	}
	Spec struct {
		NodeName                             string
		TerminationGracePeriodSeconds        *int64
		Containers, InitContainers           []requestingContainer
		Overhead                             corev1.ResourceList
		Resources                            *corev1.ResourceRequirements
		VolumeClaimTemplates                 []struct{ Metadata struct{ Name string } }
		PersistentVolumeClaimRetentionPolicy struct{ WhenDeleted string }

		Rules               []struct{ Host string }
		TLS                 []struct{ Hosts []string }
		Hostnames, DNSNames []string
		CommonName          string
		Endpoints           []struct{ DNSName string }

		Finalizers []string
	}
	Status struct{ Phase string }
}

// requestingContainer is what of a container counts for what its pod requests.
type requestingContainer struct {
	RestartPolicy *corev1.ContainerRestartPolicy
	Resources     struct{ Requests corev1.ResourceList }
}

func (it *specFieldsItem) specFields() SpecFields {
	out := SpecFields{
		NodeName: it.Spec.NodeName, Phase: it.Status.Phase,
		TerminationGracePeriodSeconds: it.Spec.TerminationGracePeriodSeconds,
		DeletionGracePeriodSeconds:    it.Metadata.DeletionGracePeriodSeconds,
		WhenDeleted:                   it.Spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted,
		Requests:                      it.requests(), DNSNames: it.dnsNames(),
		Finalizers: it.Spec.Finalizers,
	}
	for _, t := range it.Spec.VolumeClaimTemplates {
		out.VolumeClaimTemplates = append(out.VolumeClaimTemplates, t.Metadata.Name)
	}
	return out
}

// requests are those of the pod: sidecars run beside the containers, other init containers before. A
// PersistentVolumeClaim has its own.
func (it *specFieldsItem) requests() map[string]resource.Quantity {
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		Containers: containers(it.Spec.Containers), InitContainers: containers(it.Spec.InitContainers),
		Overhead: it.Spec.Overhead, Resources: it.Spec.Resources,
	}}
	all := helper.PodRequests(pod, helper.PodResourcesOptions{})
	if len(pod.Spec.Containers) == 0 && it.Spec.Resources != nil {
		all = it.Spec.Resources.Requests
	}
	requests := make(map[string]resource.Quantity, len(all))
	for name, q := range all {
		requests[string(name)] = q
	}
	return requests
}

func containers(of []requestingContainer) []corev1.Container {
	var all []corev1.Container
	for _, c := range of {
		all = append(all, corev1.Container{RestartPolicy: c.RestartPolicy,
			Resources: corev1.ResourceRequirements{Requests: c.Resources.Requests}})
	}
	return all
}

// dnsNames are those for which the object asks, sorted: of a Service what it tells ExternalDNS.
func (it *specFieldsItem) dnsNames() []string {
	all := slices.Concat(it.Spec.Hostnames, it.Spec.DNSNames, []string{it.Spec.CommonName},
		strings.Split(it.Metadata.Annotations.Hostname, ","), strings.Split(it.Metadata.Annotations.Internal, ","))
	for _, r := range it.Spec.Rules {
		all = append(all, r.Host)
	}
	for _, t := range it.Spec.TLS {
		all = append(all, t.Hosts...)
	}
	for _, e := range it.Spec.Endpoints {
		all = append(all, e.DNSName)
	}
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(name string) bool { return name == "" })
}
