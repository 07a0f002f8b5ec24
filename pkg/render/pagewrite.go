package render

import (
	"bufio"
	"crypto/sha256"
	_ "embed" // the page's parts
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageStyle string

//go:embed page.js
var pageScript string

// dataMark is where the data stand in the document.
const dataMark = "{{data}}"

// Write writes the page, which shows a tree, or a plan, in a browser, without a server and without
// the network. What objects supply goes into a block of JSON, which the page's script shows as
// text. It holds the whole document but its data in memory, and no text of an object outside of the
// data and the title.
func (p *Page) Write(w io.Writer) error {
	head, tail, ok := strings.Cut(pageHTML, dataMark)
	if !ok {
		return fmt.Errorf("the page has no place for its data: %s is missing in page.html", dataMark)
	}
	parts := strings.NewReplacer("{{title}}", html.EscapeString(p.Title), "{{policy}}", html.EscapeString(pagePolicy()),
		"{{style}}", pageStyle, "{{script}}", pageScript)
	out := bufio.NewWriter(w)
	_, _ = parts.WriteString(out, head) // a writer that fails says so at the end
	// The encoder writes <, >, &, U+2028 and U+2029 as escapes, so that nothing in a text ends the
	// block or begins a comment.
	if err := json.NewEncoder(out).Encode(p); err != nil {
		return err
	}
	_, _ = parts.WriteString(out, tail)
	return out.Flush()
}

// pagePolicy is the page's Content-Security-Policy: its own script and style, and nothing else,
// from nowhere.
func pagePolicy() string {
	return fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; base-uri 'none'; form-action 'none'",
		hash(pageScript), hash(pageStyle))
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// Page is what a page shows. Objects are named by their index in Objects.
type Page struct {
	// Title is the command that the page is of, and Made when the cluster was looked at, in RFC
	// 3339.
	Title string `json:"title"`
	Made  string `json:"made"`
	// Upwards says that what stands below an object are its owners and not its dependents.
	Upwards bool         `json:"upwards,omitempty"`
	Objects []PageObject `json:"objects"`
	// Edges are the references and links between the Objects.
	Edges []PageEdge `json:"edges"`
	// Gaps are what could not be listed. Complete is false if something that belongs here can be in
	// one.
	Complete bool           `json:"complete"`
	Gaps     []v1alpha1.Gap `json:"gaps"`
	// Plan is nil for a tree.
	Plan *PagePlan `json:"plan,omitempty"`
	// Known are what is known of the finalizers of the Objects, each once.
	Known []v1alpha1.ExplainedFinalizer `json:"known"`
	// Risks say what the risks of the Known mean.
	Risks map[string]string `json:"risks,omitempty"`
	// Stuck say why those of the Objects still exist that are being deleted, and Unexamined what
	// could not be listed for that. Undiagnosed is why that is not known.
	Stuck       []v1alpha1.Stuck `json:"stuck"`
	Unexamined  []v1alpha1.Gap   `json:"unexamined"`
	Undiagnosed string           `json:"undiagnosed,omitempty"`
}

// PageObject is one object of a page.
type PageObject struct {
	v1alpha1.ObjectRef
	State v1alpha1.State `json:"state"`
	// Ready and Status are what kubectl get prints.
	Ready   string              `json:"ready,omitempty"`
	Status  string              `json:"status,omitempty"`
	Failing *v1alpha1.Condition `json:"failing,omitempty"`
	// Age is the time since the object was created, and DeletingFor that since its
	// deletionTimestamp; empty if that is not known, or if it is not being deleted.
	Age         string `json:"age,omitempty"`
	DeletingFor string `json:"deletingFor,omitempty"`
	// Parent is the object below which this one stands, -1 for none. It comes before this one.
	Parent int `json:"parent"`
	// Root says that the object was asked for, and Cycle that it is its own ancestor.
	Root  bool `json:"root,omitempty"`
	Cycle bool `json:"cycle,omitempty"`
	// Cut is how many dependents, or owners, are not on the page because of --depth.
	Cut        int             `json:"cut,omitempty"`
	Finalizers []PageFinalizer `json:"finalizers,omitempty"`
	// Elsewhere are the owners that are not on the page.
	Elsewhere []PageOwner `json:"elsewhere,omitempty"`
	// Outcome is what becomes of the object by the plan; nil for a tree.
	Outcome *PageOutcome `json:"outcome,omitempty"`
}

// PageEdge is an ownerReference, or a link.
type PageEdge struct {
	Owner     int `json:"owner"`
	Dependent int `json:"dependent"`
	PageReference
	// Link names what leads from the owner to the dependent without an ownerReference.
	Link string `json:"link,omitempty"`
}

// PageOwner is an owner that is not on the page.
type PageOwner struct {
	v1alpha1.ObjectRef
	PageReference
}

// PageReference is what an ownerReference says besides which the owner is, and what is wrong with
// it.
type PageReference struct {
	Controller         bool     `json:"controller,omitempty"`
	BlockOwnerDeletion bool     `json:"blockOwnerDeletion,omitempty"`
	Problems           []string `json:"problems,omitempty"`
}

// PageFinalizer is a finalizer of an object.
type PageFinalizer struct {
	Name string `json:"name"`
	// Known is its index in the page's Known.
	Known int `json:"known"`
}

// PageOutcome is what becomes of an object by a plan.
type PageOutcome struct {
	// Word is deleted, kept, orphaned, unblocked, protected, deadlocked, stuck, forbidden, or empty
	// if nothing is done to the object.
	Word    string `json:"word,omitempty"`
	Because string `json:"because,omitempty"`
	// WaitsFor says what has to happen before the object is gone.
	WaitsFor string `json:"waitsFor,omitempty"`
	Policy   string `json:"policy,omitempty"`
}

// PagePlan is what is done to the objects.
type PagePlan struct {
	Policy string `json:"policy"`
	Digest string `json:"digest,omitempty"`
	// Summary is the plan in a line, and Remarks what else there is to say, a line each. Warnings
	// are those that keep it from being done.
	Summary  string   `json:"summary"`
	Warnings []string `json:"warnings,omitempty"`
	Remarks  []string `json:"remarks,omitempty"`
	// Steps are its waves, or the stages of an ordered deletion.
	Steps []PageStep `json:"steps"`
}

// PageStep is what happens in one wave or stage.
type PageStep struct {
	// Name is "wave 1" or "stage 1", or "before" for what is done before anything is deleted.
	Name    string       `json:"name"`
	Actions []PageAction `json:"actions"`
}

// PageAction is one write of a plan.
type PageAction struct {
	Verb    string `json:"verb"`
	Object  int    `json:"object"`
	By      string `json:"by"`
	Because string `json:"because,omitempty"`
}

// Explain fills Known with what is known of each finalizer, which can depend on the object that has
// it. An answer counts once for all finalizers of the same name and entry.
func (p *Page) Explain(of func(name string, object v1alpha1.ObjectRef) v1alpha1.ExplainedFinalizer) {
	type asked struct{ name, apiVersion, kind string }
	type entry struct{ name, id string }
	answers, at := map[asked]int{}, map[entry]int{}
	p.Known = []v1alpha1.ExplainedFinalizer{}
	for i := range p.Objects {
		o := &p.Objects[i]
		for j := range o.Finalizers {
			f := &o.Finalizers[j]
			question := asked{f.Name, o.APIVersion, o.Kind}
			index, answered := answers[question]
			if !answered {
				answer := of(f.Name, o.ObjectRef)
				e := entry{answer.Name, answer.ID}
				if index, answered = at[e]; !answered {
					index = len(p.Known)
					at[e], p.Known = index, append(p.Known, answer)
				}
				answers[question] = index
			}
			f.Known = index
		}
	}
}

// Deleting returns the objects that are being deleted.
func (p *Page) Deleting() []v1alpha1.ObjectRef {
	var refs []v1alpha1.ObjectRef
	for _, o := range p.Objects {
		if o.State == v1alpha1.StateDeleting {
			refs = append(refs, o.ObjectRef)
		}
	}
	return refs
}
