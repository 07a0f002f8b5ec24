package e2e

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

const (
	ofRelease = "annotations: {meta.helm.sh/release-name: NS}"
	kept      = "annotations: {meta.helm.sh/release-name: NS, helm.sh/resource-policy: keep}"
	ofClaim   = "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}"
	unchanged = "\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: unchanged}}"
)

// incidents are changes that deleted something in a public report, or that were about to, made again
// with as much of the objects as counts. Each names its report, and the objects have names of their own.
var incidents = map[string]change{
	"a chart that is given an existing claim no longer has it": {
		source: "https://github.com/traefik/traefik-helm-chart/issues/266", by: "helm",
		old: "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: traefik, " + ofRelease + "}, " + ofClaim + "}" + unchanged,
		new: unchanged, want: []string{"persistentvolumeclaim/traefik"},
	},
	"the same once the chart says that Helm keeps claims": {
		source: "https://github.com/traefik/traefik-helm-chart/pull/389", by: "helm",
		old: "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: traefik-kept, " + kept + "}, " + ofClaim + "}" + unchanged,
		new: unchanged,
	},
	"a chart that names its claim after the agent": {
		source: "https://github.com/openabdev/openab/issues/247", by: "helm",
		old:  "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: openab, " + ofRelease + "}, " + ofClaim + "}",
		new:  "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: openab-kiro, " + ofRelease + "}, " + ofClaim + "}",
		want: []string{"persistentvolumeclaim/openab"},
	},
	"a chart that stops to render the Secret that it made": {
		source: "https://github.com/FIWARE/data-space-connector/pull/83", by: "helm",
		old: "{apiVersion: v1, kind: Secret, metadata: {name: generated, " + ofRelease + "}}" + unchanged,
		new: unchanged, want: []string{"secret/generated"},
	},
	"the same after the release before has marked the Secret": {
		source: "https://github.com/fission/fission/pull/3636", by: "helm",
		old:  "{apiVersion: v1, kind: Secret, metadata: {name: adopted, " + ofRelease + "}}" + unchanged,
		live: "{apiVersion: v1, kind: Secret, metadata: {name: adopted, " + kept + "}}",
		new:  unchanged,
	},
	"a Service of a chart moves to another namespace": {
		source: "https://github.com/helm/helm/issues/4424", by: "helm", spread: true,
		old:  "{apiVersion: v1, kind: Service, metadata: {name: my-service1, namespace: NS, " + ofRelease + "}, spec: {ports: [{port: 80}]}}",
		new:  "{apiVersion: v1, kind: Service, metadata: {name: my-service1, namespace: default, " + ofRelease + "}, spec: {ports: [{port: 80}]}}",
		want: []string{"service/my-service1"},
	},
	"a deployment of one template of several": {
		source: "https://github.com/Shopify/krane/issues/515",
		old:    "{apiVersion: v1, kind: ConfigMap, metadata: {name: krane-a}}\n---\n{apiVersion: v1, kind: Secret, metadata: {name: krane-b}}",
		new:    "==krane-a.yaml: {apiVersion: v1, kind: ConfigMap, metadata: {name: krane-a}}", want: []string{"secret/krane-b"},
	},
	"a generated ConfigMap that a rollout still uses": {
		source: "https://github.com/fluxcd/flux2/issues/3378",
		old:    "==kustomization.yaml: {configMapGenerator: [{name: app-config, literals: [a=1]}]}",
		live:   "{apiVersion: v1, kind: ConfigMap, metadata: {name: app-config-h29d89cmmt}}",
		new:    "==kustomization.yaml: {configMapGenerator: [{name: app-config, literals: [a=2]}]}", want: []string{"configmap/app-config-h29d89cmmt"},
	},
	"a chart that renders a Secret only when it is installed": { // so helm template needs --is-upgrade
		source: "https://github.com/helm/charts/pull/5903", by: "helm",
		old: "{apiVersion: v1, kind: Secret, metadata: {name: stolon, " + ofRelease + "}}" + unchanged,
		new: unchanged, want: []string{"secret/stolon"},
	},
	"a file of a folder goes that kubectl applies": {
		source: "https://github.com/kubernetes/kubernetes/issues/40635", by: "kubectl",
		old:  "==jessie1.yaml: {apiVersion: v1, kind: ConfigMap, metadata: {name: jessie1}}\n==jessie2.yaml: {apiVersion: v1, kind: ConfigMap, metadata: {name: jessie2}}",
		live: "{apiVersion: v1, kind: ConfigMap, metadata: {name: jessie2, annotations: {kubectl.kubernetes.io/last-applied-configuration: '{}'}}}",
		new:  "==jessie1.yaml: {apiVersion: v1, kind: ConfigMap, metadata: {name: jessie1}}", want: []string{"configmap/jessie2"},
	},
	"an Ingress gets the API that replaces its own": {
		source: "https://github.com/fluxcd/kustomize-controller/issues/510",
		old:    "{apiVersion: extensions/v1beta1, kind: Ingress, metadata: {name: echo}}",
		live:   "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: echo}, spec: {defaultBackend: {service: {name: echo, port: {number: 80}}}}}",
		new:    "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: echo}}",
	},
	"a kustomization that loses its last resource": {
		source: "https://github.com/fluxcd/kustomize-controller/issues/391",
		old:    "{apiVersion: v1, kind: ConfigMap, metadata: {name: last}}",
		new:    "==kustomization.yaml: {apiVersion: kustomize.config.k8s.io/v1beta1, kind: Kustomization, resources: []}", err: "no objects found in",
	},
}

const (
	ofArgo    = "argocd.argoproj.io/tracking-id: 'NS:x'"
	cascading = "finalizers: [resources-finalizer.argocd.argoproj.io]"
	here      = "spec: {destination: {server: 'https://kubernetes.default.svc'}}"
)

// application is an Application with some metadata that has applied one object.
func application(metadata, kind, name string) string {
	return "{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {" + metadata + "}, " + here +
		", status: {resources: [{version: v1, kind: " + kind + ", namespace: NS, name: " + name + "}]}}"
}

// gitopsIncidents are those in which Argo CD, Flux and Helm delete more than stood in the files.
var gitopsIncidents = map[string]change{
	"a Kustomization gets another name": {
		source: "https://github.com/fluxcd/flux2/issues/3316",
		old:    "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: apps}, spec: {prune: true}}",
		live: `{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: apps, finalizers: [finalizers.fluxcd.io]}, spec: {prune: true},
  status: {inventory: {entries: [{id: NS_burns__ConfigMap, v: v1}]}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: burns, labels: {kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: NS}}}`,
		new:  "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: applications}, spec: {prune: true}}",
		want: []string{"configmap/burns", "kustomization.kustomize.toolkit.fluxcd.io/apps"},
	},
	"an object moves to an inner Kustomization": {
		source: "https://github.com/fluxcd/kustomize-controller/issues/338", by: "flux",
		old: "{apiVersion: v1, kind: ConfigMap, metadata: {name: deeper}}" + unchanged, new: unchanged,
		live: `{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: outer}, spec: {prune: true}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: deeper, labels: {kustomize.toolkit.fluxcd.io/name: outer, kustomize.toolkit.fluxcd.io/namespace: NS}}}`,
		want: []string{"configmap/deeper"},
	},
	"the folder after which an Application is named gets another name": {
		source: "https://github.com/argoproj/applicationset/issues/254",
		old:    "{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: folder}}",
		live:   application("name: folder, "+cascading, "ConfigMap", "in-folder") + "\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: in-folder, annotations: {argocd.argoproj.io/tracking-id: 'folder:x'}}}",
		new:    "{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: renamed}}",
		want:   []string{"application.argoproj.io/folder", "configmap/in-folder"},
	},
	"an Application without a finalizer goes": {
		source: "https://github.com/argoproj/argo-cd/issues/8444",
		old:    "{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: app1}}" + unchanged,
		live:   application("name: app1", "ConfigMap", "of-app1") + "\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: of-app1, annotations: {argocd.argoproj.io/tracking-id: 'app1:x'}}}",
		new:    unchanged, want: []string{"application.argoproj.io/app1"},
	},
	"a claim that is only kept from being pruned": {
		source: "https://github.com/argoproj/argo-cd/issues/9853",
		old:    "{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: elastic}}" + unchanged,
		live:   application("name: elastic, "+cascading, "PersistentVolumeClaim", "snapshots") + "\n---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: snapshots, annotations: {argocd.argoproj.io/sync-options: Prune=false, argocd.argoproj.io/tracking-id: 'elastic:x'}}, " + ofClaim + "}",
		new:    unchanged, want: []string{"application.argoproj.io/elastic", "persistentvolumeclaim/snapshots"},
	},
	"a claim that is kept when the Application goes": {
		source: "https://github.com/argoproj/argo-cd/issues/9853",
		old:    "{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: elastic2}}" + unchanged,
		live:   application("name: elastic2, "+cascading, "PersistentVolumeClaim", "snapshots2") + "\n---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: snapshots2, annotations: {argocd.argoproj.io/sync-options: Delete=false, argocd.argoproj.io/tracking-id: 'elastic2:x'}}, " + ofClaim + "}",
		new:    unchanged, want: []string{"application.argoproj.io/elastic2"},
	},
	"the root of all ApplicationSets goes": {
		source: "https://github.com/redhat-appstudio/infra-deployments/pull/1623",
		old:    "{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: all-applicationsets}}" + unchanged,
		live: "{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: all-applicationsets, " + cascading + "}, " + here +
			", status: {resources: [{group: argoproj.io, version: v1alpha1, kind: ApplicationSet, namespace: NS, name: sets}]}}\n---\n" +
			"{apiVersion: argoproj.io/v1alpha1, kind: ApplicationSet, metadata: {name: sets, annotations: {argocd.argoproj.io/tracking-id: 'all-applicationsets:x'}}}",
		new: unchanged, want: []string{"application.argoproj.io/all-applicationsets", "applicationset.argoproj.io/sets"},
	},
	"a chart no longer has its namespace": {
		source: "https://github.com/helm/helm/issues/4315", by: "helm",
		old:  "{apiVersion: v1, kind: Namespace, metadata: {name: NS-mongo}}" + unchanged,
		live: "{apiVersion: v1, kind: Namespace, metadata: {name: NS-mongo, " + ofRelease + "}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: mongo, namespace: NS-mongo}}",
		new:  unchanged, want: []string{"configmap/mongo", "namespace/NS-mongo"},
	},
	"the same with the annotation that was added after it": {
		source: "https://github.com/helm/helm/issues/10195", by: "helm",
		old:  "{apiVersion: v1, kind: Namespace, metadata: {name: NS-kept}}" + unchanged,
		live: "{apiVersion: v1, kind: Namespace, metadata: {name: NS-kept, " + kept + "}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: kept, namespace: NS-kept}}",
		new:  unchanged,
	},
	"two Applications have a namespace, and one of them loses it": {
		source: "https://github.com/argoproj/argo-cd/issues/22607", by: "argocd",
		old:  "{apiVersion: v1, kind: Namespace, metadata: {name: NS-both}}" + unchanged,
		live: "{apiVersion: v1, kind: Namespace, metadata: {name: NS-both, annotations: {" + ofArgo + "}}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: of-the-other, namespace: NS-both, annotations: {argocd.argoproj.io/tracking-id: 'other:x'}}}",
		new:  unchanged, want: []string{"configmap/of-the-other", "namespace/NS-both"},
	},
	"a chart has its definitions in crds/ instead of templates/": {
		source: "https://github.com/helm/helm/issues/8163",
		old:    "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: kafkas.strimzi.example.com}}" + unchanged,
		live:   "{apiVersion: strimzi.example.com/v1, kind: Kafka, metadata: {name: cluster}}",
		new:    unchanged, want: []string{"customresourcedefinition.apiextensions.k8s.io/kafkas.strimzi.example.com", "kafka.strimzi.example.com/cluster"},
	},
	"a StatefulSet of a chart gets another name": {
		source: "https://github.com/camunda/camunda-platform-helm/pull/7049",
		old:    "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: zeebe}}",
		live: `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: zeebe}, spec: {serviceName: zeebe, selector: {matchLabels: {app: zeebe}}, template: {metadata: {labels: {app: zeebe}}, spec: {containers: [{name: c, image: c}]}},
  volumeClaimTemplates: [{metadata: {name: data}, ` + ofClaim + `}]}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data-zeebe-0}, ` + ofClaim + `}`,
		new:  "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: zeebe-london}}",
		want: []string{"statefulset.apps/zeebe"},
	},
}

// rebuilt plans the incidents of Argo CD, Flux and Helm on a control plane that has their types.
func rebuilt(t *testing.T, c *testcluster.Cluster) {
	fixture.Define(t, c, fixture.Kind{Group: "argoproj.io", Version: "v1alpha1", Kind: "ApplicationSet"},
		fixture.Kind{Group: "strimzi.example.com", Kind: "Kafka"})
	ns := c.Namespace(t)
	var own, others []string
	for _, o := range strings.Split(strings.ReplaceAll(liveOf(gitopsIncidents), "NS", ns), "\n---\n") {
		if strings.Contains(o, "namespace: "+ns+"-") {
			others = append(others, o)
		} else {
			own = append(own, o)
		}
	}
	c.Apply(t, strings.Join(own, "\n---\n"), "-n", ns)
	c.Apply(t, strings.Join(others, "\n---\n"))
	for name, change := range gitopsIncidents {
		t.Run(name, func(t *testing.T) { change.plan(t, c, ns) })
	}
}

// liveOf are the objects that changes find in the cluster.
func liveOf(changes map[string]change) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		live := changes[name].live
		if live == "" {
			live = strings.TrimSuffix(changes[name].old, unchanged)
		}
		all = append(all, live)
	}
	return strings.Join(all, "\n---\n")
}
