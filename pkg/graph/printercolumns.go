package graph

// PrinterColumns is what kubectl get prints of an object in the columns READY and STATUS; either
// may be empty.
type PrinterColumns struct {
	Ready, Status string
	// Failing is the condition of a custom resource that says what is wrong with it; nil if none
	// does.
	Failing *Condition
}

// Condition is one of those in the status of an object.
type Condition struct{ Type, Status, Reason, Message string }
