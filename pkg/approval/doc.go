// Package approval tells whether a plan is the one that was approved: by a digest over what it
// does, or by comparing it with the approved plan. It knows no cluster and no clock.
package approval
