package v1alpha1

import (
	"cmp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Row is one thing that a command has found, flat, for a table of a database. Each row has all keys;
// what does not apply is empty, 0, false or null.
type Row struct {
	// APIVersion is that of the keys.
	APIVersion string `json:"api_version"`
	// Row is what it is of: cluster, gap, cause, finding, action or survivor.
	Row string `json:"row"`
	// Document is the kind of what the command prints as JSON: Diagnosis, CheckReport or Plan.
	Document string `json:"document"`
	// Cluster is its context, and so is Context: in a folder that is partitioned, the folder's cluster
	// hides the former. ClusterUID is the uid of its namespace kube-system, empty if that is not known,
	// and ObservedAt is when the answer was complete.
	Cluster    string      `json:"cluster"`
	Context    string      `json:"context"`
	ClusterUID string      `json:"cluster_uid"`
	Server     string      `json:"server"`
	ObservedAt metav1.Time `json:"observed_at"`
	// Complete is false of a cluster of which not everything could be examined, and Count how many
	// causes, findings or actions it has. Both are of the row cluster.
	Complete bool `json:"complete"`
	Count    int  `json:"count"`
	// Code is that of a cause or a finding, the reason of a gap, an action or a survivor.
	Code     string `json:"code"`
	Severity string `json:"severity"`
	// Group to UID are of the object that is stuck, wrong, deleted or kept; of a gap its type.
	Group     string `json:"group"`
	Kind      string `json:"kind"`
	Resource  string `json:"resource"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	// Since is the deletionTimestamp of an object that is stuck.
	Since *metav1.Time `json:"since"`
	// Finalizer is the one that holds an object, and Actor who removes it.
	Finalizer string `json:"finalizer"`
	Actor     string `json:"actor"`
	// CauseKind to CauseUID are of the object in which the cause lies, or of the owner that a finding
	// is about.
	CauseKind      string `json:"cause_kind"`
	CauseNamespace string `json:"cause_namespace"`
	CauseName      string `json:"cause_name"`
	CauseUID       string `json:"cause_uid"`
	// Verb, By, Policy and Wave are of an action.
	Verb   string `json:"verb"`
	By     string `json:"by"`
	Policy string `json:"policy"`
	Wave   int    `json:"wave"`
	// Message says it in a sentence, Evidence what was seen, Remedy what to do, and Command is the first
	// command that does it.
	Message  string `json:"message"`
	Evidence string `json:"evidence"`
	Remedy   string `json:"remedy"`
	Command  string `json:"command"`
}

// Rows returns the rows of a Diagnosis, a CheckReport or a Plan, first one of the cluster; false for
// anything else.
func Rows(of any, in ClusterRef) ([]Row, bool) {
	var all rows
	var meta metav1.TypeMeta
	var gaps []Gap
	first := Row{Row: "cluster"}
	switch d := of.(type) {
	case *Diagnosis:
		meta, first.Complete, gaps = d.TypeMeta, d.Complete, d.Gaps
		all.diagnosis(d)
	case *CheckReport:
		meta, first.Complete, gaps = d.TypeMeta, d.Complete, d.Gaps
		all.report(d)
	case *Plan:
		meta, first.Complete, gaps = d.TypeMeta, d.Complete, d.Gaps
		all.plan(d)
	default:
		return nil, false
	}
	first.Count = len(all)
	all = append(rows{first}, all...)
	for _, g := range gaps {
		all = append(all, gapRow(g))
	}
	for i := range all {
		all[i].APIVersion, all[i].Document = meta.APIVersion, meta.Kind
		all[i].in(in)
	}
	return all, true
}

// in says which cluster a row is of.
func (r *Row) in(c ClusterRef) {
	r.Cluster, r.Context, r.ClusterUID, r.Server, r.ObservedAt = c.Context, c.Context, c.UID, c.Server, c.ObservedAt
}

// AbsentRow is the row of a cluster that does not have what was named, as Message says.
func AbsentRow(in ClusterRef, message string) Row {
	r := Row{APIVersion: TypeMeta("").APIVersion, Row: "cluster", Complete: true, Message: message}
	r.in(in)
	return r
}

// UnreadRow is the row of a cluster that could not be asked, or not to the end.
func UnreadRow(g Gap, in ClusterRef) Row {
	r := gapRow(g)
	r.APIVersion = TypeMeta("").APIVersion
	r.in(in)
	return r
}

func gapRow(g Gap) Row {
	return Row{Row: "gap", Code: string(g.Reason), Group: g.Group, Resource: g.Resource, Namespace: g.Namespace,
		Message: g.Message}
}

// rows are those of one document.
type rows []Row

// add adds a row about an object.
func (t *rows) add(r Row, o ObjectRef) {
	r.Group, r.Kind, r.Resource, r.Namespace, r.Name, r.UID = o.Group(), o.Kind, o.Resource, o.Namespace, o.Name, o.UID
	*t = append(*t, r)
}

const between = "; " // evidence

func (t *rows) diagnosis(d *Diagnosis) {
	for _, s := range d.Stuck {
		if len(s.Causes) == 0 {
			t.add(Row{Row: "cause", Since: s.Since, Finalizer: strings.Join(s.Finalizers, ","),
				Evidence: strings.Join(s.Checked, between)}, s.Object)
		}
		for _, c := range s.Causes {
			r := Row{Row: "cause", Code: c.Code, Since: s.Since, Finalizer: c.Finalizer, Actor: c.Actor, Message: c.Summary,
				Evidence: strings.Join(c.Evidence, between), Remedy: c.Remedy, Command: cmp.Or(c.Commands...)}
			o := c.Object
			r.CauseKind, r.CauseNamespace, r.CauseName, r.CauseUID = o.Kind, o.Namespace, o.Name, o.UID
			t.add(r, s.Object)
		}
	}
}

func (t *rows) report(d *CheckReport) {
	for _, f := range d.Findings {
		r := Row{Row: "finding", Code: f.Code, Severity: f.Severity, Finalizer: f.Finalizer, Actor: f.Actor,
			Message: f.Message, Evidence: strings.Join(f.Evidence, between), Remedy: f.Remedy, Command: cmp.Or(f.Commands...)}
		if o := f.OwnerReference; o != nil {
			r.CauseKind, r.CauseName, r.CauseUID = o.Kind, o.Name, string(o.UID)
		}
		t.add(r, f.Object)
	}
}

func (t *rows) plan(d *Plan) {
	for _, a := range d.Actions {
		t.add(Row{Row: "action", Code: a.Reason, Verb: a.Verb, By: a.By, Policy: a.Policy, Wave: a.Wave,
			Finalizer: strings.Join(a.Finalizers, ","), Message: a.Because}, a.Object)
	}
	for _, s := range d.Survivors {
		t.add(Row{Row: "survivor", Code: s.Reason, Message: s.Because}, s.Object)
	}
	for _, f := range d.Findings {
		if len(f.Objects) == 0 {
			t.add(Row{Row: "finding", Code: f.Code, Severity: f.Severity, Message: f.Message}, ObjectRef{})
		}
		for _, o := range f.Objects {
			t.add(Row{Row: "finding", Code: f.Code, Severity: f.Severity, Message: f.Message}, o)
		}
	}
}
