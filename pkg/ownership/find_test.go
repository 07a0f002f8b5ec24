package ownership_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/ownership"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// pack has a link of each form.
const pack = `title: Test
links:
- id: claim
  name: composite
  from: {category: claim}
  ends: [{form: reference, field: spec.resourceRef}]
  deletion: {of: end, by: Crossplane, finalizer: finalizer.apiextensions.crossplane.io, policy: background, policyField: spec.compositeDeletePolicy, waits: foreground}
  recreates: [{}]
  verified: source
  source: https://example.com/it.go
- id: composite-claim
  name: claim
  from: {category: composite}
  ends: [{form: reference, field: spec.claimRef}]
  deletion: {of: lead}
  verified: source
  source: https://example.com/it.go
- id: usage
  name: usage
  from: {kinds: [apiextensions.example.org/Usage]}
  ends: [{form: reference, field: spec.of, keys: {name: resourceRef.name}}]
  deletion: {of: guard}
  verified: source
  source: https://example.com/it.go
- id: slice
  name: endpoints
  from: {kinds: [discovery.k8s.io/EndpointSlice], where: [{label: kubernetes.io/service-name}]}
  ends: [{form: text, field: "metadata.labels['kubernetes.io/service-name']", kind: v1/Service}]
  deletion: {of: guard}
  verified: source
  source: https://example.com/it.go
- id: release
  name: release
  from: {kinds: [v1/Secret], where: [{label: owner, value: helm}]}
  ends: [{form: manifest, field: data.release, decode: [base64, base64, gzip, json], in: manifest}]
  deletion: {of: neither}
  verified: source
  source: https://example.com/it.go
- id: released
  name: release
  from: {kinds: ['*'], where: [{annotation: meta.helm.sh/release-name}]}
  ends:
  - form: labels
    labels: owner=helm,name={metadata.annotations['meta.helm.sh/release-name']}
    kinds: [v1/Secret]
  deletion: {of: lead}
  verified: source
  source: https://example.com/it.go
- id: set
  name: applyset
  from: {kinds: [v1/ConfigMap], where: [{label: applyset.kubernetes.io/id}]}
  ends:
  - form: labels
    labels: applyset.kubernetes.io/part-of={metadata.labels['applyset.kubernetes.io/id']}
    kinds: ['*']
  deletion: {of: end, by: kubectl, policy: background, waits: never, keep: [{annotation: example.com/keep, value: 'true'}]}
  verified: source
  source: https://example.com/it.go
`

func definitions(t testing.TB) []*link.Definition {
	t.Helper()
	r, err := finalizer.Load(fstest.MapFS{"test.yaml": &fstest.MapFile{Data: []byte(pack)}})
	if err != nil {
		t.Fatal(err)
	}
	return r.Links()
}

// withTypes is the control plane that has the types of the tests.
func withTypes(t testing.TB) *testcluster.Cluster {
	t.Helper()
	c := testcluster.Another(t, "types", testcluster.NoControllers())
	fixture.Define(t, c, fixture.Kind{Group: "links.example.org", Kind: "Database", Category: "claim"},
		fixture.Kind{Group: "links.example.org", Kind: "XDatabase", Cluster: true, Category: "composite"},
		fixture.Kind{Group: "apiextensions.example.org", Kind: "Usage", Cluster: true})
	return c
}

// find lists a namespace, or everything if it is empty, and finds the links for an object, given as
// group, resource, namespace and name.
func find(t testing.TB, config *rest.Config, scope string, upwards bool, root ...string) (*ownership.Ownership,
	graph.ID) {
	t.Helper()
	listed := fixture.List(t, config, cluster.ListOptions{Namespace: scope})
	id := listed.Find(t, root[0], root[1], root[2], root[3])
	own, err := ownership.Find(t.Context(), listed.Client, listed.Catalog, ownership.Request{
		Graph: listed.Graph, Scope: scope, Roots: []graph.ID{id}, Upwards: upwards, Definitions: definitions(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	return own, id
}

// drawn is the tree of an object, a row a line.
func drawn(own *ownership.Ownership, id graph.ID, upwards bool) string {
	opts := graph.TreeOptions{Depth: -1, Owners: upwards, Links: own.Links.Dependents}
	if upwards {
		opts.Links = own.Links.Owners
	}
	var lines []string
	for _, row := range own.Graph.Tree([]graph.ID{id}, opts) {
		line := strings.Repeat("  ", row.Indent) + own.Graph.Ref(row.ID).KindName()
		if row.Link != "" {
			line += " by " + row.Link
		}
		if s := own.Graph.State(row.ID); s != graph.Active {
			line += " " + s.String()
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func want(t testing.TB, got, want string) {
	t.Helper()
	if want = strings.Trim(want, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestClaimOfCrossplane: the claim names a composite, which owns what it composes; a Usage stands
// below what it guards; and from the end of it all the owners lead back to the claim. A composite
// that is named and not there is absent.
func TestClaimOfCrossplane(t *testing.T) {
	t.Parallel()
	c := withTypes(t)
	ns := c.Namespace(t)
	x := "x-" + ns
	c.Apply(t, fmt.Sprintf(`apiVersion: links.example.org/v1
kind: Database
metadata: {name: db, namespace: %[1]s, finalizers: [finalizer.apiextensions.crossplane.io]}
spec: {compositeDeletePolicy: Foreground, resourceRef: {apiVersion: links.example.org/v1, kind: XDatabase, name: %[2]s}}
---
apiVersion: links.example.org/v1
kind: Database
metadata: {name: alone, namespace: %[1]s}
spec: {resourceRef: {apiVersion: links.example.org/v1, kind: XDatabase, name: %[2]s-gone}}
---
apiVersion: links.example.org/v1
kind: XDatabase
metadata: {name: %[2]s}
spec: {claimRef: {apiVersion: links.example.org/v1, kind: Database, namespace: %[1]s, name: db}}
`, ns, x))
	uid := strings.TrimSpace(c.Kubectl(t, "get", "xdatabase", x, "-o", "jsonpath={.metadata.uid}"))
	c.Apply(t, fmt.Sprintf(`apiVersion: v1
kind: ConfigMap
metadata:
  name: composed
  namespace: %[1]s
  ownerReferences: [{apiVersion: links.example.org/v1, kind: XDatabase, name: %[2]s, uid: %[3]s, controller: true, blockOwnerDeletion: true}]
---
apiVersion: apiextensions.example.org/v1
kind: Usage
metadata: {name: %[2]s}
spec: {of: {apiVersion: links.example.org/v1, kind: XDatabase, resourceRef: {name: %[2]s}}}
---
apiVersion: apiextensions.example.org/v1
kind: Usage
metadata: {name: %[2]s-other}
spec: {of: {apiVersion: links.example.org/v1, kind: XDatabase, resourceRef: {name: other}}}
`, ns, x, uid))
	t.Cleanup(func() {
		c.Kubectl(t, "patch", "database", "db", "-n", ns, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
		c.Kubectl(t, "delete", "xdatabase/"+x, "usage/"+x, "usage/"+x+"-other")
	})

	own, id := find(t, c.Config(), ns, false, "links.example.org", "databases", ns, "db")
	want(t, drawn(own, id, false), fmt.Sprintf(`
Database/db
  XDatabase/%[1]s by composite
    ConfigMap/composed
    Usage/%[1]s by usage`, x))
	found := own.Links.Found(id)
	if len(found) != 1 || found[0].Effect != (link.Effect{Deletes: true, Policy: link.Foreground, Waits: true}) ||
		found[0].Field != "spec.resourceRef" {
		t.Errorf("the deletion of the claim does %+v", found)
	}
	if found[0].Recreation == nil {
		t.Error("the claim does not create its composite again")
	}
	if !own.Elsewhere || len(own.Gaps) > 0 {
		t.Errorf("elsewhere %t, gaps %v: what a cluster-scoped composite owns can be in any namespace", own.Elsewhere,
			own.Gaps)
	}
	if everywhere, _ := find(t, c.Config(), "", false, "links.example.org", "databases", ns, "db"); everywhere.Elsewhere {
		t.Error("everything is listed")
	}
	alone, id := find(t, c.Config(), ns, false, "links.example.org", "databases", ns, "alone")
	want(t, drawn(alone, id, false), "Database/alone\n  XDatabase/"+x+"-gone by composite Absent")
	if found := alone.Links.Found(id); len(found) != 1 || found[0].Effect.Deletes ||
		!strings.Contains(found[0].Effect.Why, "finalizer.apiextensions.crossplane.io") {
		t.Errorf("a claim without a finalizer does %+v", found)
	}
	up, id := find(t, c.Config(), ns, true, "", "configmaps", ns, "composed")
	want(t, drawn(up, id, true), fmt.Sprintf("ConfigMap/composed\n  XDatabase/%s\n    Database/db by composite", x))
}

// TestWhatAnAbsentObjectLeftBehind: a claim names a composite that is gone. What has an
// ownerReference to the composite stands below it, with the links of its own.
func TestWhatAnAbsentObjectLeftBehind(t *testing.T) {
	t.Parallel()
	c := withTypes(t)
	ns := c.Namespace(t)
	c.Apply(t, fmt.Sprintf(`apiVersion: links.example.org/v1
kind: Database
metadata: {name: db, namespace: %[1]s}
spec: {resourceRef: {apiVersion: links.example.org/v1, kind: XDatabase, name: x-%[1]s}}
---
apiVersion: v1
kind: Service
metadata:
  name: composed
  namespace: %[1]s
  ownerReferences: [{apiVersion: links.example.org/v1, kind: XDatabase, name: x-%[1]s, uid: gone-%[1]s}]
spec: {ports: [{port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: composed-1, namespace: %[1]s, labels: {kubernetes.io/service-name: composed}}
addressType: IPv4
endpoints: []
`, ns))
	own, id := find(t, c.Config(), ns, false, "links.example.org", "databases", ns, "db")
	want(t, drawn(own, id, false),
		"Database/db\n  XDatabase/x-"+ns+
			" by composite Absent\n    Service/composed\n      EndpointSlice/composed-1 by endpoints")
	if !own.Elsewhere {
		t.Error("what an absent cluster-scoped composite owns can be in any namespace")
	}
}

// TestHelmRelease: the Secret's manifest names the objects, one of them in a namespace that was not
// listed and one that is not there, and an object's annotation leads to the release. Other Secrets
// are not read whole.
func TestHelmRelease(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns, other := c.Namespace(t), c.Namespace(t)
	manifest := fmt.Sprintf(
		"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: gone}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: far, namespace: %s}\n", other)
	c.Apply(t, fmt.Sprintf(`apiVersion: v1
kind: Secret
metadata: {name: sh.helm.release.v1.shop.v1, namespace: %[1]s, labels: {owner: helm, name: shop}}
type: helm.sh/release.v1
data: {release: %[2]s}
---
apiVersion: v1
kind: Secret
metadata: {name: password, namespace: %[1]s}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web, namespace: %[1]s, annotations: {meta.helm.sh/release-name: shop}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: far, namespace: %[3]s}
`, ns, release(t, manifest), other))
	own, id := find(t, c.Config(), ns, false, "", "secrets", ns, "sh.helm.release.v1.shop.v1")
	if !own.Elsewhere {
		t.Error("an object in another namespace is not missed")
	}
	want(t, drawn(own, id, false), `
Secret/sh.helm.release.v1.shop.v1
  ConfigMap/web by release
  ConfigMap/gone by release Absent
  ConfigMap/far by release Unknown`)
	own, id = find(t, c.Config(), "", false, "", "secrets", ns, "sh.helm.release.v1.shop.v1")
	if want(t, drawn(own, id, false), strings.Replace(drawn(own, id, false), " Unknown", "", 1)); own.Elsewhere {
		t.Error("everything is listed")
	}
	up, id := find(t, c.Config(), ns, true, "", "configmaps", ns, "web")
	want(t, drawn(up, id, true), "ConfigMap/web\n  Secret/sh.helm.release.v1.shop.v1 by release")
}

// release packs a manifest as Helm does, as it stands in the data of a Secret.
func release(t testing.TB, manifest string) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{"manifest": manifest})
	if err != nil {
		t.Fatal(err)
	}
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString(zipped.Bytes())))
}

// TestMembersByLabel: a selector finds objects of all kinds, one that says so is kept, and what
// names an object that was found by a label of its own stands below it.
func TestMembersByLabel(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fmt.Sprintf(`apiVersion: v1
kind: ConfigMap
metadata: {name: set, namespace: %[1]s, labels: {applyset.kubernetes.io/id: %[1]s}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: kept, namespace: %[1]s, labels: {applyset.kubernetes.io/part-of: %[1]s}, annotations: {example.com/keep: 'true'}}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: %[1]s, labels: {applyset.kubernetes.io/part-of: %[1]s}}
spec: {ports: [{port: 80}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other, namespace: %[1]s}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: %[1]s, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
endpoints: []
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: other-1, namespace: %[1]s, labels: {kubernetes.io/service-name: other}}
addressType: IPv4
endpoints: []
`, ns))
	own, id := find(t, c.Config(), ns, false, "", "configmaps", ns, "set")
	want(t, drawn(own, id, false),
		"ConfigMap/set\n  ConfigMap/kept by applyset\n  Service/web by applyset\n    EndpointSlice/web-1 by endpoints")
	var kept []string
	for _, f := range own.Links.Found(id) {
		if !f.Deletes() {
			kept = append(kept, own.Graph.Name(f.End)+": "+f.Kept)
		}
	}
	if !slices.Equal(kept, []string{"kept: annotation example.com/keep is true"}) {
		t.Errorf("kept %q", kept)
	}
}

// TestWhoMayNotReadIsToldSo: what cannot be read is a gap, since a link can be missing.
func TestWhoMayNotReadIsToldSo(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, fmt.Sprintf(
		"apiVersion: v1\nkind: Secret\nmetadata: {name: it, namespace: %[1]s, labels: {owner: helm}}\n", ns))
	listed := fixture.List(t, c.Config(), cluster.ListOptions{Namespace: ns})
	client, catalog := fixture.Connect(t, c.As("nobody-"+ns))
	own, err := ownership.Find(t.Context(), client, catalog, ownership.Request{
		Graph: listed.Graph, Scope: ns, Roots: []graph.ID{listed.Find(t, "", "secrets", ns, "it")},
		Definitions: definitions(t),
	})
	if err != nil || len(own.Gaps) != 1 || own.Gaps[0].Resource != "secrets" || own.Gaps[0].Reason != "Forbidden" {
		t.Errorf("%v, gaps %+v", err, own)
	}
}
