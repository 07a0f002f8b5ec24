package render

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/link"
	"github.com/kubectl-gc/kubectl-gc/pkg/phrase"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// linkReason words a reason that is about a link. The other side of a link can be in another
// namespace, so that the cause is named with its own.
func linkReason(g *graph.Graph, f link.Found, r plan.Reason) string {
	cause := located(g, r.Cause)
	deletion := f.Definition.Deletion
	program := Escape(deletion.By)
	switch r.Code {
	case plan.LinkDeleted:
		return fmt.Sprintf("%s deletes it, since %s is deleted", program, cause)
	case plan.LinkFirst:
		return fmt.Sprintf("%s would delete it in the background with %s", program, cause)
	case plan.LinkPending:
		return fmt.Sprintf("only %s deletes it, when it acts on the deletion of %s", program, cause)
	case plan.LinkForeground:
		return fmt.Sprintf("%s is to delete %s in the foreground", program, cause)
	case plan.LinkWaits:
		return fmt.Sprintf("%s waits until %s is gone", program, cause)
	case plan.LinkNotSeen:
		return fmt.Sprintf("%s does not delete it with %s, which does not have the finalizer %s", program, cause,
			Escape(deletion.Finalizer))
	case plan.LinkRefused:
		if f.Dependent() == r.Cause {
			return fmt.Sprintf("%s does not let it go while %s is there: %s", program, cause, Escape(f.Refused))
		}
		return fmt.Sprintf("%s cannot delete it with %s: %s", program, cause, Escape(f.Refused))
	case plan.LinkKept:
		if f.Bound != "" {
			return fmt.Sprintf("%s does not delete it: it is bound to %s", program, Escape(f.Bound))
		}
		if f.Kept != "" {
			return fmt.Sprintf("%s keeps it: %s", program, Escape(f.Kept))
		}
		not := fmt.Sprintf("%s does not delete it with %s", program, cause)
		if f.Effect.Why == "" {
			return not
		}
		return not + ": " + Escape(f.Effect.Why)
	}
	return r.Sentence(g, f.End)
}

// remarkForeground says which fields are set first so that programs delete in the foreground, and
// what is deleted first because there is no field to set.
func (p Plan) remarkForeground() []remark {
	if p.Policy != plan.Foreground {
		return nil
	}
	var all []remark
	for _, a := range p.Actions {
		if a.Verb == plan.VerbSetPolicy {
			all = append(all, p.about(fmt.Sprintf("%s of %s is set to %s first: %s", Escape(a.Setting.Field.String()),
				located(p.Graph, a.Object), Escape(a.Setting.Value), p.Because(a.Object, a.Because)), a.Object))
		}
	}
	for _, a := range p.First() {
		if f, ok := p.Link(a.Object, a.Because); ok {
			all = append(
				all, p.about(
					fmt.Sprintf(
						"%s is deleted first, in the foreground: %s does not have the field %s, so that %s would delete it in the background and not wait for it",
						located(p.Graph, a.Object), located(p.Graph, f.Source), Escape(f.Definition.Deletion.PolicyField.String()),
						Escape(f.Definition.Deletion.By)), a.Object))
		}
	}
	return all
}

func located(g *graph.Graph, id graph.ID) string { return refLocated(g.Ref(id)) }

func refLocated(r graph.Ref) string { return Escape(r.Located()) }

// fewLocated names the first few of some objects, each with where it is.
func fewLocated(g *graph.Graph, ids []graph.ID) string {
	return few(phrase.Words(ids, func(id graph.ID) string { return located(g, id) }))
}

// until says that some objects, each with its name, have to be gone; nothing if there are none.
func (p Plan) until(ids []graph.ID, name func(graph.Ref) string) string {
	if len(ids) == 0 {
		return ""
	}
	return "until " + few(phrase.Words(ids, func(id graph.ID) string { return name(p.Graph.Ref(id)) })) +
		phrase.Plural(len(ids), " is gone", " are gone")
}

// remarkRecreated warns of objects that do not stay away, for each object that names them.
func (p Plan) remarkRecreated() []remark {
	type source struct {
		owner         graph.ID
		program, with string
		field         string
		only          bool
		confirmed     bool
		itself        bool
	}
	var all []remark
	for of, ids := range groups(p.Recreated, func(r plan.Recreated) (source, graph.ID) {
		if r.Owner == r.Object {
			return source{program: r.Program, with: r.With, itself: true}, r.Object
		}
		return source{r.Owner, r.Program, r.With, r.Field, r.Only, r.Confirmed, false}, r.Object
	}) {
		if of.field == plan.ControllerField {
			all = append(all, p.of(ids, "%s", p.replaced(ids, of.owner, of.program != ""))...)
			continue
		}
		are, them, remedy := "is", "it", "; delete that instead"
		if len(ids) > 1 {
			are, them = "are", "them"
		}
		switch {
		case !of.confirmed || of.field == "":
			remedy = "" // that object may have nothing to do with it, or does not name it
		case !of.only:
			remedy = "; remove " + them + " from that instead"
		}
		again := them + " again"
		if of.with != "" {
			again += " with " + Escape(of.with)
		}
		why := fmt.Sprintf(", because %s names %s in %s%s", located(p.Graph, of.owner), them, Escape(of.field), remedy)
		switch {
		case of.itself:
			why = ""
		case of.field == "", of.field == "metadata.name": // nobody takes its own name out of an object
			why = " for " + located(p.Graph, of.owner)
		}
		all = append(all, p.of(ids, "%s %s deleted, and %s creates %s%s", fewLocated(p.Graph, ids), are, Escape(of.program),
			again, why)...)
	}
	return all
}

// replaced says of objects that they come back, or can, since their controller stays, or another owner.
func (p Plan) replaced(ids []graph.ID, owner graph.ID, certain bool) string {
	back := "can come back"
	if certain {
		back = phrase.Plural(len(ids), "comes back", "come back")
	}
	is := "owner"
	for e := range p.Graph.Owners(ids[0]) {
		if e.Owner == owner && e.Controller {
			is = "controller"
		}
	}
	return fmt.Sprintf("%s %s deleted and %s: %s, %s %s, is not deleted", fewLocated(p.Graph, ids),
		phrase.Plural(len(ids), "is", "are"), back, located(p.Graph, owner), phrase.Plural(len(ids), "its", "their"), is)
}

// remarkUnconfirmed names what is deleted only because of links that it does not confirm.
func (p Plan) remarkUnconfirmed() []remark {
	ids := p.Unconfirmed()
	return p.of(ids, "only links that %s not confirm lead to %s: kubectl gc itself writes to none of that and saves none of it",
		phrase.Plural(len(ids), "it does", "they do"), fewLocated(p.Graph, ids))
}

// remarkDoubtful names what a program perhaps does not delete, for want of an account.
func (p Plan) remarkDoubtful() []remark {
	type doubt struct {
		owner    graph.ID
		by, text string
	}
	var all []remark
	for of, ids := range groups(p.Doubtful(), func(f link.Found) (doubt, graph.ID) {
		return doubt{f.Owner(), f.Definition.Deletion.By, cmp.Or(f.Unsure, "ServiceAccount "+f.Account+
			", as which it acts, is deleted too, and it deletes nothing once that is gone")}, f.Dependent()
	}) {
		all = append(all, p.of(ids, "perhaps %s does not delete %s with %s: %s", Escape(of.by), fewLocated(p.Graph, ids),
			located(p.Graph, of.owner), Escape(of.text))...)
	}
	return all
}

// remarkRefused says what is stuck because a program may not delete what it has to.
func (p Plan) remarkRefused() []remark {
	var all []remark
	for _, s := range p.Stuck() {
		if s.Because.Code == plan.LinkRefused {
			all = append(all, p.about(located(p.Graph, s.Object)+" is stuck: "+p.Because(s.Object, s.Because), s.Object))
		}
	}
	return all
}

// remarkGuarded names what the server does not delete.
func (p Plan) remarkGuarded() []remark {
	var all []remark
	for _, g := range p.Guarded {
		guard, object := p.Graph.Ref(g.Guard), located(p.Graph, g.Object)
		line := fmt.Sprintf("%s keeps %s: the deletion of %s is refused until the %s is deleted", Escape(guard.Located()),
			object, object, Escape(guard.Kind))
		if p.End().Gone(g.Guard) && !slices.Contains(p.Roots, g.Object) {
			line += ", as it is here; the delete is sent again then"
		}
		if g.RepeatedBy != "" {
			line += fmt.Sprintf("; %s deletes %s then, because somebody has tried to", Escape(g.RepeatedBy), object)
		}
		all = append(all, p.about(line, g.Object))
	}
	return all
}
