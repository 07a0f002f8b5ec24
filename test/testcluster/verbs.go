package testcluster

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"
)

// verb is a command of kubectl that is done in the test's own process, by the same requests under
// the same field manager. A process of kubectl costs a tenth of a second of processor time, and
// tests want thousands, many of them in a loop that waits.
type verb struct {
	// flags are those that it honours, and fits reports whether it does all that is asked for with
	// them; what does not fit is kubectl's.
	flags []string
	fits  func(commandLine) bool
	do    func(context.Context, *requests, commandLine) (string, error)
}

var verbs = map[string]verb{
	"apply": {[]string{"namespace", "filename", "server-side", "field-manager"}, func(l commandLine) bool {
		return len(l.words) == 0 && l.is("filename", "-") && l.is("server-side", "true")
	}, apply},
	"create": {[]string{"namespace"}, func(l commandLine) bool { return len(l.words) == 2 && created[l.words[0]] != "" },
		create},
	"delete": {[]string{"namespace", "cascade", "dry-run", "grace-period", "ignore-not-found", "timeout", "wait"},
		func(l commandLine) bool {
			return len(l.words) > 0 && (l.is("dry-run", "") || l.is("dry-run", "server"))
		}, remove},
	"get": {[]string{"namespace", "output", "ignore-not-found"}, func(l commandLine) bool {
		return len(l.words) > 0 && (l.is("output", "name") || l.is("output", "json") ||
			strings.HasPrefix(l.flags["output"], "jsonpath="))
	}, get},
	"patch": {[]string{"namespace", "dry-run", "patch", "subresource", "type"}, func(l commandLine) bool {
		return len(l.words) > 0 && patchTypes[l.flags["type"]] != "" && (l.is("dry-run", "") || l.is("dry-run", "server"))
	}, patch},
}

// created are the kinds that create makes, by what kubectl calls them.
var created = map[string]string{"configmap": "ConfigMap", "namespace": "Namespace"}

var patchTypes = map[string]types.PatchType{"merge": types.MergePatchType, "json": types.JSONPatchType}

// errUnknownType is what the builder says of a type that it does not find; it has no type of its
// own.
const errUnknownType = "the server doesn't have a resource type"

// try does what kubectl does with a command line, if it is one of the verbs'.
func (r *requests) try(ctx context.Context, stdin string, args []string) (out string, known bool, err error) {
	line, ok := parse(args)
	if !ok || !verbs[line.verb].fits(line) {
		return "", false, nil
	}
	line.stdin = stdin
	out, err = verbs[line.verb].do(ctx, r, line)
	if err != nil && (strings.Contains(err.Error(), errUnknownType) ||
		strings.Contains(err.Error(), "no matches for kind")) {
		// A test may have made the type a moment ago.
		r.cached.Reset()
		out, err = verbs[line.verb].do(ctx, r, line)
	}
	return out, true, err
}

// visit calls do with each object that the words of a line name.
func (r *requests) visit(l commandLine, b *resource.Builder, do func(*resource.Info) error) error {
	found := b.ResourceTypeOrNameArgs(true, l.words...).Flatten().Do()
	if l.is("ignore-not-found", "true") {
		found.IgnoreErrors(apierrors.IsNotFound)
	}
	return found.Visit(func(info *resource.Info, err error) error {
		if err != nil {
			return err
		}
		return do(info)
	})
}

// apply applies what stdin says, server-side, and waits until the types that it defines are served.
func apply(ctx context.Context, r *requests, l commandLine) (string, error) {
	manager := l.flags["field-manager"]
	if manager == "" {
		manager = "kubectl"
	}
	b := r.builder(l.namespace())
	if l.flags["namespace"] != "" {
		b.RequireNamespace()
	}
	var defined []*resource.Info
	err := b.Stream(strings.NewReader(l.stdin), "stdin").Flatten().Do().Visit(func(info *resource.Info, err error) error {
		if err != nil {
			return err
		}
		if info.Mapping.GroupVersionKind.Kind == "CustomResourceDefinition" {
			defined = append(defined, info)
		}
		data, err := runtime.Encode(unstructured.UnstructuredJSONScheme, info.Object)
		if err != nil {
			return err
		}
		_, err = helper(info, manager).WithFieldValidation(metav1.FieldValidationStrict).Patch(info.Namespace, info.Name,
			types.ApplyPatchType, data, nil)
		return err
	})
	if err == nil && len(defined) > 0 {
		err = r.untilServed(ctx, defined)
	}
	return "", err
}

// pause waits between two looks.
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(between):
		return nil
	}
}

// create makes a namespace or an empty config map.
func create(_ context.Context, r *requests, l commandLine) (string, error) {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion("v1")
	o.SetKind(created[l.words[0]])
	o.SetName(l.words[1])
	data, err := o.MarshalJSON()
	if err != nil {
		return "", err
	}
	return "", r.builder(l.namespace()).Stream(strings.NewReader(string(data)),
		"the object").Do().Visit(func(info *resource.Info, err error) error {
		if err != nil {
			return err
		}
		_, err = helper(info, "kubectl-create").Create(info.Namespace, true, info.Object)
		return err
	})
}

// remove deletes objects and, unless it is told not to, waits until they are gone.
func remove(ctx context.Context, r *requests, l commandLine) (string, error) {
	cascade := l.flags["cascade"]
	if cascade == "" {
		cascade = "background"
	}
	policy := metav1.DeletionPropagation(strings.ToUpper(cascade[:1]) + cascade[1:])
	options := metav1.DeleteOptions{PropagationPolicy: &policy}
	if text := l.flags["grace-period"]; text != "" {
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return "", err
		}
		options.GracePeriodSeconds = &seconds
	}
	if text := l.flags["timeout"]; text != "" {
		timeout, err := time.ParseDuration(text)
		if err != nil {
			return "", err
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	dry := l.is("dry-run", "server")
	var deleted []*resource.Info
	err := r.visit(l, r.builder(l.namespace()).RequireObject(false), func(info *resource.Info) error {
		deleted = append(deleted, info)
		_, err := resource.NewHelper(info.Client, info.Mapping).DryRun(dry).DeleteWithOptions(info.Namespace, info.Name,
			&options)
		if l.is("ignore-not-found", "true") && apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
	if err != nil || dry || l.is("wait", "false") {
		return "", err
	}
	var errs []error
	for _, info := range deleted {
		errs = append(errs, untilGone(ctx, info))
	}
	return "", errors.Join(errs...)
}

// untilGone waits until nothing has the name of an object, or something else has.
func untilGone(ctx context.Context, info *resource.Info) error {
	var uid types.UID
	for {
		now, err := resource.NewHelper(info.Client, info.Mapping).Get(info.Namespace, info.Name)
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		switch found := now.(*unstructured.Unstructured).GetUID(); {
		case uid == "":
			uid = found
		case uid != found:
			return nil
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// get prints objects: one by itself, several and those of a whole type as a list.
func get(_ context.Context, r *requests, l commandLine) (string, error) {
	output := l.flags["output"]
	flags := genericclioptions.NewPrintFlags("")
	flags.OutputFormat = &output
	printer, err := flags.ToPrinter()
	if err != nil {
		return "", err
	}
	list, single := &unstructured.UnstructuredList{}, false
	found := r.builder(l.namespace()).ResourceTypeOrNameArgs(true,
		l.words...).Latest().Flatten().Do().IntoSingleItemImplied(&single)
	if l.is("ignore-not-found", "true") {
		found.IgnoreErrors(apierrors.IsNotFound)
	}
	infos, err := found.Infos()
	if err != nil || len(infos) == 0 && l.is("ignore-not-found", "true") {
		return "", err
	}
	var out strings.Builder
	if single {
		err = printer.PrintObj(infos[0].Object, &out)
		return out.String(), err
	}
	list.SetAPIVersion("v1")
	list.SetKind("List")
	for _, info := range infos {
		list.Items = append(list.Items, *info.Object.(*unstructured.Unstructured))
	}
	err = printer.PrintObj(list, &out)
	return out.String(), err
}

// patch patches objects.
func patch(_ context.Context, r *requests, l commandLine) (string, error) {
	return "", r.visit(l, r.builder(l.namespace()).RequireObject(false), func(info *resource.Info) error {
		_, err := helper(info, "kubectl-patch").WithSubresource(l.flags["subresource"]).DryRun(l.is("dry-run", "server")).
			Patch(info.Namespace, info.Name, patchTypes[l.flags["type"]], []byte(l.flags["patch"]), nil)
		return err
	})
}
