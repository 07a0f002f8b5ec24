package finalizers

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/actor"
	"github.com/kubectl-gc/kubectl-gc/pkg/diagnose/core"
	"github.com/kubectl-gc/kubectl-gc/pkg/finalizer"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

func TestNameless(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]bool{
		"deleting resource \"/subscriptions/0/resourceGroups/map[create:true name:]\": RESPONSE 400: 400 Bad Request ERROR CODE: InvalidResourceGroup": true,
		"InvalidBucketName: The specified bucket is not valid. status code: 400":                                                                       true,
		"googleapi: Error 400: Invalid value for field 'backendService': 'my_backend'. Must be a match of regex '[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?'":   true,
		"RESPONSE 400: ERROR CODE: AccountNameInvalid":                                                                                                 true,
		"InvalidUserName: access denied":                                                           false,
		"InvalidClientTokenId: The security token included in the request is invalid":              false,
		"InvalidParameterValue: The parameter FinalDBSnapshotIdentifier is not a valid identifier": false,
		"googleapi: Error 400: Invalid value for field 'resource.size': '0'.":                      false,
		"NoSuchBucket: The specified bucket does not exist":                                        false,
	} {
		if got := (saying{message: message, ofDeletion: true}).nameless(); got != want {
			t.Errorf("%q: %v", message, got)
		}
	}
	if (saying{message: "InvalidBucketName"}).nameless() {
		t.Error("a text that does not tell of the deletion says that nothing was made")
	}
}

func TestNothingFor(t *testing.T) {
	t.Parallel()
	field, err := link.ParsePath("spec.providerID")
	if err != nil {
		t.Fatal(err)
	}
	known := finalizer.Known{External: []finalizer.External{{Is: "machine", Field: field}}}
	for _, c := range []struct {
		name, kind, id, idles string
		want                  bool
	}{
		{"a machine that was never made", "DOMachine", "", "", true},
		{"a machine that has an id", "DOMachine", "digitalocean://1", "", false},
		{"another kind with the same entry", "DOCluster", "", "", false},
		{"a pool of machines, which has ids elsewhere", "AWSMachinePool", "", "", false},
		{"one that is to keep everything", "DOCluster", "", "spec.keep is true", true},
	} {
		o := &unstructured.Unstructured{Object: map[string]any{"kind": c.kind, "spec": map[string]any{}}}
		if c.id != "" {
			o.Object["spec"] = map[string]any{"providerID": c.id}
		}
		n := nothingFor(core.ResponsibleFor(o, actor.Actor{IsKnown: true, Known: known, Idles: c.idles}))
		if got := n.remedy != ""; got != c.want {
			t.Errorf("%s: %q", c.name, n.remedy)
		}
	}
}
