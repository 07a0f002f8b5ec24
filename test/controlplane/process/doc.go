// Package process starts copies of this binary that anyone can find and stop again, and that end
// with the process they belong to.
//
// Each has a record: a file with its pid that is locked for as long as it lives. The kernel gives
// the lock up when the process ends, however it ends, so a held lock says that the pid in the file
// is still that process and no other. A process that was started with a lifeline waits for the lock
// of another record, and ends when it gets it. Both hold on Linux and on macOS and need no parent
// that stays.
//
// The package knows nothing of Kubernetes.
package process
