// Package change makes conditional writes. It reads an object live, has the caller decide on what
// was read, sends the write with the uid and the resourceVersion of that, checks that the answer
// shows it, and looks at the object afterwards. Write is the loop, for every kind of write;
// Object.Patch is a write of a JSON patch.
//
// Denied and Enforced ask before what the user may do. Comments cite rules of garbage collection by
// their keys, such as API-033; docs/gc-semantics.md states them.
package change
