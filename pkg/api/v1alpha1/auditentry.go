package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// The events of an AuditEntry.
const (
	// AuditAgreed is written before the first write of a plan, and AuditRefused of a plan that is not
	// performed.
	AuditAgreed  = "Agreed"
	AuditRefused = "Refused"
	// AuditWritten is a write that was carried out, and AuditFailed one that was tried and was not, or
	// of which that is not known.
	AuditWritten = "Written"
	AuditFailed  = "Failed"
	// AuditEnded is the last entry of a command.
	AuditEnded = "Ended"
)

// AuditEntry is one line of the file of kubectl gc delete --audit-file.
type AuditEntry struct {
	metav1.TypeMeta `json:",inline"`
	// Origin is of all entries from the first that has a plan on.
	Origin `json:",inline"`
	// Time is when the entry was written, in RFC 3339 and UTC.
	Time metav1.MicroTime `json:"time"`
	// Run is the same for all entries of one command, and different for others.
	Run string `json:"run"`
	// Event is Agreed, Refused, Written, Failed or Ended.
	Event string `json:"event"`
	// Cluster is the uid of the namespace kube-system, empty if it could not be read. User is the name
	// by which the server knows the user, Context the context of the kubeconfig, and Server the
	// address; of the first entry.
	Cluster string `json:"cluster,omitempty"`
	User    string `json:"user,omitempty"`
	Context string `json:"context,omitempty"`
	Server  string `json:"server,omitempty"`
	// How is what agreed: yes, prompt or confirm, of Agreed.
	How string `json:"how,omitempty"`
	// Plan is what was agreed to or refused, with its digest.
	Plan *Plan `json:"plan,omitempty"`
	// Action is a write, of Written and Failed.
	Action *Action `json:"action,omitempty"`
	// Error is why something was refused, failed or ended early.
	Error string `json:"error,omitempty"`
}
