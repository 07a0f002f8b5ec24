package render

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/unfinalize"
)

// methodWords say in the table how a finalizer is removed.
var methodWords = map[unfinalize.Method]string{
	unfinalize.ByPatch: "remove", unfinalize.ByOrphaning: "orphan, then remove", unfinalize.ByPolicy: "remove by policy",
	unfinalize.ByFinalizing: "finalize", unfinalize.ByDelete: "delete again",
}

// refusalWords say in the table why one does not.
var refusalWords = map[unfinalize.Code]string{
	unfinalize.NotThere: "not there", unfinalize.NothingHeld: "nothing to do", unfinalize.NotDeleting: "not deleting",
	unfinalize.ActorAlive:    "alive",
	unfinalize.ActorNotFound: "actor not found", unfinalize.ActorUnknown: "actor unknown",
	unfinalize.ActorOutside: "actor outside",
	unfinalize.InUse:        "in use", unfinalize.UseUnknown: "use unknown",
	unfinalize.DataLoss: "data loss", unfinalize.BreaksCluster: "breaks cluster", unfinalize.NotEmpty: "not empty",
	unfinalize.NotProvenEmpty:   "not proven empty",
	unfinalize.HiddenDependents: "hidden dependents", unfinalize.Forbidden: "forbidden",
	unfinalize.ServerRefuses: "server",
}

// assessmentWords are an assessment in a few words, the same whether somebody is asked or not, and
// whether an answer is not enough.
func assessmentWords(v unfinalize.Assessment, t unfinalize.Overrides) (words string, refused bool) {
	t.Asked = false
	against := v.Against(t)
	if len(against) == 0 {
		return methodWords[v.Method], false
	}
	var codes []string
	for _, r := range against {
		if word := refusalWords[r.Code]; !slices.Contains(codes, word) {
			codes = append(codes, word)
		}
	}
	return "refused: " + strings.Join(codes, ", "), v.Needs(t) != unfinalize.Confirmation
}

// rowsOf are the rows of the table of assessments, numbered from 1 if they are to be chosen from.
func rowsOf(p *unfinalize.Planned, number bool) []Verdict {
	var rows []Verdict
	for _, r := range p.Rows() {
		v := r.Assessment
		row := Verdict{
			Object: r.Candidate.Ref, Finalizer: v.Name, Who: v.Actor.Who, Life: strings.ToLower(string(v.Actor.Life)),
			Needs: v.Needs(p.Overrides),
		}
		row.Verdict, row.Refused = assessmentWords(v, p.Overrides)
		if number {
			row.Number = len(rows) + 1
		}
		rows = append(rows, row)
	}
	return rows
}
