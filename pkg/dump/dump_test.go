package dump

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// object is an object as a server answers it.
func object(apiVersion, kind, namespace, name string, more ...string) string {
	if namespace != "" {
		namespace = fmt.Sprintf(`"namespace":%q,`, namespace)
	}
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{%s"name":%q,"uid":"%s-%s","resourceVersion":"7"%s}}`,
		apiVersion, kind, namespace, name, strings.ToLower(kind), name, strings.Join(more, ""))
}

// list is a list of objects, typed if its kind is.
func list(apiVersion, kind string, items ...string) string {
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"items":[%s]}`, apiVersion, kind, strings.Join(items, ","))
}

// definition is a CustomResourceDefinition.
func definition(group, plural, kind, scope string, versions ...string) string {
	var served []string
	for _, v := range versions {
		served = append(served, fmt.Sprintf(`{"name":%q,"served":true}`, v))
	}
	return fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
		"metadata":{"name":"%s.%s","uid":"crd-%s"},
		"spec":{"group":%q,"scope":%q,"names":{"plural":%q,"kind":%q,"shortNames":["wx"]},"versions":[%s]}}`,
		plural, group, plural, group, scope, plural, kind, strings.Join(served, ","))
}

// folder reads files of a folder.
func folder(t testing.TB, files map[string]string) (*Dump, error) {
	t.Helper()
	fs := fstest.MapFS{}
	for name, content := range files {
		fs[name] = &fstest.MapFile{Data: []byte(content), ModTime: time.Unix(1_700_000_000, 0)}
	}
	return read(DefaultLimits, func(e *entries) error { return e.folder(t.Context(), fs) })
}

var (
	pod        = object("v1", "Pod", "shop", "web")
	otherPod   = strings.Replace(object("v1", "Pod", "bank", "web"), "pod-web", "other-web", 1)
	deployment = object("apps/v1", "Deployment", "shop", "web")
	namespace  = object("v1", "Namespace", "", "shop")
	node       = object("v1", "Node", "", "n1")
	widget     = object("example.com/v1", "Widget", "shop", "w")
	widgets    = definition("example.com", "widgetses", "Widget", "Namespaced", "v1alpha1", "v2", "v1")
)

// TestLayouts: each kind of dump is recognized, and proves that an object was not there only where
// it saves all.
func TestLayouts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, kind string
		files      map[string]string
		// has are objects, as group/resource/namespace/name; covers and not are types and
		// namespaces of which all objects are known, or not.
		has, covers, not []string
	}{
		{"a list that kubectl get wrote, which may be one of names or of a selector", "files",
			map[string]string{"all.json": list("v1", "List", pod, otherPod, deployment), "nodes.json": list("v1", "List", node)},
			[]string{"/pods/shop/web", "apps/deployments/shop/web", "/nodes//n1"}, nil,
			[]string{"/pods/shop", "/pods/bank", "/pods/", "apps/deployments/shop", "/nodes/", "/namespaces/"}},
		{"objects that were named", "files", map[string]string{"pod.json": pod, "deploy/web.json": deployment},
			[]string{"/pods/shop/web", "apps/deployments/shop/web"}, nil, []string{"/pods/shop", "apps/deployments/shop"}},
		{"a typed list without objects", "files",
			map[string]string{"nodes.json": list("v1", "NodeList"), "p.json": pod}, nil, nil, []string{"/nodes/", "/pods/shop"}},
		{"a definition without objects", "files", map[string]string{"crd.json": list("v1", "List", widgets), "p.json": pod},
			nil, nil, []string{"apiextensions.k8s.io/customresourcedefinitions/", "example.com/widgetses/shop"}},
		{"kubectl cluster-info dump", "kubectl cluster-info dump", map[string]string{
			"nodes.json":                        list("v1", "NodeList", `{"metadata":{"name":"n1","uid":"u"}}`),
			"shop/replication-controllers.json": list("v1", "ReplicationControllerList"),
			"shop/pods.json":                    list("v1", "PodList", `{"metadata":{"name":"web","namespace":"shop","uid":"p"}}`),
			"shop/web/logs.txt":                 "nodes",
			"bank/pods.json":                    list("v1", "PodList"),
		}, []string{"/nodes//n1", "/pods/shop/web"},
			[]string{"/nodes/", "/pods/shop", "/pods/bank", "/replicationcontrollers/shop"},
			[]string{"/pods/", "/secrets/shop", "/replicationcontrollers/bank", "/replicationcontrollers/", "/namespaces/", "/pods/third"}},
		{"what was put beside kubectl cluster-info dump, which may be one of a selector", "kubectl cluster-info dump", map[string]string{
			"shop/replication-controllers.json": list("v1", "ReplicationControllerList"),
			"shop/some-configmaps.json":         list("v1", "List", object("v1", "ConfigMap", "shop", "settings")),
			"secrets.json":                      list("v1", "List", object("v1", "Secret", "shop", "key")),
		}, []string{"/configmaps/shop/settings", "/secrets/shop/key"}, []string{"/replicationcontrollers/shop"},
			[]string{"/configmaps/shop", "/secrets/shop"}},
		{"kubectl cluster-info dump of a namespace that is empty", "kubectl cluster-info dump", map[string]string{
			"nodes.json": list("v1", "NodeList"), "shop/replication-controllers.json": list("v1", "ReplicationControllerList"),
			"shop/pods.json": list("v1", "PodList")},
			nil, []string{"/nodes/", "/pods/shop"}, []string{"/secrets/shop"}},
		{"must-gather", "must-gather, or oc adm inspect", map[string]string{
			"quay/timestamp":                                            "2024-05-01 12:00:00.5 +0000 UTC m=+0.1\n2024-05-01 12:03:00.5 +0000 UTC m=+0.2\n",
			"quay/namespaces/shop/shop.yaml":                            namespace,
			"quay/namespaces/shop/core/pods.yaml":                       "kind: PodList\napiVersion: v1\nitems:\n- metadata:\n    name: web\n    namespace: shop\n    uid: p\n",
			"quay/namespaces/shop/core/secrets.yaml":                    list("v1", "SecretList"),
			"quay/namespaces/shop/pods/web/web.yaml":                    pod,
			"quay/namespaces/shop/example.com/widgetses/w.yaml":         widget,
			"quay/cluster-scoped-resources/core/nodes/n1.yaml":          node,
			"quay/cluster-scoped-resources/config.io/proxies/a.yaml":    object("config.io/v1", "Proxy", "", "a"),
			"quay/cluster-scoped-resources/config.io/dnses/a.yaml":      object("config.io/v1", "DNS", "", "a"),
			"quay/namespaces/shop/pods/web/web/web/logs/current.log":    "{",
			"quay/namespaces/bank/apps/deployments.yaml":                "kind: List\napiVersion: v1\nitems: []\n",
			"quay/cluster-scoped-resources/core/persistentvolumes.json": list("v1", "PersistentVolumeList"),
		}, []string{"/pods/shop/web", "/nodes//n1", "/namespaces//shop", "example.com/widgetses/shop/w", "config.io/proxies//a",
			"config.io/dnses//a"},
			[]string{"/pods/shop", "/secrets/shop", "apps/deployments/bank", "/persistentvolumes/"},
			[]string{"/pods/bank", "/nodes/", "example.com/widgetses/shop", "/configmaps/shop", "apps/deployments/shop"}},
		{"must-gather of an image that has a folder for all namespaces", "must-gather, or oc adm inspect", map[string]string{
			"quay/namespaces/all/namespaces/shop/core/pods.yaml":               list("v1", "PodList", pod),
			"quay/namespaces/all/namespaces/shop/example.com/widgetses/w.yaml": widget,
		}, []string{"/pods/shop/web", "example.com/widgetses/shop/w"}, []string{"/pods/shop"}, []string{"/pods/all", "/pods/"}},
		{"files of Windows", "files", map[string]string{"POD.JSON": pod}, []string{"/pods/shop/web"}, nil, nil},
		{"a list of all namespaces, and of what is in each", "must-gather, or oc adm inspect", map[string]string{
			"cluster-scoped-resources/core/namespaces.yaml": list("v1", "NamespaceList", namespace),
			"namespaces/shop/core/pods.yaml":                list("v1", "PodList", pod),
		}, []string{"/pods/shop/web", "/namespaces//shop"}, []string{"/pods/", "/namespaces/"}, []string{"/secrets/"}},
		{"a support bundle", "support bundle", map[string]string{
			"b/version.yaml":                                                       "apiVersion: troubleshoot.sh/v1beta2\nkind: SupportBundle\n",
			"b/cluster-resources/namespaces.json":                                  `[{"metadata":{"name":"shop","uid":"n"}}]`,
			"b/cluster-resources/nodes.json":                                       list("v1", "NodeList", node),
			"b/cluster-resources/pods/shop.json":                                   `[{"metadata":{"name":"web","namespace":"shop","uid":"p"}}]`,
			"b/cluster-resources/pods-errors.json":                                 `{"bank":"forbidden"}`,
			"b/cluster-resources/pods/logs/shop/web/app.json":                      `{"a":1}`,
			"b/cluster-resources/deployments/shop.json":                            "null",
			"b/cluster-resources/statefulsets/shop.json":                           "[]",
			"b/cluster-resources/pvcs/shop.json":                                   list("v1", "PersistentVolumeClaimList"),
			"b/cluster-resources/auth-cani-list/shop.json":                         `{"rules":[]}`,
			"b/cluster-resources/custom-resource-definitions.json":                 list("apiextensions.k8s.io/v1", "CustomResourceDefinitionList", widgets),
			"b/cluster-resources/custom-resources/widgetses.example.com/shop.yaml": "- " + widget + "\n",
		}, []string{"/pods/shop/web", "/namespaces//shop", "/nodes//n1", "example.com/widgetses/shop/w",
			"apiextensions.k8s.io/customresourcedefinitions//widgetses.example.com"},
			[]string{"/pods/shop", "/nodes/", "apps/statefulsets/shop", "/persistentvolumeclaims/shop",
				"example.com/widgetses/shop", "apiextensions.k8s.io/customresourcedefinitions/"},
			[]string{"/pods/", "/pods/bank", "/namespaces/", "/secrets/shop", "apps/deployments/shop"}},
		{"a backup of Velero", "Velero backup", map[string]string{
			"metadata/version":                                                      "1.1.0",
			"resources/pods/namespaces/shop/web.json":                               pod,
			"resources/pods/v1-preferredversion/namespaces/shop/web.json":           pod,
			"resources/deployments.apps/v1/namespaces/shop/old.json":                object("apps/v1", "Deployment", "shop", "old"),
			"resources/deployments.apps/v1-preferredversion/namespaces/shop/a.json": object("apps/v1", "Deployment", "shop", "a"),
			"resources/namespaces/cluster/shop.json":                                namespace,
			"resources/namespaces/v1-preferredversion/cluster/shop.json":            namespace,
			"resources/gizmoes.example.com/namespaces/shop/w.json":                  object("example.com/v1", "Gizmo", "shop", "w"),
		}, []string{"/pods/shop/web", "apps/deployments/shop/a", "/namespaces//shop", "example.com/gizmoes/shop/w"}, nil,
			[]string{"/pods/shop", "/namespaces/", "example.com/gizmoes/shop"}},
		{"an archive of kubectl gc", "archive of kubectl gc", map[string]string{
			"saved.yaml": "apiVersion: gc.kubectl.dev/v1alpha1\nkind: Plan\nactions:\n- verb: delete\narchivedAt: \"2024-05-01T12:00:00Z\"\ncluster: the-uid\n---\n" + pod + "\n---\n" + deployment,
		}, []string{"/pods/shop/web", "apps/deployments/shop/web"}, nil, []string{"/pods/shop", "apps/deployments/shop"}},
		{"owners that were not saved", "files", map[string]string{"p.json": list("v1", "List", object("v1", "Pod", "shop", "web",
			`,"ownerReferences":[{"apiVersion":"example.com/v1","kind":"Gadget","name":"g","uid":"g"},{"apiVersion":"apps/v1","kind":"Foo","name":"g","uid":"h"}]`))},
			nil, nil, []string{"example.com/gadgets/shop"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d, err := folder(t, test.files)
			if err != nil {
				t.Fatal(err)
			}
			if d.Kind != test.kind || len(d.Unread) > 0 {
				t.Errorf("it is read as %q, and %v", d.Kind, d.Unread)
			}
			of := func(key string) (*Type, []string) {
				parts := strings.Split(key, "/")
				typ, ok := d.Find(parts[0], parts[1])
				if !ok {
					t.Fatalf("there is no type of %s", key)
				}
				return typ, parts[2:]
			}
			for _, key := range test.has {
				typ, parts := of(key)
				if _, ok := typ.Find(parts[0], parts[1]); !ok {
					t.Errorf("%s is not there", key)
				}
			}
			for _, key := range test.covers {
				if typ, parts := of(key); !typ.Covers(parts[0]) {
					t.Errorf("%s is not known, because %s", key, d.Why(typ, parts[0]))
				}
			}
			for _, key := range test.not {
				if typ, parts := of(key); typ.Covers(parts[0]) {
					t.Errorf("%s is taken for known", key)
				}
			}
			if len(test.has) > 0 && test.kind != "files" && d.Objects != len(test.has) {
				t.Errorf("it has %d objects", d.Objects)
			}
			if typ, ok := d.Find("apps", "foos"); ok {
				t.Errorf("a type was made up: %v", typ)
			}
		})
	}
}

// TestTypesOfDefinitions: a definition gives its type the names and versions, whatever stands
// before it.
func TestTypesOfDefinitions(t *testing.T) {
	t.Parallel()
	d, err := folder(t, map[string]string{"a.json": widget, "b.json": widgets})
	if err != nil {
		t.Fatal(err)
	}
	typ, ok := d.Find("example.com", "widgetses")
	if !ok || typ.Kind != "Widget" || !typ.Namespaced || !slices.Equal(typ.Versions, []string{"v2", "v1", "v1alpha1"}) ||
		typ.Version != "v1" || !slices.Equal(typ.ShortNames, []string{"wx"}) {
		t.Errorf("%+v", typ)
	}
	if _, ok := d.Find("example.com", "widgets"); ok {
		t.Error("the type is there twice")
	}
}

// TestSharedUIDs: of several objects of a type with one uid nothing is known. Of OpenShift each
// ImageStreamTag has the uid of its ImageStream.
func TestSharedUIDs(t *testing.T) {
	t.Parallel()
	image := func(kind, name, uid string) string {
		return fmt.Sprintf(`{"apiVersion":"image.openshift.io/v1","kind":%q,"metadata":{"name":%q,"namespace":"shop","uid":%q}}`, kind, name, uid)
	}
	d, err := folder(t, map[string]string{"a.json": list("v1", "List", image("ImageStream", "app", "u"), image("ImageStreamTag", "app:1", "u"),
		image("ImageStreamTag", "app:2", "u"), image("ImageStreamTag", "other:1", "o"), image("ImageStream", "other", "o"))})
	if err != nil {
		t.Fatal(err)
	}
	streams, _ := d.Find("image.openshift.io", "imagestreams")
	tags, _ := d.Find("image.openshift.io", "imagestreamtags")
	if len(streams.Objects) != 2 || len(tags.Objects) != 1 || d.Objects != 3 || len(d.Unread) != 1 {
		t.Errorf("%d streams, %d tags, %d objects, unread %v", len(streams.Objects), len(tags.Objects), d.Objects, d.Unread)
	}
}

// TestTime: what a dump states is before what its objects tell, and that before the times of files.
func TestTime(t *testing.T) {
	t.Parallel()
	lease := func(namespace, name string) string {
		return strings.TrimSuffix(object("coordination.k8s.io/v1", "Lease", namespace, name), "}") +
			`,"spec":{"renewTime":"2023-01-01T00:00:10.000000Z"}}`
	}
	ahead := func(namespace, name string) string {
		return strings.Replace(lease(namespace, name), "T00:00:10", "T01:00:10", 1)
	}
	written := time.Unix(1_700_000_000, 0).UTC()
	renewed := time.Date(2023, 1, 1, 0, 0, 10, 0, time.UTC)
	archived := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		files map[string]string
		want  time.Time
		of    TimeOf
	}{
		"files":             {map[string]string{"a.json": pod}, written, OfFiles},
		"a lease of a node": {map[string]string{"a.json": lease("kube-node-lease", "n1")}, renewed, OfLeases},
		"a node ahead of two": {map[string]string{"a.json": lease("kube-node-lease", "n1"), "b.json": lease("kube-node-lease", "n2"),
			"c.json": ahead("kube-node-lease", "n3")}, renewed, OfLeases},
		"a node ahead of a server": {map[string]string{"a.json": ahead("kube-node-lease", "n1"), "b.json": lease("kube-system", "apiserver-4xq")},
			renewed, OfLeases},
		"a lease of a server":    {map[string]string{"a.json": lease("kube-system", "apiserver-4xq")}, renewed, OfLeases},
		"one of a controller":    {map[string]string{"a.json": lease("kube-system", "kube-controller-manager")}, written, OfFiles},
		"any lease":              {map[string]string{"a.json": lease("shop", "apiserver-4xq")}, written, OfFiles},
		"a lease after an event": {map[string]string{"a.json": lease("kube-node-lease", "n1"), "b.json": strings.TrimSuffix(object("v1", "Event", "a", "b"), "}") + `,"lastTimestamp":"2024-01-01T00:00:00Z"}`}, renewed, OfLeases},
		"a newer object":         {map[string]string{"a.json": object("v1", "Pod", "a", "b", `,"creationTimestamp":"2025-01-01T00:00:00Z"`)}, time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC), OfFiles},
		"a deletion later than a lease, but for its grace period": {map[string]string{"a.json": lease("kube-system", "apiserver-4xq"),
			"b.json": object("v1", "Pod", "a", "b", `,"deletionTimestamp":"2023-01-01T00:00:42Z","deletionGracePeriodSeconds":30`)},
			renewed.Add(2 * time.Second), OfLeases},
		"a deletion of which the grace period was left out": {map[string]string{"a.json": lease("kube-system", "apiserver-4xq"),
			"b.json": object("v1", "Pod", "a", "b", `,"deletionTimestamp":"2023-01-01T00:00:42Z"`)}, renewed, OfLeases},
		"an archive": {map[string]string{"a.yaml": "apiVersion: gc.kubectl.dev/v1alpha1\nkind: Plan\narchivedAt: \"2024-05-01T12:00:00Z\"\n---\n" + lease("kube-system", "n1")}, archived, Stated},
		"an earlier archive after it": {map[string]string{"a.yaml": "apiVersion: gc.kubectl.dev/v1alpha1\nkind: Plan\narchivedAt: \"2024-05-01T12:00:00Z\"\n---\n" + pod,
			"b.yaml": "apiVersion: gc.kubectl.dev/v1alpha1\nkind: Plan\narchivedAt: \"2024-04-01T12:00:00Z\"\n---\n" + node}, archived, Stated},
		"must-gather's own":     {map[string]string{"timestamp": "2024-05-01 11:00:00 +0000 UTC m=+0\n2024-05-01 14:00:00 +0200 CEST m=+9\n", "a.json": pod}, archived, Stated},
		"a file that says else": {map[string]string{"timestamp": "yesterday\n", "a.json": pod}, written, OfFiles},
	} {
		d, err := folder(t, test.files)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !d.Time.Equal(test.want) || d.TimeOf != test.of {
			t.Errorf("%s: %s by %d", name, d.Time, d.TimeOf)
		}
	}
}

// TestNewestState: of an object that is there twice, the newer state counts.
func TestNewestState(t *testing.T) {
	t.Parallel()
	newer := strings.Replace(pod, `"resourceVersion":"7"`, `"resourceVersion":"10"`, 1)
	for _, files := range []map[string]string{{"a.json": pod, "b.json": newer}, {"a.json": newer, "b.json": pod}} {
		d, err := folder(t, files)
		if err != nil {
			t.Fatal(err)
		}
		pods, _ := d.Find("", "pods")
		if len(pods.Objects) != 1 || pods.Objects[0].ResourceVersion != "10" {
			t.Errorf("%+v", pods.Objects)
		}
	}
}

// TestListsThatAreNotWhole: a list of which an object is left out proves nothing.
func TestListsThatAreNotWhole(t *testing.T) {
	t.Parallel()
	for name, item := range map[string]string{"a number that nobody counts to": object("v1", "Pod", "shop", "n", `,"generation":99999999999999999999`),
		"a uid that is no text": strings.Replace(otherPod, `"other-web"`, "true", 1),
		"no uid":                strings.Replace(pod, "uid", "id", 1), "a name of no object": object("v1", "Pod", "shop", "../x"),
		"another scope": object("v1", "Pod", "", "web")} {
		d, err := folder(t, map[string]string{"a.json": list("v1", "List", pod, item)})
		if err != nil {
			t.Fatal(err)
		}
		if pods, _ := d.Find("", "pods"); pods.Covers("shop") || d.Objects != 1 {
			t.Errorf("%s: %d objects", name, d.Objects)
		}
	}
}

// TestNoDump: what is no dump is an error that says what it is.
func TestNoDump(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files map[string]string
		want  string
	}{
		"nothing":    {map[string]string{"pods": pod}, "it has no file *.json, *.yaml or *.yml"},
		"manifests":  {map[string]string{"a.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: b}\n"}, "they are manifests"},
		"other JSON": {map[string]string{"package.json": `{"name":"x"}`}, "it holds no objects of a cluster"},
		"metadata alone": {map[string]string{"a.json": list("meta.k8s.io/v1", "PartialObjectMetadataList", object("meta.k8s.io/v1", "PartialObjectMetadata", "shop", "web"))},
			"it holds no objects of a cluster"},
		"a broken file": {map[string]string{"a.json": `{"kind":`}, "no object can be read of it: reading a.json: "},
		"two clusters": {map[string]string{"a/ns.json": object("v1", "Namespace", "", "kube-system"), "b/pod.json": pod,
			"b/ns.json": strings.Replace(object("v1", "Namespace", "", "kube-system"), `"uid":"`, `"uid":"other-`, 1)},
			"it is of two clusters, namespace-kube-system and other-namespace-kube-system: name what is of one"},
		"two times": {map[string]string{"a/timestamp": "2024-05-01 11:00:00 +0000 UTC m=+0\n", "b/timestamp": "2024-05-02 11:00:00 +0000 UTC m=+0\n", "b/pod.json": pod},
			"it was gathered at two times, 2024-05-01T11:00:00Z and 2024-05-02T11:00:00Z: name the files of one"},
		"more than JSON":    {map[string]string{"a.json": list("v1", "NodeList", node) + "\n" + list("v1", "PodList", pod) + "\n==== START logs for container c of pod shop/web ====\n"}, "reading a.json: it has logs between its objects: run kubectl cluster-info dump with --output-directory"},
		"more than objects": {map[string]string{"a.json": node + "\n" + pod + "\nend\n"}, "reading a.json: invalid character 'e'"},
		"more than one end": {map[string]string{"a.json": pod + "}"}, "reading a.json: invalid character '}'"},
		"more than flow":    {map[string]string{"a.yaml": "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: b, uid: c}}\n" + pod}, "reading a.yaml: invalid character 'a'"},
		"an alias of YAML":  {map[string]string{"a.yaml": "a: &a [1]\nb: *a\n"}, "it has an alias of YAML"},
	} {
		if _, err := folder(t, test.files); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestBrokenFiles: a file that cannot be read is told, and proves nothing; the others are read.
func TestBrokenFiles(t *testing.T) {
	t.Parallel()
	d, err := folder(t, map[string]string{
		"a.yaml": "a:\n- " + strings.Repeat("x", 5<<20), "replication-controllers.json": "{}", "shop/replication-controllers.json": list("v1", "ReplicationControllerList"),
		"shop/pods.json": list("v1", "PodList", pod)[:50], "shop/deployments.json": list("apps/v1", "DeploymentList", deployment)})
	if err != nil {
		t.Fatal(err)
	}
	pods, _ := d.Find("", "pods")
	deployments, _ := d.Find("apps", "deployments")
	if len(d.Unread) != 2 || !strings.Contains(d.Unread[0].Error(), "reading a.yaml: the dump is too large: a YAML document of more than 4 MiB") ||
		!strings.Contains(d.Unread[1].Error(), "shop/pods.json") || pods.Covers("shop") || !deployments.Covers("shop") {
		t.Errorf("%v", d.Unread)
	}
}

// closed is a folder in which some files, or a folder, may not be read.
type closed struct{ fs.FS }

func (c closed) Open(name string) (fs.File, error) {
	if strings.HasPrefix(path.Base(name), "closed") {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return c.FS.Open(name)
}

// TestClosedFiles: what may not be read is told, and proves nothing; the rest is read.
func TestClosedFiles(t *testing.T) {
	t.Parallel()
	files := closed{fstest.MapFS{
		"namespaces/shop/core/pods.yaml":              {Data: []byte(list("v1", "PodList", pod))},
		"namespaces/shop/core/closed.yaml":            {Data: []byte(list("v1", "SecretList"))},
		"namespaces/closed/apps/deployments.yaml":     {Data: []byte(list("apps/v1", "DeploymentList"))},
		"namespaces/shop/core/closed-but-no-list.txt": {},
	}}
	d, err := read(DefaultLimits, func(e *entries) error { return e.folder(t.Context(), files) })
	if err != nil {
		t.Fatal(err)
	}
	pods, _ := d.Find("", "pods")
	secrets, _ := d.Find("", "secrets")
	deployments, _ := d.Find("apps", "deployments")
	if len(d.Unread) != 2 || !pods.Covers("shop") || secrets.Covers("shop") || deployments.Covers("closed") {
		t.Errorf("%v", d.Unread)
	}
	if _, err := read(DefaultLimits, func(e *entries) error { return e.folder(t.Context(), closedRoot{}) }); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("of a folder that may not be read: %v", err)
	}
}

// closedRoot is a folder that may not be read.
type closedRoot struct{}

func (closedRoot) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
}

// TestListsOfLists: each inner list is read, and proves what it does alone; the outer one nothing.
func TestListsOfLists(t *testing.T) {
	t.Parallel()
	pods, nodes := list("v1", "PodList", pod), list("v1", "NodeList", node)
	for name, content := range map[string]string{
		"an array": "[" + pods + "," + nodes + "]", "a List": list("v1", "List", pods, nodes),
		"objects beside": list("v1", "List", pods, node), "lists of those": list("v1", "List", list("v1", "List", pods), list("v1", "List", nodes)), "YAML": "- " + pods + "\n- " + nodes,
		"a list of none": list("v1", "List", pods, nodes, list("v1", "ServiceList")),
	} {
		d, err := folder(t, map[string]string{"namespaces/shop/core/services.yaml": content})
		if err != nil {
			t.Fatal(err)
		}
		pods, _ := d.Find("", "pods")
		if services, _ := d.Find("", "services"); d.Objects != 2 || len(d.Unread) > 0 || !pods.Covers("shop") ||
			services.Covers("shop") != (name == "a list of none") {
			t.Errorf("%s: %d objects, %v", name, d.Objects, d.Unread)
		}
	}
}

// TestPages: a page of a list, which goes on, proves nothing, and what ends does.
func TestPages(t *testing.T) {
	t.Parallel()
	for token, whole := range map[string]bool{"": true, "next": false} {
		for _, content := range []string{
			fmt.Sprintf(`{"kind":"PodList","apiVersion":"v1","metadata":{"continue":%q},"items":[%s]}`, token, pod),
			fmt.Sprintf("apiVersion: v1\nitems:\n- %s\nkind: PodList\nmetadata:\n  continue: %q\n", pod, token),
		} {
			d, err := folder(t, map[string]string{"namespaces/shop/core/pods.yaml": content})
			if err != nil {
				t.Fatal(err)
			}
			if pods, _ := d.Find("", "pods"); pods.Covers("shop") != whole || d.Objects != 1 {
				t.Errorf("%s: %d objects", content, d.Objects)
			}
		}
	}
}

// TestTexts: all documents of a file are read, however they are separated and encoded.
func TestTexts(t *testing.T) {
	t.Parallel()
	utf16 := func(order binary.AppendByteOrder, text string) string {
		var b []byte
		for _, r := range "\ufeff" + text {
			b = order.AppendUint16(b, uint16(r))
		}
		return string(b)
	}
	two := pod + "\n---\n" + node + "\n"
	for name, content := range map[string]string{
		"lines of Windows": strings.ReplaceAll(two, "\n", "\r\n"), "a byte order mark": "\ufeff" + two,
		"UTF-16 of PowerShell": utf16(binary.LittleEndian, two), "UTF-16, high byte first": utf16(binary.BigEndian, two),
		"a comment":           "--- # one\n" + pod + "\n--- # two\n" + node,
		"an object in a line": "--- " + pod + "\n---  " + node,
		"ends of documents":   pod + "\n...\n" + node + "\n...\n",
		"a separator at last": pod + "\n---\n" + node + "\n---",
		"a text like a break": "---x: 1\n---\n" + pod + "\n---\n" + node,
		"all of it indented":  "---\n  apiVersion: v1\n  kind: Pod\n  metadata: {name: web, namespace: shop, uid: u}\n---\n" + node,
		"a directive":         "%YAML 1.1\n---\n" + two,
		"lines of JSON":       "# two\n" + pod + "\n" + node,
	} {
		d, err := folder(t, map[string]string{"a.yaml": content})
		if err != nil || d.Objects != 2 || len(d.Unread) > 0 {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
}

// TestCutOff: a list in YAML that was cut off is still YAML, and proves nothing.
func TestCutOff(t *testing.T) {
	t.Parallel()
	whole := "---\napiVersion: v1\nitems:\n- " + pod + "\n- " + object("v1", "Pod", "shop", "z") + "\nkind: PodList\nmetadata: {}\n"
	for end := range strings.Index(whole, "List") + len("List") {
		d, err := folder(t, map[string]string{"namespaces/shop/core/pods.yaml": whole[:end],
			"namespaces/shop/core/services.yaml": "apiVersion: v1\nitems: []\nkind: ServiceList\n"})
		if err != nil {
			t.Fatal(err)
		}
		if pods, _ := d.Find("", "pods"); pods.Covers("shop") {
			t.Errorf("%q: %v", whole[:end], d.Unread)
		}
	}
}

// member is an entry of an archive.
type member struct {
	name, content string
	kind          byte
	size          int64
}

// archived makes a tar archive.
func archived(t testing.TB, members ...member) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, m := range members {
		header := &tar.Header{Name: m.name, Typeflag: m.kind, Size: int64(len(m.content)), Mode: 0o600,
			ModTime: time.Unix(1_700_000_000, 0), Format: tar.FormatUSTAR}
		if m.kind == 0 {
			header.Typeflag = tar.TypeReg
		} else {
			header.Linkname = "/etc/passwd"
		}
		if m.size > 0 {
			header.Size = m.size
		}
		if err := w.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, m.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil && len(members) > 0 && members[len(members)-1].size == 0 {
		t.Fatal(err)
	}
	return append(b.Bytes(), make([]byte, 1024)...)
}

func zipped(t testing.TB, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(content)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestArchives: an archive is read as the folder would be, compressed or not.
func TestArchives(t *testing.T) {
	t.Parallel()
	plain := archived(t, member{name: "./a/pod.json", content: pod}, member{name: "./a/latest", kind: tar.TypeSymlink},
		member{name: "a/", kind: tar.TypeDir})
	for name, content := range map[string][]byte{"tar": plain, "tar.gz": zipped(t, plain), "json.gz": zipped(t, []byte(pod)),
		"json": []byte(pod), "marked": []byte("\xef\xbb\xbf" + pod)} {
		d, err := Read(t.Context(), bytes.NewReader(content), DefaultLimits)
		if err != nil || d.Objects != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestHostile: what leaves the archive, points elsewhere, or is larger than it may be is an error
// that says so.
func TestHostile(t *testing.T) {
	t.Parallel()
	small := Limits{Entry: 1000, Kept: 1500, Unpacked: 100_000, Entries: 10, Objects: 3}
	blank := strings.Repeat(" ", 900)
	var many []member
	for i := range 12 {
		many = append(many, member{name: fmt.Sprint(i, ".txt")})
	}
	for name, test := range map[string]struct {
		content []byte
		want    string
	}{
		"a path upwards":      {archived(t, member{name: "../pod.json", content: pod}), `the name "../pod.json" leaves the archive`},
		"a hidden one":        {archived(t, member{name: "a/../../pod.json", content: pod}), "leaves the archive"},
		"an absolute path":    {archived(t, member{name: "/etc/pod.json", content: pod}), "leaves the archive"},
		"a symbolic link":     {archived(t, member{name: "pod.json", kind: tar.TypeSymlink}), "pod.json is no file but a link"},
		"a hard link":         {archived(t, member{name: "pod.json", kind: tar.TypeLink}), "pod.json is no file but a link"},
		"a device":            {archived(t, member{name: "pod.json", kind: tar.TypeChar}), "pod.json is no file"},
		"a large file":        {archived(t, member{name: "pod.json", size: 2 << 30}), "pod.json has more than 0 MiB"},
		"a large log":         {zipped(t, archived(t, member{name: "a.log", content: strings.Repeat("a", 200_000)})), "the archive has more than 0 MiB"},
		"a bomb":              {zipped(t, bytes.Repeat([]byte(" "), 1<<20)), "the file has more than 0 MiB"},
		"many large files":    {archived(t, member{name: "a.json", content: blank}, member{name: "b.json", content: blank}), "what it holds of objects has more than 0 MiB"},
		"many files":          {archived(t, many...), "it has more than 10 files"},
		"many objects":        {[]byte(list("v1", "List", pod, otherPod, node, namespace)), "it has more than 3 objects"},
		"an archive cut off":  {archived(t, member{name: "pod.json", content: pod})[:600], "reading pod.json: unexpected EOF"},
		"another compression": {[]byte("PK\x03\x04 and so on"), "unpack it with unzip"},
	} {
		d, err := Read(t.Context(), bytes.NewReader(test.content), small)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, %t", name, err, d == nil)
		}
	}
}

// TestFolders: links in a folder are not followed, and errors name what was given.
func TestFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "pod.json"), []byte(pod), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, filepath.Join(dir, "pod.json")} {
		if d, err := Open(t.Context(), path, DefaultLimits); err != nil || d.Objects != 1 {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "other.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), dir, DefaultLimits); err == nil || err.Error() != dir+": "+notRegular("other.json").Error() {
		t.Errorf("with a link: %v", err)
	}
	if _, err := Open(t.Context(), filepath.Join(dir, "none"), DefaultLimits); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
}
