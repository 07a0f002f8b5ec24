package status

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// Trouble returns the condition to show of an object for which there is one line: that it is not
// synced with what it stands for, or else one that speaks of a failure, and Ready last, which has a
// column of its own. It is false if nothing is wrong, or if the object is only not ready yet.
func Trouble(o *unstructured.Unstructured) (Condition, bool) {
	var best Condition
	nearest := 0
	for _, c := range Failing(o) {
		if near := c.trouble(); near > nearest {
			best, nearest = c, near
		}
	}
	return best, nearest > 0
}

// trouble is how much a failing condition says of what is wrong; 0 for one that says nothing.
func (c Condition) trouble() int {
	switch {
	case c.Type == "Synced":
		return 3
	case !SaysFailure(c.Reason, c.Message):
		return 0
	case c.Type == "Ready":
		return 1
	}
	return 2
}
