package env

import (
	"bytes"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// objects are all that commands print with -o json.
var objects = map[string]runtime.Object{
	"Archive": &v1alpha1.Archive{}, "CheckReport": &v1alpha1.CheckReport{}, "Diagnosis": &v1alpha1.Diagnosis{},
	"Explanation": &v1alpha1.Explanation{}, "LinkTest": &v1alpha1.LinkTest{},
	"Plan": &v1alpha1.Plan{}, "RestorePlan": &v1alpha1.RestorePlan{}, "RestoreResult": &v1alpha1.RestoreResult{},
	"Result": &v1alpha1.Result{}, "Tree": &v1alpha1.Tree{}, "Version": &v1alpha1.Version{},
}

// TestRowsOfCustomColumnsAreAListOfTheObject: each key is one that the kind has.
func TestRowsOfCustomColumnsAreAListOfTheObject(t *testing.T) {
	t.Parallel()
	for kind, key := range listed {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(objects[kind])
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		if _, has := content[key]; !has {
			t.Errorf("a %s has no %s", kind, key)
		}
	}
}

// TestCustomColumnsHaveARowForEachItem, and one for an object without items.
func TestCustomColumnsHaveARowForEachItem(t *testing.T) {
	t.Parallel()
	tree := &v1alpha1.Tree{TypeMeta: v1alpha1.TypeMeta("Tree"),
		Nodes: []v1alpha1.TreeNode{{Ref: v1alpha1.ObjectRef{Name: "a"}}, {Ref: v1alpha1.ObjectRef{Name: "b"}, Depth: 1}}}
	version := &v1alpha1.Version{TypeMeta: v1alpha1.TypeMeta("Version"), Version: "v1.2.3"}
	for _, test := range []struct {
		args   []string
		object runtime.Object
		want   string
	}{
		{[]string{"-o", "custom-columns=NAME:.ref.name,DEPTH:.depth"}, tree, "NAME   DEPTH\na      0\nb      1\n"},
		{[]string{"-o", "custom-columns=NAME:.ref.name,DEPTH:.depth", "--no-headers"}, tree, "a   0\nb   1\n"},
		{[]string{"-o", "custom-columns=V:.version"}, version, "V\nv1.2.3\n"},
	} {
		o, cmd := NewOutput(&Env{}, "wide"), &cobra.Command{}
		o.Add(cmd)
		if err := cmd.ParseFlags(test.args); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := o.Validate(cmd); err != nil {
			t.Fatal(err)
		}
		if err := o.Write(&out, test.object); err != nil || out.String() != test.want || o.IsOwn() {
			t.Errorf("%v: %v\n%s", test.args, err, out.String())
		}
	}
}
