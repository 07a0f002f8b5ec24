package link

// BoundTo returns the reference of its source that an end has; false if it has none, or if nothing
// says where.
func (d *Definition) BoundTo(end map[string]any) (Named, bool) {
	if d.Deletion.Bound.IsZero() {
		return Named{}, false
	}
	for _, v := range d.Deletion.Bound.all(end) {
		if n := (Ends{}).fromReference(v); n.Name != "" {
			return n, true
		}
	}
	return Named{}, false
}
