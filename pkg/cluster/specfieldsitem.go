package cluster

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	helper "k8s.io/component-helpers/resource"
)

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
