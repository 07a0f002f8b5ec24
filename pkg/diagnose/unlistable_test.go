package diagnose

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/fixture"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// gone waits until an object is gone.
func gone(t testing.TB, c *testcluster.Cluster, args ...string) {
	t.Helper()
	testcluster.Eventually(t, strings.Join(args, " ")+" is gone", func(ctx context.Context) (bool, error) {
		out, err := c.Try(ctx, "", append([]string{"get", "--ignore-not-found", "-o", "name"}, args...)...)
		return err == nil && out == "", nil
	})
}

// TestAPIServiceToNowhere: an aggregated API that does not answer keeps every namespace. The
// APIService is named, with its Service, and the printed commands bring that back or take the
// registration away.
func TestAPIServiceToNowhere(t *testing.T) {
	// It takes more than 10 s: the API server looks for the backend at intervals, and the namespace
	// controller after that.
	t.Parallel()
	c := withTypes(t)
	ns := c.Namespace(t)
	c.Apply(t, nobodyBehind(ns)+fmt.Sprintf(`---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.nowhere.example.com}
spec:
  group: nowhere.example.com
  version: v1
  groupPriorityMinimum: 100
  versionPriority: 10
  insecureSkipTLSVerify: true
  service: {namespace: %s, name: hook, port: 443}
`, ns))
	t.Cleanup(func() { c.Kubectl(t, "delete", "apiservice", "v1.nowhere.example.com", "--ignore-not-found") })
	until(t, c, "False", "get", "apiservice", "v1.nowhere.example.com", "-o",
		`jsonpath={.status.conditions[?(@.type=="Available")].status}`)
	stuck := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(stuck, "content"))
	deleted(t, c, "namespace", stuck)
	until(t, c, "DiscoveryFailed", "get", "namespace", stuck, "-o", "json")
	d := examine(t, c.Config(), Options{}, stuck, subject{"namespaces/" + stuck, ""})
	wantCauses(t, d, map[string][]string{"Namespace/" +
		stuck: {"APIServiceUnavailable APIService/v1.nowhere.example.com"}})
	cause := d.Stuck[0].Causes[0]
	wantEvidence(t, cause, "its condition Available is False for ")
	wantEvidence(t, cause, "cannot find endpointslices for service/hook")
	wantEvidence(t, cause, "Service "+ns+"/hook has no ready endpoints")
	if want := "kubectl scale deployments.apps/hook -n " + ns + " --replicas=1"; cause.Commands[0] != want {
		t.Errorf("the first command is %q, want %q", cause.Commands[0], want)
	}
	// Somebody who may not look at APIServices learns as much as discovery tells.
	permitted(t, c, "reader-"+ns, "get,list,watch", "namespaces,configmaps")
	until(t, c, stuck, "get", "namespaces", "--as=reader-"+ns)
	d = examine(t, c.As("reader-"+ns), Options{}, stuck, subject{"namespaces/" + stuck, ""})
	wantCauses(t, d, map[string][]string{"Namespace/" +
		stuck: {"APIServiceUnavailable APIService/v1.nowhere.example.com"}})

	typed(t, c, last(cause))
	gone(t, c, "namespace", stuck)
}

// twoVersions writes a CustomResourceDefinition of two versions.
func twoVersions(group, stored, conversion string) string {
	return fmt.Sprintf(`---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget}
  versions:
  - {name: v1, served: true, storage: %[2]t, schema: {openAPIV3Schema: {type: object}}}
  - {name: v2, served: true, storage: %[3]t, schema: {openAPIV3Schema: {type: object}}}
  conversion: %[4]s
`, group, stored == "v1", stored == "v2", conversion)
}

// TestConversionWebhookIsDown: a namespace with an instance that cannot be converted, whether no
// version of the type can be listed or only the one for which the namespace controller asks.
func TestConversionWebhookIsDown(t *testing.T) {
	// It takes more than 10 s beside others: the server takes a while to serve a definition, and to
	// see that its webhook does not answer.
	t.Parallel()
	c := withTypes(t)
	for _, test := range []struct {
		name string
		also bool // an instance is stored in the other version
	}{{"one", false}, {"both", true}} {
		t.Run(test.name, func(t *testing.T) {
			ns := c.Namespace(t)
			group := "b05-" + test.name + ".example.com"
			c.Apply(t, twoVersions(group, "v1", "{strategy: None}"))
			t.Cleanup(func() { c.Kubectl(t, "delete", "crd", "widgets."+group, "--wait=false") })
			until(t, c, "widgets", "api-resources", "--api-group="+group)
			widget := func(name string) {
				c.Apply(t, fmt.Sprintf("apiVersion: %s/v1\nkind: Widget\nmetadata: {name: %s, namespace: %s}\n", group, name, ns))
			}
			widget("one")
			if test.also {
				c.Apply(t, twoVersions(group, "v2", "{strategy: None}"))
				until(t, c, "v2", "get", "crd", "widgets."+group, "-o", "jsonpath={.status.storedVersions}")
				// until the API server stores as it was told
				for i := 0; !strings.Contains(read(t, c, "/registry/"+group+"/widgets/"+ns+"/"), group+"/v2"); i++ {
					widget(fmt.Sprintf("two-%d", i))
				}
			}
			service := fmt.Sprintf("{namespace: %s, name: hook}", ns)
			hook := "{strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {service: " + service + "}}}"
			stored := map[bool]string{false: "v1", true: "v2"}[test.also]
			c.Apply(t, twoVersions(group, stored, hook))
			testcluster.Eventually(t, "nothing is converted", func(ctx context.Context) (bool, error) {
				return fails(c, "get", "widgets.v2."+group, "-n", ns, "-o", "name")(ctx) &&
					(!test.also || fails(c, "get", "widgets.v1."+group, "-n", ns, "-o", "name")(ctx)), nil
			})
			deleted(t, c, "namespace", ns)
			until(t, c, "conversion webhook for", "get", "namespace", ns, "-o", "json")
			d := examine(t, c.Config(), Options{}, ns, subject{"namespaces/" + ns, ""})
			wantCauses(t, d, map[string][]string{"Namespace/" +
				ns: {"ConversionWebhookDown CustomResourceDefinition/widgets." + group}})
			wantEvidence(t, d.Stuck[0].Causes[0], "Service "+ns+"/hook does not exist")
			typed(t, c, last(d.Stuck[0].Causes[0]))
			gone(t, c, "namespace", ns)
		})
	}
}

// TestCRDThatCannotBeEmptied: its instances are stored in one version, and can only be deleted in
// another.
func TestCRDThatCannotBeEmptied(t *testing.T) {
	// It takes more than 10 s: the API server says what fails only after its first attempts.
	t.Parallel()
	c := withTypes(t)
	ns := c.Namespace(t)
	group := "b05-crd.example.com"
	c.Apply(t, twoVersions(group, "v1", "{strategy: None}"))
	until(t, c, "widgets", "api-resources", "--api-group="+group)
	c.Apply(t, fmt.Sprintf("apiVersion: %s/v1\nkind: Widget\nmetadata: {name: one, namespace: %s}\n", group, ns))
	c.Apply(t, twoVersions(group, "v2",
		`{strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: "https://127.0.0.1:1/convert"}}}`))
	testcluster.Eventually(t, "nothing is converted", func(ctx context.Context) (bool, error) {
		return fails(c, "get", "widgets.v2."+group, "-n", ns, "-o", "name")(ctx), nil
	})
	deleted(t, c, "crd", "widgets."+group)
	// in progress or failed: it says one after the other
	until(t, c, "InstanceDeletion", "get", "crd", "widgets."+group, "-o", "json")
	d := examine(t, c.Config(), Options{}, "",
		subject{"customresourcedefinitions.apiextensions.k8s.io/widgets." + group, ""})
	wantCauses(t, d, map[string][]string{"CustomResourceDefinition/widgets." +
		group: {"ConversionWebhookDown CustomResourceDefinition/widgets." + group}})
	wantEvidence(t, d.Stuck[0].Causes[0], "it is called at https://127.0.0.1:1/convert")
	typed(t, c, last(d.Stuck[0].Causes[0]))
	gone(t, c, "crd", "widgets."+group)
}

// TestListFails: the server cannot list a type, and nothing but what it says is known of why. What
// the user may not list is no cause.
func TestListFails(t *testing.T) {
	t.Parallel()
	c := withNamespaceController(t)
	ns := c.Namespace(t)
	c.Apply(t, fixture.ConfigMap(ns, "held", "nobody.example.net/x"))
	fixture.Free(t, c, ns, "configmap/held")
	deleted(t, c, "namespace", ns)
	until(t, c, "nobody.example.net/x in 1 resource instances", "get", "namespace", ns, "-o", "json")
	listing := func(r *http.Request) bool {
		return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/serviceaccounts") && r.URL.Query().Has("limit")
	}
	behindIt := "FinalizerActorUnknown ConfigMap/held"
	for _, test := range []struct {
		fault faultproxy.Fault
		want  []string
	}{
		{faultproxy.Status(500, metav1.StatusReasonInternalError, "the store is on fire"),
			[]string{"TypeUnlistable ServiceAccount/", behindIt}},
		{faultproxy.Status(403, metav1.StatusReasonForbidden,
			`serviceaccounts is forbidden: User "u" cannot list resource "serviceaccounts"`), []string{behindIt}},
	} {
		proxy := faultproxy.Start(t, c.Config())
		proxy.On(listing, test.fault)
		d := examine(t, proxy.Config(), Options{}, ns, subject{"namespaces/" + ns, ""})
		wantCauses(t, d, map[string][]string{"Namespace/" + ns: test.want})
		if len(test.want) == 2 {
			wantEvidence(t, d.Stuck[0].Causes[0], "serviceaccounts in "+ns+" cannot be listed: the store is on fire")
		}
	}
}

// TestObjectThatCannotBeDecoded: what is stored was spoilt. With the feature gate the server names
// it and the printed command deletes it, without it the type is named.
func TestObjectThatCannotBeDecoded(t *testing.T) {
	t.Parallel()
	for _, gate := range []bool{false, true} {
		t.Run(fmt.Sprintf("gate %t", gate), func(t *testing.T) {
			t.Parallel()
			c := testcluster.Start(t, testcluster.NoControllers(),
				testcluster.APIServerArgs(fmt.Sprintf("--feature-gates=AllowUnsafeMalformedObjectDeletion=%t", gate)))
			c.Apply(t, "apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: spoilt}\nspec: {controller: example.com/c}\n")
			spoil(t, c, "/registry/ingressclasses/spoilt")
			testcluster.Eventually(t, "the type cannot be listed", func(ctx context.Context) (bool, error) {
				return fails(c, "get", "ingressclasses", "-o", "name")(ctx), nil
			})
			d := examineHidden(t, c, v1alpha1.ObjectRef{APIVersion: "networking.k8s.io/v1", Kind: "IngressClass",
				Resource: "ingressclasses", Name: "spoilt"})
			want := "ObjectUndecodable IngressClass/"
			if gate {
				want += "spoilt"
			}
			wantCauses(t, d, map[string][]string{"IngressClass/spoilt": {want}})
			wantRemedy(t, d.Stuck[0].Causes[0],
				"by default from Kubernetes 1.37, before that only if it was set. Besides delete it needs the verb unsafe-delete-ignore-read-errors on the type.")
			if gate {
				typed(t, c, d.Stuck[0].Causes[0].Commands[0])
				typed(t, c, last(d.Stuck[0].Causes[0]))
				gone(t, c, "ingressclass", "spoilt")
			}
		})
	}
}

// TestKeysOfTheStorage_API046: the keys in what the server says, and the objects that they are.
func TestKeysOfTheStorage_API046(t *testing.T) {
	for _, test := range []struct {
		message, resource string
		namespaced        bool
		want              string
	}{
		{`unable to transform key "/registry/secrets/ns/s": no matching prefix found`, "secrets", true, "ns/s"},
		{"failed to read one or more secrets from the storage; /registry/secrets/ns/s: StorageError: corrupt object, Key: /registry/secrets/ns/s, ResourceVersion: 0", "secrets", true, "ns/s ns/s"},
		{"; /registry/clusterroles/system:node: StorageError", "clusterroles", false, "/system:node"},
		{"; /own-prefix/registry/services/specs/ns/s: StorageError", "services", true, "ns/s"},
		{"; /registry/example.com/widgets/ns/w: StorageError", "widgets", true, "ns/w"},
		{`Get "https://10.0.0.1/apis/example.com/v1/gadgets": EOF`, "widgets", true, ""},
		{"; /registry/secrets/s: StorageError", "secrets", true, ""},
	} {
		var got []string
		for _, key := range keys(test.message) {
			if o, ok := stored(key, v1alpha1.ObjectRef{Resource: test.resource}, test.namespaced); ok {
				got = append(got, o.Namespace+"/"+o.Name)
			}
		}
		if s := strings.Join(got, " "); s != test.want {
			t.Errorf("%s: %q, want %q", test.message, s, test.want)
		}
	}
}

// etcd asks the storage of a control plane, which is behind a socket in its directory, as JSON.
func etcd(t testing.TB, c *testcluster.Cluster, method string, in, out any) {
	t.Helper()
	// The path of a socket may have no more than about a hundred bytes.
	short, err := os.MkdirTemp("", "etcd-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(short)
	if err := os.Symlink(filepath.Join(filepath.Dir(c.Kubeconfig()), "state"), filepath.Join(short, "state")); err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(short, "state", "etcd:0"))
		}}
	client := &http.Client{Transport: transport}
	body, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Post("http://etcd/v3/kv/"+method, "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(out); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("etcd answers %s: %v", answer.Status, err)
	}
}

// spoil overwrites what is stored under a key.
func spoil(t testing.TB, c *testcluster.Cluster, key string) {
	t.Helper()
	var out any
	etcd(t, c, "put", map[string][]byte{"key": []byte(key), "value": []byte("spoilt")}, &out)
}

// read returns all that is stored under a prefix.
func read(t testing.TB, c *testcluster.Cluster, prefix string) string {
	t.Helper()
	var out struct{ KVs []struct{ Value []byte } }
	etcd(t, c, "range", map[string][]byte{"key": []byte(prefix), "range_end": []byte(prefix[:len(prefix)-1] + "0")}, &out)
	var all strings.Builder
	for _, kv := range out.KVs {
		all.Write(kv.Value)
	}
	return all.String()
}

// examineHidden explains an object whose type cannot be listed.
func examineHidden(t testing.TB, c *testcluster.Cluster, ref v1alpha1.ObjectRef) *v1alpha1.Diagnosis {
	t.Helper()
	listed := fixture.List(t, c.Config(), cluster.ListOptions{})
	var of Subjects
	for _, gap := range listed.Gaps {
		if gap.Resource == ref.Resource {
			of.Hidden = append(of.Hidden, Hidden{Object: ref, Gap: gap})
		}
	}
	d, err := Examine(t.Context(), listed.Client,
		core.Snapshot{Catalog: listed.Catalog, Graph: listed.Graph, Gaps: listed.Gaps}, of, Options{Known: fixture.Packs(t)})
	if err != nil {
		t.Fatal(err)
	}
	return d
}
