package cluster

import (
	"bufio"
	"context"
	"strconv"
)

const (
	// objectPageSize is kubectl's. Whole objects are many times as large as their metadata, and the
	// server holds a page in memory.
	objectPageSize = 500
	// singleReads is how many objects are asked for one by one whatever a list would cost.
	singleReads = 4
	// perRead is how many objects of a list cost about as much as one read.
	perRead = 10
)

// worthAList says whether a list of all objects of a type in a namespace is cheaper than one read
// for each that is wanted.
func worthAList(wanted, all int) bool { return wanted > singleReads && wanted*perRead >= all }

// readObjectPage reads one page of a list of whole objects, of each what an Item keeps, and returns
// the token of the next page, which is empty at the end of the list and with an error.
func readObjectPage[Item any](ctx context.Context, c *Client, path []string, r ObjectRequest, token string,
	item func(*Item) error) (string, error) {
	accept := acceptJSON
	if r.metadata {
		accept = acceptMetas
	}
	req := c.rest.Get().AbsPath(path...).SetHeader("Accept", accept).WarningHandlerWithContext(quietWarnings{}).
		Param("limit", strconv.Itoa(objectPageSize))
	r.selected.param(req, token)
	body, err := req.Stream(ctx)
	if err != nil {
		return "", err
	}
	defer body.Close()
	var meta listMeta
	if err := readJSONList(bufio.NewReaderSize(body, readBuffer), func(m listMeta) { meta = m }, item); err != nil {
		return "", err
	}
	return meta.continueToken, meta.versioned()
}
