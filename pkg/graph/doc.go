// Package graph holds the owner graph: which objects were listed, which owners their
// ownerReferences name, and which of those references are invalid.
//
// Comments cite rules of garbage collection by their keys, such as GC-046; docs/gc-semantics.md
// states them.
//
// A Graph is a snapshot. It is built once from listed objects, is immutable afterwards and may be
// read from several goroutines. It knows no client, no clock and no policy: what a collector would
// do about an edge is for others to say.
//
// The vocabulary is that of the garbage collector (pkg/controller/garbagecollector of kubernetes):
// owner, dependent, absent owner, virtual node, blockOwnerDeletion. docs/glossary.md has the words
// of both side by side.
package graph
