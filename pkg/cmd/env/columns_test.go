package env

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// objects are all that commands print with -o json, for one test alone.
func objects() map[string]Document {
	all := map[string]Document{
		"Archive": &v1alpha1.Archive{}, "CheckReport": &v1alpha1.CheckReport{}, "Comparison": &v1alpha1.Comparison{},
		"Diagnosis": &v1alpha1.Diagnosis{}, "Explanation": &v1alpha1.Explanation{}, "LinkTest": &v1alpha1.LinkTest{},
		"List": &v1alpha1.List{}, "Plan": &v1alpha1.Plan{}, "RestorePlan": &v1alpha1.RestorePlan{},
		"RestoreResult": &v1alpha1.RestoreResult{}, "Result": &v1alpha1.Result{}, "Snapshot": &v1alpha1.Snapshot{},
		"Tree": &v1alpha1.Tree{}, "Version": &v1alpha1.Version{},
	}
	for kind, object := range all {
		object.GetObjectKind().SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
	}
	return all
}

// TestRowsOfCustomColumnsAreAListOfTheObject: each key is one that the kind has.
func TestRowsOfCustomColumnsAreAListOfTheObject(t *testing.T) {
	t.Parallel()
	objects := objects()
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
		object Document
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

// TestDocumentsArePrintedAsTheyAre, whatever the printers take them for.
func TestDocumentsArePrintedAsTheyAre(t *testing.T) {
	t.Parallel()
	for kind, object := range objects() {
		asJSON, err := json.MarshalIndent(object, "", "    ")
		if err != nil {
			t.Fatal(err)
		}
		asYAML, err := yaml.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		for format, want := range map[string]string{"json": string(asJSON) + "\n", "yaml": string(asYAML),
			"jsonpath={.kind}": kind, "go-template={{.kind}}": kind} {
			o, cmd := NewOutput(&Env{}), &cobra.Command{}
			o.Add(cmd)
			if err := cmd.ParseFlags([]string{"-o", format}); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := o.Write(&out, object); err != nil || out.String() != want {
				t.Errorf("%s as %s: %v\n%s", kind, format, err, out.String())
			}
		}
	}
}
