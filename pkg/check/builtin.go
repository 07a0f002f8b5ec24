package check

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// builtin are the kinds that every API server of the supported versions serves, by group and
// version; those with a ! are cluster-scoped. They are for files that are checked without a server.
var builtin = map[string]string{
	"v1":                              "ConfigMap Endpoints Event LimitRange Namespace! Node! PersistentVolume! PersistentVolumeClaim Pod PodTemplate ReplicationController ResourceQuota Secret Service ServiceAccount",
	"admissionregistration.k8s.io/v1": "MutatingWebhookConfiguration! ValidatingAdmissionPolicy! ValidatingAdmissionPolicyBinding! ValidatingWebhookConfiguration!",
	"apiextensions.k8s.io/v1":         "CustomResourceDefinition!",
	"apiregistration.k8s.io/v1":       "APIService!",
	"apps/v1":                         "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet",
	"autoscaling/v2":                  "HorizontalPodAutoscaler",
	"autoscaling/v1":                  "HorizontalPodAutoscaler",
	"batch/v1":                        "CronJob Job",
	"certificates.k8s.io/v1":          "CertificateSigningRequest!",
	"coordination.k8s.io/v1":          "Lease",
	"discovery.k8s.io/v1":             "EndpointSlice",
	"events.k8s.io/v1":                "Event",
	"flowcontrol.apiserver.k8s.io/v1": "FlowSchema! PriorityLevelConfiguration!",
	"networking.k8s.io/v1":            "Ingress IngressClass! IPAddress! NetworkPolicy ServiceCIDR!",
	"node.k8s.io/v1":                  "RuntimeClass!",
	"policy/v1":                       "PodDisruptionBudget",
	"rbac.authorization.k8s.io/v1":    "ClusterRole! ClusterRoleBinding! Role RoleBinding",
	"resource.k8s.io/v1":              "DeviceClass! ResourceClaim ResourceClaimTemplate ResourceSlice!",
	"scheduling.k8s.io/v1":            "PriorityClass!",
	"storage.k8s.io/v1":               "CSIDriver! CSINode! CSIStorageCapacity StorageClass! VolumeAttachment!",
}

// builtinTypes are the types of builtin. The resource is not looked at by anybody.
func builtinTypes() []graph.Type {
	var all []graph.Type
	for apiVersion, kinds := range builtin {
		group, version, ok := strings.Cut(apiVersion, "/")
		if !ok {
			group, version = "", apiVersion
		}
		for _, kind := range strings.Fields(kinds) {
			name, clusterScoped := strings.CutSuffix(kind, "!")
			all = append(all, graph.Type{Group: group, Version: version, Resource: strings.ToLower(name) + "s", Kind: name,
				Namespaced: !clusterScoped})
		}
	}
	return all
}
