package cluster

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
)

// What rows cost decides how they are asked for. Of 100,000 objects in 150 namespaces, in turns on a
// busy machine: a tree of 3,451 rows took 4.5 s and 0.83 s of processor time, with a list of each type
// and namespace 5.8 and 1.07, and by what worthAList says of whole objects 6.8 and 2.19; the tree of
// all took 10.6 and 1.43, and 11.4 and 1.66. Of 10,000 objects it was about 0.1 s.
const (
	// rowsOfRequest is how many rows of a table cost about as much as one more request.
	rowsOfRequest = 200
	// unasked is what rows may cost that are asked for before it is known whether there are the
	// columns: as much as some requests.
	unasked = 5 * rowsOfRequest
)

// errOtherRows is of rows that are not those of the objects in the graph.
var errOtherRows = errors.New("the rows are of other objects")

// wantedType are the wanted rows of one type.
type wantedType struct {
	*printed
	graph.Type
	groups []objectGroup
	// total is how many objects of the type there are in all namespaces, as of version: the
	// resourceVersion of the list that found them, empty if there was none.
	total   int
	version string
}

// tables returns the first requests of each type. Where the rows cost much, that is whether the
// type has the columns at all, and the others wait for its answer.
func (p *printed) tables(ids []graph.ID, points []ResumePoint) []request {
	types := p.wanted(ids, points)
	first := make([]request, 0, len(types))
	for _, of := range types {
		all, cost := of.requests()
		if cost <= unasked {
			first = append(first, all...)
			continue
		}
		first = append(first, func(ctx context.Context) {
			if of.hasColumns(ctx) {
				of.then(all...)
			}
		})
	}
	return first
}

// wanted groups objects by type and namespace, and counts those that lists of these would have.
func (p *printed) wanted(ids []graph.ID, points []ResumePoint) map[graph.Type]*wantedType {
	types := map[graph.Type]*wantedType{}
	for _, group := range groupObjects(p.graph, ids) {
		of := types[group.Type]
		if of == nil {
			of = &wantedType{printed: p, Type: group.Type}
			types[group.Type] = of
		}
		of.groups = append(of.groups, group)
	}
	for id := range p.graph.IDs() {
		t, _ := p.graph.Type(id)
		if of := types[t]; of != nil && p.graph.Observed(id) {
			of.total++
		}
	}
	for _, at := range points {
		if of := types[at.Type]; of != nil && at.Namespace == "" && at.Type.Namespaced {
			of.version = at.ResourceVersion
		}
	}
	return types
}

// requests returns what costs least: a list of all namespaces, or a list of each or single objects;
// and what it costs, in rows.
func (of *wantedType) requests() (all []request, cost int) {
	for _, g := range of.groups {
		cost += min(rowsOfRequest+g.total, len(g.ids)*rowsOfRequest)
	}
	everywhere := rowsOfRequest + of.total
	if of.version == "" || everywhere >= cost {
		return of.byNamespace(), cost
	}
	return []request{func(ctx context.Context) {
		switch err := of.everywhere(ctx); {
		case errors.Is(err, errNoColumns):
			of.withoutColumns()
		case err != nil && ctx.Err() == nil:
			of.then(of.byNamespace()...)
		}
	}}, everywhere
}

func (of *wantedType) byNamespace() []request {
	var all []request
	for _, g := range of.groups {
		if rowsOfRequest+g.total < len(g.ids)*rowsOfRequest {
			all = append(all, func(ctx context.Context) {
				if errors.Is(of.namespace(ctx, g), errNoColumns) && isCustom(of.Group) { // what cannot be read has no columns
					of.doubt(g.ids...)
				}
			})
			continue
		}
		for _, id := range g.ids {
			all = append(all, func(ctx context.Context) { _ = of.single(ctx, id) })
		}
	}
	return all
}

// hasColumns reports whether rows are worth asking for, by a table of one row; also if the answer
// does not say.
func (of *wantedType) hasColumns(ctx context.Context) bool {
	var at layout
	r := tableRequest{path: resourcePath(of.Type, of.groups[0].namespace), limit: 1,
		object: metav1.IncludeNone}
	_, err := of.client.table(ctx, r, func(found layout) { at = found }, func(*tableRow) error { return nil })
	if err != nil || at.tells() {
		return true
	}
	of.withoutColumns()
	return false
}

// withoutColumns has custom resources say by their status what no column does.
func (of *wantedType) withoutColumns() {
	if !isCustom(of.Group) {
		return
	}
	for _, g := range of.groups {
		of.doubt(g.ids...)
	}
}

// single reads the row of one object; of a custom resource with all of the object, so that one
// request is enough.
func (of *wantedType) single(ctx context.Context, id graph.ID) error {
	ref := of.graph.Ref(id)
	r := tableRequest{path: resourcePath(of.Type, ref.Namespace, ref.Name),
		object: metav1.IncludeNone}
	if isCustom(of.Group) {
		r.object = metav1.IncludeObject
	}
	var at layout
	_, err := of.client.table(ctx, r, func(found layout) { at = found }, func(row *tableRow) error {
		if at.name >= 0 && at.nameOf(row) != ref.Name {
			return errOtherRows
		}
		of.row(id, at, row)
		return nil
	})
	return err
}

// namespace reads the rows of a list of one namespace.
func (of *wantedType) namespace(ctx context.Context, g objectGroup) error {
	ids := make(map[string]graph.ID, len(g.ids))
	for _, id := range g.ids {
		ids[of.graph.Name(id)] = id
	}
	return of.list(ctx, g.namespace, "", func(at layout, row *tableRow) error {
		if id, wanted := ids[at.nameOf(row)]; wanted {
			of.row(id, at, row)
		}
		return nil
	})
}

// everywhere reads the rows of the list of all namespaces that the graph was made of. It is an
// error, and nothing is remembered, if they are not those of its objects: rows do not say in which
// namespace they are.
func (of *wantedType) everywhere(ctx context.Context) error {
	wanted := map[graph.ID]bool{}
	for _, g := range of.groups {
		maps.Copy(wanted, graph.SetOf(g.ids))
	}
	listed, next := of.inOrder(), 0
	known := make(map[graph.ID]graph.PrinterColumns, len(wanted))
	var unwell []graph.ID
	err := of.list(ctx, "", of.version, func(at layout, row *tableRow) error {
		if next == len(listed) || at.nameOf(row) != of.graph.Name(listed[next]) {
			return errOtherRows
		}
		id := listed[next]
		next++
		if wanted[id] {
			known[id] = at.columns(row)
			if isCustom(of.Group) && !at.isWell(row) {
				unwell = append(unwell, id)
			}
		}
		return nil
	})
	if err == nil && next < len(listed) {
		err = errOtherRows
	}
	if err != nil {
		return err
	}
	for id, columns := range known {
		of.note(id, columns)
	}
	of.doubt(unwell...)
	return nil
}

// inOrder are the objects of the type in the order in which the server lists them: by namespace and
// name, as one text with a slash between them (etcd's keys, and those of the watch cache).
func (of *wantedType) inOrder() []graph.ID {
	type keyed struct {
		key string
		id  graph.ID
	}
	all := make([]keyed, 0, of.total)
	for id := range of.graph.IDs() {
		if t, _ := of.graph.Type(id); t == of.Type && of.graph.Observed(id) {
			ref := of.graph.Ref(id)
			all = append(all, keyed{ref.Namespace + "/" + ref.Name, id})
		}
	}
	slices.SortFunc(all, func(a, b keyed) int { return cmp.Compare(a.key, b.key) })
	ids := make([]graph.ID, len(all))
	for i, k := range all {
		ids[i] = k.id
	}
	return ids
}

// list reads a list page by page, and calls f with each row.
func (of *wantedType) list(ctx context.Context, namespace, version string, f func(layout, *tableRow) error) error {
	var at layout
	sizes := of.client.pageSizes(ctx)
	limit := sizes.newest
	if version != "" {
		limit = sizes.exact
	}
	r := tableRequest{
		path: resourcePath(of.Type, namespace), limit: cmp.Or(of.client.pageSize, limit),
		version: version, object: metav1.IncludeNone,
	}
	for {
		next, err := of.client.table(ctx, r, func(found layout) { at = found }, func(row *tableRow) error {
			if !at.tells() {
				return errNoColumns
			}
			return f(at, row)
		})
		if err != nil || next == "" {
			return err
		}
		r.continueToken = next
	}
}

// row remembers what a row says of an object.
func (of *wantedType) row(id graph.ID, at layout, row *tableRow) {
	columns := at.columns(row)
	if isCustom(of.Group) {
		if o, err := decodeObject(row.Object, of.Type); err == nil {
			addStatus(&columns, o)
		} else if !at.isWell(row) { // the row came without it
			of.doubt(id)
		}
	}
	of.note(id, columns)
}
