// Package rescue brings back an object that is being deleted and that a finalizer still holds,
// without losing its dependents.
//
// It archives the object, removes the references to it from its dependents, frees it, creates it
// again and puts the references back with the new uid.
//
// A rescue that was interrupted goes on from its archive. Where it stands is read from the cluster
// each time: nothing is remembered but the archive and, beside it, the uid of what was created. The
// order of its steps is such that the garbage collector has no reason to delete a dependent: the
// references are removed before the object can be gone, and they come back when the object that
// they name is there.
//
// Comments cite rules by their keys, such as API-037; docs/gc-semantics.md states them.
package rescue
