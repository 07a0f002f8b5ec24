package cluster

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// errTruncated is the end of a body in the middle of a list or an event.
var errTruncated = errors.New("the answer ended too early")

// errMalformed is a body that is not what was asked for.
var errMalformed = errors.New("the answer cannot be decoded")

// protobufMagic begins every protobuf answer of an API server
// (apimachinery/pkg/runtime/serializer/protobuf).
var protobufMagic = []byte("k8s\x00")

// maxItem bounds one object. A server takes no more than 3 MiB in a request; more is not an object.
const maxItem = 64 << 20

// Field numbers of runtime.Unknown, ListMeta and the list types (generated.proto of apimachinery).
// Every list type of every API has its metadata at 1 and its items at 2, and every item its
// ObjectMeta at 1, so a server that ignores the request for metadata only and answers with whole
// objects is read just as well.
const (
	unknownRaw   = 2
	listMetaAt   = 1
	listItemsAt  = 2
	listContinue = 3
	listVersion  = 2
	itemMetaAt   = 1
)

// listMeta is what a page says of itself.
type listMeta struct{ resourceVersion, continueToken string }

// versioned is an error for a list without a resourceVersion, from which nothing can be watched. An
// API server gives every list one; what has none comes from something in between, and that there is
// nothing in it proves nothing.
func (m listMeta) versioned() error {
	if m.resourceVersion == "" {
		return fmt.Errorf("%w: it has no resourceVersion", errMalformed)
	}
	return nil
}

// wireReader reads a protobuf list off the wire without holding more of it than one object.
type wireReader struct {
	r   *bufio.Reader
	big []byte // for objects that exceed the reader's buffer
}

// list reads a page to the end of the body, so that the connection can be used again. onMeta is
// called once the list's metadata is known, which is before its items; item gets each object's
// encoding, valid during the call.
func (w *wireReader) list(onMeta func(listMeta), item func([]byte) error) error {
	if _, err := w.r.Discard(len(protobufMagic)); err != nil {
		return truncated(err)
	}
	for read := false; ; {
		num, typ, err := w.tag()
		switch {
		case errors.Is(err, io.EOF) && read:
			return nil
		case err != nil:
			return truncated(err) // also where the field that holds the list never came
		case num != unknownRaw || typ != protowire.BytesType:
			if err := w.skip(typ); err != nil {
				return err
			}
			continue
		case read:
			return fmt.Errorf("%w: a second list", errMalformed)
		}
		read = true
		n, err := uvarint(w.r)
		if err != nil {
			return err
		}
		if err := w.items(n, onMeta, item); err != nil {
			return err
		}
	}
}

// items reads the n bytes of the list.
func (w *wireReader) items(n uint64, onMeta func(listMeta), item func([]byte) error) error {
	body := &countingReader{r: w.r, left: n}
	hasMeta := false
	for body.left > 0 {
		key, err := uvarint(body)
		if err != nil {
			return err
		}
		num, typ := protowire.DecodeTag(key)
		if num < 1 || typ != protowire.BytesType {
			return fmt.Errorf("%w: field %d of type %d in a list", errMalformed, num, typ)
		}
		size, err := uvarint(body)
		if err != nil {
			return err
		}
		if size > body.left || size > maxItem {
			return fmt.Errorf("%w: a field of %d bytes in a list with %d left", errMalformed, size, body.left)
		}
		body.left -= size
		data, buffered, err := w.take(int(size))
		if err != nil {
			return err
		}
		switch num {
		case listMetaAt:
			m, err := parseListMeta(data)
			if err != nil {
				return err
			}
			hasMeta = true
			onMeta(m)
		case listItemsAt:
			if err := item(data); err != nil {
				return err
			}
		}
		if _, err := w.r.Discard(buffered); err != nil {
			return err
		}
	}
	if !hasMeta {
		// A server writes it even when it is empty. Nothing at all must not pass for an empty list.
		return fmt.Errorf("%w: a list without metadata", errMalformed)
	}
	return nil
}

// frame returns the next frame of a watch: four bytes with its length, and as many bytes
// (apimachinery/pkg/util/framer). If the buffer holds them, they are to be discarded after use. It
// returns io.EOF, and no other error is that, after the last.
func (w *wireReader) frame() (data []byte, buffered int, err error) {
	head, err := w.r.Peek(4)
	if err != nil {
		if len(head) == 0 {
			return nil, 0, err
		}
		return nil, 0, truncated(err)
	}
	n := binary.BigEndian.Uint32(head)
	if n > maxItem {
		return nil, 0, fmt.Errorf("%w: an event of %d bytes", errMalformed, n)
	}
	if _, err := w.r.Discard(len(head)); err != nil {
		return nil, 0, err
	}
	return w.take(int(n))
}

// unwrap returns the object of an answer about one object, or of an event.
func unwrap(body []byte) ([]byte, error) {
	unknown, is := bytes.CutPrefix(body, protobufMagic)
	if !is {
		return nil, fmt.Errorf("%w: it is no protobuf", errMalformed)
	}
	var raw []byte
	err := fields(unknown, func(num protowire.Number, f field) error {
		if num == unknownRaw {
			raw = f.bytes
		}
		return nil
	})
	if err == nil && raw == nil {
		err = fmt.Errorf("%w: there is no object in it", errMalformed)
	}
	return raw, err
}

// take returns the next n bytes. If the buffer holds them they are still in it, and are to be
// discarded after use.
func (w *wireReader) take(n int) (data []byte, buffered int, err error) {
	if n <= w.r.Size() {
		data, err = w.r.Peek(n)
		return data, n, truncated(err)
	}
	if cap(w.big) < n {
		// Grown as the bytes come, so that a length that lies costs nothing.
		var buf bytes.Buffer
		if _, err := io.CopyN(&buf, w.r, int64(n)); err != nil {
			return nil, 0, truncated(err)
		}
		w.big = buf.Bytes()
		return w.big, 0, nil
	}
	w.big = w.big[:n]
	_, err = io.ReadFull(w.r, w.big)
	return w.big, 0, truncated(err)
}

// tag returns io.EOF, and no other error does, if the body ends before the tag.
func (w *wireReader) tag() (protowire.Number, protowire.Type, error) {
	if _, err := w.r.Peek(1); err != nil {
		return 0, 0, err
	}
	key, err := uvarint(w.r)
	if err != nil {
		return 0, 0, err
	}
	num, typ := protowire.DecodeTag(key)
	if num < 1 {
		return 0, 0, fmt.Errorf("%w: field number %d", errMalformed, num)
	}
	return num, typ, nil
}

// skip passes over a field of runtime.Unknown, all of which are strings or messages.
func (w *wireReader) skip(typ protowire.Type) error {
	if typ != protowire.BytesType {
		return fmt.Errorf("%w: field of type %d around a list", errMalformed, typ)
	}
	n, err := uvarint(w.r)
	if err != nil {
		return err
	}
	if n > maxItem {
		return fmt.Errorf("%w: a field of %d bytes around a list", errMalformed, n)
	}
	_, err = w.r.Discard(int(n))
	return truncated(err)
}

// countingReader reads varints and knows how much of a message is left.
type countingReader struct {
	r    *bufio.Reader
	left uint64
}

// ReadByte implements io.ByteReader within the message.
func (c *countingReader) ReadByte() (byte, error) {
	if c.left == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	b, err := c.r.ReadByte()
	if err == nil {
		c.left--
	}
	return b, err
}

// uvarint is binary.ReadUvarint with an error that tells a number that is too long from a reader
// that fails.
func uvarint(r io.ByteReader) (uint64, error) {
	var v uint64
	for shift := 0; shift < 64; shift += 7 {
		b, err := r.ReadByte()
		if err != nil {
			return 0, truncated(err)
		}
		if shift == 63 && b > 1 {
			break
		}
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v, nil
		}
	}
	return 0, fmt.Errorf("%w: a number of more than 64 bits", errMalformed)
}

// truncated turns the ways in which a body ends early into one error and leaves those of the
// connection as they are.
func truncated(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, bufio.ErrBufferFull) {
		return errTruncated
	}
	return err
}
