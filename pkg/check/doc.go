// Package check finds what is wrong with ownerReferences, and says what the garbage collector does
// about each.
//
// Find is pure: it takes a graph and what live reads have shown of the owners in it. Run lists a
// cluster, reads live what the listing does not show, and also looks for namespaces that do not
// exist and for finalizers that nobody removes. Manifests checks objects before they are applied.
//
// What the collector does is decided by the function that plans are made with (plan.Decide), under
// the rules of the cluster's collector. Comments cite rules of garbage collection by their keys,
// such as GC-046; docs/gc-semantics.md states them.
package check
