package facts

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/test/real/beside"
	"github.com/kubectl-gc/kubectl-gc/test/real/plugin"
	"github.com/kubectl-gc/kubectl-gc/test/real/record"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// shop is a release of the chart testdata/shop. One of its objects is in another namespace than the
// release.
type shop struct {
	*testcluster.Cluster
	namespace, other string
}

// newShop installs the release in a namespace of its own.
func newShop(t *testing.T, c *testcluster.Cluster) shop {
	t.Helper()
	s := shop{c, c.Namespace(t), c.Namespace(t)}
	s.helm(t, "install")
	return s
}

// helm runs a command of helm that takes the chart.
func (s shop) helm(t *testing.T, command string, args ...string) {
	t.Helper()
	if err := s.try(t, command, args...); err != nil {
		t.Fatal(err)
	}
}

func (s shop) try(t *testing.T, command string, args ...string) error {
	t.Helper()
	chart, err := filepath.Abs("testdata/shop")
	if err != nil {
		t.Fatal(err)
	}
	return beside.Helm(t, s.Cluster,
		append([]string{command, "shop", chart, "--namespace", s.namespace, "--set", "other=" + s.other}, args...)...)
}

// uninstall removes the release.
func (s shop) uninstall(t *testing.T, args ...string) {
	t.Helper()
	if err := beside.Helm(t, s.Cluster,
		append([]string{"uninstall", "shop", "--namespace", s.namespace}, args...)...); err != nil {
		t.Fatal(err)
	}
}

// TestHelm tests what helm does with the objects of a release. The tests share the control plane.
func TestHelm(t *testing.T) {
	c := testcluster.Start(t, testcluster.Controllers(controllers...))
	t.Run("Tree", func(t *testing.T) { releaseAsATree(t, newShop(t, c)) })
	t.Run("ObjectsOfARelease", func(t *testing.T) { objectsOfARelease(t, newShop(t, c)) })
	t.Run("Uninstall", func(t *testing.T) { uninstall(t, newShop(t, c)) })
	t.Run("UninstallWithHistory", func(t *testing.T) { uninstallWithHistory(t, newShop(t, c)) })
	t.Run("NamespaceOfTheRelease", func(t *testing.T) { namespaceOfTheRelease(t, newShop(t, c)) })
	t.Run("WhatAChangeDrops", func(t *testing.T) { helmPrunes(t, c) })
	t.Run("NamespaceOfAnObject", func(t *testing.T) { namespaceOfAnObject(t, newShop(t, c)) })
}

// releaseAsATree: the tree of a release has the objects of its last revision, and a hook that is
// there.
func releaseAsATree(t *testing.T, s shop) {
	hooks := []string{"ConfigMap/hooked hook"}
	want := func(revision string, objects ...string) {
		t.Helper()
		objects = slices.Sorted(slices.Values(slices.Concat(objects, hooks,
			[]string{"ConfigMap/far release", "ConfigMap/kept release", "ConfigMap/settings release", "Service/web release"})))
		if got := s.tree(t); got.root != revision || !slices.Equal(got.objects, objects) {
			t.Errorf("the tree of %s has %q, want that of %s with %q", got.root, got.objects, revision, objects)
		}
	}
	want("sh.helm.release.v1.shop.v1", "ConfigMap/dropped release")
	s.helm(t, "upgrade", "--set", "second=true")
	want("sh.helm.release.v1.shop.v2", "ConfigMap/added release")
}

// listed is the tree of a release: its root, and the objects below it with the names of their
// links.
type listed struct {
	root    string
	objects []string
	nodes   map[string]v1alpha1.ObjectRef
}

func (s shop) tree(t *testing.T) listed {
	t.Helper()
	var tree v1alpha1.Tree
	if code := plugin.JSON(t, s.Cluster, &tree, "tree", "helm/shop", "-n", s.namespace); code != 0 || !tree.Complete {
		t.Fatalf("exit code %d, complete %t", code, tree.Complete)
	}
	l := listed{nodes: map[string]v1alpha1.ObjectRef{}}
	for _, node := range tree.Nodes {
		if node.Root {
			l.root = node.Ref.Name
			continue
		}
		name := node.Ref.Kind + "/" + node.Ref.Name + " " + node.Owners[0].Link
		if node.State != "Active" {
			name += " " + string(node.State)
		}
		l.objects, l.nodes[name] = append(l.objects, name), node.Ref
	}
	slices.Sort(l.objects)
	return l
}

// objectsOfARelease: the plan says of an object of the release that the next upgrade creates it
// again, in whichever namespace it is, and of a hook it does not; and so does the upgrade, although
// the chart is the same.
func objectsOfARelease(t *testing.T, s shop) {
	for _, object := range []struct {
		namespace, name string
		back            bool
	}{
		{s.namespace, "configmap/settings", true},
		{s.namespace, "service/web", true},
		{s.namespace, "configmap/kept", true},
		{s.other, "configmap/far", true},
		{s.namespace, "configmap/hooked", false},
	} {
		var said []string
		if object.back {
			said = []string{s.again(object.namespace, object.name)}
		}
		if got := s.recreated(t, object.name, "-n", object.namespace); !slices.Equal(got, said) {
			t.Errorf("the plan of %s says that these come back: %q, want %q", object.name, got, said)
		}
		if a := plugin.Run(t, s.Cluster, "delete", object.name, "-n", object.namespace, "--yes",
			"--timeout=1m"); a.Code != 0 {
			t.Fatalf("exit code %d\n%s%s", a.Code, a.Stdout, a.Stderr)
		}
		s.helm(t, "upgrade")
		if is := s.exists(t, object.namespace, object.name); is != object.back {
			t.Errorf("after the upgrade %s is there: %t, want %t", object.name, is, object.back)
		}
	}
}

// again is what a plan says of an object that the next upgrade creates.
func (s shop) again(namespace, name string) string {
	return fmt.Sprintf("%s/%s by Helm with the next helm upgrade, of the Secret in %s", namespace, name, s.namespace)
}

// recreated gives what a plan says will come back.
func (s shop) recreated(t *testing.T, args ...string) []string {
	t.Helper()
	var all []string
	for _, r := range planOf(t, s.Cluster, args...).Recreated {
		all = append(all, fmt.Sprintf("%s/%s/%s by %s with %s, of the %s in %s", r.Object.Namespace,
			strings.ToLower(r.Object.Kind), r.Object.Name, r.Program, r.With, r.Owner.Kind, r.Owner.Namespace))
	}
	return all
}

func (s shop) exists(t *testing.T, namespace, name string) bool {
	t.Helper()
	return strings.TrimSpace(s.Kubectl(t, "get", name, "-n", namespace, "--ignore-not-found", "-o", "name")) != ""
}

// uninstall: what the tree of a release has by the link release goes with helm uninstall, in both
// namespaces, except what says that it is to be kept. Hooks stay.
func uninstall(t *testing.T, s shop) {
	s.helm(t, "upgrade", "--set", "second=true")
	var want []types.UID
	for name, ref := range s.tree(t).nodes {
		if strings.HasSuffix(name, " release") && ref.Name != "kept" {
			want = append(want, types.UID(ref.UID))
		}
	}
	r := record.Start(t, s.Config())
	s.uninstall(t)
	h := r.Settle(t)
	slices.Sort(want)
	if got := went(slices.DeleteFunc(s.history(h),
		func(e record.Event) bool { return e.Resource == "secrets" })); !slices.Equal(got, want) {
		t.Errorf("helm uninstall has deleted %v, and the tree has %v", got, want)
	}
	for _, name := range []string{"configmap/kept", "configmap/hooked"} {
		if !s.exists(t, s.namespace, name) {
			t.Errorf("helm uninstall has deleted %s", name)
		}
	}
	if a := plugin.Run(t, s.Cluster, "tree", "helm/shop", "-n", s.namespace); a.Code != 1 ||
		!strings.Contains(a.Stderr, "not found in namespace") {
		t.Errorf("the tree of a release that is not there: exit code %d, %s", a.Code, a.Stderr)
	}
}

// history leaves of a history what is about the namespaces of the release, and in them: other tests
// end meanwhile.
func (s shop) history(h record.History) record.History {
	ours := []string{s.namespace, s.other}
	return slices.DeleteFunc(slices.Clone(h), func(e record.Event) bool {
		return !slices.Contains(ours, e.Namespace) && !(e.Resource == "namespaces" && slices.Contains(ours, e.Name))
	})
}

// uninstallWithHistory: after helm uninstall --keep-history no upgrade is possible, so that nothing
// creates again what was kept.
func uninstallWithHistory(t *testing.T, s shop) {
	s.uninstall(t, "--keep-history")
	if got := s.recreated(t, "configmap/kept", "-n", s.namespace); len(got) > 0 {
		t.Errorf("the plan says that these come back: %q", got)
	}
	if err := s.try(t, "upgrade"); err == nil || !strings.Contains(err.Error(), "has no deployed releases") {
		t.Errorf("helm upgrade: %v", err)
	}
}

// namespaceOfTheRelease: with its namespace Helm loses the release, so that nothing is created
// again. What the release has in another namespace stays.
func namespaceOfTheRelease(t *testing.T, s shop) {
	if got := s.recreated(t, "namespace/"+s.namespace); len(got) > 0 {
		t.Errorf("the plan says that these come back: %q", got)
	}
	plan := planned(t, s.Cluster, "namespace/"+s.namespace)
	r := record.Start(t, s.Config())
	if a := plugin.Run(t, s.Cluster, "delete", "namespace/"+s.namespace, "--yes", "--timeout=2m"); a.Code != 0 {
		t.Fatalf("exit code %d\n%s%s", a.Code, a.Stdout, a.Stderr)
	}
	if went := went(s.history(r.Settle(t))); !slices.Equal(plan, went) {
		t.Errorf("the plan deletes %v, and %v are gone", plan, went)
	}
	if !s.exists(t, s.other, "configmap/far") {
		t.Error("the object in the other namespace is gone")
	}
}

// namespaceOfAnObject: the plan of a namespace says which objects in it a release in another one
// creates again, which it does once there is a namespace of that name.
func namespaceOfAnObject(t *testing.T, s shop) {
	want := []string{s.again(s.other, "configmap/far")}
	if got := s.recreated(t, "namespace/"+s.other); !slices.Equal(got, want) {
		t.Errorf("the plan says that these come back: %q, want %q", got, want)
	}
	if a := plugin.Run(t, s.Cluster, "delete", "namespace/"+s.other, "--yes", "--timeout=2m"); a.Code != 0 {
		t.Fatalf("exit code %d\n%s%s", a.Code, a.Stdout, a.Stderr)
	}
	if err := s.try(t, "upgrade"); err == nil || !strings.Contains(err.Error(), `namespaces "`+s.other+`" not found`) {
		t.Errorf("helm upgrade without the namespace: %v", err)
	}
	s.Kubectl(t, "create", "namespace", s.other)
	s.helm(t, "upgrade")
	if !s.exists(t, s.other, "configmap/far") {
		t.Error("the upgrade has not created it again")
	}
}
