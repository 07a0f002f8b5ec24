// Package snapshot is the file that kubectl gc snapshot writes: a zip archive whose entries are
// compressed by Zstandard. The first, snapshot.json, says of which cluster it is and which types
// that serves. Then come lists, in pages of some hundred objects: metadata/RESOURCE.GROUP/N and
// metadata/RESOURCE.GROUP/NAMESPACE/N have the metadata of objects as an API server encodes them in
// protobuf, and whole/RESOURCE.GROUP/N have whole objects in JSON. The last, end.json, says which
// lists are whole, and what could not be seen. The archive ends with its table of contents, so that
// one that is cut off cannot be taken for a whole one.
//
// The package knows the file alone: package take asks a cluster, and package dump reads for the
// commands.
package snapshot
