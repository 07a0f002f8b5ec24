// Package ownerref sets and removes single ownerReferences of an object. PlanAdopt and PlanDisown
// read all that the decision rests on live and refuse what would be wrong; Perform decides again on
// live reads, and writes and looks after it with package change.
//
// ReadOwners is the part of that with which package check removes references to absent owners.
// Comments cite rules of garbage collection by their keys, such as GC-046; docs/gc-semantics.md
// states them.
package ownerref
