// Package deletion plans the deletion of objects with all that the garbage collector deletes
// because of it, and performs it: Plan, then Perform. It holds what makes that safe: what is
// refused, the archive before the first delete, the new plan where something was changed meanwhile,
// and, where it does the collector's part itself, the bound to what was agreed to. It prints
// nothing and asks through a callback.
package deletion
