package finalizer

import (
	"regexp"
	"strings"
)

// Object is what placeholders are filled from.
type Object struct {
	// Group is that of the object's kind, empty for the core.
	Group, Namespace    string
	Labels, Annotations map[string]string
	// Owners are the names of the owners of the object, by their kinds.
	Owners map[string]string
	// Finalizer is the finalizer that is looked at.
	Finalizer string
	// Field returns the text in a field of the object, empty if there is none. Without it no field
	// is known.
	Field func(path string) string
}

// placeholder is a name in braces, with a key for some; plainName is what may stand in its place,
// so that nothing that an object says becomes a wildcard or another part of a selector.
var (
	placeholder = regexp.MustCompile(`\{([a-z]+)(?::([^{}]+))?\}`)
	plainName   = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)
	undashed    = regexp.MustCompile(`[^A-Za-z0-9-]`)
)

// Fill puts what is known of an object in the place of a pattern's placeholders:
//
//	{group}           the API group of the object
//	{service}         the first label of the group: s3 of s3.services.k8s.aws
//	{domain}          the group without its first label: aws.upbound.io of s3.aws.upbound.io
//	{namespace}       the namespace of the object
//	{namespace:X}     what follows X in it, if it begins so
//	{open}            what the prefix, suffix or first parenthesis of the entry leaves open of the finalizer
//	{label:KEY}       the value of a label of the object
//	{annotation:KEY}  the value of an annotation of the object
//	{field:PATH}      the text in a field of the object: spec.csi.driver
//	{owner:KIND}      the name of an owner of the object, by its kind in the ownerReferences
//	{dashed:X}        what {X} is, with a hyphen for all that is neither letter nor digit
//
// It returns the placeholders that the object has no value for, or none that can be part of a name.
// The pattern means nothing then and must be left out: it is no wildcard.
func (k Known) Fill(pattern string, of Object) (filled string, unfilled []string) {
	filled = placeholder.ReplaceAllStringFunc(pattern, func(whole string) string {
		value := k.value(strings.Trim(whole, "{}"), of)
		if !plainName.MatchString(value) {
			unfilled = append(unfilled, whole)
			return whole
		}
		return value
	})
	return filled, unfilled
}

// value returns what a placeholder stands for, empty if the object does not say.
func (k Known) value(name string, of Object) string {
	name, key, _ := strings.Cut(name, ":")
	first, rest, _ := strings.Cut(of.Group, ".")
	switch name {
	case "group":
		return of.Group
	case "service":
		return first
	case "domain":
		return rest
	case "namespace":
		after, _ := strings.CutPrefix(of.Namespace, key)
		if key != "" && after == of.Namespace {
			return ""
		}
		return after
	case "open":
		return k.open(of.Finalizer)
	case "label":
		return of.Labels[key]
	case "annotation":
		return of.Annotations[key]
	case "owner":
		return of.Owners[key]
	case "field":
		if of.Field != nil {
			return of.Field(key)
		}
	case "dashed":
		return undashed.ReplaceAllString(k.value(key, of), "-")
	}
	return ""
}

// open returns what the entry leaves open of a finalizer's name.
func (k Known) open(name string) string {
	switch {
	case k.Prefix != "":
		return strings.TrimPrefix(name, k.Prefix)
	case k.Suffix != "":
		return strings.TrimSuffix(name, k.Suffix)
	case k.regex != nil:
		if m := k.regex.FindStringSubmatch(name); len(m) > 1 {
			return m[1]
		}
	}
	return ""
}

// Signs returns the signs of the component that is responsible for an object, with the placeholders
// filled, and the patterns that could not be filled and are left out.
func (k Known) Signs(of Object) (Alive, []string) {
	signs := k.Alive
	var dropped []string
	for _, list := range signs.Lists() {
		var filled []string
		for _, pattern := range *list {
			name, unfilled := k.Fill(pattern, of)
			if len(unfilled) > 0 {
				dropped = append(dropped, pattern)
				continue
			}
			filled = append(filled, name)
		}
		*list = filled
	}
	return signs, dropped
}
