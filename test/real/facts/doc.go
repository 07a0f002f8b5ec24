// Package facts tests what real controllers do when something of theirs is deleted, as a watch sees
// it. These are the facts that a plan of kubectl gc is held against; where its answers are right
// they are tested here too.
package facts
