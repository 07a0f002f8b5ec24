package link

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Effect is what the deletion of an object does along a link, as far as the object itself says.
type Effect struct {
	// Deletes says that the other side is deleted; Why says why not, where something in the object
	// says so.
	Deletes bool
	Why     string
	// Policy is how.
	Policy Policy
	// Waits says that the object stays until the other side is gone.
	Waits bool
}

// EffectOf says what the deletion of one side of a link does to the other, as far as the source
// says. The finalizers are those of the side that is deleted: the source if the ends go with it, an
// end if the source does.
func (d *Definition) EffectOf(source map[string]any, finalizers []string) Effect {
	if d.Deletion.Of != End && d.Deletion.Of != Source {
		return Effect{}
	}
	text, _ := d.Deletion.PolicyField.Text(source)
	return d.effectOf(source, finalizers, text)
}

// InForeground is EffectOf for a source whose field of the policy is set so that the program
// deletes in the foreground; false if the source does not have the field, has that value already,
// or if nobody sets it.
func (d *Definition) InForeground(source map[string]any, finalizers []string) (Effect, bool) {
	text, found := d.Deletion.PolicyField.Text(source)
	if d.Deletion.Foreground == "" || !found || text == "" || text == d.Deletion.Foreground {
		return Effect{}, false
	}
	e := d.effectOf(source, finalizers, d.Deletion.Foreground)
	return e, e.Deletes
}

// effectOf is EffectOf for what stands in the field of the policy; empty for nothing.
func (d *Definition) effectOf(source map[string]any, finalizers []string, stated string) Effect {
	if !d.Deletion.released(finalizers) {
		return Effect{Why: "it does not have the finalizer " + d.Deletion.Finalizer}
	}
	if why, met := AnyMet(d.Deletion.Never, source); met {
		return Effect{Why: why}
	}
	policy := d.Deletion.Policy
	if stated != "" && !d.Deletion.PolicyField.IsZero() {
		policy = Policy(strings.ToLower(stated))
	}
	if policy == Orphan {
		if d.Deletion.PolicyField.IsZero() {
			return Effect{Policy: Orphan} // it never deletes
		}
		return Effect{Why: d.Deletion.PolicyField.String() + " is Orphan", Policy: Orphan}
	}
	return Effect{Deletes: true, Policy: policy, Waits: d.Deletion.Waits == WaitsAlways ||
		d.Deletion.Waits == WaitsForeground && policy == Foreground}
}

// FailsFor says why the program cannot delete the ends of a source; empty if it can.
func (d *Definition) FailsFor(source map[string]any) string {
	if f := d.Deletion.Fails; f != nil && AllMet(f.Where, source) {
		return f.Because
	}
	return ""
}

// released reports whether one of the finalizers is the one by which the program sees a deletion.
func (d Deletion) released(finalizers []string) bool {
	return d.Finalizer == "" || slices.ContainsFunc(finalizers, d.Holds)
}

// Holds reports whether a finalizer is the one by which the program sees a deletion.
func (d Deletion) Holds(finalizer string) bool {
	if prefix, open := strings.CutSuffix(d.Finalizer, "*"); open {
		return strings.HasPrefix(finalizer, prefix)
	}
	return finalizer == d.Finalizer
}

// KeepOf returns the conditions with which an end of a source stays. One on what the source does
// not have is none.
func (d *Definition) KeepOf(source map[string]any) []Keep {
	var keep []Keep
	for _, k := range d.Deletion.Keep {
		if value, ok := expand(k.Value, source); ok && AllMet(k.Where, source) {
			k.Value = value
			keep = append(keep, k)
		}
	}
	if d.Deletion.Annotation != "" {
		keep = append(keep, Keep{Condition: Condition{Annotation: d.Deletion.Annotation, Not: true}})
	}
	return keep
}

// Kept says why an end stays, in what it has that meets one of the conditions; false if it goes.
func Kept(keep []Keep, end map[string]any) (string, bool) {
	for _, k := range keep {
		if k.met(end) {
			return k.String(), true
		}
	}
	return "", false
}

// Unseen reports whether the program does not look at an end at all, by one of the conditions with
// which it stays.
func Unseen(keep []Keep, end map[string]any) bool {
	return slices.ContainsFunc(keep, func(k Keep) bool { return k.Unseen && k.met(end) })
}

// String says what the source and an end have that the end stays.
func (k Keep) String() string {
	text := Describe(append(slices.Clip(k.Where), k.Condition))
	if k.Since != "" {
		text += "; versions before " + k.Since + " delete it"
	}
	return text
}

// asksSource reports whether it depends on the source if an end stays.
func (k Keep) asksSource() bool { return len(k.Where) > 0 || placeholder.MatchString(k.Value) }

// WaveOf returns in which wave the program deletes an end, by the annotation of the end that says
// it.
func (d *Definition) WaveOf(end map[string]any) int {
	text, _ := AnnotationPath(d.Deletion.Waves).Text(end)
	wave, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0
	}
	return int(wave)
}

// PolicyFor returns how the program deletes an end, by the annotation of the end where that says
// it.
func (d *Definition) PolicyFor(end map[string]any, e Effect) Policy {
	if d.Deletion.Annotation == "" {
		return e.Policy
	}
	text, _ := Condition{Annotation: d.Deletion.Annotation}.path().Text(end)
	if p := Policy(strings.ToLower(text)); slices.Contains(policies, p) {
		return p
	}
	return e.Policy
}

// RecreatedBy says how an end comes back that is deleted while this source stays; nil if it does
// not. By names the program, and Needed what it needs for that.
func (d *Definition) RecreatedBy(source map[string]any) *Recreation {
	for _, r := range d.Recreates {
		if AllMet(r.Where, source) {
			r.By = cmp.Or(r.By, d.Deletion.By)
			r.Makes, _ = r.Namespace.Text(source)
			for _, e := range r.Needs {
				needed, _ := e.named(source) // what cannot be understood is not known to be absent
				r.Needed = append(r.Needed, needed...)
			}
			return &r
		}
	}
	return nil
}

// AsksEnds reports whether an end can say whose it is, that it stays, or how it is deleted, and
// whether its metadata is not enough to tell.
func (d *Definition) AsksEnds() (asks, whole bool) {
	whole = !d.Deletion.Bound.IsZero() ||
		slices.ContainsFunc(d.Deletion.Keep, func(k Keep) bool { return !k.inMetadata() }) ||
		slices.ContainsFunc(d.Confirmed, func(e Ends) bool { return !e.inMetadata() })
	return whole || len(d.Deletion.Keep)+len(d.Confirmed) > 0 || d.Deletion.Annotation != "" ||
		d.Deletion.Waves != "" || d.Deletion.Permits != nil, whole
}
