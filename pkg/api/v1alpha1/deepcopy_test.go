package v1alpha1_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-gc/kubectl-gc/pkg/api/v1alpha1"
)

// fill gives every field a value, and every list, map and pointer something of its own, to a depth:
// a type may have a list of itself.
func fill(v reflect.Value, depth int) {
	if depth == 0 {
		return
	}
	if at, ok := v.Addr().Interface().(*metav1.Time); ok {
		*at = metav1.NewTime(time.Unix(1, 0))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth-1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), depth-1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		item := reflect.New(v.Type().Elem()).Elem()
		fill(item, depth-1)
		v.SetMapIndex(reflect.ValueOf("key").Convert(v.Type().Key()), item)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), depth-1)
		}
	}
}

// shared returns where a copy and what it is of have a pointer, list or map in common.
func shared(path string, a, b reflect.Value) []string {
	var all []string
	switch a.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if a.IsNil() {
			return nil
		}
		if a.UnsafePointer() == b.UnsafePointer() {
			return []string{path}
		}
	}
	switch a.Kind() {
	case reflect.Pointer:
		return shared(path, a.Elem(), b.Elem())
	case reflect.Slice:
		for i := range a.Len() {
			all = append(all, shared(path+"[]", a.Index(i), b.Index(i))...)
		}
	case reflect.Map:
		for _, k := range a.MapKeys() {
			all = append(all, shared(path+"{}", a.MapIndex(k), b.MapIndex(k))...)
		}
	case reflect.Struct:
		for i := range a.NumField() {
			if f := a.Type().Field(i); f.IsExported() && a.Type() != reflect.TypeFor[time.Time]() {
				all = append(all, shared(path+"."+f.Name, a.Field(i), b.Field(i))...)
			}
		}
	}
	return all
}

func TestACopyIsEqualAndSharesNothing(t *testing.T) {
	t.Parallel()
	for _, object := range []runtime.Object{
		&v1alpha1.Archive{}, &v1alpha1.CheckReport{}, &v1alpha1.Diagnosis{}, &v1alpha1.Explanation{}, &v1alpha1.LinkTest{},
		&v1alpha1.Plan{},
		&v1alpha1.RestorePlan{}, &v1alpha1.RestoreResult{}, &v1alpha1.Result{}, &v1alpha1.Tree{}, &v1alpha1.Version{},
	} {
		if diff := cmp.Diff(object, object.DeepCopyObject()); diff != "" {
			t.Errorf("%T, empty (-of +copy):\n%s", object, diff)
		}
		fill(reflect.ValueOf(object).Elem(), 9)
		made := object.DeepCopyObject()
		if diff := cmp.Diff(object, made); diff != "" {
			t.Errorf("%T (-of +copy):\n%s", object, diff)
		}
		if all := shared("", reflect.ValueOf(object), reflect.ValueOf(made)); len(all) > 0 {
			t.Errorf("%T shares %q with its copy", object, all)
		}
	}
}
