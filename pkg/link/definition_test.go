package link

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// definition reads a definition, and fails the test if it would be refused.
func definition(t testing.TB, text string) *Definition {
	t.Helper()
	d := &Definition{ID: "it", Name: "it", Verified: BySource, Source: "https://example.com/it.go"}
	if err := yaml.UnmarshalStrict([]byte(text), d); err != nil {
		t.Fatal(err)
	}
	if errs := d.Check(); len(errs) > 0 {
		t.Fatal(errs)
	}
	return d
}

func object(t testing.TB, text string) map[string]any {
	t.Helper()
	var o map[string]any
	if err := yaml.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

func written(all []Named) string {
	var lines []string
	for _, n := range all {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s/%s %s %s/%s %s", n.Group, n.Version, n.Kind, n.Namespace,
			n.Name, n.UID)))
	}
	return strings.Join(lines, "\n")
}

const (
	claimLink = `
from: {category: claim}
ends: [{form: reference, field: spec.resourceRef}]
deletion: {of: end, by: Crossplane, finalizer: finalizer.apiextensions.crossplane.io, policy: background, policyField: spec.compositeDeletePolicy, waits: foreground}`
	applicationLink = `
from: {kinds: [argoproj.io/Application]}
ends: [{form: reference, field: 'status.resources[*]'}]
deletion:
  of: end
  by: Argo CD
  finalizer: resources-finalizer.argocd.argoproj.io*
  policy: foreground
  waits: always
  keep: [{annotation: helm.sh/resource-policy, value: keep}, {field: spec.keep, value: 'true'}]`
	kustomizationLink = `
from: {kinds: [kustomize.toolkit.fluxcd.io/Kustomization]}
ends:
- form: text
  field: status.inventory.entries[*].id
  match: ^(?P<namespace>[^_]*)_(?P<name>.+)_(?P<group>[^_]*)_(?P<kind>[^_]+)$
  replace: {__: ':'}
deletion:
  of: end
  by: Flux
  finalizer: finalizers.fluxcd.io
  policy: background
  waits: never
  never: [[{field: spec.suspend, value: 'true'}], [{field: spec.prune, value: 'false', empty: true}, {field: spec.deletionPolicy, value: MirrorPrune, empty: true}]]`
	releaseLink = `
from: {kinds: [v1/Secret], where: [{label: owner, value: helm}]}
ends: [{form: manifest, field: data.release, decode: [base64, base64, gzip, json], in: manifest}]
deletion: {of: neither}`
	trackedLink = `
from: {kinds: ['*'], where: [{label: tool/name}]}
ends: [{form: text, field: "metadata.labels['tool/name']", kind: tool.example.com/App, namespace: "{metadata.labels['tool/namespace']}"}]
owner: end
deletion: {of: neither}`
	trackerLink = `
from: {kinds: [example.com/Tracker]}
ends: [{form: reference, field: 'spec.objects[*]', where: [{field: cluster, value: local, empty: true}], namespace: shop}]
deletion: {of: neither}`
	applySetLink = `
from: {kinds: ['*'], where: [{label: applyset.kubernetes.io/id}]}
ends:
- form: labels
  labels: applyset.kubernetes.io/part-of={metadata.labels['applyset.kubernetes.io/id']}
  kinds: ['*']
deletion: {of: neither}`
)

// TestEndsOfAnObject reads what the objects of real programs name.
func TestEndsOfAnObject(t *testing.T) {
	for name, c := range map[string]struct{ link, object, want string }{
		"a claim of Crossplane": {claimLink,
			"{metadata: {name: c, namespace: apps}, spec: {resourceRef: {apiVersion: platform.example.org/v1, kind: XDatabase, name: c-28lhm}}}",
			"platform.example.org/v1 XDatabase apps/c-28lhm"},
		"a claim without a composite": {claimLink, "{metadata: {name: c, namespace: apps}, spec: {}}", ""},
		"a claim whose reference is being filled in": {claimLink,
			"{metadata: {name: c}, spec: {resourceRef: {apiVersion: v1, kind: X, name: ''}}}", ""},
		"an Application": {applicationLink, `{metadata: {name: a, namespace: argocd}, status: {resources: [
			{kind: ConfigMap, name: settings, namespace: guest, version: v1}, {group: apps, kind: Deployment, name: web, namespace: guest, version: v1}]}}`,
			"/ ConfigMap guest/settings\napps/ Deployment guest/web"},
		"an inventory of Flux": {kustomizationLink,
			"{metadata: {name: k, namespace: flux-system}, status: {inventory: {entries: [{id: shop_web_apps_Deployment, v: v1}, {id: _system__it_rbac.authorization.k8s.io_ClusterRole, v: v1}, {id: shop_a_b__Service, v: v1}]}}}",
			"apps/ Deployment shop/web\nrbac.authorization.k8s.io/ ClusterRole flux-system/system:it\n/ Service shop/a_b"},
		"an object whose labels name its namespace too": {trackedLink,
			"{metadata: {name: x, namespace: shop, labels: {tool/name: a, tool/namespace: tools}}}",
			"tool.example.com/ App tools/a"},
		"one whose labels do not": {trackedLink, "{metadata: {name: x, namespace: shop, labels: {tool/name: a}}}", ""},
		"a tracker of several clusters": {trackerLink,
			"{spec: {objects: [{apiVersion: v1, kind: Pod, name: a}, {cluster: local, apiVersion: v1, kind: Pod, name: b, namespace: x}, {cluster: far, apiVersion: v1, kind: Pod, name: c}]}}",
			"/v1 Pod shop/a\n/v1 Pod x/b"},
	} {
		t.Run(name, func(t *testing.T) {
			named, members, err := definition(t, c.link).References(object(t, c.object))
			if got := written(named); err != nil || len(members) > 0 || got != c.want {
				t.Errorf("%v, %v\n%s\nwant\n%s", err, members, got, c.want)
			}
		})
	}
}

// TestAnObjectThatIsAReference: the fields of a usage stand at the top of it, and say no group:
// that of the usage is meant. Of kinds that are not listed it is no usage.
func TestAnObjectThatIsAReference(t *testing.T) {
	t.Parallel()
	d := definition(t, `
from: {kinds: ['*/ProviderConfigUsage']}
ends:
- form: reference
  keys: {kind: providerConfigRef.kind, name: providerConfigRef.name}
  kind: '*/ProviderConfig'
  kinds: ['*/ProviderConfig', '*/ClusterProviderConfig']
deletion: {of: neither}
owner: end`)
	for reference, want := range map[string]string{
		"{name: self}": "kubernetes.example.org/v1 ProviderConfig apps/self",
		"{kind: ClusterProviderConfig, name: everywhere}": "kubernetes.example.org/v1 ClusterProviderConfig apps/everywhere",
		"{kind: Secret, name: self}":                      "",
		"{kind: ProviderConfig}":                          "",
	} {
		named, _, err := d.References(object(t,
			"{apiVersion: kubernetes.example.org/v1, kind: ProviderConfigUsage, metadata: {name: it, namespace: apps}, providerConfigRef: "+reference+"}"))
		if got := written(named); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", reference, got, err, want)
		}
		if len(named) > 0 && named[0].Field != "providerConfigRef.name" {
			t.Errorf("%s: named in %q", reference, named[0].Field)
		}
	}
	if d.MetadataOnly() || d.LeavesNamespace() {
		t.Errorf("metadata only %t, leaves its namespace %t", d.MetadataOnly(), d.LeavesNamespace())
	}
	for kind, want := range map[string]bool{"ProviderConfig": true, "ClusterProviderConfig": true, "Secret": false} {
		if d.Ends[0].CanBe("kubernetes.example.org", kind) != want {
			t.Errorf("the end can be a %s: %t, want %t", kind, !want, want)
		}
	}
}

// TestEndsOfAHelmRelease: the manifest is in the Secret, packed three times over, and documents of
// comments are none.
func TestEndsOfAHelmRelease(t *testing.T) {
	manifest := "---\n# Source: shop/templates/sa.yaml\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: web}\n---\n# nothing\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: other}\n"
	release, err := json.Marshal(map[string]any{"name": "shop", "manifest": manifest})
	if err != nil {
		t.Fatal(err)
	}
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write(release); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	text := base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString(zipped.Bytes())))
	secret := map[string]any{
		"metadata": map[string]any{"name": "sh.helm.release.v1.shop.v1", "namespace": "shop",
			"labels": map[string]any{"owner": "helm"}},
		"data": map[string]any{"release": text},
	}
	d := definition(t, releaseLink)
	named, _, err := d.References(secret)
	if want := "/v1 ServiceAccount shop/web\napps/v1 Deployment other/web"; err != nil || written(named) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, written(named), want)
	}
	for what, release := range map[string]any{"no base64": "%",
		"no gzip": base64.StdEncoding.EncodeToString([]byte("eA==")), "no text": int64(1)} {
		secret["data"] = map[string]any{"release": release}
		if named, _, err := d.References(secret); err == nil || len(named) > 0 ||
			!strings.Contains(err.Error(), "data.release") {
			t.Errorf("%s: %v, %v", what, named, err)
		}
	}
	secret["metadata"].(map[string]any)["labels"] = map[string]any{}
	if named, _, err := d.References(secret); err != nil || len(named) > 0 {
		t.Errorf("a Secret of others: %v, %v", named, err)
	}
}

// TestMembersOfAnApplySet: the selector is filled in from the source, and there is none if the
// source does not have it.
func TestMembersOfAnApplySet(t *testing.T) {
	d := definition(t, applySetLink)
	_, members, err := d.References(object(t,
		"{metadata: {name: s, namespace: shop, labels: {applyset.kubernetes.io/id: applyset-x-v1}}}"))
	if err != nil || len(members) != 1 || members[0].Labels != "applyset.kubernetes.io/part-of=applyset-x-v1" ||
		members[0].Namespace != "shop" {
		t.Errorf("%v, %+v", err, members)
	}
	for _, o := range []string{"{metadata: {name: s}}",
		"{metadata: {name: s, labels: {applyset.kubernetes.io/id: 'a,b'}}}"} {
		if _, members, err := d.References(object(t, o)); err != nil || len(members) > 0 {
			t.Errorf("%s: %v, %+v", o, err, members)
		}
	}
}

// TestMembersWithAName: ends that a selector finds can have to have the source's name too.
func TestMembersWithAName(t *testing.T) {
	d := definition(t, `
from: {kinds: [example.org/Version]}
ends: [{form: labels, labels: 'copiedFrom={metadata.namespace}', name: '{metadata.name}', kinds: [example.org/Version], namespace: any}]
deletion: {of: neither}`)
	_, members, err := d.References(object(t, "{metadata: {name: v1, namespace: shop}}"))
	if err != nil || len(members) != 1 || members[0].Labels != "copiedFrom=shop" || members[0].Name != "v1" ||
		members[0].Namespace != "" {
		t.Errorf("%v, %+v", err, members)
	}
	if !d.MetadataOnly() {
		t.Error("the metadata of a source is all that it needs")
	}
}

// TestSourceThatAnAnnotationTells: only what has the annotation can name an end, which is of the
// kind of the link, whatever the source is.
func TestSourceThatAnAnnotationTells(t *testing.T) {
	d := definition(t, `
from: {kinds: [v1/Secret], where: [{annotation: example.org/uid}]}
ends: [{form: reference, kind: v1/ServiceAccount, keys: {name: "metadata.annotations['example.org/name']"}}]
deletion: {of: neither}`)
	if keys, all := d.SourceAnnotations(); !all || !slices.Equal(keys, []string{"example.org/uid"}) {
		t.Errorf("by its conditions: %v, %t", keys, all)
	}
	d.From.Where[0].Not = true
	if keys, all := d.SourceAnnotations(); !all || !slices.Equal(keys, []string{"example.org/name"}) {
		t.Errorf("by its ends: %v, %t", keys, all)
	}
	if e := d.Ends[0]; !e.CanBe("", "ServiceAccount") || e.CanBe("", "Secret") {
		t.Errorf("the end can be a ServiceAccount: %t, and a Secret: %t", e.CanBe("", "ServiceAccount"), e.CanBe("", "Secret"))
	}
	d = definition(t, `
from: {kinds: [v1/Secret]}
ends: [{form: labels, labels: 'of={metadata.name}', kinds: [v1/ConfigMap]}]
deletion: {of: neither}`)
	if keys, all := d.SourceAnnotations(); all {
		t.Errorf("of a selector: %v", keys)
	}
}

// TestProgramThatNeverDeletes: what it leaves it does not say of each object.
func TestProgramThatNeverDeletes(t *testing.T) {
	d := definition(t, `
from: {kinds: [example.org/Subscription]}
ends: [{form: text, field: status.installed, kind: example.org/Version}]
deletion: {of: end, by: OLM, policy: orphan, waits: never}`)
	if got := d.EffectOf(object(t, "{status: {installed: v1}}"), nil); got != (Effect{Policy: Orphan}) {
		t.Errorf("got %+v", got)
	}
}

// TestProgramThatCannotDelete: of a source that meets all conditions the ends cannot be deleted.
func TestProgramThatCannotDelete(t *testing.T) {
	d := definition(t, `
from: {kinds: [example.org/Definition]}
ends: [{form: instances, field: spec, keys: {kind: names.kind}}]
deletion:
  of: end
  by: Crossplane
  finalizer: example.org/defined
  policy: background
  waits: always
  fails: {where: [{field: spec.scope, value: Namespaced}], because: it cannot}`)
	for source, want := range map[string]string{"{spec: {scope: Namespaced}}": "it cannot", "{spec: {scope: Cluster}}": "", "{}": ""} {
		if got := d.FailsFor(object(t, source)); got != want {
			t.Errorf("%s: %q, want %q", source, got, want)
		}
	}
	if d.MetadataOnly() {
		t.Error("the metadata of a source is taken for enough")
	}
}

// TestEffectOfADeletion: the finalizer, what the source says of the policy, and what makes that
// nothing is deleted.
func TestEffectOfADeletion(t *testing.T) {
	const crossplane, argo, flux = "finalizer.apiextensions.crossplane.io",
		"resources-finalizer.argocd.argoproj.io/background", "finalizers.fluxcd.io"
	for name, c := range map[string]struct {
		link, object string
		finalizer    string
		want         Effect
	}{
		"a claim": {claimLink, "{spec: {}}", crossplane, Effect{Deletes: true, Policy: Background}},
		"a claim with Foreground": {claimLink, "{spec: {compositeDeletePolicy: Foreground}}", crossplane,
			Effect{Deletes: true, Policy: Foreground, Waits: true}},
		"a claim without a finalizer": {claimLink, "{spec: {}}", "x",
			Effect{Why: "it does not have the finalizer " + crossplane}},
		"an Application in background": {applicationLink, "{}", argo,
			Effect{Deletes: true, Policy: Foreground, Waits: true}},
		"a Kustomization that prunes": {kustomizationLink, "{spec: {prune: true}}", flux,
			Effect{Deletes: true, Policy: Background}},
		"one that is suspended": {kustomizationLink, "{spec: {prune: true, suspend: true}}", flux,
			Effect{Why: "spec.suspend is true"}},
		"one that does not prune": {kustomizationLink, "{spec: {prune: false}}", flux,
			Effect{Why: "spec.prune is false or is not set and spec.deletionPolicy is MirrorPrune or is not set"}},
		"one that deletes all the same": {kustomizationLink, "{spec: {prune: false, deletionPolicy: Delete}}", flux,
			Effect{Deletes: true, Policy: Background}},
		"a release": {releaseLink, "{}", "", Effect{}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := definition(t, c.link).EffectOf(object(t, c.object), []string{c.finalizer}); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

// TestSettingThePolicyOfAClaim: a deletion in the foreground sets the field where the claim has it
// and says something else, and not where the pack does not say so.
func TestSettingThePolicyOfAClaim(t *testing.T) {
	const finalizer = "finalizer.apiextensions.crossplane.io"
	setting := strings.Replace(claimLink, "policyField:", "foreground: Foreground, policyField:", 1)
	for name, c := range map[string]struct {
		link, object, finalizer string
		want                    bool
	}{
		"Background":           {setting, "{spec: {compositeDeletePolicy: Background}}", finalizer, true},
		"Foreground already":   {setting, "{spec: {compositeDeletePolicy: Foreground}}", finalizer, false},
		"without the field":    {setting, "{spec: {}}", finalizer, false},
		"without a finalizer":  {setting, "{spec: {compositeDeletePolicy: Background}}", "x", false},
		"a pack that does not": {claimLink, "{spec: {compositeDeletePolicy: Background}}", finalizer, false},
	} {
		got, ok := definition(t, c.link).InForeground(object(t, c.object), []string{c.finalizer})
		if ok != c.want || ok && got != (Effect{Deletes: true, Policy: Foreground, Waits: true}) {
			t.Errorf("%s: %t, %+v", name, ok, got)
		}
	}
	for text, want := range map[string]string{"spec.compositeDeletePolicy": "/spec/compositeDeletePolicy",
		"metadata.annotations['a.b/c~d']": "/metadata/annotations/a.b~1c~0d", "spec.list[*]": "none"} {
		p, err := ParsePath(text)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := p.Pointer()
		if !ok {
			got = "none"
		}
		if got != want {
			t.Errorf("the pointer of %s is %s, want %s", text, got, want)
		}
	}
}

// TestWhatComesBack: a program creates an end again if the pack says so, and the source does not
// say otherwise.
func TestWhatComesBack(t *testing.T) {
	suspended := strings.Replace(kustomizationLink, "deletion:",
		"recreates: [{where: [{field: spec.suspend, value: 'true', not: true}]}, {where: [{field: spec.prune, value: 'true', not: true}], by: kubectl, with: the next apply}]\ndeletion:", 1)
	for name, c := range map[string]struct {
		link, object string
		want         string
	}{
		"nothing said":        {kustomizationLink, "{}", ""},
		"a condition is met":  {suspended, "{spec: {prune: true}}", "Flux"},
		"only a later one is": {suspended, "{spec: {suspend: true}}", "kubectl with the next apply"},
		"no condition is met": {suspended, "{spec: {suspend: true, prune: true}}", ""},
	} {
		got := ""
		if r := definition(t, c.link).RecreatedBy(object(t, c.object)); r != nil {
			got = r.By
			if r.With != "" {
				got += " with " + r.With
			}
		}
		if got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestWhatStays: an end that says so is kept, and the reason is what it says.
func TestWhatStays(t *testing.T) {
	d := definition(t, applicationLink)
	for o, want := range map[string]string{
		"{metadata: {annotations: {helm.sh/resource-policy: keep}}}": "annotation helm.sh/resource-policy is keep",
		"{metadata: {annotations: {helm.sh/resource-policy: no}}}":   "",
		"{spec: {keep: true}}": "spec.keep is true",
	} {
		if got, kept := Kept(d.KeepOf(nil), object(t, o)); got != want || kept != (want != "") {
			t.Errorf("%s: %q, want %q", o, got, want)
		}
	}
	_, whole := d.AsksEnds()
	if asks, of := definition(t, kustomizationLink).AsksEnds(); !whole || asks && of {
		t.Error("a condition on a field takes the whole end, and one on an annotation does not")
	}
}

// TestWhatAnotherSourceHas: an end that names another source than the one that is deleted stays.
func TestWhatAnotherSourceHas(t *testing.T) {
	d := keeping(t, "{label: of, value: '{metadata.name}', not: true}")
	mine := object(t, "{metadata: {labels: {of: shop}}}")
	for source, want := range map[string]string{
		"{metadata: {name: shop}}":     "",
		"{metadata: {name: other}}":    "label of is not other",
		"{metadata: {name: 'a, b=c'}}": "", // no name
		"{}":                           "",
	} {
		if got, kept := Kept(d.KeepOf(object(t, source)), mine); got != want || kept != (want != "") {
			t.Errorf("%s: %q, want %q", source, got, want)
		}
	}
}

// TestWhatTheSourceHasStay: an end stays only if the source asks for it, and the reason says who
// deletes it all the same.
func TestWhatTheSourceHasStay(t *testing.T) {
	d := keeping(t, "{annotation: options, has: Delete=*, not: true, where: [{field: spec.keep, value: 'true'}], since: '3.4'}")
	for _, c := range []struct{ source, end, want string }{
		{"{spec: {keep: true}}", "{}",
			"spec.keep is true and annotation options does not have Delete=*; versions before 3.4 delete it"},
		{"{spec: {keep: true}}", "{metadata: {annotations: {options: Delete=true}}}", ""},
		{"{}", "{}", ""},
	} {
		if got, kept := Kept(d.KeepOf(object(t, c.source)), object(t, c.end)); got != c.want || kept != (c.want != "") {
			t.Errorf("%s of %s: %q, want %q", c.end, c.source, got, c.want)
		}
	}
}

// keeping is a link of labels whose ends stay with a condition. One that asks the source takes the
// whole of it.
func keeping(t *testing.T, condition string) *Definition {
	t.Helper()
	d := definition(t, `
from: {kinds: ['*'], where: [{label: part}]}
ends: [{form: text, field: metadata.labels.part, kind: v1/Pod}]
deletion: {of: end, by: it, policy: background, waits: never, keep: [`+condition+`]}`)
	plain := *d
	plain.Deletion.Keep = nil
	if d.MetadataOnly() || !plain.MetadataOnly() {
		t.Error("the metadata of a source is enough although a condition asks the source, or is not without one")
	}
	return d
}

// TestSourcesByKindAndCategory: kinds are patterns, and a category narrows them.
func TestSourcesByKindAndCategory(t *testing.T) {
	claim := definition(t, claimLink).From
	if !claim.Matches("platform.example.org", "Database", []string{"all", "claim"}) ||
		claim.Matches("platform.example.org", "Database", nil) {
		t.Error("a category is not what decides")
	}
	if app := definition(t, applicationLink).From; !app.Matches("argoproj.io", "Application", nil) ||
		app.Matches("argoproj.io", "AppProject", nil) {
		t.Error("a kind is not what decides")
	}
	if any := definition(t, applySetLink).From; !any.Anything() || !any.Matches("", "ConfigMap", nil) {
		t.Error("* is not any kind")
	}
}

// TestPaths: a path is read and written alike, and what is none is refused.
func TestPaths(t *testing.T) {
	o := object(t, "{a: {b.c/d: [{e: x}, {e: 1}, {f: why}, z]}, g: true}")
	for text, want := range map[string][]any{
		"a['b.c/d'][*].e": {"x", int64(1)}, "a['b.c/d'][*].f": {"why"}, "g": {true}, "a.x": nil, "g.x": nil, "a[*]": nil,
		"": {o},
	} {
		p, err := ParsePath(text)
		if err != nil || p.String() != text {
			t.Errorf("%q: %q, %v", text, p, err)
		}
		if got := p.all(o); text != "" && fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q leads to %v, want %v", text, got, want)
		}
	}
	for _, text := range []string{".a", "a..b", "a.", "a[0]", "a['b", "a['']", "a b", "a[*]b", "$.a"} {
		if p, err := ParsePath(text); err == nil {
			t.Errorf("%q is taken for %q", text, p)
		}
	}
}

// FuzzParsePath: what is taken for a path is written as it was read, and reading an object by it
// does not fail.
func FuzzParsePath(f *testing.F) {
	for _, text := range []string{"a.b", "a['b.c'][*]", "[*]", "a['[*]']"} {
		f.Add(text)
	}
	o := map[string]any{"a": map[string]any{"b": []any{"c"}}}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePath(text)
		if err != nil {
			return
		}
		again, err := ParsePath(p.String())
		if err != nil || !slices.Equal(p.steps, again.steps) {
			t.Errorf("%q is %q, which is %q, %v", text, p.steps, again.steps, err)
		}
		p.all(o)
	})
}

// TestDefinitionsThatAreRefused puts one fault into a definition at a time; the error says what to
// do.
func TestDefinitionsThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"no source kinds":      {"{category: claim}", "{}", `"from": "kinds" is empty`},
		"any kind":             {"{category: claim}", "{kinds: ['*']}", `"where" is empty`},
		"a kind without group": {"{category: claim}", "{kinds: [Claim]}", "write v1/Kind, group/Kind"},
		"no ends":              {"[{form: reference, field: spec.resourceRef}]", "[]", `"ends" is empty`},
		"no form":              {"form: reference, ", "", `"ends", number 1: "form" is ""`},
		"no field":             {", field: spec.resourceRef", "", `"field" is missing`},
		"a name of no kind":    {"form: reference", "form: text", `"kind" is missing`},
		"match of a reference": {"form: reference", "form: reference, match: ^x$", `for the form "text"`},
		"match without anchor": {"form: reference", "form: text, match: x", "begin it with ^"},
		"match without name":   {"form: reference", "form: text, match: '^(?P<kind>x)$'", `the group "name"`},
		"match with more": {"form: reference", "form: text, match: '^(?P<name>x)(?P<kind>x)(?P<age>x)$'",
			`the group "age"`},
		"an unknown key":      {"form: reference", "form: reference, keys: {age: spec.age}", `"keys" has "age"`},
		"labels of reference": {"form: reference", "form: reference, labels: a=b", `are for the form "labels"`},
		"a group left open": {"form: reference, field: spec.resourceRef", "form: text, field: spec.name, kind: '*/Pod'",
			`"kind" is "*/Pod"`},
		"kinds of a text": {"form: reference, field: spec.resourceRef",
			"form: text, field: spec.name, kind: v1/Pod, kinds: [v1/Pod]", `"kinds" is for the forms`},
		"no field and no name": {"form: reference, field: spec.resourceRef", "form: reference, keys: {kind: spec.kind}",
			`"field" is missing`},
		"no labels": {"form: reference, field: spec.resourceRef", "form: labels", `give "labels" or "fields", and the "kinds"`},
		"bad labels": {"form: reference, field: spec.resourceRef", "form: labels, labels: '=', kinds: ['*']",
			"is no label selector"},
		"bad placeholder": {"form: reference, field: spec.resourceRef", "form: labels, labels: 'a={b c}', kinds: ['*']",
			"is no path"},
		"no direction":        {"of: end, ", "", `"deletion": "of" is ""`},
		"no program":          {"by: Crossplane, ", "", `"by" is missing`},
		"a policy of none":    {"policy: background", "policy: never", `"policy" is "never": it must be one of background`},
		"a finalizer of none": {"of: end", "of: neither", "leave out what says how a deletion travels"},
		"any finalizer":       {"finalizer: finalizer.apiextensions.crossplane.io", "finalizer: '*'", "write how it begins"},
		"a failure of none":   {"of: end, ", "of: source, fails: {where: [{field: a}], because: b}, ", `"fails" is of ends that go`},
		"a failure of all":    {"of: end, ", "of: end, fails: {because: b}, ", `"fails" is of ends that go`},
		"an account of none":  {"of: end, ", "of: source, as: spec.account, ", `"as" is of ends that go`},
		"an empty never":      {"waits: foreground", "waits: foreground, never: [[]]", `"never", number 1, is empty`},
		"a bad namespace":     {"form: reference", "form: reference, namespace: 'a/b'", `"namespace" is "a/b"`},
		"a namespace of {}":   {"form: reference", "form: reference, namespace: '{}'", `"namespace" has {}`},
		"name of reference":   {"form: reference", "form: reference, name: a", `"name" and "fields" are for the form "labels"`},
		"where without fields": {"form: reference", "form: manifest, where: [{field: a}]",
			`"where" is for the form "reference"`},
		"an owner besides of":  {"deletion:", "owner: end\ndeletion:", `"owner" is for a deletion "of" neither`},
		"before with its ends": {"deletion:", "before: true\ndeletion:", `"before" is for a source that needs its ends`},
		"recreates nothing":    {"of: end, by: Crossplane, finalizer: finalizer.apiextensions.crossplane.io, policy: background, policyField: spec.compositeDeletePolicy, waits: foreground}", "of: neither}\nrecreates: [{}]", `"recreates", number 1: "by" is missing`},
		"recreates if": {"deletion: {of: end", "recreates: [{where: [{value: x}]}]\ndeletion: {of: end",
			`"recreates", number 1: condition 1`},
		"dependents of no kind": {"form: reference, field: spec.resourceRef", "form: dependents", `give the "kinds" of dependents`},
		"dependents at a field": {"form: reference, field: spec.resourceRef", "form: dependents, field: a, kinds: [v1/Pod]",
			`give the "kinds" of dependents`},
		"dependents that go": {"form: reference, field: spec.resourceRef", "form: dependents, kinds: [v1/Pod]",
			`"dependents" are the only form`},
		"a policy of no field": {"policyField: spec.compositeDeletePolicy", "foreground: Foreground",
			`"foreground" is for a "policyField"`},
		"a policy of a list": {"policyField: spec.compositeDeletePolicy", "policyField: 'spec.a[*]', foreground: Foreground",
			`"foreground" is for a "policyField"`},
		"another policy": {"policyField: spec.compositeDeletePolicy", "policyField: spec.a, foreground: Background",
			`"foreground" is "Background"`},
		"recreates upwards":  {"deletion: {of: end", "recreates: [{}]\ndeletion: {of: source", `"recreates" is for a source`},
		"a bad value":        {"waits: foreground", "waits: foreground, keep: [{label: a, value: '{b c}'}]", "is no path"},
		"a bad where":        {"waits: foreground", "waits: foreground, keep: [{label: a, where: [{value: x}]}]", "give exactly one of"},
		"an empty condition": {"waits: foreground", "waits: foreground, keep: [{value: x}]", "give exactly one of"},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(claimLink, c.old) {
				t.Fatalf("%q is not in the definition", c.old)
			}
			d := &Definition{ID: "it", Name: "it", Verified: BySource, Source: "https://example.com/it.go"}
			if err := yaml.UnmarshalStrict([]byte(strings.Replace(claimLink, c.old, c.new, 1)), d); err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(d.Check()); !strings.Contains(got, c.want) {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
