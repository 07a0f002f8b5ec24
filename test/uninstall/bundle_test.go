package uninstall

import (
	"context"
	"embed"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/test/operator"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

//go:embed testdata
var testdata embed.FS

// bundle is what somebody has installed to run operators, and what users have of it.
type bundle struct {
	// folder is in testdata: bundle.yaml is what is installed and uninstalled, and users.yaml what
	// others have of it, in namespaces that stay. What the operators create is in the folder made
	// below.
	folder string
	// name is the folder's, or that of a copy.
	name string
	// replace replaces texts in its manifests.
	replace *strings.Replacer
	// operators are its programs, in the order in which they come to life.
	operators []operator.Spec
	// hook is what the URL of its webhook answers as long as its first operator works; false if it
	// has none.
	hook bool
	// released are the objects that operators release, as kubectl names them, each with its
	// namespace before it if it has one. All are there before the test begins.
	released []string
}

// text is a file of the bundle's folder.
func (b bundle) text(t testing.TB, file string) string {
	t.Helper()
	text, err := testdata.ReadFile("testdata/" + b.folder + "/" + file)
	if err != nil {
		t.Fatal(err)
	}
	if b.replace == nil {
		return string(text)
	}
	return b.replace.Replace(string(text))
}

// made is a manifest of what an operator creates.
func made(t testing.TB, b bundle, file string) string {
	t.Helper()
	return b.text(t, "made/"+file+".yaml")
}

// installed is a bundle on a control plane.
type installed struct {
	bundle
	cluster   *testcluster.Cluster
	operators []*operator.Operator
	// holding says that they were told to release nothing for now.
	holding bool
	// file is bundle.yaml.
	file string
	// held are the objects that operators release, by uid.
	held map[types.UID]string
}

// install applies a bundle and what users have of it, starts its operators, and returns when they
// have created all that they create. Operators that are held from the beginning release nothing
// until they are told to.
func install(t testing.TB, c *testcluster.Cluster, b bundle, held bool) *installed {
	t.Helper()
	i := &installed{bundle: b, cluster: c, file: filepath.Join(t.TempDir(), "bundle.yaml")}
	for _, spec := range b.operators {
		o := operator.Start(t, c, spec)
		if held {
			o.Hold()
		}
		i.operators = append(i.operators, o)
	}
	manifest := b.text(t, "bundle.yaml")
	if b.hook {
		hook := operator.ServeWebhook(t,
			func(*admissionv1.AdmissionRequest) (string, bool) { return "", i.operators[0].Alive() })
		manifest = strings.NewReplacer("URL", hook.URL, "CABUNDLE", hook.CABundle).Replace(manifest)
	}
	if err := os.WriteFile(i.file, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	applyAll(t, c, manifest, b.text(t, "users.yaml"))
	i.held = map[types.UID]string{}
	for _, name := range b.released {
		i.held[i.whenHeld(t, name)] = name
	}
	for _, o := range i.operators {
		o.WaitUntilSettled(t)
	}
	return i
}

// applyAll applies the documents of manifests, those of types that an operator installs when it has
// done so.
func applyAll(t testing.TB, c *testcluster.Cluster, manifests ...string) {
	t.Helper()
	all, err := operator.Documents(strings.Join(manifests, "\n---\n"))
	if err != nil {
		t.Fatal(err)
	}
	testcluster.Eventually(t, "all types of the bundle are served", func(ctx context.Context) (bool, error) {
		var last error
		all = slices.DeleteFunc(all, func(o *unstructured.Unstructured) bool {
			text, err := o.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			if _, err = c.Try(ctx, string(text), "apply", "--server-side", "-f", "-"); err != nil {
				last = err
			}
			return err == nil
		})
		if last != nil && !mayCome(last) {
			return false, last
		}
		return len(all) == 0, nil
	})
}

// mayCome reports whether an error is about a type that is not served yet, or an operator that does
// not answer yet.
func mayCome(err error) bool {
	return meta.IsNoMatchError(err) || apierrors.IsNotFound(err) || strings.Contains(err.Error(), "no matches for kind") ||
		strings.Contains(err.Error(), "failed calling webhook")
}

// whenHeld waits until an object has a finalizer, and returns its uid.
func (i *installed) whenHeld(t testing.TB, name string) types.UID {
	t.Helper()
	args := []string{"get"}
	if namespace, object, ok := strings.Cut(name, " "); ok {
		args = append(args, object, "-n", namespace)
	} else {
		args = append(args, name)
	}
	var uid string
	testcluster.Eventually(t, name+" has a finalizer", func(ctx context.Context) (bool, error) {
		out, err := i.cluster.Try(ctx, "", append(args, "-o", "jsonpath={.metadata.finalizers[0]} {.metadata.uid}")...)
		finalizer, is, _ := strings.Cut(out, " ")
		uid = is
		return err == nil && finalizer != "", nil
	})
	return types.UID(uid)
}
