// Package archive saves whole objects to a file before they are deleted. It decides nothing about
// what is deleted, and deletes nothing.
//
// An archive is a stream of YAML documents as kubectl reads it, for the owner's eyes alone (mode
// 0600): it holds secrets. The first document is the Plan that was about to be carried out; the
// others are the objects that it deletes or changes, owners before their dependents, so that who
// reads them in order can give each dependent the new uid of an owner that is there already. Each
// object is complete, as the server answered it in the version of the plan:
//
//   - uid and ownerReferences, which belong together and to nothing else: a server gives every
//     object that is created a new uid (API-038);
//   - finalizers and status, which say what was done elsewhere on the object's behalf;
//   - managedFields, although they are most of the bytes, because they say which manager has which
//     field. Who reads an archive can leave them out; left out here they could never be had again.
//
// An archive is complete when it gets its name and is never added to. What comes up after it was
// saved is not in it (Saved.Missing), and what is changed after that is not in it as it is
// (Saved.Covers): the caller leaves both alone.
//
// A file can lose its end on the way to who reads it, and half of an object can be an object too.
// So the plan says how many objects follow (archived), and the last line of the file, a comment,
// says that this is the end. If the plan says how many and the end is not there, the archive is not
// whole (ErrNotWhole), and a Reader does not return the object at which it was cut. Archives
// without the number were written before there was an end: of these only the plan says what should
// be there.
//
// What was created from an archive is noted in a file beside it (Created).
//
// A file whose name ends in .gz is compressed. A Reader looks at the content and not at the name.
package archive
