package graph

// PrinterColumns is what kubectl get prints of an object in the columns READY and STATUS; either may be empty.
type PrinterColumns struct{ Ready, Status string }
