// Package diagnose finds out why an object that is being deleted is still there. It follows what
// holds an object to what holds that, down to causes that somebody can do something about, each
// with what was seen and what cures it.
//
// It only reads, but for dry runs, which store nothing, and for a canary that is asked for. What
// cannot be read is unknown, and is said to be.
package diagnose
