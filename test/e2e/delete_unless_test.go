package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

const (
	webConfig = "{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: NS}}"
	hpaV1     = "{apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, metadata: {name: web}, spec: {maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}}"
	hpaV2     = "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web}, spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}}"
	pdbOld    = "{apiVersion: policy/v1beta1, kind: PodDisruptionBudget, metadata: {name: web}, spec: {maxUnavailable: 1}}"
	role      = "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: NS-reader}}"
)

// TestDeleteUnlessIn: of each change, what the one side has and the other has not is the root of the
// plan, by group, kind, namespace and name.
func TestDeleteUnlessIn(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	for _, o := range []string{webConfig, hpaV1, strings.Replace(pdbOld, "v1beta1", "v1", 1), role,
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: web-7c4f}}", "{apiVersion: v1, kind: Secret, metadata: {name: web}}"} {
		c.Apply(t, strings.ReplaceAll(o, "NS", ns), "-n", ns)
	}
	t.Cleanup(func() { c.Kubectl(t, "delete", "clusterrole", ns+"-reader") })
	c.Apply(t, strings.ReplaceAll(liveOf(incidents), "NS", ns), "-n", ns)
	changes := map[string]change{
		"nothing changed":                     {old: webConfig, new: webConfig},
		"only something else changed":         {old: webConfig, new: "{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: NS}, data: {a: b}}"},
		"removed":                             {old: webConfig + "\n---\n" + hpaV1, new: hpaV1, want: []string{"configmap/web"}},
		"removed from a List":                 {old: "{apiVersion: v1, kind: List, items: [" + webConfig + ", " + hpaV1 + "]}", new: hpaV1, want: []string{"configmap/web"}},
		"moved into a List":                   {old: webConfig, new: "{apiVersion: v1, kind: List, items: [" + webConfig + "]}"},
		"the namespace left out":              {old: webConfig, new: "{apiVersion: v1, kind: ConfigMap, metadata: {name: web}}"},
		"the namespace given":                 {old: "{apiVersion: v1, kind: ConfigMap, metadata: {name: web}}", new: webConfig},
		"another version":                     {old: hpaV1, new: hpaV2},
		"a version that is not served":        {old: pdbOld, new: strings.Replace(pdbOld, "v1beta1", "v1", 1)},
		"removed in a version not served":     {old: pdbOld, new: webConfig, want: []string{"poddisruptionbudget.policy/web"}},
		"another kind of the same name":       {old: webConfig, new: "{apiVersion: v1, kind: Secret, metadata: {name: web}}", want: []string{"configmap/web"}},
		"another group of the same kind":      {old: hpaV1, new: "{apiVersion: example.com/v1, kind: HorizontalPodAutoscaler, metadata: {name: web}}", want: []string{"horizontalpodautoscaler.autoscaling/web"}},
		"only what is selected":               {old: webConfig + "\n---\n" + strings.Replace(hpaV1, "name: web}", "name: web, labels: {a: b}}", 1), new: role, selector: "a=b", want: []string{"horizontalpodautoscaler.autoscaling/web"}},
		"renamed":                             {old: webConfig, new: "{apiVersion: v1, kind: ConfigMap, metadata: {name: web2}}", want: []string{"configmap/web"}},
		"another hash of kustomize":           {old: "{apiVersion: v1, kind: ConfigMap, metadata: {name: web-7c4f}}", new: "{apiVersion: v1, kind: ConfigMap, metadata: {name: web-9d2b}}", want: []string{"configmap/web-7c4f"}},
		"never applied":                       {old: "{apiVersion: v1, kind: ConfigMap, metadata: {name: absent}}", new: hpaV1},
		"cluster-scoped":                      {old: role, new: webConfig, want: []string{"clusterrole.rbac.authorization.k8s.io/NS-reader"}},
		"cluster-scoped with a namespace":     {old: role, new: strings.Replace(role, "NS-reader", "NS-reader, namespace: NS", 1)},
		"named twice":                         {old: webConfig + "\n---\n" + webConfig, new: hpaV1, want: []string{"configmap/web"}},
		"a kind that is not served stays":     {old: "{apiVersion: example.com/v1, kind: Gadget, metadata: {name: a}}\n---\n" + webConfig, new: "{apiVersion: example.com/v1, kind: Gadget, metadata: {name: a, namespace: NS}}", want: []string{"configmap/web"}},
		"a kind that is not served goes":      {old: "{apiVersion: example.com/v1, kind: Gadget, metadata: {name: a}}\n---\n" + webConfig, new: hpaV1, want: []string{"configmap/web"}},
		"no name":                             {old: "{apiVersion: v1, kind: ConfigMap, metadata: {generateName: web-}}", new: hpaV1, err: "resource name may not be empty"},
		"all of the other side is gone":       {old: webConfig, new: "# nothing\n", err: "all objects of the other side would be deleted"},
		"a List without items":                {old: webConfig, new: "{apiVersion: v1, kind: List}", err: "all objects of the other side would be deleted"},
		"the other side is no YAML":           {old: webConfig, new: "metadata: {name: {{ .Release.Name }}}", err: "error"},
		"the other side has no kind":          {old: webConfig, new: "{metadata: {name: web}}", err: "error"},
		"a chart that is not rendered":        {old: webConfig, new: "==Chart.yaml: name: web\n", err: "render it with helm template"},
		"a kustomization":                     {old: webConfig + "\n---\n" + hpaV1, new: "==kustomization.yaml: {namespace: NS, resources: [a.yaml]}\n==a.yaml: {apiVersion: v1, kind: ConfigMap, metadata: {name: web}}", want: []string{"horizontalpodautoscaler.autoscaling/web"}},
		"two kustomizations":                  {old: "==kustomization.yaml: {namespace: NS, resources: [a.yaml], patches: [{path: p.yaml}]}\n==a.yaml: " + webConfig + "\n---\n" + hpaV1 + "\n==p.yaml: {apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: NS}, data: {a: b}}", new: "==kustomization.yaml: {namespace: NS, resources: [a.yaml]}\n==a.yaml: " + webConfig, want: []string{"horizontalpodautoscaler.autoscaling/web"}},
		"a kustomization below a folder":      {old: webConfig, new: "==a.yaml: " + hpaV1 + "\n==overlay/kustomization.yaml: {apiVersion: kustomize.config.k8s.io/v1beta1, kind: Kustomization}\n==overlay/patch.yaml: " + webConfig, err: "name its folder"},
		"a kustomization that does not build": {old: webConfig, new: "==kustomization.yaml: {resources: [b.yaml]}", err: "b.yaml"},
	}
	for scenario, change := range incidents {
		changes[scenario] = change
	}
	for scenario, change := range changes {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			change.plan(t, c, ns)
		})
	}
}

// TestDeleteUnlessInAMistypedNamespace: all that stands in the old side is absent there, and a gate
// that found nothing to delete would pass. A namespace that the manifests have may not be there
// yet. So it is with a file that is named besides a kustomization.
func TestDeleteUnlessInAMistypedNamespace(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	gate := func(namespace, old, kept string) ran {
		return run(t, "delete", "--kubeconfig", c.Kubeconfig(), "-n", namespace, "-f", side(t, old), "--unless-in", side(t, kept))
	}
	const web, other = "{apiVersion: v1, kind: ConfigMap, metadata: {name: web}}", "{apiVersion: v1, kind: ConfigMap, metadata: {name: other}}"
	if got := gate("no-such-namespace", web, other); got.code != 1 || !strings.Contains(got.stderr, `namespaces "no-such-namespace" not found`) {
		t.Errorf("code %d, stdout %q, stderr %q", got.code, got.stdout, got.stderr)
	}
	both := []string{"-f", side(t, web), "-k", side(t, "==kustomization.yaml: {}"), "--unless-in", side(t, other)}
	if got := run(t, append([]string{"delete", "--kubeconfig", c.Kubeconfig()}, both...)...); got.code != 1 ||
		!strings.Contains(got.stderr, "only one of -f or -k can be specified") {
		t.Errorf("code %d, stdout %q, stderr %q", got.code, got.stdout, got.stderr)
	}
	const namespace = "{apiVersion: v1, kind: Namespace, metadata: {name: no-such-namespace}}"
	if got := gate("no-such-namespace", web, namespace); got.code != 0 || !strings.HasPrefix(got.stdout, "Nothing to delete: ") {
		t.Errorf("code %d, stdout %q, stderr %q", got.code, got.stdout, got.stderr)
	}
}

// TestWhatItsPrunerKeepsGoesWithItsOwner, and the plan shows it once, as what goes.
func TestWhatItsPrunerKeepsGoesWithItsOwner(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	const tracked = "annotations: {argocd.argoproj.io/tracking-id: 'shop:x', argocd.argoproj.io/sync-options: Prune="
	top, kept := "{apiVersion: v1, kind: ConfigMap, metadata: {name: top, "+tracked+"true}}}",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: kept, "+tracked+"false}}}"
	c.Apply(t, top+"\n---\n"+kept, "-n", ns)
	c.Kubectl(t, "patch", "configmap", "kept", "-n", ns, "--type=merge", "-p", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"top","uid":"`+
		c.Kubectl(t, "get", "configmap", "top", "-n", ns, "-o", "jsonpath={.metadata.uid}")+`"}]}}`)
	got := run(t, "delete", "--kubeconfig", c.Kubeconfig(), "-n", ns, "-f", side(t, top+"\n---\n"+kept), "--unless-in", side(t, role),
		"--as-pruned-by", "argocd")
	if got.code != 0 || strings.Count(got.stdout, "ConfigMap/kept") != 1 || !strings.Contains(got.stdout, "deletes 2 objects") {
		t.Errorf("code %d: %s%s", got.code, got.stdout, got.stderr)
	}
}

// TestWhatAChangeKeepsAndDeletesAllTheSame: what goes with an owner, with its namespace or with the
// definition of its type although the change keeps it is a finding, in each format.
func TestWhatAChangeKeepsAndDeletesAllTheSame(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	in := func(text string) string { return strings.ReplaceAll(text, "NS", ns) }
	definition := in(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: gadgets.NS.example.com},
  spec: {group: NS.example.com, scope: Namespaced, names: {plural: gadgets, singular: gadget, kind: Gadget, listKind: GadgetList},
    versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}`)
	instance := in("{apiVersion: NS.example.com/v1, kind: Gadget, metadata: {name: one, namespace: NS}}")
	space := in("{apiVersion: v1, kind: Namespace, metadata: {name: NS-away}}")
	inside := in("{apiVersion: v1, kind: Secret, metadata: {name: inside, namespace: NS-away}}")
	top, below := in("{apiVersion: v1, kind: ConfigMap, metadata: {name: top, namespace: NS}}"),
		in("{apiVersion: v1, kind: Secret, metadata: {name: below, namespace: NS}}")
	c.Apply(t, strings.Join([]string{definition, space, top, below}, "\n---\n"), "-n", ns)
	t.Cleanup(func() {
		c.Kubectl(t, "delete", "namespace/"+ns+"-away", "crd/gadgets."+ns+".example.com", "--wait=false")
	})
	c.Apply(t, inside)
	c.Apply(t, instance)
	c.Kubectl(t, "patch", "secret", "below", "-n", ns, "--type=merge", "-p", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"top","uid":"`+
		c.Kubectl(t, "get", "configmap", "top", "-n", ns, "-o", "jsonpath={.metadata.uid}")+`"}]}}`)
	for scenario, test := range map[string]struct{ goes, stays, want string }{
		"its owner goes":          {top, below, "1 object is deleted although the change keeps it: Secret NS/below (its owner ConfigMap/top is gone)"},
		"its namespace goes":      {space, inside, "1 object is deleted although the change keeps it: Secret NS-away/inside ("},
		"its definition goes":     {definition, instance, "1 object is deleted although the change keeps it: Gadget NS/one ("},
		"in another version":      {definition, strings.Replace(instance, "/v1", "/v2", 1), "1 object is deleted although the change keeps it: Gadget NS/one ("},
		"in a List":               {top, "{apiVersion: v1, kind: List, items: [" + below + "]}", "1 object is deleted although the change keeps it: Secret NS/below ("},
		"of another namespace":    {top, in("{apiVersion: v1, kind: Secret, metadata: {name: below, namespace: NS-away}}"), ""},
		"of another kind":         {top, in("{apiVersion: v1, kind: ConfigMap, metadata: {name: below, namespace: NS}}"), ""},
		"nothing that goes stays": {top, in("{apiVersion: v1, kind: Secret, metadata: {name: other, namespace: NS}}"), ""},
	} {
		t.Run(scenario, func(t *testing.T) {
			args := []string{"delete", "--kubeconfig", c.Kubeconfig(), "-f", side(t, test.goes+"\n---\n"+test.stays),
				"--unless-in", side(t, test.stays)}
			planned := run(t, append(args, "-o", "json")...)
			var p v1alpha1.Plan
			if err := json.Unmarshal([]byte(planned.stdout), &p); err != nil || planned.code != 0 {
				t.Fatalf("code %d, %v: %s", planned.code, err, planned.stderr)
			}
			var said string
			for _, f := range p.Findings {
				if f.Code == "KeptByChange" {
					said = f.Message
					if len(f.Objects) != 1 || f.Severity != "warning" {
						t.Errorf("the finding is %+v", f)
					}
				}
			}
			if want := in(test.want); !strings.HasPrefix(said, want) || want == "" && said != "" {
				t.Errorf("the plan says %q, want %q", said, want)
			}
			for _, format := range []string{"wide", "markdown", "sarif", "junit"} {
				got := run(t, append(args, "-o", format, "--fail-on=comes-back")...)
				if strings.Contains(got.stdout, "although the change keeps") != (test.want != "") || (got.code == 2) != (test.want != "") {
					t.Errorf("%s: code %d: %s%s", format, got.code, got.stdout, got.stderr)
				}
			}
		})
	}
}

// change is one of manifests, in which NS is the namespace.
type change struct {
	old, new string // of files, as YAML; or as "folder/file: content" in lines that begin with ==
	// by is the program that prunes, live what is in the cluster if that is not old, and source where
	// the incident was reported.
	by, live, source string
	// selector is that of labels of the manifests.
	selector string
	// spread says that the objects name their namespaces, which are several.
	spread bool
	// want are all objects that are deleted.
	want []string
	err  string
}

// plan plans a change, and compares what is deleted.
func (ch change) plan(t *testing.T, c *testcluster.Cluster, ns string) {
	in := func(text string) string { return strings.ReplaceAll(text, "NS", ns) }
	args := []string{"delete", "--kubeconfig", c.Kubeconfig(), "-f", side(t, in(ch.old)), "--unless-in",
		side(t, in(ch.new)), "-R", "-l", ch.selector, "-o", "name"}
	if !ch.spread {
		args = append(args, "-n", ns)
	}
	if ch.by != "" {
		args = append(args, "--as-pruned-by", ch.by)
	}
	got := run(t, args...)
	names := strings.Fields(got.stdout)
	if strings.HasPrefix(got.stdout, "Nothing to delete: ") {
		names = nil
	}
	if ch.err != "" {
		if got.code != 1 || !strings.Contains(got.stderr, ch.err) || len(names) > 0 {
			t.Errorf("code %d, stdout %q, stderr %q; want %q (%s)", got.code, got.stdout, got.stderr, ch.err, ch.source)
		}
		return
	}
	slices.Sort(names)
	if want := strings.Fields(in(strings.Join(ch.want, " "))); got.code != 0 || !slices.Equal(names, want) ||
		!strings.Contains(got.stderr, "This is a dry run") {
		t.Errorf("code %d, %q, want %q; stderr %q (%s)", got.code, names, want, got.stderr, ch.source)
	}
}

// side writes one side of a change.
func side(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	if !strings.HasPrefix(text, "==") {
		text = "==all.yaml: " + text
	}
	for _, file := range strings.Split(text, "==")[1:] {
		name, content, _ := strings.Cut(file, ": ")
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
