// Package plan computes what a deletion, or a pass of the collector, will do before it is
// performed.
//
// It is a function of a graph, the objects to delete and a propagation policy, and has no client
// and no clock. The same value is printed, is the JSON and is what runs. Decide is the garbage
// collector's decision about one object (attemptToDeleteItem of
// kubernetes/pkg/controller/garbagecollector); docs/gc-semantics.md states the rules that its
// comments cite by keys such as GC-046. A plan is that decision applied, wave after wave, to a
// cluster in which nothing else happens.
//
// docs/glossary.md has the words of this package beside those of the garbage collector.
package plan
