package link

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

const (
	// maxDecoded is how many bytes a text may have once it is decoded. etcd holds objects of 1.5
	// MB; a release of Helm grows some ten times when it is unpacked.
	maxDecoded = 16 << 20
	// maxValues is how many values JSON may have: a few bytes of it make a hundred in memory.
	maxValues = 1 << 20
)

// decode undoes the encodings of a text. After JSON it is a value, before it text.
func decode(text string, encodings []Encoding) (any, error) {
	data := []byte(text)
	for _, encoding := range encodings {
		var err error
		switch encoding {
		case Base64:
			data, err = base64.StdEncoding.DecodeString(string(data))
		case Gzip:
			data, err = unzip(data)
		case JSON:
			var value any
			if bytes.Count(data, []byte{','}) >= maxValues {
				return nil, fmt.Errorf("decoding JSON: more than %d values", maxValues)
			}
			if err := utiljson.Unmarshal(data, &value); err != nil {
				return nil, fmt.Errorf("decoding JSON: %w", err)
			}
			return value, nil
		}
		if err != nil {
			return nil, fmt.Errorf("decoding %s: %w", encoding, err)
		}
	}
	return string(data), nil
}

func unzip(data []byte) ([]byte, error) {
	zipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	defer zipped.Close()
	all, err := io.ReadAll(io.LimitReader(zipped, maxDecoded+1))
	if err == nil && len(all) > maxDecoded {
		err = fmt.Errorf("more than %d MiB", maxDecoded>>20)
	}
	return all, err
}
