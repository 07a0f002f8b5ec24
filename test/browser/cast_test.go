package browser

import (
	"os"
	"path/filepath"
	"testing"
)

// atTime is what the moving picture shows after some seconds: the first line of each scene that is to
// be seen, whether its output is, and how much of the command is not typed yet.
const atTime = `(seconds => {
  for (const a of document.getAnimations()) { a.pause(); a.currentTime = seconds * 1000; }
  const seen = e => getComputedStyle(e).visibility == 'visible';
  return [...document.querySelectorAll('.scene')].filter(s => seen(s.querySelector('text'))).map(s =>
    s.querySelector('text').textContent.split(' ').slice(0, 4).join(' ') +
    (seen(s.querySelector('.output text')) ? ' and its output' : '') +
    ', hidden: ' + Math.round(100 * s.querySelector('.rest').getBoundingClientRect().width / s.querySelector('.rest').getBBox().width) + '%'
  ).join('; ');
})`

// TestTheMovingPictureOfTheReadme types each command, and then shows what it prints until the next.
func TestTheMovingPictureOfTheReadme(t *testing.T) {
	picture, err := os.ReadFile(filepath.Join("..", "..", "docs", "images", "delete-why.svg"))
	if err != nil {
		t.Fatal(err)
	}
	tb := open(t, "<!doctype html><title>cast</title>"+string(picture), setup{width: 1200, height: 500})
	for _, moment := range []struct{ at, want string }{
		{"0", "$ kubectl gc delete, hidden: 100%"},
		{"1.14", "$ kubectl gc delete, hidden: 51%"},
		{"3", "$ kubectl gc delete and its output, hidden: 0%"},
		{"14", "$ kubectl gc why and its output, hidden: 0%"},
		{"32", "$ kubectl gc unfinalize and its output, hidden: 0%"},
	} {
		tb.expect("after "+moment.at+" s", eval[string](tb, atTime+"("+moment.at+")"), moment.want)
	}
	still := open(t, "<!doctype html><title>cast</title>"+string(picture), setup{width: 1200, height: 500,
		media: map[string]string{"prefers-reduced-motion": "reduce"}})
	still.expect("without motion", eval[string](still, atTime+"(20)"), "$ kubectl gc delete and its output, hidden: 0%")
}
