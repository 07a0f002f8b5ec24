// Package dump reads what was saved of a cluster: files and folders of objects, the dumps of kubectl
// and oc, support bundles, backups of Velero, and archives of kubectl gc. It asks no server.
//
// A dump says of each type what is known, and where: that it has no object of a type proves that
// there was none only where the kind of dump saves all of the type's objects (Type.Covers).
// Everywhere else the type is not known, as one that may not be listed.
//
// What is read was written by others. A name that leaves the archive, a link in the place of an
// object, and what is larger than the Limits are errors.
package dump
