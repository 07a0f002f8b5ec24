package actor

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// started is a Deployment that runs, in a namespace, with a container of a YAML text.
func started(t testing.TB, ns, container string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	text := "{apiVersion: apps/v1, kind: Deployment, metadata: {name: op, namespace: " + ns +
		"}, status: {readyReplicas: 1}, spec: {replicas: 1, template: {metadata: {annotations: {olm.targetNamespaces: 'a,b'}}, spec: {containers: [" + container + "]}}}}"
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	_ = unstructured.SetNestedField(o.Object, int64(1), "spec", "replicas") // YAML reads numbers as float64
	_ = unstructured.SetNestedField(o.Object, int64(1), "status", "readyReplicas")
	return o
}

// shop is an object with a label, in a namespace.
var shop = &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "it",
	"namespace": "shop", "labels": map[string]any{"shard": "2", "tier": "web", "app.kubernetes.io/name": "shop"}}}}

// TestActorThatDoesNotWatchTheNamespace: variables and flags that leave a namespace out, and those
// of which that cannot be told.
func TestActorThatDoesNotWatchTheNamespace(t *testing.T) {
	for container, want := range map[string]string{
		"{env: [{name: WATCH_NAMESPACE, value: a}]}":                                                                             "WATCH_NAMESPACE a",
		"{env: [{name: WATCH_NAMESPACE, value: 'a, shop'}]}":                                                                     "",
		"{env: [{name: WATCH_NAMESPACE, value: ''}]}":                                                                            "",
		"{env: [{name: WATCH_NAMESPACE}]}":                                                                                       "",
		"{env: [{name: STRIMZI_NAMESPACE, value: '*'}]}":                                                                         "",
		"{env: [{name: WATCHED_NAMESPACES, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}]}":                            "WATCHED_NAMESPACES operators",
		"{env: [{name: WATCH_NAMESPACE, valueFrom: {fieldRef: {fieldPath: 'metadata.annotations[''olm.targetNamespaces'']'}}}]}": "WATCH_NAMESPACE a,b",
		"{env: [{name: WATCH_NAMESPACE, valueFrom: {fieldRef: {fieldPath: 'metadata.annotations[''other'']'}}}]}":                "",
		"{env: [{name: WATCH_NAMESPACE, valueFrom: {configMapKeyRef: {name: c, key: k}}}]}":                                      "",
		"{args: [--watch-namespace=a]}":                                                                                          "--watch-namespace a",
		"{args: [--watch-namespaces, 'a,b']}":                                                                                    "--watch-namespaces a,b",
		"{command: [op, -namespace=a]}":                                                                                          "--namespace a",
		"{args: [--namespace=shop]}":                                                                                             "",
		// where its Lease is
		"{args: [--namespace=operators]}": "",
		// where those of something else are
		"{env: [{name: LEADER_ELECTION_WATCH_NAMESPACE, value: a}]}":                                                                 "",
		"{args: [--secrets-watch-namespace=a]}":                                                                                      "",
		"{args: [--exclude-watch-namespaces=a]}":                                                                                     "",
		"{args: [--webhook-target-namespaces=a]}":                                                                                    "",
		"{env: [{name: ACME_WATCH_NAMESPACE, value: a}]}":                                                                            "",
		"{image: 'ghcr.io/acme/op', args: [--acme-op-watch-namespace=a]}":                                                            "--acme-op-watch-namespace a",
		"{env: [{name: CONTROLLER_WATCH_NAMESPACES, value: a}]}":                                                                     "CONTROLLER_WATCH_NAMESPACES a",
		"{args: [--watch-namespaces=true]}":                                                                                          "",
		"{env: [{name: WATCH_NAMESPACE, value: all}]}":                                                                               "",
		"{command: [sh, -c, 'kubectl wait --watch-namespace=a x; exec /op']}":                                                        "",
		"{command: [sh, -c, 'sleep 1 && exec /op --watch-namespace=a']}":                                                             "--watch-namespace a",
		"{command: [sh, -c, 'exec /op --watch-namespace=a; ']}":                                                                      "",
		"{args: ['--watch-namespace=$(NS)'], env: [{name: NS, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}]}":             "--watch-namespace operators",
		"{args: ['--watch-namespace=$(NS)'], env: [{name: NS, valueFrom: {secretKeyRef: {name: s, key: k}}}]}":                       "",
		"{args: [--watch-all-namespaces=false]}":                                                                                     "--watch-all-namespaces=false operators",
		"{args: [--watch-all-namespaces=true]}":                                                                                      "",
		"{args: [--leader-elect, namespace]}":                                                                                        "",
		"{env: [{name: WATCH_NAMESPACE, value: a}]}, {name: sidecar, env: [{name: WATCH_NAMESPACE, valueFrom: {secretKeyRef: {}}}]}": "",
		"{env: [{name: WATCH_NAMESPACE, value: a}]}, {name: sidecar, args: [--port=1]}":                                              "WATCH_NAMESPACE a",

		"{env: [{name: OPERATOR_SCOPE_NAMESPACE, value: a}]}":                "OPERATOR_SCOPE_NAMESPACE a",
		"{env: [{name: ARGOCD_APPLICATION_NAMESPACES, value: a}]}":           "ARGOCD_APPLICATION_NAMESPACES operators,a",
		"{args: [--application-namespaces=]}":                                "--application-namespaces operators",
		"{args: [--application-namespaces, 'shop']}":                         "",
		"{env: [{name: ARGOCD_APPLICATION_NAMESPACES, value: '*'}]}":         "",
		"{env: [{name: NAMESPACE, value: a}]}":                               "",
		"{env: [{name: LEADER_ELECTION_NAMESPACE, value: a}]}":               "",
		"{args: [--namespaces=a, --namespaces=b]}":                           "--namespaces a,b",
		"{args: [--namespaces=a, --namespaces=shop]}":                        "",
		"{args: ['--watch-namespaces=team-.*']}":                             "",
		"{args: [--namespaced]}":                                             "--namespaced operators",
		"{command: [sh, -c, 'exec /op --watch-namespace=a --leader-elect']}": "--watch-namespace a",

		"{args: [--selector=shard=1]}":                                          "--selector shard=1",
		"{args: [--selector=shard=2]}":                                          "",
		"{args: [--selector=app=web]}":                                          "",
		"{args: [--selector=tier=db]}":                                          "",
		"{args: ['--label-selector=app.kubernetes.io/name=proxy']}":             "",
		"{args: [--label-selector=other=1]}":                                    "",
		"{args: [--node-selector=shard=1]}":                                     "",
		"{env: [{name: SHARD_SELECTOR, value: shard=1}]}":                       "SHARD_SELECTOR shard=1",
		"{env: [{name: OP_SHARD_SELECTOR, value: 'shard=3'}]}":                  "OP_SHARD_SELECTOR shard=3",
		"{args: [--watch-label-selector=shard=1]}":                              "--watch-label-selector shard=1",
		"{args: [--watch-label-selector=shard in (1)]}":                         "--watch-label-selector shard in (1)",
		"{args: ['--watch-label-selector=!shard']}":                             "--watch-label-selector !shard",
		"{args: [--watch-label-selector, 'shard notin (1, 3)']}":                "",
		"{args: [--label-selector=]}":                                           "",
		"{args: [--watch-selector=shard=2]}":                                    "",
		"{args: ['--watch-selector=a b c']}":                                    "",
		"{args: ['--label-selector=shard=$(S)'], env: [{name: S, value: '3'}]}": "--label-selector shard=3",
		"{args: ['--label-selector=shard=$(S)']}":                               "",
		"{env: [{name: WATCH_LABEL_SELECTORS, value: 'shard in (1, 3)'}]}":      "WATCH_LABEL_SELECTORS shard in (1, 3)",
		"{args: [--watch-label-selector=shard=1, --watch-namespace=shop]}":      "--watch-label-selector shard=1",
		"{args: [--watch-label-selector=shard=2, --watch-namespace=a]}":         "--watch-namespace a",
	} {
		a := Actor{Life: Alive, IsKnown: true, Workloads: []*unstructured.Unstructured{started(t, "operators", container)}}
		got := ""
		for _, s := range a.NotWatching(shop) {
			got += s.Setting + " " + s.Value
		}
		if got != want {
			t.Errorf("%s: %q, want %q", container, got, want)
		}
	}
}

// TestANamespaceOfAnUnknownProgram: --namespace may be where it keeps what is its own, and is told
// of a program that a pack knows.
func TestANamespaceOfAnUnknownProgram(t *testing.T) {
	for container, want := range map[string][2]bool{
		"{args: [--namespace=a]}":                       {true, false},
		"{args: [--namespaces=a]}":                      {true, true},
		"{args: [--watch-namespace=a]}":                 {true, true},
		"{args: [--namespace=a, --watch-namespaces=b]}": {true, false},
	} {
		for i, isKnown := range []bool{true, false} {
			a := Actor{Life: Alive, IsKnown: isKnown, Workloads: []*unstructured.Unstructured{started(t, "operators", container)}}
			if got := len(a.NotWatching(shop)) > 0; got != want[i] {
				t.Errorf("%s, known %t: %t", container, isKnown, got)
			}
		}
	}
}

// TestActorWithAnotherInstallation: another program of an installation does not speak against its scope,
// another installation of the same program does.
func TestActorWithAnotherInstallation(t *testing.T) {
	scoped, silent := "{env: [{name: WATCH_NAMESPACE, value: a}]}", "{args: [webhook]}"
	of := func(life Life, all ...*unstructured.Unstructured) bool {
		return len(Actor{Life: life, Workloads: all}.NotWatching(shop)) > 0
	}
	program := func(args string) *unstructured.Unstructured {
		return started(t, "operators", "{image: 'ghcr.io/acme/op:v1', "+args+"}")
	}
	named := func(w *unstructured.Unstructured, name string) *unstructured.Unstructured {
		w.SetName(name)
		return w
	}
	beside := func(w *unstructured.Unstructured) *unstructured.Unstructured {
		all, _, _ := unstructured.NestedSlice(w.Object, "spec", "template", "spec", "containers")
		_ = unstructured.SetNestedSlice(w.Object, append([]any{map[string]any{"image": "gcr.io/kubebuilder/kube-rbac-proxy:v0.16.0"}}, all...),
			"spec", "template", "spec", "containers")
		return w
	}
	down := started(t, "elsewhere", silent)
	_ = unstructured.SetNestedField(down.Object, int64(0), "status", "readyReplicas")
	for name, test := range map[string]struct {
		got, want bool
	}{
		"with another operator that watches the namespace": {of(Alive, program("args: [--namespaces=a]"),
			started(t, "operators", "{image: acme/backup, args: [--namespaces=shop]}")), true},
		"with another operator elsewhere": {of(Alive, program("args: [--namespaces=a]"),
			named(started(t, "elsewhere", "{image: acme/backup}"), "backup")), true},
		"with another operator with the same sidecar": {of(Alive, beside(program("args: [--namespaces=a]")),
			named(beside(started(t, "operators", "{image: acme/backup}")), "backup")), true},
		"with a mirrored image":     {of(Alive, program("args: [--namespaces=a]"), started(t, "elsewhere", "{image: 'acme/mirror/op'}")), false},
		"with its webhook":          {of(Alive, named(started(t, "operators", silent), "webhook"), started(t, "operators", scoped)), true},
		"with another installation": {of(Alive, started(t, "operators", scoped), started(t, "elsewhere", silent)), false},
		"with another that is down": {of(Alive, started(t, "operators", scoped), down), true},
		"with another for the object": {of(Alive, started(t, "operators", scoped),
			started(t, "shop", "{args: [--namespaces=shop]}")), false},
		"with a shard for others":       {of(Alive, program("args: [--label-selector=shard=1]"), program("args: [--label-selector=!shard]")), true},
		"with its shard":                {of(Alive, program("args: [--label-selector=shard=1]"), program("args: [--label-selector=shard=2]")), false},
		"with the program for all":      {of(Alive, program("args: [--label-selector=shard=1]"), program("args: []")), false},
		"not known to be alive":         {of(Unknown, started(t, "operators", scoped)), false},
		"nothing but what has no scope": {of(Alive, started(t, "operators", silent)), false},
	} {
		if test.got != test.want {
			t.Errorf("%s: %v, want %v", name, test.got, test.want)
		}
	}
	if all := (Actor{Life: Alive, Workloads: []*unstructured.Unstructured{started(t, "a", scoped), started(t, "b",
		"{args: [--label-selector=shard=1]}")}}).NotWatching(shop); len(all) != 2 || !all[0].Selector {
		t.Errorf("one of another namespace comes before one of another shard: %+v", all)
	}
	if (Actor{Life: Alive, Workloads: []*unstructured.Unstructured{started(t, "operators", scoped)}}).
		NotWatching(&unstructured.Unstructured{Object: map[string]any{}}) != nil {
		t.Error("an object that is in no namespace is left out")
	}
}
