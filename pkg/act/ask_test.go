package act

import (
	"net/http"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/test/faultproxy"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// TestTheServerIsAskedAboutEachDeleteOfOthers: what refuses it, and what says nothing.
func TestTheServerIsAskedAboutEachDeleteOfOthers(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	for name, test := range map[string]struct {
		fault      faultproxy.Fault
		refused    string
		unanswered int
	}{
		"nobody refuses": {nil, "", 0},
		"a policy": {faultproxy.Status(422, "Invalid", "protected by hand"),
			"protected by hand", 0},
		"a webhook that answers 409": {faultproxy.Status(409, "Conflict", "it is in use"), "it is in use", 0},
		"a webhook that is down": {faultproxy.Status(500, "InternalError", "failed calling webhook"),
			"failed calling webhook", 0},
		"a webhook that gives no code": {faultproxy.Status(400, "BadRequest",
			`admission webhook "guard.example.org" denied the request: keep it`), "keep it", 0},
		"a webhook without dry runs": {faultproxy.Status(400, "BadRequest",
			"the webhook does not support dry run"), "", 1},
		"the user may not, and the collector may": {faultproxy.Status(403, "Forbidden",
			`User "eve" cannot delete resource "configmaps"`), "", 1},
		"there is no answer": {faultproxy.Reset(), "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			ns, proxy := behindProxy(t, c, "owner", "dependent")
			uid := c.Kubectl(t, "get", "configmap", "owner", "-n", ns, "-o", "jsonpath={.metadata.uid}")
			c.Kubectl(t, "patch", "configmap", "dependent", "-n", ns, "--type=merge", "-p",
				`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":"`+uid+`"}]}}`)
			client, p, _ := prepare(t, proxy.Config(), ns, plan.Background, "owner")
			if test.fault != nil {
				proxy.On(deletes, test.fault)
			}
			asked := Ask(t.Context(), client, p, MostAsked)
			if asked.Count != 1 || asked.Of != 1 || asked.Unanswered != test.unanswered ||
				len(asked.Refused) == 1 != (test.refused != "") {
				t.Fatalf("%+v", asked)
			}
			if test.refused != "" && (!strings.Contains(asked.Refused[0].Err.Error(), test.refused) ||
				p.Graph.Name(asked.Refused[0].Action.Object) != "dependent") {
				t.Errorf("refused: %+v", asked.Refused[0])
			}
			for _, r := range proxy.Requests() {
				if r.Method == http.MethodDelete && path.Base(r.Path) == "owner" {
					t.Error("it was asked about the delete of the command itself")
				}
			}
			if got := c.Kubectl(t, "get", "configmaps/owner", "configmaps/dependent", "-n", ns, "-o",
				"name"); len(strings.Fields(got)) != 2 {
				t.Errorf("there is only %s", got)
			}
		})
	}
}

// TestNothingIsSentToWhatOnlyAnUnconfirmedLinkLeadsTo, nor to what that owns: what admission says
// to its deletion counts as not told.
func TestNothingIsSentToWhatOnlyAnUnconfirmedLinkLeadsTo(t *testing.T) {
	t.Parallel()
	for confirmed, want := range map[bool]v1alpha1.Asked{true: {Count: 1, Of: 1}, false: {Count: 1, Of: 1, Unanswered: 1}} {
		ns, proxy := behindProxy(t, testcluster.Shared(t), "claim", "foreign")
		client, alone, _ := prepare(t, proxy.Config(), ns, plan.Background, "claim")
		d := &link.Definition{Name: "composite", Deletion: link.Deletion{Of: link.End, By: "a program"}}
		foreign, _ := alone.Graph.Find("", "configmaps", ns, "foreign")
		links := link.New(alone.Graph,
			link.Found{Definition: d, Source: alone.Roots[0], End: foreign, Confirmed: confirmed,
				Effect: link.Effect{Deletes: true, Policy: link.Background}})
		p := plan.New(alone.Graph, alone.Roots, plan.Background, plan.Options{Links: links})
		asked := Ask(t.Context(), client, p, MostAsked)
		asked.AsControllers = false
		if diff := cmp.Diff(Asked{Asked: want}, asked); diff != "" {
			t.Errorf("confirmed %t: (-want +got)\n%s", confirmed, diff)
		}
		if sent := len(deleted(proxy)) > 0; sent != confirmed {
			t.Errorf("confirmed %t: a dry run is sent: %t", confirmed, sent)
		}
	}
}

// TestOfTooManyDeletesSomeOfEachTypeAndNamespaceAreAsked.
func TestOfTooManyDeletesSomeOfEachTypeAndNamespaceAreAsked(t *testing.T) {
	t.Parallel()
	c := testcluster.Shared(t)
	ns := c.Namespace(t)
	c.Apply(t, manifest(ns, "a", "b", "c", "d", "e"))
	_, p, _ := prepare(t, c.Config(), ns, plan.Background, "a", "b", "c", "d", "e")
	for most, want := range map[int]int{5: 5, 4: 4, 1: 1} {
		if got := len(sample(p.Graph, p.Actions, most)); got != want {
			t.Errorf("of 5 deletes %d are asked, want %d", got, want)
		}
	}
}
