package restore

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// stranger creates a ConfigMap that says of itself that it was restored.
func (w *world) stranger(name, from string, owners ...metav1.OwnerReference) *corev1.ConfigMap {
	w.t.Helper()
	o, err := w.client.CoreV1().ConfigMaps(w.namespace).Create(w.t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{RestoredFrom: from},
			OwnerReferences: owners},
		Data: map[string]string{"of": "a stranger"},
	}, metav1.CreateOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return o
}

func (w *world) uid(name string) string {
	w.t.Helper()
	o, err := w.client.CoreV1().ConfigMaps(w.namespace).Get(w.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return string(o.UID)
}

// TestAnAnnotationIsNoProof that an object was restored: anybody may write it, and would own what
// the archived object has owned.
func TestAnAnnotationIsNoProof(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		also []string // deleted besides the owner
		only []Name   // what is meant, nothing for all
		want []string
	}{
		"a dependent is created": {[]string{"child"}, nil, []string{"child map[name:child]", "owner map[of:a stranger]"}},
		"a dependent is there":   {nil, nil, []string{"child map[name:child]", "owner map[of:a stranger]"}},
		"only a dependent is meant": {[]string{"child"}, []Name{{"configmap", "child"}},
			[]string{"child map[name:child]", "owner map[of:a stranger]"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.make([]string{"owner", "child"}, []edge{{"child", "owner", false, false}})
			file, uid := w.save(), w.uid("owner")
			w.takeOff([]string{"owner"})
			w.delete(append(test.also, "owner")...)
			w.stranger("owner", uid)
			w.restore(file, Options{Names: test.only})
			if got := fmt.Sprintf("%q", w.shape()); got != fmt.Sprintf("%q", test.want) {
				t.Errorf("%s, want %q", got, test.want)
			}
		})
	}
	t.Run("the archive does not have the owner", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.make([]string{"owner", "child"}, []edge{{"child", "owner", false, false}})
		uid := w.uid("owner")
		all := w.save()
		text, err := os.ReadFile(all)
		if err != nil {
			t.Fatal(err)
		}
		docs := strings.Split(strings.Replace(string(text), "archived: 2", "archived: 1", 1), "\n---\n")
		docs[2] = strings.Replace(docs[2], "of archive: 2 objects", "of archive: 1 object", 1)
		if err := os.WriteFile(all, []byte(docs[0]+"\n---\n"+docs[2]), 0o600); err != nil {
			t.Fatal(err)
		}
		w.delete("owner", "child")
		w.stranger("owner", uid)
		w.restore(all, Options{})
		if got := w.shape(); len(got) != 2 {
			t.Errorf("%q", got)
		}
	})
	t.Run("between the plan and its steps", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.make([]string{"owner", "child"}, []edge{{"child", "owner", false, false}})
		file, uid := w.save(), w.uid("owner")
		w.delete("owner", "child")
		p, client := w.plan(file, Options{})
		w.stranger("owner", uid)
		var told []string
		r, err := p.Perform(t.Context(), client, PerformOptions{OnEvent: func(e Event) {
			told = append(told, fmt.Sprintf("%s %s %t", e.Action.Verb, e.Action.Object.Name, e.Err != nil))
		}})
		if err != nil || len(r.Failed) != 2 {
			t.Errorf("%v, failed %v", err, r.Failed)
		}
		if want := []string{"create owner true", "create child true"}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
		if got := w.shape(); len(got) != 1 {
			t.Errorf("%q", got)
		}
	})
}

// TestAReferenceToAControllerIsNoProof that the controller has made an object: anybody may write
// it. What owns nothing in the archive is left alone all the same.
func TestAReferenceToAControllerIsNoProof(t *testing.T) {
	t.Parallel()
	for name, alike := range map[string]bool{"another content": false, "as it was": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.make([]string{"app", "set", "key"}, []edge{{"set", "app", true, false}, {"key", "set", false, false}})
			file := w.save()
			w.delete("set", "key")
			is := true
			o := &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Name: "set",
					OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "app", Controller: &is}}},
				Data: map[string]string{"name": "of a stranger"},
			}
			if alike {
				o.Data["name"] = "set"
			}
			app, err := w.client.CoreV1().ConfigMaps(w.namespace).Get(t.Context(), "app", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			o.OwnerReferences[0].UID = app.UID
			if _, err := w.client.CoreV1().ConfigMaps(w.namespace).Create(t.Context(), o, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			w.restore(file, Options{})
			owned := strings.Contains(strings.Join(w.shape(), "\n"), "key < set")
			if owned != alike {
				t.Errorf("owned %v: %q", owned, w.shape())
			}
		})
	}
}

// TestWhatWasRestoredIsKnownByItsUID, whatever has become of its content, from a file that is for
// its owner alone; and by its content where nothing was noted, as of what a killed restore has
// created.
func TestWhatWasRestoredIsKnownByItsUID(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.make([]string{"owner", "child"}, []edge{{"child", "owner", true, false}})
	want := w.shape()
	file := w.save()
	w.delete("owner", "child")
	w.restore(file, Options{})
	info, err := os.Lstat(file + ".created")
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	owner, err := w.client.CoreV1().ConfigMaps(w.namespace).Get(t.Context(), "owner", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	owner.Data["name"] = "changed"
	if _, err := w.client.CoreV1().ConfigMaps(w.namespace).Update(t.Context(), owner, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.delete("child")
	w.restore(file, Options{})
	want[len(want)-1] = "owner map[name:changed]"
	if got := w.shape(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", got, want)
	}

	again := newWorld(t)
	again.make([]string{"owner", "child"}, []edge{{"child", "owner", true, false}})
	want = again.shape()
	file = again.save()
	again.delete("owner", "child")
	again.restore(file, Options{})
	if err := os.Remove(file + ".created"); err != nil {
		t.Fatal(err)
	}
	again.delete("child")
	again.restore(file, Options{})
	if got := again.shape(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("by its content: %q, want %q", got, want)
	}
}

// TestACopyWithOwnersOfItsOwnIsNoProof: what a stranger's object takes with it would be deleted.
func TestACopyWithOwnersOfItsOwnIsNoProof(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.make([]string{"owner", "child"}, []edge{{"child", "owner", false, false}})
	file, uid := w.save(), w.uid("owner")
	w.delete("owner", "child")
	mine := w.stranger("mine", "")
	copied := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name: "owner", Annotations: map[string]string{RestoredFrom: uid},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "mine", UID: mine.UID}},
		},
		Data: map[string]string{"name": "owner"},
	}
	if _, err := w.client.CoreV1().ConfigMaps(w.namespace).Create(t.Context(), copied,
		metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.restore(file, Options{})
	if got := strings.Join(w.shape(), "\n"); strings.Contains(got, "child <") {
		t.Errorf("%s", got)
	}
}

// TestAVolumeIsNotBoundToAStrangersClaim: who writes the annotation would get the data.
func TestAVolumeIsNotBoundToAStrangersClaim(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data", Namespace: w.namespace,
		UID: "00000000-0000-4000-8000-000000000001"}}
	archived := object(t, `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: `+w.namespace+
		`, uid: `+string(claim.UID)+`}, spec: {volumeName: v}}`)
	it, err := newItem(archived)
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]proof{"a stranger's": {}, "restored": {noted: true}} {
		d := decide(survey{
			index:  &index{items: []*item{it}, byUID: map[string]*item{it.ref.UID: it}, places: map[place]*item{it.place(): it}},
			wanted: []bool{true}, types: []graph.Type{{Version: "v1", Resource: "persistentvolumeclaims",
				Kind: "PersistentVolumeClaim", Namespaced: true}},
			live: []live{{uid: "another", restoredFrom: it.ref.UID}}, proofs: []proof{p},
			namespaces: map[string]live{w.namespace: {uid: "n"}},
			volumes:    map[string]volume{"v": {found: true, uid: "v", claim: w.namespace + "/data", claimUID: it.ref.UID}},
		}, Options{})
		if got := len(d.Steps) == 1 && d.Steps[0].Verb == Rebind && d.Steps[0].claimUID == "another"; got != p.noted ||
			len(d.Steps) > 1 {
			t.Errorf("%s: %+v", name, d.Steps)
		}
	}
}

// TestAnArchiveThatIsReplacedIsNotRestored: what was agreed to is what is created.
func TestAnArchiveThatIsReplacedIsNotRestored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.make([]string{"role"}, nil)
	file := w.save()
	w.delete("role")
	p, client := w.plan(file, Options{})
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, bytes.ReplaceAll(text, []byte("name: role"), []byte("name: admin")), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := p.Perform(t.Context(), client, PerformOptions{})
	if err == nil || !strings.Contains(err.Error(), "has changed since it was read") || len(r.Done) > 0 {
		t.Errorf("%v, did %v", err, r.Done)
	}
	if got := w.shape(); len(got) > 0 {
		t.Errorf("there is %q", got)
	}
}

// TestATamperedArchiveStaysInItsNamespace: with a namespace and --overwrite, nothing is written
// outside it, whatever objects say of their namespace, their kind and their owners.
func TestATamperedArchiveStaysInItsNamespace(t *testing.T) {
	t.Parallel()
	w, other := newWorld(t), newWorld(t)
	w.make([]string{"owner", "child"}, []edge{{"child", "owner", false, false}})
	other.make([]string{"child"}, nil)
	file := w.save()
	w.delete("owner", "child")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	docs := strings.Split(string(text), "\n---\n")
	before := strings.Join(other.shape(), "\n")
	for name, change := range map[string]func(string) string{
		"another namespace": func(s string) string {
			return strings.ReplaceAll(s, "namespace: "+w.namespace, "namespace: "+other.namespace)
		},
		"no namespace": func(s string) string { return strings.ReplaceAll(s, "  namespace: "+w.namespace+"\n", "") },
		"no namespaced kind": func(s string) string {
			return strings.NewReplacer("apiVersion: v1\ndata", "apiVersion: rbac.authorization.k8s.io/v1\nx",
				"kind: ConfigMap\nmetadata", "kind: ClusterRole\nmetadata").Replace(s)
		},
	} {
		tampered := []byte(docs[0] + "\n---\n" + docs[1] + "\n---\n" + change(docs[2]))
		if err := os.WriteFile(file, tampered, 0o600); err != nil {
			t.Fatal(err)
		}
		config := rest.CopyConfig(w.config)
		var outside []string
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(r *http.Request) (*http.Response, error) {
				if r.Method != http.MethodGet && !strings.Contains(r.URL.Path, "/namespaces/"+w.namespace+"/") &&
					!strings.Contains(r.URL.Path, "accessreviews") {
					outside = append(outside, r.Method+" "+r.URL.Path)
				}
				return next.RoundTrip(r)
			})
		})
		in := *w
		in.config = config
		for _, opts := range []Options{{Namespace: w.namespace, Overwrite: true},
			{Namespace: w.namespace, Overwrite: true, Names: []Name{{"configmap", "owner"}}}} {
			p, client := in.plan(file, opts)
			if _, err := p.Perform(t.Context(), client, PerformOptions{}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			for _, s := range p.Steps {
				if s.Object.Name != "owner" {
					t.Errorf("%s: it writes %+v", name, s.Object)
				}
			}
		}
		if len(outside) > 0 {
			t.Errorf("%s: it has sent %q", name, outside)
		}
		if got := strings.Join(other.shape(), "\n"); got != before {
			t.Errorf("%s: %s", name, got)
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
