package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	helper "k8s.io/component-helpers/resource"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// jsonItem is what is read of an object where a server speaks JSON only. Whatever else the object
// has is stepped over.
type jsonItem struct {
	Metadata struct {
		Name, Namespace, UID, ResourceVersion string
		Generation                            int64
		CreationTimestamp, DeletionTimestamp  *metav1.Time
		DeletionGracePeriodSeconds            *int64
		OwnerReferences                       []struct {
			APIVersion, Kind, Name, UID    string
			Controller, BlockOwnerDeletion bool
		}
		Finalizers          []string
		Labels, Annotations json.RawMessage
	}
}

func (it *jsonItem) object(keep extras) (*graph.Object, error) {
	m := &it.Metadata
	o := &graph.Object{
		Namespace: m.Namespace, Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion,
		Generation: m.Generation, Finalizers: m.Finalizers,
	}
	if m.CreationTimestamp != nil && !m.CreationTimestamp.IsZero() {
		o.CreationTimestamp = m.CreationTimestamp.Unix()
	}
	if m.DeletionTimestamp != nil {
		o.DeletionTimestamp = m.DeletionTimestamp.Unix()
	}
	for _, r := range m.OwnerReferences {
		o.Owners = append(o.Owners, graph.OwnerReference{
			APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: r.UID,
			Controller: r.Controller, Block: r.BlockOwnerDeletion,
		})
	}
	if keep.selector != nil {
		set, err := texts(m.Labels)
		if err != nil {
			return nil, err
		}
		o.Selected = keep.selector.Matches(labels.Set(set))
	}
	if len(keep.annotations) > 0 {
		set, err := texts(m.Annotations)
		if err != nil {
			return nil, err
		}
		maps.DeleteFunc(set, func(key, _ string) bool { return !slices.Contains(keep.annotations, key) })
		if len(set) > 0 {
			o.Annotations = set
		}
	}
	return o, nil
}

// texts reads labels or annotations; there may be none.
func texts(raw json.RawMessage) (map[string]string, error) {
	set := map[string]string{}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &set); err != nil {
			return nil, fmt.Errorf("%w: %w", errMalformed, err)
		}
	}
	return set, nil
}

// gracePeriod is the deletionGracePeriodSeconds, 0 for none.
func (it *jsonItem) gracePeriod() int64 {
	if it.Metadata.DeletionGracePeriodSeconds == nil {
		return 0
	}
	return *it.Metadata.DeletionGracePeriodSeconds
}

// readJSONList reads a page in JSON object by object; T names the fields of interest. The metadata
// of a list may stand behind its items, so onMeta can come last.
func readJSONList[T any](r io.Reader, onMeta func(listMeta), item func(*T) error) error {
	dec := json.NewDecoder(r)
	if err := expect(dec, json.Delim('{')); err != nil {
		return err
	}
	hasItems := false
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return jsonError(err)
		}
		switch key {
		case "metadata":
			var m struct{ ResourceVersion, Continue string }
			if err := dec.Decode(&m); err != nil {
				return jsonError(err)
			}
			onMeta(listMeta{resourceVersion: m.ResourceVersion, continueToken: m.Continue})
		case "items":
			hasItems = true
			if err := readJSONItems(dec, item); err != nil {
				return err
			}
		default:
			var skipped json.RawMessage
			if err := dec.Decode(&skipped); err != nil {
				return jsonError(err)
			}
			if key == "kind" && string(skipped) == `"APIGroupDiscoveryList"` {
				return fmt.Errorf("%w: it is a discovery document", errMalformed) // which has items, too, and may have none
			}
		}
	}
	if err := expect(dec, json.Delim('}')); err != nil {
		return err
	}
	if !hasItems {
		return fmt.Errorf("%w: no items", errMalformed) // which any other object passes for, and must not for an empty list
	}
	switch _, err := dec.Token(); { // to the end, so that the connection can be used again
	case err == nil:
		return fmt.Errorf("%w: more than one object", errMalformed)
	case err != io.EOF:
		return jsonError(err)
	}
	return nil
}

func readJSONItems[T any](dec *json.Decoder, item func(*T) error) error {
	open, err := dec.Token()
	if err != nil {
		return jsonError(err)
	}
	if open == nil {
		return nil // an empty list of a server written in Go is null
	}
	if open != json.Delim('[') {
		return fmt.Errorf("%w: items is no array", errMalformed)
	}
	for dec.More() {
		var it T
		if err := dec.Decode(&it); err != nil {
			return jsonError(err)
		}
		if err := item(&it); err != nil {
			return err
		}
	}
	return expect(dec, json.Delim(']'))
}

func expect(dec *json.Decoder, want json.Delim) error {
	got, err := dec.Token()
	if err != nil {
		return jsonError(err)
	}
	if got != want {
		return fmt.Errorf("%w: %v where %v belongs", errMalformed, got, want)
	}
	return nil
}

// jsonError tells a body that ends early and one that is no JSON from an error of the connection.
func jsonError(err error) error {
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	var parse *time.ParseError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errTruncated
	case errors.As(err, &syntax), errors.As(err, &typ), errors.As(err, &parse):
		return fmt.Errorf("%w: %w", errMalformed, err)
	}
	return err
}

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

// SpecFields reads objects of a graph whole, of which it keeps very little. What is gone meanwhile,
// or has been replaced, is left out; what could not be read is in unread. The error is for a context
// that ended.
func (c *Client) SpecFields(ctx context.Context, g *graph.Graph, ids []graph.ID) (contents map[graph.ID]SpecFields,
	unread []graph.ID, err error) {
	wanted := make(map[string]graph.ID, len(ids))
	for _, id := range ids {
		wanted[g.Ref(id).UID] = id
	}
	var mu sync.Mutex
	contents = make(map[graph.ID]SpecFields, len(ids))
	keep := func(it *specFieldsItem) error {
		mu.Lock()
		defer mu.Unlock()
		if id, is := wanted[it.Metadata.UID]; is {
			contents[id] = it.specFields()
		}
		return nil
	}
	failed := map[UnreadError]bool{}
	err = EachUntil(ctx, c, objectReads(RequestObjects(g, ids)), func(ctx context.Context, _ int, r objectRead) error {
		if err := c.readSpecFields(ctx, r, keep); err == nil || r.name != "" && IsAbsent(err, r.Type, r.name) {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		failed[UnreadError{Type: r.Type, Namespace: r.Namespace, Name: r.name}] = true
		return context.Cause(ctx)
	})
	for _, id := range ids {
		t, _ := g.Type(id)
		of := UnreadError{Type: t, Namespace: g.Namespace(id)}
		one := of
		one.Name = g.Name(id)
		if _, known := contents[id]; !known && (failed[of] || failed[one]) {
			unread = append(unread, id)
		}
	}
	return contents, unread, err
}

// readSpecFields reads what a read is of.
func (c *Client) readSpecFields(ctx context.Context, r objectRead, keep func(*specFieldsItem) error) error {
	if r.name == "" {
		return objectPages(ctx, c, r.ObjectRequest, keep)
	}
	path := resourcePath(r.Type, r.Namespace, r.name)
	var it specFieldsItem
	if err := getJSON(ctx, c.rest.Get().AbsPath(path...), acceptJSON, &it); err != nil {
		return err
	}
	if it.Metadata.Name != r.name {
		return errAnother(r.name, it.Metadata.Name)
	}
	return keep(&it)
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
