// Package unfinalize removes finalizers from objects whose deletion they block: assessed one by
// one, with preconditions on every write, and checked afterwards. A safer method is used where one
// exists: it completes an orphaning, asks for another propagation policy, or finalizes a namespace
// that is proven to be empty.
//
// It does not find out why an object is stuck (pkg/diagnose), and it prints nothing and asks nobody
// (pkg/cmd).
package unfinalize
