// Package restore creates again what an archive holds: owners before their dependents, with
// ownerReferences that name the new uids. It rolls forward: nothing that exists is taken back to
// what it was, unless that is asked for.
//
// An object that was created from an archive carries the annotation RestoredFrom with the uid that
// it had. That is how a second call knows what the first has done, whatever it was interrupted at.
// Another object of the same name is never taken for the archived one without that proof.
package restore
