// Package ownerref sets and removes single ownerReferences of an object. PlanAdopt and PlanDisown read all that the decision rests on live and refuse what would be
// wrong; Perform decides again on live reads, writes with the uid and the resourceVersion of the object, and looks after it.
//
// ReadOwner, Patch and LookAfter are the parts of that which package check removes references to absent owners with. Comments cite rules of garbage collection by
// their keys, such as GC-046; docs/gc-semantics.md states them.
package ownerref
