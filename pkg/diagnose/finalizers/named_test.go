package finalizers

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// TestWhatASpecNames: what the spec of a custom resource of example.com names by the conventions of the
// API, and nothing that is written for it, is optional, is of pods, is no name, or is of no known kind.
func TestWhatASpecNames(t *testing.T) {
	t.Parallel()
	catalog := &cluster.Catalog{}
	for _, kind := range []string{"v1/Secret", "v1/ConfigMap", "v1/ServiceAccount", "v1/Service", "v1/Pod", "example.com/v1/Cluster", "example.com/v1/RandomSecret",
		"other.org/v1/SealedSecret", "other.org/v1/Thing"} {
		i := strings.LastIndex(kind, "/")
		r := cluster.Resource{Type: graph.Type{Version: "v1", Kind: kind[i+1:], Resource: strings.ToLower(kind[i+1:]) + "s", Namespaced: true}}
		if group, _, has := strings.Cut(kind[:i], "/"); has {
			r.Group = group
		}
		catalog.Resources = append(catalog.Resources, r)
	}
	e := New(&core.Examination{Snapshot: core.Snapshot{Catalog: catalog}, Reader: cluster.NewReader(nil, catalog)}, nil)
	for _, test := range []struct {
		spec string
		want []string
	}{
		{`{authentication: {serviceAccount: {name: kv-creator}}}`, []string{"spec.authentication.serviceAccount.name ServiceAccount /kv-creator"}},
		{`{serviceAccountName: runner}`, []string{"spec.serviceAccountName ServiceAccount /runner"}},
		{`{credentialsSecretRef: {name: creds, namespace: ops}}`, []string{"spec.credentialsSecretRef.name Secret ops/creds"}},
		{`{auth: {passwordSecretKeyRef: {name: db, key: password}}}`, []string{"spec.auth.passwordSecretKeyRef.name Secret /db"}},
		{`{token: {secretKeySelector: {name: db}}}`, []string{"spec.token.secretKeySelector.name Secret /db"}},
		{`{tls: {secretName: ca, secretNamespace: ops}}`, []string{"spec.tls.secretName Secret ops/ca"}},
		{`{backends: [{configMapRef: {name: a}}, {configMapRef: {name: b}}]}`,
			[]string{"spec.backends[0].configMapRef.name ConfigMap /a", "spec.backends[1].configMapRef.name ConfigMap /b"}},
		{`{varsFrom: [{kind: ConfigMap, name: vars}, {kind: Secret, name: may, optional: true}], chart: {valuesFrom: [{kind: Secret, name: vals}]}}`,
			[]string{"spec.chart.valuesFrom[0].name Secret /vals", "spec.varsFrom[0].name ConfigMap /vars"}},
		{`{envFrom: [{secretRef: {name: env}}], dependsOn: [{kind: ConfigMap, name: other}], migratedFrom: [{kind: Cluster, name: demo}]}`,
			[]string{"spec.envFrom[0].secretRef.name Secret /env"}},
		{`{clusterRef: demo, tokenSecretRef: t}`, []string{"spec.clusterRef Cluster /demo", "spec.tokenSecretRef Secret /t"}},
		{`{url: "http://broker.kafka.svc.cluster.local:8080/x", address: "db-0.db.data.svc", brokers: ["b.kafka.svc:9092"]}`,
			[]string{"spec.address Service data/db", "spec.brokers[0] Service kafka/b", "spec.url Service kafka/broker"}},
		{`{driver: {endpoint: "pod://csi-x.rook:9070"}}`, []string{"spec.driver.endpoint Pod rook/csi-x"}},
		{`{url: "http://a.b.svcs.example.com", many: "a.b.svc:1,c.d.svc:1", other: "pod://x", values: "a: 1\nurl: http://a.b.svc:1", host: svc.example.com}`, nil},
		{`{clusterName: demo}`, []string{"spec.clusterName Cluster /demo"}},
		{`{clusterReference: {name: demo}, secretReference: s}`, []string{"spec.clusterReference.name Cluster /demo", "spec.secretReference Secret /s"}},
		{`{clusterRef: {name: demo}, randomSecret: {name: r}}`, []string{"spec.clusterRef.name Cluster /demo", "spec.randomSecret.name RandomSecret /r"}},
		{`{ref: {apiVersion: other.org/v1, kind: Thing, name: x}, owner: {kind: Cluster, name: o}, secret: {kind: Secret, name: s}, third: {apiGroup: other.org, kind: Thing, name: z}}`,
			[]string{"spec.owner.name Cluster /o", "spec.ref.name Thing /x", "spec.secret.name Secret /s", "spec.third.name Thing /z"}},
		{`{ref: {kind: Unheard, name: x}, sealedSecret: {name: s}, thingName: t}`, nil},
		{`{writeConnectionSecretToRef: {name: made}, targetSecretRef: {name: made}, outputSecretName: made}`, nil},
		{`{secretRef: {name: maybe, optional: true}}`, nil},
		{`{solr: {providedConfigMap: conf, configMap: named}, providedSecret: s3cr3t}`,
			[]string{"spec.solr.configMap ConfigMap /named", "spec.solr.providedConfigMap ConfigMap /conf"}},
		{`{configMaps: [a], outputConfigMap: made, someConfigMap: "a: b", podTemplate: {runConfigMap: x}}`, nil},
		{`{template: {spec: {serviceAccountName: pods}}, podTemplate: {serviceAccountName: pods}}`, nil},
		{`{clientSecret: s3cr3t, secretName: "", serviceAccountName: "a b", name: x, bucket: {name: b}}`, nil},
	} {
		var spec map[string]any
		if err := yaml.Unmarshal([]byte(test.spec), &spec); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, n := range namesIn(spec, "spec") {
			if r, known := e.needs.kindNamed("example.com", n); known && !n.loose && !n.isMade() {
				got = append(got, fmt.Sprintf("%s %s %s/%s", n.field, r.Kind, n.namespace, n.name))
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.spec, got, test.want)
		}
	}
}

// TestWhatALabelNames: a label names an object where its domain is the group of the kind, or the
// end of that, and its key is the kind and says that it has a name; without that its domain has to
// be the whole group, and its value not the name of the object that has it.
func TestWhatALabelNames(t *testing.T) {
	t.Parallel()
	e := New(&core.Examination{Snapshot: core.Snapshot{Catalog: &cluster.Catalog{}}}, nil)
	for _, of := range []schema.GroupKind{{Group: "cluster.x-k8s.io", Kind: "Cluster"}, {Group: "b.other.org", Kind: "BackupJob"},
		{Group: "a.twice.org", Kind: "Thing"}, {Group: "b.twice.org", Kind: "Thing"}, {Kind: "Pod"}} {
		e.Catalog.Resources = append(e.Catalog.Resources, cluster.Resource{Type: graph.Type{Group: of.Group, Kind: of.Kind}})
	}
	for label, want := range map[string]string{
		"cluster.x-k8s.io/cluster-name": "Cluster", "other.org/backup-job-name": "BackupJob",
		"cluster.x-k8s.io/cluster": "Cluster", "other.org/backup-job": "", "b.other.org/backup-job": "BackupJob",
		"example.com/cluster-name": "", "cluster-name": "", "pod-name": "",
		"twice.org/thing-name": "", "other.org/name": "",
	} {
		o := &unstructured.Unstructured{Object: map[string]any{"kind": "Claim"}}
		o.SetLabels(map[string]string{label: "a"})
		got := ""
		for _, n := range e.needs.namedInLabels(o) {
			got += n.kind
		}
		if got != want {
			t.Errorf("%s names %q, want %q", label, got, want)
		}
	}
}

// TestWhatAFieldMayMean: a field may name an object of the one kind of its group that ends like it, which
// is not the kind of who names it, and not after three letters.
func TestWhatAFieldMayMean(t *testing.T) {
	t.Parallel()
	e := New(&core.Examination{Snapshot: core.Snapshot{Catalog: &cluster.Catalog{}}}, nil)
	for _, kind := range []string{"CFDomain", "HumioView", "TemporalCluster", "PgDatabase", "RedDisk", "BlueDisk", "AnyApp"} {
		e.Catalog.Resources = append(e.Catalog.Resources, cluster.Resource{Type: graph.Type{Group: "example.com", Kind: kind}})
	}
	for field, want := range map[string]string{
		"domainRef: {name: d}": "CFDomain", "viewName: v": "HumioView", "clusterRef: {name: c}": "TemporalCluster",
		"databaseName: d": "", "diskRef: {name: d}": "", "appRef: {name: a}": "", "managedClusterName: c": "",
	} {
		var spec map[string]any
		if err := yaml.Unmarshal([]byte(field), &spec); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, n := range namesIn(spec, "spec") {
			if r, only := e.needs.kindLike("example.com", n); only && n.mayMean(r, "PgDatabase") {
				got += r.Kind
			}
		}
		if got != want {
			t.Errorf("%s may mean %q, want %q", field, got, want)
		}
	}
}

// TestABareKey: a text at the top of a spec may name an object of the kind that its key is, of the
// group of the object, and not of its own kind. In the groups of ACK it is what AWS calls it.
func TestABareKey(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		group, kind, spec string
		want              bool
	}{
		{"example.com", "Topic", `{cluster: demo}`, true},
		{"example.com", "Topic", `{Cluster: demo}`, true},
		{"example.com", "Cluster", `{cluster: demo}`, false},
		{"other.org", "Topic", `{cluster: demo}`, false},
		{"example.com", "Topic", `{clusters: demo}`, false},
		{"example.com", "Topic", `{cluster: [demo]}`, false},
		{"example.com", "Topic", `{forProvider: {cluster: demo}}`, false},
		{"example.com", "Topic", `{clientSecret: s3cr3t}`, false},
		{"ecs.services.k8s.aws", "Service", `{cluster: demo}`, false},
	} {
		var spec map[string]any
		if err := yaml.Unmarshal([]byte(test.spec), &spec); err != nil {
			t.Fatal(err)
		}
		r := cluster.Resource{Type: graph.Type{Group: "example.com", Kind: "Cluster"}}
		if strings.HasSuffix(test.group, ".aws") {
			r.Group = test.group
		}
		of := schema.GroupKind{Group: test.group, Kind: test.kind}
		got := slices.ContainsFunc(namesIn(spec, "spec"), func(n namedIn) bool { return n.bare && isBareKind(of, r, n.stem) })
		if got != test.want {
			t.Errorf("%s of %s: %t, want %t", test.spec, of, got, test.want)
		}
	}
}

// TestAKindThatAConditionMisses: a failing condition that says that a kind was not found says which
// kind a reference means that is called like a part of it, if that is one kind.
func TestAKindThatAConditionMisses(t *testing.T) {
	t.Parallel()
	catalog := &cluster.Catalog{}
	for _, kind := range []string{"APIAuthConfiguration", "OtherAuthConfiguration", "Plane"} {
		catalog.Resources = append(catalog.Resources, cluster.Resource{Type: graph.Type{Group: "example.com", Kind: kind}})
	}
	e := New(&core.Examination{Snapshot: core.Snapshot{Catalog: catalog}}, nil)
	for _, test := range []struct {
		spec, conditions, want string
	}{
		{`{authRef: {name: a}}`, `[{type: Resolved, status: "False", message: Referenced APIAuthConfiguration / not found}]`, "APIAuthConfiguration"},
		{`{authRef: {name: a}}`, `[{type: Resolved, status: "True", message: Referenced APIAuthConfiguration / not found}]`, ""},
		{`{authRef: {name: a}}`, `[{type: Resolved, status: "False", message: APIAuthConfiguration is not valid}]`, ""},
		{`{authRef: {name: a}}`, `[{type: Resolved, status: "False", message: APIAuthConfigurations not found}]`, ""},
		{`{authRef: {name: a}}`, `[{type: Resolved, status: "False", message: neither APIAuthConfiguration nor OtherAuthConfiguration was not found}]`, ""},
		{`{authRef: {name: a, kind: Secret}}`, `[{type: Resolved, status: "False", message: APIAuthConfiguration not found}]`, ""},
		{`{keyRef: {name: a}}`, `[{type: Resolved, status: "False", message: APIAuthConfiguration not found}]`, ""},
		{`{authRefs: [{name: a}]}`, `[{type: Resolved, status: "False", message: APIAuthConfiguration not found}]`, ""},
		{`{planeRef: {name: a}}`, `[{type: Resolved, status: "False", message: Plane not found}]`, ""},
	} {
		var o unstructured.Unstructured
		text := "{apiVersion: example.com/v1, kind: Plane, spec: " + test.spec + ", status: {conditions: " + test.conditions + "}}"
		if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
			t.Fatal(err)
		}
		spec, _, _ := unstructured.NestedMap(o.Object, "spec")
		for _, n := range namesIn(spec, "spec") {
			if r, _ := e.needs.kindMissed(&o, n); r.Kind != test.want {
				t.Errorf("%s: %q, want %q", text, r.Kind, test.want)
			}
		}
	}
}

// TestAKindThatIsNotServed: an object of a kind that nobody serves is absent, whatever its name is,
// if a reference says its kind and group and discovery hides nothing of that group.
func TestAKindThatIsNotServed(t *testing.T) {
	t.Parallel()
	hidden := []v1alpha1.Gap{{Resource: "*", Group: "blank.org"}}
	for _, test := range []struct {
		spec string
		gaps []v1alpha1.Gap
		want bool
	}{
		{`{infrastructureRef: {apiVersion: blank.org/v1, kind: Blank, name: blankTest}}`, nil, true},
		{`{infrastructureRef: {apiGroup: blank.org, kind: Blank, name: blank}}`, nil, true},
		{`{infrastructureRef: {apiVersion: blank.org/v1, kind: Blank, name: blank}}`, hidden, false},
		{`{infrastructureRef: {apiVersion: blank.org/v1, kind: Blank, name: blank, optional: true}}`, nil, false},
		{`{infrastructureRef: {kind: Blank, name: blank}}`, nil, false},
		{`{manifest: {apiVersion: blank.org/v1, kind: Blank, name: blank}}`, nil, false},
		{`{refs: [{apiVersion: blank.org/v1, kind: Blank, name: blank}]}`, nil, false},
		{`{template: {infrastructureRef: {apiVersion: blank.org/v1, kind: Blank, name: blank}}}`, nil, false},
	} {
		var spec map[string]any
		if err := yaml.Unmarshal([]byte(test.spec), &spec); err != nil {
			t.Fatal(err)
		}
		catalog := &cluster.Catalog{}
		e := New(&core.Examination{Snapshot: core.Snapshot{Catalog: catalog, Gaps: test.gaps},
			Reader: cluster.NewReader(nil, catalog)}, nil)
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Cluster", "spec": spec}}
		absent, _, _ := e.needs.looked(t.Context(), o)
		if got := len(absent) == 1 && absent[0].unserved == "blank.org"; got != test.want {
			t.Errorf("%s: %t, want %t", test.spec, got, test.want)
		}
	}
}

// TestAReferenceOfWhichNobodyKnowsTheKind: that nothing in the namespace has the name can be seen
// where all of that is listed. What another key names can be anything.
func TestAReferenceOfWhichNobodyKnowsTheKind(t *testing.T) {
	t.Parallel()
	b := graph.NewBuilder()
	b.Listing(graph.Type{Version: "v1", Resource: "secrets", Kind: "Secret", Namespaced: true}, "shop").
		Add(graph.Object{Namespace: "shop", Name: "aws", UID: "u"})
	g := b.Build()
	for _, test := range []struct {
		fields string
		gaps   []v1alpha1.Gap
		want   bool
	}{
		{`spec: {providerRef: {name: gone}}`, nil, true},
		{`spec: {providerRef: {name: aws}}`, nil, false},
		{`spec: {providerRef: {name: gone}}`, []v1alpha1.Gap{{Resource: "providers", Group: "example.com"}}, false},
		{`spec: {providerRef: {name: gone, namespace: other}}`, nil, false},
		{`spec: {providerRef: {name: gone, kind: Provider}}`, nil, false},
		{`spec: {writeConnectionSecretToRef: {name: gone}}`, nil, false},
		{`spec: {zone: {name: gone}}`, nil, false},
		{`spec: {zone: gone}`, nil, false},
		{`data: {providerRef: {name: gone}}`, nil, false}, // of which nobody knows what it is
	} {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(test.fields), &o.Object); err != nil {
			t.Fatal(err)
		}
		catalog := &cluster.Catalog{}
		e := New(&core.Examination{Snapshot: core.Snapshot{Catalog: catalog, Graph: g, Gaps: test.gaps},
			Reader: cluster.NewReader(nil, catalog)}, nil)
		o.SetAPIVersion("example.com/v1")
		o.SetKind("Record")
		o.SetNamespace("shop")
		o.SetDeletionTimestamp(&metav1.Time{Time: time.Now()})
		if got := len(e.needs.whatItNames(t.Context(), o).unseen) == 1; got != test.want {
			t.Errorf("%s: %t, want %t", test.fields, got, test.want)
		}
	}
}

// TestTheKindOfAnOwner: a name is that of the owner that is called so, if the kind of that ends like
// the field is called, and of nothing else.
func TestTheKindOfAnOwner(t *testing.T) {
	t.Parallel()
	catalog := &cluster.Catalog{Resources: []cluster.Resource{
		{Type: graph.Type{Group: "example.com", Version: "v1", Kind: "HostedCluster", Resource: "hostedclusters"}}}}
	e := New(&core.Examination{Snapshot: core.Snapshot{Catalog: catalog}, Reader: cluster.NewReader(nil, catalog)}, nil)
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetOwnerReferences([]metav1.OwnerReference{
		{APIVersion: "example.com/v1", Kind: "HostedCluster", Name: "demo", UID: "u"},
		{APIVersion: "example.com/v1", Kind: "Unserved", Name: "other", UID: "v"}})
	for spec, want := range map[string]bool{
		`{clusterName: demo}`:                true,
		`{clusterRef: {name: demo}}`:         true,
		`{clusterName: another}`:             false,
		`{poolName: demo}`:                   false,
		`{name: demo}`:                       false,
		`{ref: {kind: Cluster, name: demo}}`: false,
		`{unservedName: other}`:              false,
	} {
		var fields map[string]any
		if err := yaml.Unmarshal([]byte(spec), &fields); err != nil {
			t.Fatal(err)
		}
		got := slices.ContainsFunc(namesIn(fields, "spec"), func(n namedIn) bool {
			_, known := e.needs.kindOwning(o, n)
			return known
		})
		if got != want {
			t.Errorf("%s: %t, want %t", spec, got, want)
		}
	}
}

// TestWhichKindIsAlike: a key may be the end of a kind that begins as the object's own kind does.
func TestWhichKindIsAlike(t *testing.T) {
	t.Parallel()
	for of, want := range map[[3]string]bool{
		{"MinioPolicy", "MinioPolicyBinding", "policy"}: true, {"PostgresDatabase", "PostgresUser", "database"}: true,
		{"Policy", "PolicyBinding", "policy"}: false, {"Minio", "MinioPolicyBinding", "policy"}: false, {"AccessPolicy", "MinioPolicyBinding", "policy"}: false,
	} {
		if got := alikeBut(of[0], of[1], of[2]); got != want {
			t.Errorf("%v: %v, want %v", of, got, want)
		}
	}
}

// TestAKindOfTheSameProgram: the key of a field is that of a kind whose group is called after the program
// after which the object's own kind is.
func TestAKindOfTheSameProgram(t *testing.T) {
	t.Parallel()
	e := New(&core.Examination{Snapshot: core.Snapshot{Catalog: &cluster.Catalog{Resources: []cluster.Resource{
		{Type: graph.Type{Group: "tinkerbell.org", Kind: "Hardware"}}, {Type: graph.Type{Group: "cluster.x-k8s.io", Kind: "Cluster"}},
		{Type: graph.Type{Group: "iam.example.com", Kind: "Role"}}, {Type: graph.Type{Kind: "Node"}}}}}}, nil)
	for _, test := range []struct{ kind, stem, want string }{
		{"TinkerbellMachine", "hardware", "Hardware"}, {"MetalMachine", "hardware", ""}, {"TinkerbellMachine", "cluster", ""},
		{"TinkerbellMachine", "node", ""}, {"IAMPolicy", "role", ""}, {"TinkerbellMachine", "", ""},
	} {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "infrastructure.cluster.x-k8s.io/v1", "kind": test.kind}}
		if r, _ := e.needs.kindOfProgram(o, namedIn{stem: test.stem}); r.Kind != test.want {
			t.Errorf("%s of a %s: %q, want %q", test.stem, test.kind, r.Kind, test.want)
		}
	}
}

// TestWhatAnObjectIsTakenOf: the cluster of a MySQLBackup may be a MySQL; the database of a
// MySQLDatabase is its own.
func TestWhatAnObjectIsTakenOf(t *testing.T) {
	t.Parallel()
	e := New(&core.Examination{Snapshot: core.Snapshot{Catalog: &cluster.Catalog{Resources: []cluster.Resource{
		{Type: graph.Type{Group: "example.com", Kind: "MySQL"}}}}}}, nil)
	for _, test := range []struct{ kind, stem, want string }{
		{"MySQLBackup", "cluster", "MySQL"}, {"MySQLBackup", "database", "MySQL"}, {"MySQLDatabase", "cluster", "MySQL"},
		{"MySQLDatabase", "database", ""}, {"MySQLProxy", "cluster", ""}, {"MySQLBackup", "bucket", ""},
	} {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": test.kind}}
		if r, _ := e.needs.kindBefore(o, namedIn{stem: test.stem}); r.Kind != test.want {
			t.Errorf("%s of a %s: %q", test.stem, test.kind, r.Kind)
		}
	}
}

// TestWhatAKeyEndsWith: a key that ends with one kind of the group means that if it is there.
func TestWhatAKeyEndsWith(t *testing.T) {
	t.Parallel()
	catalog := &cluster.Catalog{}
	for _, kind := range []string{"Instance", "Repository", "Pool", "ServerPool", "Key"} {
		catalog.Resources = append(catalog.Resources, cluster.Resource{Type: graph.Type{Group: "example.com", Version: "v1", Kind: kind,
			Resource: strings.ToLower(kind) + "s", Namespaced: true}})
	}
	e := New(&core.Examination{Snapshot: core.Snapshot{Catalog: catalog}, Reader: cluster.NewReader(nil, catalog)}, nil)
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Repository"}}
	for spec, want := range map[string]string{
		`{parentInstance: {name: main}}`:       "Instance",
		`{sourceInstanceName: main}`:           "Instance",
		`{parentInstances: [{name: main}]}`:    "", // any of them may do
		`{mainRepository: {name: main}}`:       "", // its own kind
		`{bigServerPool: {name: main}}`:        "", // one of two
		`{apiKey: {name: main}}`:               "", // too short a word
		`{instance: {name: main}}`:             "", // the kind itself
		`{parentInstance: main}`:               "", // no name by its key
		`{parentInstance: {name: "a b"}}`:      "",
		`{parentInstance: {kind: X, name: a}}`: "",
	} {
		var fields map[string]any
		if err := yaml.Unmarshal([]byte(spec), &fields); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, n := range namesIn(fields, "spec") {
			if r, only := e.needs.kindWithin(o, n); only {
				got += r.Kind
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", spec, got, want)
		}
	}
}

// TestWhereAKeyPlaces: a word before the kind says that the object is for one, or below it.
func TestWhereAKeyPlaces(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]bool{
		`{targetDestinationName: worker-1}`:    true,
		`{parentDestination: {name: worker}}`:  true,
		`{assignedDestinationRef: {name: w}}`:  true,
		`{sourceDestinationName: worker-1}`:    false, // it may be of another place
		`{destinationName: worker-1}`:          false, // the kind itself
		`{targetDestinationNames: [worker-1]}`: false,
		`{targetNamespace: worker-1}`:          false,
	} {
		var fields map[string]any
		if err := yaml.Unmarshal([]byte(spec), &fields); err != nil {
			t.Fatal(err)
		}
		got := false
		for _, n := range namesIn(fields, "spec") {
			got = got || n.placesAt(cluster.Resource{Type: graph.Type{Group: "example.com", Kind: "Destination"}})
		}
		if got != want {
			t.Errorf("%s: %t", spec, got)
		}
	}
	n := namedIn{stem: "targetinstance"}
	if n.placesAt(cluster.Resource{Type: graph.Type{Group: "rds.services.k8s.aws", Kind: "Instance"}}) {
		t.Error("ACK has names that AWS knows")
	}
}

// TestBehind: what is said of an object whose controller has not seen its last generation.
func TestBehind(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		seen, generation int64
		want             string
	}{{2, 3, " (its status.observedGeneration is 2, its generation 3)"}, {3, 3, ""}} {
		o := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"observedGeneration": test.seen}}}
		o.SetGeneration(test.generation)
		if got := behind(o); got != test.want {
			t.Errorf("%d of %d: %q, want %q", test.seen, test.generation, got, test.want)
		}
	}
	if got := behind(&unstructured.Unstructured{Object: map[string]any{}}); got != "" {
		t.Errorf("without a status: %q", got)
	}
}
