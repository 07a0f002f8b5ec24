package plan

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
)

// TestWhatALinkDeletesHasAReason: the reason code of each link has a sentence, which names the
// object that the deletion came from.
func TestWhatALinkDeletesHasAReason(t *testing.T) {
	t.Parallel()
	b := graph.NewBuilder()
	b.Listing(graph.Type{Version: "v1", Resource: "owners", Kind: "Owner"}, "").Add(graph.Object{Name: "it", UID: "it"})
	g := b.Build()
	id, _ := g.Lookup("it")
	codes := map[string]ReasonCode{link.CRD: CRDDeleted, link.Namespace: Content}
	for _, rule := range link.Rules() {
		code := ReasonCode(rule.Reason)
		if want, known := codes[rule.Name]; known && code != want {
			t.Errorf("the reason of %s is %s, want %s", rule.Name, code, want)
		}
		if s := (Reason{Code: code, Cause: id, HasCause: true}).Sentence(g, id); !strings.Contains(s, "Owner/it") {
			t.Errorf("the sentence of %s is %q", rule.Name, s)
		}
	}
}
