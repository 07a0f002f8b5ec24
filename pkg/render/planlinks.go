package render

import (
	"fmt"

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
	return sentence(g, r)
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

func located(g *graph.Graph, id graph.ID) string { return Escape(g.Ref(id).Located()) }

// until says what has to be gone before a program removes a finalizer; nothing if there is no such
// object.
func (p Plan) until(b plan.Blocker) string {
	var names []string
	for _, id := range p.Until(b.Object) {
		names = append(names, located(p.Graph, id))
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return "until " + names[0] + " is gone"
	}
	return "until " + phrase.FirstFew(names, maxNamed) + " are gone"
}

// remarkRecreated warns of objects that do not stay away, for each object that names them.
func (p Plan) remarkRecreated() []remark {
	type source struct {
		owner         graph.ID
		program, with string
		field         string
		only          bool
		confirmed     bool
	}
	var sources []source
	names, ids := map[source][]string{}, map[source][]graph.ID{}
	for _, r := range p.Recreated {
		of := source{r.Owner, r.Program, r.With, r.Field, r.Only, r.Confirmed}
		if names[of] == nil {
			sources = append(sources, of)
		}
		names[of], ids[of] = append(names[of], located(p.Graph, r.Object)), append(ids[of], r.Object)
	}
	var all []remark
	for _, of := range sources {
		if of.field == plan.ControllerField {
			all = append(all, p.about(p.replaced(names[of], of.owner, of.program != ""), ids[of]...))
			continue
		}
		are, them, remedy := "is", "it", "; delete that instead"
		if len(names[of]) > 1 {
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
		if of.field == "" {
			why = " for " + located(p.Graph, of.owner)
		}
		all = append(all, p.about(fmt.Sprintf("%s %s deleted, and %s creates %s%s", phrase.FirstFew(names[of], maxNamed), are,
			Escape(of.program), again, why), ids[of]...))
	}
	return all
}

// replaced says of objects that they come back, or can, since their controller stays.
func (p Plan) replaced(names []string, owner graph.ID, certain bool) string {
	is, its := "is", "its"
	if len(names) > 1 {
		is, its = "are", "their"
	}
	back := "can come back"
	if certain {
		back = phrase.Plural(len(names), "comes back", "come back")
	}
	return fmt.Sprintf("%s %s deleted and %s: %s, %s controller, is not deleted", phrase.FirstFew(names, maxNamed), is, back,
		located(p.Graph, owner), its)
}

// remarkUnconfirmed names what is deleted only because of links that it does not confirm.
func (p Plan) remarkUnconfirmed() []remark {
	var names []string
	for _, id := range p.Unconfirmed() {
		names = append(names, located(p.Graph, id))
	}
	if len(names) == 0 {
		return nil
	}
	return []remark{p.about(
		fmt.Sprintf(
			"only links that %s not confirm lead to %s: kubectl gc itself writes to none of that and saves none of it",
			phrase.Plural(len(names), "it does", "they do"), phrase.FirstFew(names, maxNamed)), p.Unconfirmed()...)}
}

// remarkGuarded names what the server does not delete.
func (p Plan) remarkGuarded() []remark {
	var all []remark
	for _, g := range p.Guarded {
		guard, object := p.Graph.Ref(g.Guard), located(p.Graph, g.Object)
		line := fmt.Sprintf("%s keeps %s: the deletion of %s is refused until the %s is deleted", Escape(guard.Located()),
			object, object, Escape(guard.Kind))
		if g.RepeatedBy != "" {
			line += fmt.Sprintf("; %s deletes %s then, because somebody has tried to", Escape(g.RepeatedBy), object)
		}
		all = append(all, p.about(line, g.Object))
	}
	return all
}
