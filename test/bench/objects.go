package main

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/rand"
)

// What every loaded namespace is labelled with.
const (
	namespaceLabel = "team"
	namespaceTeam  = "bench"
)

func newNamespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name,
		Labels: map[string]string{namespaceLabel: namespaceTeam}}}
}

func newClusterRole(name string) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func clusterRoleReference(owner *rbacv1.ClusterRole) *metav1.OwnerReference {
	return &metav1.OwnerReference{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Name: owner.Name,
		UID: owner.UID}
}

func newConfigMap(namespace, name string, owner *metav1.OwnerReference) *corev1.ConfigMap {
	c := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, Labels: labels(name), Annotations: releaseAnnotations(namespace, name),
		},
		Data: map[string]string{"application.yaml": "server:\n  port: 8080\n", "log-level": "info"},
	}
	if owner != nil {
		c.OwnerReferences = []metav1.OwnerReference{*owner}
	}
	return c
}

func newDeployment(namespace, name string, owners ...metav1.OwnerReference) *appsv1.Deployment {
	annotations := releaseAnnotations(namespace, name)
	annotations["deployment.kubernetes.io/revision"] = "2"
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, Labels: labels(name), Annotations: annotations,
			OwnerReferences: owners,
			ManagedFields: []metav1.ManagedFieldsEntry{managedStatus("kube-controller-manager", "apps/v1",
				deploymentStatusFields)},
		},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(podsOfReplicaSet)),
			Selector: &metav1.LabelSelector{MatchLabels: selector(name)},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels(name)}, Spec: podSpec()},
		},
	}
}

func newReplicaSet(d *appsv1.Deployment, revision int) *appsv1.ReplicaSet {
	hash := rand.SafeEncodeString(fmt.Sprintf("%.8s%d%d", d.UID, revision, revision+3))
	template := *d.Spec.Template.DeepCopy()
	template.Labels["pod-template-hash"] = hash
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: d.Namespace, Name: d.Name + "-" + hash, Labels: template.Labels,
			Annotations: map[string]string{
				"deployment.kubernetes.io/desired-replicas": "10",
				"deployment.kubernetes.io/max-replicas":     "13",
				"deployment.kubernetes.io/revision":         fmt.Sprint(revision),
				"meta.helm.sh/release-name":                 d.Name,
				"meta.helm.sh/release-namespace":            d.Namespace,
			},
			OwnerReferences: []metav1.OwnerReference{controllerReference("Deployment", d)},
			ManagedFields: []metav1.ManagedFieldsEntry{managedStatus("kube-controller-manager", "apps/v1",
				replicaSetStatusFields)},
		},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: new(int32(podsOfReplicaSet)),
			Selector: &metav1.LabelSelector{MatchLabels: template.Labels},
			Template: template,
		},
	}
}

func newPod(rs *appsv1.ReplicaSet, i int) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: rs.Namespace, Name: fmt.Sprintf("%s-%s", rs.Name,
				rand.SafeEncodeString(fmt.Sprintf("%.4s%d", rs.UID, i))),
			GenerateName: rs.Name + "-", Labels: rs.Spec.Template.Labels,
			OwnerReferences: []metav1.OwnerReference{controllerReference("ReplicaSet", rs)},
			ManagedFields:   []metav1.ManagedFieldsEntry{managedStatus("kubelet", "v1", podStatusFields)},
		},
		Spec: rs.Spec.Template.Spec,
	}
}

// controllerReference is the reference that a controller of apps/v1 puts on what it makes.
func controllerReference(kind string, owner metav1.Object) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: "apps/v1", Kind: kind, Name: owner.GetName(), UID: owner.GetUID(),
		Controller: new(true), BlockOwnerDeletion: new(true),
	}
}

func selector(name string) map[string]string {
	return map[string]string{"app.kubernetes.io/instance": name, "app.kubernetes.io/name": "web"}
}

func labels(name string) map[string]string {
	all := selector(name)
	all["app.kubernetes.io/managed-by"] = "Helm"
	all["helm.sh/chart"] = "web-1.4.2"
	return all
}

func releaseAnnotations(namespace, name string) map[string]string {
	return map[string]string{"meta.helm.sh/release-name": name, "meta.helm.sh/release-namespace": namespace}
}

// podSpec has what a small service has: its managed fields are as long as its spec is.
func podSpec() corev1.PodSpec {
	return corev1.PodSpec{
		Containers: []corev1.Container{{
			Name: "web", Image: "registry.example.com/web:1.4.2",
			Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
			Env:   []corev1.EnvVar{{Name: "LOG_LEVEL", Value: "info"}},
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"),
					corev1.ResourceMemory: resource.MustParse("128Mi")},
				Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("256Mi")},
			},
			ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
				HTTPGet: &corev1.HTTPGetAction{Path: "/ready", Port: intstr.FromString("http")},
			}},
		}},
	}
}
