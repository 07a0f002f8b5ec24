// Package plan works out what a deletion does before it is done.
//
// It is a function of a graph, the objects to delete and a propagation policy, and has no client and no clock. The same
// value is printed, is the JSON and is what runs. Decide is the garbage collector's decision about one object
// (attemptToDeleteItem of kubernetes/pkg/controller/garbagecollector); a plan is that decision applied, wave after wave, to
// a cluster in which nothing else happens.
package plan
