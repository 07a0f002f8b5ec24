package synthetic

import "strings"

func lower(s string) string { return strings.ToLower(s) }

// emptyKinds are the types of a kube-apiserver that have no object here. Clients ask for them, and
// doubt a server that does not have them.
func emptyKinds() []*kind {
	var all []*kind
	add := func(group, version string, namespaced bool, kinds ...string) {
		for _, name := range kinds {
			k := &kind{group: group, version: version, resource: plural(name), kind: name, namespaced: namespaced}
			if namespaced {
				k.namespaceOf = func(int) int { return 0 }
			}
			all = append(all, k)
		}
	}
	add("", "v1", true, "Endpoints", "Event", "LimitRange", "PersistentVolumeClaim", "PodTemplate",
		"ReplicationController", "ResourceQuota", "Service")
	add("", "v1", false, "Node", "PersistentVolume")
	add("admissionregistration.k8s.io", "v1", false, "MutatingWebhookConfiguration", "ValidatingAdmissionPolicy",
		"ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration")
	add("apiregistration.k8s.io", "v1", false, "APIService")
	add("apps", "v1", true, "ControllerRevision", "DaemonSet", "StatefulSet")
	add("autoscaling", "v2", true, "HorizontalPodAutoscaler")
	add("batch", "v1", true, "CronJob", "Job")
	add("certificates.k8s.io", "v1", false, "CertificateSigningRequest")
	add("coordination.k8s.io", "v1", true, "Lease")
	add("discovery.k8s.io", "v1", true, "EndpointSlice")
	add("events.k8s.io", "v1", true, "Event")
	add("flowcontrol.apiserver.k8s.io", "v1", false, "FlowSchema", "PriorityLevelConfiguration")
	add("networking.k8s.io", "v1", true, "Ingress", "NetworkPolicy")
	add("networking.k8s.io", "v1", false, "IngressClass")
	add("node.k8s.io", "v1", false, "RuntimeClass")
	add("policy", "v1", true, "PodDisruptionBudget")
	add("rbac.authorization.k8s.io", "v1", true, "Role", "RoleBinding")
	add("rbac.authorization.k8s.io", "v1", false, "ClusterRoleBinding")
	add("scheduling.k8s.io", "v1", false, "PriorityClass")
	add("storage.k8s.io", "v1", false, "CSIDriver", "CSINode", "StorageClass", "VolumeAttachment")
	for _, review := range []*kind{
		{group: "authorization.k8s.io", version: "v1", resource: "selfsubjectaccessreviews", kind: "SelfSubjectAccessReview"},
		{group: "authorization.k8s.io", version: "v1", resource: "selfsubjectrulesreviews", kind: "SelfSubjectRulesReview"},
		{group: "authorization.k8s.io", version: "v1", resource: "subjectaccessreviews", kind: "SubjectAccessReview"},
		{group: "authentication.k8s.io", version: "v1", resource: "selfsubjectreviews", kind: "SelfSubjectReview"},
	} {
		review.only = []string{"create"}
		all = append(all, review)
	}
	return all
}

func plural(kind string) string {
	s := lower(kind)
	switch {
	case s == "endpoints":
		return s
	case strings.HasSuffix(s, "y"):
		return strings.TrimSuffix(s, "y") + "ies"
	case strings.HasSuffix(s, "s"), strings.HasSuffix(s, "ch"):
		return s + "es"
	}
	return s + "s"
}
