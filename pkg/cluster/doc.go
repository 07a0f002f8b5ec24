// Package cluster is the only package that talks to an API server: discovery, lists, reads and
// writes.
//
// It discovers what a server serves, lists the metadata of all of it into a graph, and reads single
// objects live. All requests go through client-go's transport, so whatever a kubeconfig can say
// works as it does for kubectl; only the decoding of metadata lists is this package's own, because
// that is where the time and the memory go.
//
// What cannot be listed becomes a Gap and never an abort: one broken type must not hide all the
// others. The exceptions are errors that concern every request alike, such as bad credentials, a
// server that cannot be reached, and a cancelled context.
//
// Comments cite rules of garbage collection by their keys, such as GC-046; docs/gc-semantics.md
// states them.
package cluster
