// Package actor finds out which program is responsible for a finalizer, and whether it is alive.
package actor
