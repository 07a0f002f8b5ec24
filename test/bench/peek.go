package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// Field numbers of runtime.Unknown, of every list type and of ListMeta (generated.proto of
// apimachinery).
const (
	unknownRaw   = 2
	listMetadata = 1
	listContinue = 3
)

var errNoProtobufList = errors.New("the answer does not begin as a list in protobuf")

// continueToken reads as far into a list as it takes to know how to go on with it. The list's
// metadata is the first thing in it, behind the magic number and the type.
func continueToken(r *bufio.Reader) (string, error) {
	magic := make([]byte, 4)
	if _, err := io.ReadFull(r, magic); err != nil || string(magic) != "k8s\x00" {
		return "", errNoProtobufList
	}
	for {
		num, size, err := fieldHead(r)
		if err != nil {
			return "", err
		}
		if num == unknownRaw {
			break
		}
		if _, err := r.Discard(size); err != nil {
			return "", err
		}
	}
	num, size, err := fieldHead(r)
	if err != nil || num != listMetadata {
		return "", errNoProtobufList
	}
	meta := make([]byte, size)
	if _, err := io.ReadFull(r, meta); err != nil {
		return "", err
	}
	for len(meta) > 0 {
		num, typ, n := protowire.ConsumeField(meta)
		if n < 0 {
			return "", fmt.Errorf("%w: %w", errNoProtobufList, protowire.ParseError(n))
		}
		if num == listContinue && typ == protowire.BytesType {
			_, _, tag := protowire.ConsumeTag(meta)
			token, _ := protowire.ConsumeBytes(meta[tag:])
			return string(token), nil
		}
		meta = meta[n:]
	}
	return "", nil
}

// fieldHead reads the number and the length of a field that has one.
func fieldHead(r *bufio.Reader) (protowire.Number, int, error) {
	key, err := binary.ReadUvarint(r)
	if err != nil {
		return 0, 0, err
	}
	num, typ := protowire.DecodeTag(key)
	size, err := binary.ReadUvarint(r)
	if err != nil || typ != protowire.BytesType || size > 1<<31 {
		return 0, 0, errNoProtobufList
	}
	return num, int(size), nil
}
