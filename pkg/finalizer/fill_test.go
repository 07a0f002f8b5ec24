package finalizer_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
)

// TestFill wants each placeholder filled from the object, and those without a value named.
func TestFill(t *testing.T) {
	prefixed := one(t, strings.Replace(valid, "exact: example.com/widget", "prefix: external-attacher/", 1),
		"external-attacher/x")
	of := finalizer.Object{
		Group: "s3.services.k8s.aws", Namespace: "shop", Finalizer: "external-attacher/ebs-csi-aws-com",
		Labels:      map[string]string{"strimzi.io/cluster": "orders"},
		Annotations: map[string]string{"pv.kubernetes.io/provisioned-by": "ebs.csi.aws.com"},
		Owners:      map[string]string{"Machine": "worker-1"},
		Field:       func(path string) string { return map[string]string{"spec.driver": "ebs.csi.aws.com"}[path] },
	}
	for pattern, want := range map[string]string{
		"*/widget-operator":                                     "*/widget-operator",
		"{group}":                                               "s3.services.k8s.aws",
		"*/ack-{service}-controller":                            "*/ack-s3-controller",
		"ProviderConfig.{domain}":                               "ProviderConfig.services.k8s.aws",
		"{namespace}/operator":                                  "shop/operator",
		"{namespace:sh}":                                        "op",
		"*/external-attacher-leader-{open}":                     "*/external-attacher-leader-ebs-csi-aws-com",
		"*/{label:strimzi.io/cluster}-op":                       "*/orders-op",
		"*/{annotation:pv.kubernetes.io/provisioned-by}":        "*/ebs.csi.aws.com",
		"*/{dashed:annotation:pv.kubernetes.io/provisioned-by}": "*/ebs-csi-aws-com",
		"{owner:Machine}":                                       "worker-1",
		"*/snapshotter-{dashed:field:spec.driver}":              "*/snapshotter-ebs-csi-aws-com",
	} {
		if got, unfilled := prefixed.Fill(pattern, of); got != want || len(unfilled) > 0 {
			t.Errorf("%s is filled as %s, without %q; want %s", pattern, got, unfilled, want)
		}
	}
	for pattern, want := range map[string][]string{
		"{group}/{namespace}":       {"{group}", "{namespace}"},
		"{namespace:es-}":           {"{namespace:es-}"},
		"*/{label:example.com/own}": {"{label:example.com/own}"},
		"*/{open}":                  {"{open}"},
		"{field:spec.driver}":       {"{field:spec.driver}"},
		"{owner:Machine}":           {"{owner:Machine}"},
	} {
		if _, unfilled := prefixed.Fill(pattern, finalizer.Object{}); !cmp.Equal(unfilled, want) {
			t.Errorf("of an object that says nothing, %s is filled without %q; want %q", pattern, unfilled, want)
		}
	}
}

// TestFillTakesNoWildcard wants nothing that an object says to become part of a pattern's language.
func TestFillTakesNoWildcard(t *testing.T) {
	k := one(t, strings.Replace(valid, "exact: example.com/widget", "prefix: external-attacher/", 1),
		"external-attacher/x")
	for _, hostile := range []string{"*", "a/b", "a,b=c", "a b", "[a-z]", "{group}", "a*", "-", ""} {
		of := finalizer.Object{Finalizer: "external-attacher/" + hostile, Annotations: map[string]string{"a": hostile}}
		for _, pattern := range []string{"*/{open}", "*/{annotation:a}"} {
			if got, unfilled := k.Fill(pattern, of); len(unfilled) != 1 {
				t.Errorf("%s is filled as %s from %q", pattern, got, hostile)
			}
		}
	}
}

func TestFillOpensSuffixAndRegex(t *testing.T) {
	for form, name := range map[string]string{
		"suffix: .example.com/widget":  "open.example.com/widget",
		`regex: '^widget-(.*)-(x|y)$'`: "widget-open-x",
		"prefix: example.com/":         "example.com/open",
	} {
		k := one(t, strings.Replace(valid, "exact: example.com/widget", form, 1), name)
		if got, _ := k.Fill("{open}", finalizer.Object{Finalizer: name}); got != "open" {
			t.Errorf("%s leaves %q open of %s", form, got, name)
		}
	}
}

// TestSignsLeaveOutWhatIsNotFilled wants a pattern without a value left out and told, in every
// list.
func TestSignsLeaveOutWhatIsNotFilled(t *testing.T) {
	pack := strings.Replace(valid, "    deployments: ['*/widget-operator']\n    unverified: ['*/widget-operator']\n", `
    deployments: ['{namespace}/op-{label:who}', '*/op']
    labels: ['app.kubernetes.io/instance={label:who}']
    images: ['widgets/{service}-op']
    webhooks: ['{label:who}-hooks']
    unverified: ['{namespace}/op-{label:who}']
    instance: {namespace: true, label: who}
`, 1)
	k := one(t, pack, "example.com/widget")
	got, dropped := k.Signs(finalizer.Object{Group: "s3.example.com", Namespace: "shop",
		Labels: map[string]string{"who": "me"}})
	want := finalizer.Alive{
		SignPatterns: v1alpha1.SignPatterns{
			Deployments: []string{"shop/op-me", "*/op"}, Labels: []string{"app.kubernetes.io/instance=me"},
			Images:   []string{"widgets/s3-op"},
			Webhooks: []string{"me-hooks"}, Unverified: []string{"shop/op-me"},
		},
		Instance: finalizer.Instance{Namespace: true, Label: "who"},
	}
	if diff := cmp.Diff(want, got); diff != "" || len(dropped) > 0 {
		t.Errorf("dropped %q, and (-want +got):\n%s", dropped, diff)
	}
	got, dropped = k.Signs(finalizer.Object{Group: "s3.example.com", Namespace: "shop"})
	want.Deployments, want.Labels, want.Webhooks, want.Unverified = want.Deployments[1:], nil, nil, nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if want := []string{"{namespace}/op-{label:who}", "app.kubernetes.io/instance={label:who}", "{label:who}-hooks",
		"{namespace}/op-{label:who}"}; !cmp.Equal(dropped, want) {
		t.Errorf("dropped %q, want %q", dropped, want)
	}
	if len(k.Alive.Deployments) != 2 || len(k.Alive.Labels) != 1 {
		t.Error("filling changed what the registry has")
	}
}

// TestStepFor wants a command that a shell runs as it is meant, whatever the object is called.
func TestStepFor(t *testing.T) {
	s := finalizer.Step{Command: "kubectl get {type} {name} -n {namespace} -o jsonpath='{.spec.volumeName}'"}
	if got, want := s.For("widgets.example.com", "shop", "w"),
		"kubectl get widgets.example.com w -n shop -o jsonpath='{.spec.volumeName}'"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := (finalizer.Step{Command: "get {name}"}).For("", "", "a'; rm *"), `get 'a'\''; rm *'`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := s.For("roles", "shop", "--server=evil"),
		"kubectl get roles {name} -n shop -o jsonpath='{.spec.volumeName}'"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestConsequential(t *testing.T) {
	for _, c := range []struct {
		risk     finalizer.Risk
		polarity finalizer.Polarity
		want     bool
	}{
		{finalizer.RiskNone, finalizer.Cleanup, false},
		{finalizer.RiskNone, finalizer.Guard, false},
		{finalizer.RiskNone, finalizer.OptInDestructive, true},
		{finalizer.RiskNone, finalizer.OptInProtective, true},
		{finalizer.LeaksExternal, finalizer.Cleanup, true},
		{finalizer.DataLoss, finalizer.Guard, true},
		{finalizer.BreaksCluster, finalizer.Bookkeeping, true},
	} {
		if got := (finalizer.Known{Risk: c.risk, Polarity: c.polarity}).Consequential(); got != c.want {
			t.Errorf("%s and %s: %v", c.risk, c.polarity, got)
		}
	}
}

// TestIsFixed wants to know which components are missed when an installation chooses another
// namespace.
func TestIsFixed(t *testing.T) {
	by := func(p v1alpha1.SignPatterns) finalizer.Alive { return finalizer.Alive{SignPatterns: p} }
	for want, all := range map[bool][]finalizer.Alive{
		true: {{}, {Note: "x"}, by(v1alpha1.SignPatterns{Deployments: []string{"a/b"}, Leases: []string{"a/c"}})},
		false: {{Outside: true}, {Follow: finalizer.FollowCRD}, by(v1alpha1.SignPatterns{Images: []string{"a/b"}}),
			by(v1alpha1.SignPatterns{Labels: []string{"a=b"}}),
			by(v1alpha1.SignPatterns{Deployments: []string{"a/b", "*/b"}}), by(v1alpha1.SignPatterns{Webhooks: []string{"w"}})},
	} {
		for _, a := range all {
			if isFixed(a) != want {
				t.Errorf("%+v: not %v", a, want)
			}
		}
	}
}

// one returns the entry of a pack for a finalizer of a Widget.
func one(t testing.TB, pack, name string) finalizer.Known {
	t.Helper()
	k, ok := load(t, pack).Lookup(name, "example.com", "Widget")
	if !ok {
		t.Fatalf("%s is not known", name)
	}
	return k
}
