package v1alpha1

import "reflect"

// deepCopy returns a copy that shares no pointer, slice or map with what it is of.
func deepCopy[T any](of *T) *T {
	return copied(reflect.ValueOf(of)).Interface().(*T)
}

func copied(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		if v.IsNil() {
			return v
		}
	}
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.Pointer:
		out.Set(reflect.New(v.Type().Elem()))
		out.Elem().Set(copied(v.Elem()))
	case reflect.Interface:
		out.Set(copied(v.Elem()))
	case reflect.Slice:
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(copied(v.Index(i)))
		}
	case reflect.Map:
		out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		for k, item := range v.Seq2() {
			out.SetMapIndex(k, copied(item))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() { // the others, as those of a time, are copied with it
				out.Field(i).Set(copied(v.Field(i)))
			}
		}
	}
	return out
}
