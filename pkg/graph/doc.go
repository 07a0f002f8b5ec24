// Package graph holds the owner graph: which objects were seen, which owners their ownerReferences name, and what is
// wrong with those references.
//
// A Graph is a snapshot. It is built once from listed objects, is immutable afterwards and may be read from several
// goroutines. It knows no client, no clock and no policy: what a collector would do about an edge is for others to say.
//
// The vocabulary is that of the garbage collector (pkg/controller/garbagecollector of kubernetes): owner, dependent,
// absent owner, virtual node, blockOwnerDeletion.
package graph
