package status

// inUse are the reasons of a condition that mean that other objects use the object.
var inUse = map[string]bool{"InUse": true, "ResourceInUse": true, "ObjectHasDependents": true}

// InUse says whether a condition says that the object is not deleted as long as others use it: by
// its type, which Rook and Crossplane have, or, of one that fails, by its reason.
func (c Condition) InUse() bool {
	switch c.Type {
	case "DeletionIsBlocked", "InUse":
		return c.Status == "True"
	}
	return c.fails() && inUse[c.Reason]
}
