// Package unfinalize takes finalizers off objects whose deletion they hold up: judged one by one beforehand, with preconditions on every write, and
// looked after afterwards. Where there is a better way than taking one off it goes that way: it completes an orphaning, asks for another
// propagation policy, or finalizes a namespace that is proven to be empty.
//
// It does not find out why an object is stuck (pkg/diagnose), and it prints nothing and asks nobody (pkg/cmd).
package unfinalize
