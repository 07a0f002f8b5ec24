package archive

import (
	"bufio"
	"compress/gzip"
	"io"
	"path/filepath"
	"strings"
)

// bufferSize is how many bytes are written to a file, or read from one, at once.
const bufferSize = 1 << 20

// compressed calls f with what writes a file that is to have the name of a path: through gzip, if
// the name says so.
func compressed(file io.Writer, path string, f func(io.Writer) error) error {
	buffer := bufio.NewWriterSize(file, bufferSize)
	if !strings.EqualFold(filepath.Ext(path), ".gz") {
		if err := f(buffer); err != nil {
			return err
		}
		return buffer.Flush()
	}
	zip := gzip.NewWriter(buffer)
	if err := f(zip); err != nil {
		return err
	}
	if err := zip.Close(); err != nil {
		return err
	}
	return buffer.Flush()
}
